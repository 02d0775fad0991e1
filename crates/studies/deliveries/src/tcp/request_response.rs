//! The delivery of many small requests and responses over one persistent TCP connection.
//!
//! The client sends a request and waits for the whole response before it sends the next, after a pause if one is set.

use super::{PORT, run_pair};
use crate::over_link::observe_link;
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::Observation;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{TestbedWorld, TwoHostTestbed};
use lastmile_units::Instant;
use lastmile_workload::RequestResponse;
use lastmile_world::Host;
use std::io;
use std::net::SocketAddrV4;
use std::ops::Range;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The figures of the exchanges.
pub(super) const FIGURES: &[&Figure] = &[
    figure::HANDSHAKE_TIME,
    figure::RESPONSE_TIME,
    figure::TRANSFER_TIME,
    figure::LINK_BYTES,
    figure::RETRANSMISSIONS,
    figure::QUEUE_DROPS,
    figure::LINK_LOSSES,
];

/// When the client began to connect, and what came after it.
struct Times {
    start: Instant,
    connected: Instant,
    /// From each request to its response.
    responses: Vec<Range<Instant>>,
    complete: Instant,
}

pub(super) fn run<W: TestbedWorld>(
    testbed: &TwoHostTestbed<W>,
    exchanges: &RequestResponse,
) -> Result<Observation, Failure> {
    let client = exchange(testbed.client.clone(), testbed.server.address(PORT), exchanges.clone());
    let served = exchanges.clone();
    let (times, done) = run_pair(testbed, "exchanges", move |stream| serve(stream, served), client)?;
    let mut observation = Observation::default();
    observation.sample_time(figure::HANDSHAKE_TIME, times.start..times.connected);
    for response in times.responses {
        observation.sample_time(figure::RESPONSE_TIME, response);
    }
    observation.sample_time(figure::TRANSFER_TIME, times.start..times.complete);
    observe_link(&done, &mut observation);
    observation.sample(figure::LINK_LOSSES, done.link_losses as f64);
    Ok(observation)
}

async fn serve(mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin, exchanges: RequestResponse) -> io::Result<()> {
    let mut request = vec![0; exchanges.request.get() as usize];
    let response = vec![0; exchanges.response.get() as usize];
    for _ in 0..exchanges.requests.get() {
        stream.read_exact(&mut request).await?;
        stream.write_all(&response).await?;
    }
    stream.shutdown().await
}

async fn exchange(host: impl Host, with: SocketAddrV4, exchanges: RequestResponse) -> io::Result<Times> {
    let start = host.now();
    let mut stream = host.connect(with).await?;
    let connected = host.now();
    let request = vec![0; exchanges.request.get() as usize];
    let mut response = vec![0; exchanges.response.get() as usize];
    let mut responses = Vec::new();
    for index in 0..exchanges.requests.get() {
        if index > 0 && !exchanges.pause.is_zero() {
            host.sleep_until(host.now() + exchanges.pause).await;
        }
        let asked = host.now();
        stream.write_all(&request).await?;
        stream.read_exact(&mut response).await?;
        responses.push(asked..host.now());
    }
    Ok(Times {
        start,
        connected,
        responses,
        complete: host.now(),
    })
}
