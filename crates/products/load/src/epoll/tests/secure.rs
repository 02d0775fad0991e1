//! The same over TLS: servers with a certificate of these tests.

use super::*;
use crate::tls::{ClientTls, Trust};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lastmile_testbed::http::Version;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A server over TLS; its address, and a PEM file with its certificate.
fn serve_secure(
    behave: impl Fn(&mut StreamOwned<ServerConnection, TcpStream>) + Send + Sync + 'static,
) -> (SocketAddr, tempfile::NamedTempFile) {
    serve_certificate(&|_| {}, &[], behave)
}

/// The same with another certificate, and a choice of protocols.
fn serve_certificate(
    change: &dyn Fn(&mut CertificateParams),
    protocols: &[&[u8]],
    behave: impl Fn(&mut StreamOwned<ServerConnection, TcpStream>) + Send + Sync + 'static,
) -> (SocketAddr, tempfile::NamedTempFile) {
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    change(&mut parameters);
    let key = KeyPair::generate().unwrap();
    let own = parameters.self_signed(&key).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let encoded = STANDARD.encode(own.der());
    let pem = format!("-----BEGIN CERTIFICATE-----\n{encoded}\n-----END CERTIFICATE-----\n");
    std::fs::write(file.path(), pem).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key.into())
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
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
        tls: Some(ClientTls::new("localhost", plan.http.version(), trust).unwrap()),
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
    let mark = |parameters: &mut CertificateParams| parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (server, certificate) = serve_certificate(&mark, &[], answer_secure(RESPONSE));
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
    let silent = serve(|_| thread::sleep(2 * STALL_TIMEOUT));
    assert_eq!(
        run_secure(silent, &Trust::Anyone, &stall_plan()).errors,
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
fn a_failed_handshake_has_its_reason() {
    let reasons = |measured: &Measurement| -> Vec<String> {
        assert_eq!(measured.errors, BTreeMap::from([(ErrorCause::Tls, REQUESTS)]));
        assert_eq!(measured.reasons.values().sum::<u64>(), REQUESTS);
        measured.reasons.keys().map(|(_, reason)| reason.to_string()).collect()
    };
    let found = |parameters: &dyn Fn(&mut CertificateParams), is_named: bool| {
        let (server, own) = serve_certificate(parameters, &[], answer_secure(RESPONSE));
        let name_other = |parameters: &mut CertificateParams| {
            parameters.distinguished_name.push(rcgen::DnType::CommonName, "another");
        };
        let (_, other) = serve_certificate(&name_other, &[], answer_secure(RESPONSE));
        let trusted = if is_named { &own } else { &other };
        reasons(&run_secure(server, &Trust::File(trusted.path().to_owned()), &plan()))
    };
    assert_eq!(found(&|_| {}, false), ["the certificate's issuer is not trusted"]);
    let other_name = |parameters: &mut CertificateParams| {
        parameters.subject_alt_names = vec![rcgen::SanType::DnsName("elsewhere".try_into().unwrap())];
    };
    assert_eq!(found(&other_name, true), ["the certificate is for another name"]);
    let expired = |parameters: &mut CertificateParams| {
        parameters.not_before = rcgen::date_time_ymd(2001, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(2002, 1, 1);
    };
    assert_eq!(found(&expired, false), ["the certificate has expired"]);
    let clear = serve(|stream| {
        let _ = stream.write_all(RESPONSE);
    });
    assert_eq!(
        reasons(&run_secure(clear, &Trust::Anyone, &plan())),
        ["the server's answer is not TLS"]
    );
    let closing = serve(|stream| {
        // What the client says first is read, or the connection would be reset.
        let _ = stream.read(&mut [0; 4096]);
    });
    assert_eq!(
        reasons(&run_secure(closing, &Trust::Anyone, &plan())),
        ["the server closed the connection in the handshake"]
    );
    // The alert protocol_version (RFC 8446 section 6), as servers of TLS 1.1 send it.
    let old = serve(|stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, 70]);
    });
    assert_eq!(
        reasons(&run_secure(old, &Trust::Anyone, &plan())),
        ["no common version of TLS: this client speaks 1.2 and 1.3"]
    );
}

#[test]
fn a_server_that_does_not_choose_http_2_is_told_apart() {
    let http2 = Plan {
        http: crate::plan::HttpVersion::Http2 {
            streams: NonZeroU32::MIN,
        },
        ..plan()
    };
    // It refuses by an alert where it knows other protocols alone, and chooses none where it knows none.
    for protocols in [&[b"http/1.1".as_slice()][..], &[]] {
        let (server, _certificate) = serve_certificate(&|_| {}, protocols, answer_secure(RESPONSE));
        let measured = run_secure(server, &Trust::Anyone, &http2);
        let reasons: Vec<String> = measured.reasons.keys().map(|(_, reason)| reason.to_string()).collect();
        assert_eq!(
            reasons,
            ["the server does not speak the version of HTTP that was offered (ALPN)"],
            "{protocols:?}"
        );
        assert_eq!(measured.errors, BTreeMap::from([(ErrorCause::Tls, REQUESTS)]));
    }
}

#[test]
fn a_file_of_authorities_that_is_none_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let refused = |trust: &Trust| {
        ClientTls::new("localhost", Version::Http11, trust)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&Trust::File("missing.pem".into())).contains("missing.pem: it cannot be read"));
    assert!(refused(&Trust::File(file.path().to_owned())).contains("no certificate"));
    assert!(ClientTls::new("a b", Version::Http11, &Trust::Anyone).is_err());
}
