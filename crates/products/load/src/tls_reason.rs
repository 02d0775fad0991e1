//! Why a handshake of TLS failed, in words: the reasons that the errors of rustls have.

use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};
use std::io;

/// The reason of an error of rustls.
pub(crate) fn tls_reason(error: &Error) -> &'static str {
    match error {
        Error::InvalidCertificate(error) => certificate_reason(error),
        Error::AlertReceived(alert) => alert_reason(*alert),
        Error::NoApplicationProtocol => NO_PROTOCOL,
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13 | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => OLD_VERSION,
        Error::PeerIncompatible(_) => "the server wants a method of TLS that this client does not have",
        Error::NoCertificatesPresented => "the server showed no certificate",
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => "the server's answer is not TLS",
        Error::InappropriateHandshakeMessage { .. } | Error::PeerMisbehaved(_) => "the server breaks the rules of TLS",
        Error::DecryptError => "what came cannot be decrypted",
        Error::PeerSentOversizedRecord => "the server's answer has a record longer than TLS allows",
        _ => "another error of TLS",
    }
}

/// The reason of an error of a stream that TLS runs over.
pub(crate) fn tls_reason_of_io(error: &io::Error) -> &'static str {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(error) => tls_reason(error),
        None if error.kind() == io::ErrorKind::UnexpectedEof => CLOSED,
        None => "another error of TLS",
    }
}

/// The connection was closed before the handshake was complete.
pub(crate) const CLOSED: &str = "the server closed the connection in the handshake";
/// ALPN found no common protocol.
pub(crate) const NO_PROTOCOL: &str = "the server does not speak the version of HTTP that was offered (ALPN)";
const OLD_VERSION: &str = "no common version of TLS: this client speaks 1.2 and 1.3";

fn certificate_reason(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::UnknownIssuer => "the certificate's issuer is not trusted",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "the certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is for another name"
        }
        CertificateError::Revoked => "the certificate was revoked",
        CertificateError::BadEncoding => "the certificate cannot be read",
        CertificateError::BadSignature => "the certificate's signature is wrong",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the certificate is not one for servers"
        }
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "the certificate is an authority's, and not a server's"
        }
        _ => "the certificate is not accepted",
    }
}

/// What the server says (RFC 8446 section 6).
fn alert_reason(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::ProtocolVersion => OLD_VERSION,
        AlertDescription::NoApplicationProtocol => NO_PROTOCOL,
        AlertDescription::HandshakeFailure => "the server refused (alert handshake_failure)",
        AlertDescription::UnrecognisedName => "the server does not know the name (alert unrecognized_name)",
        AlertDescription::CertificateRequired => {
            "the server wants a certificate of the client (alert certificate_required)"
        }
        AlertDescription::UnknownCA | AlertDescription::BadCertificate | AlertDescription::AccessDenied => {
            "the server does not accept this client (alert on its certificate)"
        }
        AlertDescription::InternalError => "the server has an error of its own (alert internal_error)",
        _ => "the server refused (another alert)",
    }
}
