//! The delivery of bulk data over one TCP connection.
//!
//! The client connects and sends one small request; the server sends the bytes. Times run from `connect`.

use super::{PORT, run_pair};
use crate::over_link::observe_link;
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::Observation;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{TestbedWorld, TwoHostTestbed};
use lastmile_units::{ByteCount, Instant};
use lastmile_world::Host;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The size of the request: of the order of a small GET. Our own choice.
const REQUEST: usize = 100;
/// How much is written or read at once.
const CHUNK: usize = 64 << 10;

/// The figures of a transfer.
pub(super) const FIGURES: &[&Figure] = &[
    figure::HANDSHAKE_TIME,
    figure::FIRST_BYTE_TIME,
    figure::TRANSFER_TIME,
    figure::GOODPUT,
    figure::LINK_BYTES,
    figure::RETRANSMISSIONS,
    figure::QUEUE_DROPS,
    figure::LINK_LOSSES,
];

/// When the client began to connect, and what came after it.
struct Times {
    start: Instant,
    connected: Instant,
    first_byte: Instant,
    complete: Instant,
}

pub(super) fn run<W: TestbedWorld>(testbed: &TwoHostTestbed<W>, bytes: ByteCount) -> Result<Observation, Failure> {
    let client = fetch(testbed.client.clone(), testbed.server.address(PORT), bytes);
    let (times, done) = run_pair(testbed, "transfer", move |stream| serve(stream, bytes), client)?;
    let mut observation = Observation::default();
    observation.sample_time(figure::HANDSHAKE_TIME, times.start..times.connected);
    observation.sample_time(figure::FIRST_BYTE_TIME, times.start..times.first_byte);
    observation.sample_time(figure::TRANSFER_TIME, times.start..times.complete);
    let transfer = times.complete - times.start;
    observation.sample(figure::GOODPUT, bytes.as_f64() * 8.0 / transfer.as_secs_f64());
    observe_link(&done, &mut observation);
    observation.sample(figure::LINK_LOSSES, done.link_losses as f64);
    Ok(observation)
}

async fn serve(mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin, bytes: ByteCount) -> io::Result<()> {
    let mut request = [0; REQUEST];
    stream.read_exact(&mut request).await?;
    let chunk = vec![0; CHUNK];
    let mut left = bytes.get();
    while left > 0 {
        let length = left.min(CHUNK as u64);
        stream.write_all(&chunk[..length as usize]).await?;
        left -= length;
    }
    stream.shutdown().await
}

async fn fetch(host: impl Host, from: std::net::SocketAddrV4, bytes: ByteCount) -> io::Result<Times> {
    let start = host.now();
    let mut stream = host.connect(from).await?;
    let connected = host.now();
    stream.write_all(&[0; REQUEST]).await?;
    let mut buffer = vec![0; CHUNK];
    let mut received = 0;
    let mut first_byte = None;
    while received < bytes.get() {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        received += read as u64;
        first_byte.get_or_insert(host.now());
    }
    let complete = host.now();
    Ok(Times {
        start,
        connected,
        first_byte: first_byte.unwrap_or(complete),
        complete,
    })
}
