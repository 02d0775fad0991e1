//! TLS 1.3 by rustls, with a certificate chain whose size never varies.
//!
//! The chain is a root that the client trusts, an intermediate and a leaf, with Ed25519 keys from fixed seeds, fixed serial numbers and
//! a fixed validity, so that every handshake has the same number of bytes. A padding extension brings the chain to [`CHAIN_SIZE`], about
//! the size of public authorities' chains with ECDSA keys. A client's first message has the size of a browser's, most of which is a
//! post-quantum key share ([`CLIENT_HELLO_SIZE`]); names of protocols that nobody speaks stand in for it.
//!
//! Encryption is real, and so are its bytes, but it takes no virtual time by itself: the CPU time of a handshake is set with
//! [`Tls::costing`] and charged when the handshake is done; senders and readers charge that of records. Sessions are not resumed.
//!
//! Browsers do not accept Ed25519. For them there is a second chain of about the same size, with ECDSA keys that are new in every process
//! ([`ServerTls::for_browsers`]).

use super::Version;
use lastmile_units::ByteCount;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PKCS_ED25519, SerialNumber, date_time_ymd,
};
use rustls::client::Resumption;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::NoServerSessionStorage;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// The name on the leaf: the same for every server, so that the size of a handshake does not depend on the name.
const SERVER_NAME: &str = "server.lastmile.test";

/// The size of the leaf and the intermediate together, in DER; a test verifies it. Our own choice.
pub const CHAIN_SIZE: ByteCount = ByteCount::new(2_000);

/// The length of the padding that [`CHAIN_SIZE`] needs.
const LEAF_PADDING: usize = 692;
const INTERMEDIATE_PADDING: usize = 668;

/// The size of a client's first message with its record header; a test verifies it. Chromium 156 sends 1,912 to 2,008 bytes: a key share
/// of X25519MLKEM768 (1,216 bytes), and greased extensions of varying length.
pub const CLIENT_HELLO_SIZE: ByteCount = ByteCount::new(1_960);

/// The bytes of protocol names that [`CLIENT_HELLO_SIZE`] needs: that of the version, and unknown ones, with a byte of length each.
const HELLO_PADDING: usize = 1_714;

/// The object identifier of the padding, under the arc that needs no registration (ITU-T X.667).
const PADDING_IDENTIFIER: [u64; 3] = [2, 25, 1];

/// One side of TLS for one version of HTTP, and what its handshakes cost.
#[derive(Clone)]
pub struct Tls<C> {
    config: Arc<C>,
    cost: Duration,
}

/// The client's side.
pub type ClientTls = Tls<ClientConfig>;

/// The server's side.
pub type ServerTls = Tls<ServerConfig>;

impl<C> Tls<C> {
    /// Handshakes cost no CPU time unless [`Tls::costing`] sets it.
    fn from_config(config: C) -> Self {
        Self {
            config: Arc::new(config),
            cost: Duration::ZERO,
        }
    }

    /// Charges each handshake with `cost` of CPU time on a reference core.
    #[must_use]
    pub const fn costing(mut self, cost: Duration) -> Self {
        self.cost = cost;
        self
    }

    pub(super) const fn cost(&self) -> Duration {
        self.cost
    }
}

impl ClientTls {
    /// A client that trusts the servers of [`ServerTls`], and no other.
    pub fn new(version: Version) -> Self {
        Self::trusting(version, &CHAIN)
    }

    /// A client that trusts the servers of [`ServerTls::for_browsers`], and no other: what stands for a browser in a simulated world.
    pub fn like_browsers(version: Version) -> Self {
        Self::trusting(version, &BROWSER_CHAIN)
    }

    fn trusting(version: Version, chain: &Chain) -> Self {
        let mut roots = RootCertStore::empty();
        roots
            .add(chain.root.clone())
            .expect("a certificate of our own making is a trust anchor");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_details(provider, Arc::new(FixedTime))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("ring has cipher suites of TLS 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![version.protocol_name().to_vec()];
        // A server passes over names that it does not know (RFC 7301 section 3.2).
        let padding = HELLO_PADDING - version.protocol_name().len();
        config.alpn_protocols.extend(unknown_protocols(padding));
        config.resumption = Resumption::disabled();
        Self::from_config(config)
    }

    /// The handshake, as the client.
    ///
    /// # Errors
    /// Those of the stream, and of certificates that are not trusted.
    pub async fn open<S>(&self, stream: S) -> io::Result<tokio_rustls::client::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = ServerName::try_from(SERVER_NAME).expect("the name is one of DNS");
        TlsConnector::from(Arc::clone(&self.config)).connect(name, stream).await
    }
}

/// Names of protocols that no server knows, which take `size` bytes with a byte of length each.
fn unknown_protocols(size: usize) -> impl Iterator<Item = Vec<u8>> {
    // A name has 1 to 255 bytes.
    let count = size.div_ceil(256);
    (0..count).map(move |index| vec![b'0'; size * (index + 1) / count - size * index / count - 1])
}

impl ServerTls {
    /// A server with the chain that [`ClientTls`] trusts.
    pub fn new(version: Version) -> Self {
        Self::showing(version, &CHAIN)
    }

    /// A server with a chain that browsers can verify, whose leaf is [`browser_certificate`]. A browser has to be told to accept it.
    pub fn for_browsers(version: Version) -> Self {
        Self::showing(version, &BROWSER_CHAIN)
    }

    fn showing(version: Version, chain: &Chain) -> Self {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(chain.key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_details(provider, Arc::new(FixedTime))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("ring has cipher suites of TLS 1.3")
            .with_no_client_auth()
            .with_single_cert(chain.shown.clone(), key)
            .expect("the key is that of the leaf");
        config.alpn_protocols = vec![version.protocol_name().to_vec()];
        // Tickets are sent nevertheless, as servers do: two, rustls' default.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Self::from_config(config)
    }

    /// The handshake, as the server.
    ///
    /// # Errors
    /// Those of the stream, and of a client that speaks no TLS 1.3.
    pub async fn accept<S>(&self, stream: S) -> io::Result<tokio_rustls::server::TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        TlsAcceptor::from(Arc::clone(&self.config)).accept(stream).await
    }
}

/// The time at which certificates are checked: a second after virtual time began.
#[derive(Debug)]
struct FixedTime;

impl TimeProvider for FixedTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(super::EPOCH + Duration::from_secs(1)))
    }
}

/// Certificates that a root signed, and the key of the last.
struct Chain {
    root: CertificateDer<'static>,
    /// The leaf, then the intermediate.
    shown: Vec<CertificateDer<'static>>,
    /// The leaf's.
    key: KeyPair,
}

static CHAIN: LazyLock<Chain> = LazyLock::new(|| Chain::make(key, 0));

/// The chain for browsers. No figure depends on its keys; signatures differ in size by a few bytes (they are two integers in DER).
static BROWSER_CHAIN: LazyLock<Chain> = LazyLock::new(|| {
    let key = |_| KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("ring makes such keys");
    Chain::make(key, ECDSA_EXTRA)
});

/// The leaf of the chain of [`ServerTls::for_browsers`], in DER.
pub fn browser_certificate() -> &'static [u8] {
    &BROWSER_CHAIN.shown[0]
}

/// The seeds of the keys, and the serial numbers.
const ROOT: u8 = 1;
const INTERMEDIATE: u8 = 2;
const LEAF: u8 = 3;

const SIGNED: &str = "a certificate of fixed contents is signed as it was when it was tested";

/// What a key and a signature of ECDSA add to a certificate, in DER: the padding is shorter by as much.
const ECDSA_EXTRA: usize = 64;

impl Chain {
    /// A chain with the keys of [`ROOT`], [`INTERMEDIATE`] and [`LEAF`], which add `extra` bytes to a certificate.
    fn make(key: impl Fn(u8) -> KeyPair, extra: usize) -> Self {
        let (root_key, intermediate_key, leaf_key) = (key(ROOT), key(INTERMEDIATE), key(LEAF));
        let root = authority("lastmile root", ROOT);
        let root_certificate = root.self_signed(&root_key).expect(SIGNED);
        let mut intermediate = authority("lastmile intermediate", INTERMEDIATE);
        intermediate.custom_extensions = vec![padding(INTERMEDIATE_PADDING - extra)];
        let root = Issuer::new(root, root_key);
        let intermediate_certificate = intermediate.signed_by(&intermediate_key, &root).expect(SIGNED);
        let mut leaf = params(SERVER_NAME, LEAF, vec![SERVER_NAME.to_owned()]);
        leaf.custom_extensions = vec![padding(LEAF_PADDING - extra)];
        let issuer = Issuer::new(intermediate, intermediate_key);
        let leaf = leaf.signed_by(&leaf_key, &issuer).expect(SIGNED);
        Self {
            root: root_certificate.der().clone(),
            shown: vec![leaf.der().clone(), intermediate_certificate.der().clone()],
            key: leaf_key,
        }
    }
}

fn padding(size: usize) -> CustomExtension {
    CustomExtension::from_oid_content(&PADDING_IDENTIFIER, vec![0; size])
}

fn authority(name: &str, number: u8) -> CertificateParams {
    let mut params = params(name, number, Vec::new());
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn params(name: &str, number: u8, names: Vec<String>) -> CertificateParams {
    let mut params = CertificateParams::new(names).expect("the names are ones of DNS");
    params.distinguished_name.push(DnType::CommonName, name);
    params.serial_number = Some(SerialNumber::from_slice(&[number; 16]));
    params.not_before = date_time_ymd(2025, 1, 1);
    params.not_after = date_time_ymd(2045, 1, 1);
    params
}

/// An Ed25519 private key in PKCS #8: the fixed bytes of RFC 8410 section 7, then the key, which is `seed` 32 times.
fn key(seed: u8) -> KeyPair {
    let mut document = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
    document.extend([seed; 32]);
    KeyPair::from_pkcs8_der_and_sign_algo(&document.into(), &PKCS_ED25519).expect("the document holds an Ed25519 key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_message_of_a_client_is_as_long_as_a_browsers() {
        for version in [Version::Http11, Version::H2] {
            let name = ServerName::try_from(SERVER_NAME).unwrap();
            let mut client = rustls::ClientConnection::new(ClientTls::new(version).config, name).unwrap();
            let mut hello = Vec::new();
            client.write_tls(&mut hello).unwrap();
            assert_eq!(ByteCount::from(hello.len()), CLIENT_HELLO_SIZE, "{version:?}");
        }
    }

    #[test]
    fn the_chain_never_changes_its_size() {
        let sizes: Vec<usize> = CHAIN.shown.iter().map(|certificate| certificate.len()).collect();
        assert_eq!(ByteCount::from(sizes.iter().sum::<usize>()), CHAIN_SIZE, "{sizes:?}");
        assert_eq!(
            Chain::make(key, 0).shown,
            CHAIN.shown,
            "Ed25519 signatures are deterministic (RFC 8032 section 5.1.6)"
        );
    }

    #[test]
    fn the_chain_for_browsers_is_as_long_but_for_its_signatures() {
        let size: usize = BROWSER_CHAIN.shown.iter().map(|certificate| certificate.len()).sum();
        // An ECDSA signature of P-256 has 70 to 72 bytes, seldom fewer.
        assert!(size.abs_diff(CHAIN_SIZE.get() as usize) <= 10, "{size}");
        assert_eq!(browser_certificate(), &*BROWSER_CHAIN.shown[0]);
    }
}
