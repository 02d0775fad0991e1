//! Measures the CPU time of TLS: handshakes and records between a client and a server in memory, each side timed separately.

use super::{at_size, seconds_of};
use crate::cpu_cost_model::cost_table::{Samples, SamplesAtSize};
use rcgen::{CertificateParams, Issuer, KeyPair, PKCS_ED25519};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

/// A server and a client that trusts it.
pub(super) struct TlsPair {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl TlsPair {
    /// TLS 1.3 only, with a root and a leaf whose keys are Ed25519.
    pub(super) fn new() -> Self {
        const MADE: &str = "a certificate of our own making is well formed";
        let [root_key, leaf_key] = [(); 2].map(|()| KeyPair::generate_for(&PKCS_ED25519).expect(MADE));
        let mut root = CertificateParams::new(Vec::new()).expect(MADE);
        root.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let anchor = root.self_signed(&root_key).expect(MADE);
        let leaf = CertificateParams::new(vec![NAME.to_owned()]).expect(MADE);
        let leaf = leaf.signed_by(&leaf_key, &Issuer::new(root, root_key)).expect(MADE);
        let mut roots = RootCertStore::empty();
        roots.add(anchor.der().clone()).expect(MADE);

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = &[&rustls::version::TLS13];
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let client = client.with_protocol_versions(versions).expect("ring has TLS 1.3");
        let mut client = client.with_root_certificates(roots).with_no_client_auth();
        client.resumption = rustls::client::Resumption::disabled();
        let server = ServerConfig::builder_with_provider(provider);
        let server = server
            .with_protocol_versions(versions)
            .expect("ring has TLS 1.3")
            .with_no_client_auth();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let server = server.with_single_cert(vec![leaf.der().clone()], key).expect(MADE);
        Self {
            client: Arc::new(client),
            server: Arc::new(server),
        }
    }

    /// The server's part of a handshake.
    pub(super) fn accept(&self) -> Samples {
        self.part(|[_, server]| server)
    }

    /// The client's part of a handshake.
    pub(super) fn connect(&self) -> Samples {
        self.part(|[client, _]| client)
    }

    fn part(&self, side: impl Fn([Duration; 2]) -> Duration) -> Samples {
        Samples::of_any_size(seconds_of(|| side(self.handshake().1).as_secs_f64()))
    }

    /// Encrypting `plain` into records, or decrypting them: the mean of both.
    pub(super) fn seal(&self, plain: &[u8]) -> SamplesAtSize {
        let ([mut client, mut server], _) = self.handshake();
        let (mut wire, mut read) = (Vec::new(), vec![0; plain.len()]);
        at_size(plain.len(), || {
            wire.clear();
            for piece in plain.chunks(BUFFER) {
                server.writer().write_all(piece).expect(IN_MEMORY);
                flush(&mut server, &mut wire);
            }
            // Encryption and decryption are timed together and cost about the same; the table has their mean.
            let mut rest = wire.as_slice();
            let mut filled = 0;
            while !rest.is_empty() {
                client.read_tls(&mut rest).expect(IN_MEMORY);
                client.process_new_packets().expect(IN_MEMORY);
                while let Ok(more @ 1..) = client.reader().read(&mut read[filled..]) {
                    filled += more;
                }
            }
            assert_eq!(filled, plain.len(), "what was encrypted is decrypted");
        })
        .halved()
    }

    /// A handshake, and the time that the client and the server spent on it.
    fn handshake(&self) -> ([Connection; 2], [Duration; 2]) {
        let mut spent = [Duration::ZERO; 2];
        let name = ServerName::try_from(NAME).expect("the name is one of DNS");
        let mut sides = [
            timed(&mut spent[0], || {
                Connection::from(ClientConnection::new(Arc::clone(&self.client), name).expect(IN_MEMORY))
            }),
            timed(&mut spent[1], || {
                Connection::from(ServerConnection::new(Arc::clone(&self.server)).expect(IN_MEMORY))
            }),
        ];
        let mut wire = Vec::new();
        while sides.iter().any(|side| side.is_handshaking() || side.wants_write()) {
            for (from, to) in [(0, 1), (1, 0)] {
                wire.clear();
                timed(&mut spent[from], || flush(&mut sides[from], &mut wire));
                timed(&mut spent[to], || {
                    let mut rest = wire.as_slice();
                    while !rest.is_empty() {
                        sides[to].read_tls(&mut rest).expect(IN_MEMORY);
                        sides[to].process_new_packets().expect(IN_MEMORY);
                    }
                });
            }
        }
        (sides, spent)
    }
}

const NAME: &str = "calibration.lastmile.test";
const IN_MEMORY: &str = "two rustls peers understand each other, and writing to memory does not fail";

/// Less than rustls buffers before it must be flushed (64 KiB).
const BUFFER: usize = 16 * 1024;

fn flush(from: &mut Connection, wire: &mut Vec<u8>) {
    while from.wants_write() {
        from.write_tls(wire).expect(IN_MEMORY);
    }
}

fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = std::time::Instant::now();
    let made = work();
    *spent += started.elapsed();
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::ByteCount;

    #[test]
    fn both_sides_work_for_a_handshake_and_records_cost_by_their_size() {
        let peers = TlsPair::new();
        for samples in [peers.accept(), peers.connect()] {
            assert!(samples.large.is_none() && samples.small.seconds.iter().all(|seconds| *seconds > 0.0));
        }
        assert_eq!(peers.seal(&[7; 100_000]).bytes, ByteCount::new(100_000));
    }
}
