//! TLS as a client of real servers speaks it, by rustls: whom it trusts, and what it offers.
//!
//! Sessions are not resumed: each connection pays for a whole handshake.
// Certificates are those of this machine.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use lastmile_testbed::http::Version;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whose certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Those of the authorities that this machine trusts.
    System,
    /// Those of the authorities in a PEM file, and those of the file themselves.
    File(PathBuf),
    /// Any: the server proves nothing.
    Anyone,
}

/// The client's side of TLS for one server.
#[derive(Debug, Clone)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    version: Version,
}

/// TLS that cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

/// Where systems keep the authorities that they trust: Debian, Fedora, Alpine and others, as their packages put them.
const BUNDLES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

impl ClientTls {
    /// TLS 1.2 or 1.3 with the server `host`, a name or an address, offering a version of HTTP (ALPN).
    ///
    /// # Errors
    /// When the name cannot be one of a certificate, or a file of authorities cannot be read.
    pub fn new(host: &str, version: Version, trust: &Trust) -> Result<Self, TlsError> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| TlsError(format!("{host:?} cannot be the name on a certificate")))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError(error.to_string()))?;
        let mut config = match trust {
            Trust::Anyone => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AcceptAnyone(provider)))
                .with_no_client_auth(),
            Trust::File(path) => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AcceptNamed::new(path, provider)?))
                .with_no_client_auth(),
            Trust::System => {
                let found = BUNDLES.iter().map(Path::new).find(|path| path.is_file());
                let path = found.ok_or_else(|| {
                    TlsError(
                        "this machine has no file of trusted authorities; name one with --ca, or add --insecure"
                            .to_owned(),
                    )
                })?;
                builder.with_root_certificates(roots(path)?).with_no_client_auth()
            }
        };
        config.alpn_protocols = vec![version.protocol_name().to_vec()];
        config.resumption = Resumption::disabled();
        Ok(Self {
            config: Arc::new(config),
            name,
            version,
        })
    }

    /// The protocol that the server must choose: HTTP/1.1 is spoken without a choice, too (RFC 9113 section 3.2).
    pub(crate) const fn needs(&self) -> Option<&'static [u8]> {
        match self.version {
            Version::Http11 => None,
            Version::H2 => Some(Version::H2.protocol_name()),
        }
    }

    /// A new connection, whose first bytes wait to be written.
    ///
    /// # Errors
    /// When rustls refuses its own configuration.
    pub(crate) fn connection(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone())
    }
}

/// The authorities of a PEM file. Those that rustls does not understand are passed over, as browsers do.
fn roots(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates(path)?);
    if added == 0 {
        return Err(TlsError(format!(
            "{}: it has no certificate of an authority",
            path.display()
        )));
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let name = path.display();
    CertificateDer::pem_file_iter(path)
        .map_err(|error| TlsError(format!("{name}: it cannot be read ({error})")))?
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| TlsError(format!("{name}: it is no PEM file ({error})")))
}

/// Accepts what the authorities of a file vouch for, and a server that has one of its certificates itself, as OpenSSL does. What `openssl req
/// -x509` makes is marked as an authority's, which no server may have otherwise.
#[derive(Debug)]
struct AcceptNamed {
    named: Vec<CertificateDer<'static>>,
    authorities: Arc<WebPkiServerVerifier>,
}

impl AcceptNamed {
    fn new(path: &Path, provider: Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots(path)?), provider).build();
        Ok(Self {
            named: certificates(path)?,
            authorities: authorities.map_err(|error| TlsError(format!("{}: {error}", path.display())))?,
        })
    }
}

impl ServerCertVerifier for AcceptNamed {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.named.iter().any(|named| named == certificate) {
            verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.authorities
            .verify_server_cert(certificate, others, name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Accepts every certificate; the signatures of handshakes are still verified.
#[derive(Debug)]
struct AcceptAnyone(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
