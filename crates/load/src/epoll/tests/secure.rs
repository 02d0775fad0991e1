//! The same over TLS: servers with a certificate of these tests.

use super::*;
use crate::tls::{ClientTls, Trust};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A server over TLS; its address, and a PEM file with its certificate.
fn serve_secure(
    behave: impl Fn(&mut StreamOwned<ServerConnection, TcpStream>) + Send + Sync + 'static,
) -> (SocketAddr, tempfile::NamedTempFile) {
    serve_with(IsCa::NoCa, behave)
}

/// The same with a certificate that is marked as an authority's, or not.
fn serve_with(
    is_authority: IsCa,
    behave: impl Fn(&mut StreamOwned<ServerConnection, TcpStream>) + Send + Sync + 'static,
) -> (SocketAddr, tempfile::NamedTempFile) {
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    parameters.is_ca = is_authority;
    let key = KeyPair::generate().unwrap();
    let own = parameters.self_signed(&key).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let encoded = STANDARD.encode(own.der());
    let pem = format!("-----BEGIN CERTIFICATE-----\n{encoded}\n-----END CERTIFICATE-----\n");
    std::fs::write(file.path(), pem).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key.into())
        .unwrap();
    let config = Arc::new(config);
    let address = serve(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        behave(&mut StreamOwned::new(connection, stream.try_clone().unwrap()));
    });
    (address, file)
}

fn answer_secure(response: &'static [u8]) -> impl Fn(&mut StreamOwned<ServerConnection, TcpStream>) {
    move |stream| {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while stream.read(&mut byte).is_ok_and(|read| read == 1) {
            head.push(byte[0]);
            if head.ends_with(b"\r\n\r\n") {
                head.clear();
                if stream.write_all(response).is_err() {
                    return;
                }
            }
        }
    }
}

fn run_secure(server: SocketAddr, trust: &Trust, plan: &Plan) -> Measurement {
    let generator = Generator {
        tls: Some(ClientTls::new("localhost", &[b"http/1.1"], trust).unwrap()),
        ..Generator::new(server, NonZeroU32::MIN, Arc::default())
    };
    let plan = Plan {
        tls: true,
        ..plan.clone()
    };
    generator.run(&plan, Seed::new(1)).unwrap().measurement
}

#[test]
fn requests_go_over_tls_and_the_handshake_is_measured_by_itself() {
    let (server, certificate) = serve_secure(answer_secure(RESPONSE));
    let trust = Trust::File(certificate.path().to_owned());
    for (requests_per_connection, trust) in [(None, &trust), (NonZeroU32::new(1), &trust), (None, &Trust::Anyone)] {
        let plan = Plan {
            requests_per_connection,
            ..plan()
        };
        let measured = run_secure(server, trust, &plan);
        assert_eq!((measured.completed, measured.failed()), (REQUESTS, 0), "{measured:?}");
        assert_eq!(measured.body_bytes, 2 * REQUESTS);
        assert_eq!(measured.tls.count(), measured.connections);
        assert!(measured.tls.mean().unwrap() > Duration::ZERO);
        assert_eq!(measured.connect.count(), measured.connections);
    }
}

/// As `openssl req -x509` makes it.
#[test]
fn a_server_may_have_a_named_certificate_that_is_marked_as_an_authoritys() {
    let is_authority = IsCa::Ca(BasicConstraints::Unconstrained);
    let (server, certificate) = serve_with(is_authority, answer_secure(RESPONSE));
    let measured = run_secure(server, &Trust::File(certificate.path().to_owned()), &plan());
    assert_eq!((measured.completed, measured.failed()), (REQUESTS, 0), "{measured:?}");
}

#[test]
fn a_body_of_many_records_arrives_whole() {
    const SIZE: usize = 300_000;
    let (server, _certificate) = serve_secure(|stream| {
        let mut byte = [0];
        let mut head = Vec::new();
        while stream.read(&mut byte).is_ok_and(|read| read == 1) {
            head.push(byte[0]);
            if head.ends_with(b"\r\n\r\n") {
                head.clear();
                let response = [
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n").as_bytes(),
                    &[b'x'; SIZE],
                ]
                .concat();
                if stream.write_all(&response).is_err() {
                    return;
                }
            }
        }
    });
    let measured = run_secure(server, &Trust::Anyone, &plan());
    assert_eq!(
        (measured.completed, measured.body_bytes),
        (REQUESTS, REQUESTS * SIZE as u64)
    );
}

#[test]
fn what_goes_wrong_with_tls_is_counted_under_its_cause() {
    let every = |cause| BTreeMap::from([(cause, REQUESTS)]);
    // A certificate that nobody vouches for.
    let (server, _certificate) = serve_secure(answer_secure(RESPONSE));
    let (_, other) = serve_secure(answer_secure(RESPONSE));
    let measured = run_secure(server, &Trust::File(other.path().to_owned()), &plan());
    assert_eq!(measured.errors, every(ErrorCause::Tls));
    // A server without TLS, one that closes, and one that says nothing.
    let clear = serve(|stream| {
        let _ = stream.write_all(RESPONSE);
    });
    assert_eq!(
        run_secure(clear, &Trust::Anyone, &plan()).errors,
        every(ErrorCause::Tls)
    );
    let closing = serve(close);
    assert_eq!(
        run_secure(closing, &Trust::Anyone, &plan()).errors,
        every(ErrorCause::Tls)
    );
    let silent = serve(|_| thread::sleep(2 * TIMEOUT));
    assert_eq!(
        run_secure(silent, &Trust::Anyone, &plan()).errors,
        every(ErrorCause::SlowTls)
    );
    // One that closes after the handshake.
    let (server, _certificate) = serve_secure(|stream| {
        let mut request = [0; 10];
        let _ = stream.read(&mut request);
    });
    let found = run_secure(server, &Trust::Anyone, &plan());
    assert_eq!(found.failed(), REQUESTS, "{:?}", found.errors);
    assert!(
        found
            .errors
            .keys()
            .all(|cause| matches!(cause, ErrorCause::ClosedBeforeResponse | ErrorCause::Reset))
    );
}

#[test]
fn a_file_of_authorities_that_is_none_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let refused = |trust: &Trust| ClientTls::new("localhost", &[], trust).unwrap_err().to_string();
    assert!(refused(&Trust::File("missing.pem".into())).contains("missing.pem: it cannot be read"));
    assert!(refused(&Trust::File(file.path().to_owned())).contains("no certificate"));
    assert!(ClientTls::new("a b", &[], &Trust::Anyone).is_err());
}
