//! How long does each of many small exchanges take over one TCP connection that stays open?
//!
//! The client sends a request and waits for the whole response before it sends the next, after a pause where one is asked for.

use crate::figure;
use crate::observation::{Failure, Observation};
use crate::site::{Laboratory, Site};
use lastmile_payload::workload::RequestResponse;
use lastmile_world::{Host, Listener};
use std::io;
use std::net::SocketAddrV4;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PORT: u16 = 80;

struct Times {
    handshake: Duration,
    responses: Vec<Duration>,
    all: Duration,
}

pub(super) fn run<W: Laboratory>(site: &Site<W>, exchanges: &RequestResponse) -> Result<Observation, Failure> {
    let before = site.tally();
    let failed = |error: io::Error| Failure::new(format!("the exchanges failed: {error}"));
    let mut listener = site.server.listen(PORT).map_err(failed)?;
    let asked = exchanges.clone();
    site.server.spawn(async move {
        // What fails here is seen by the client, as a stream that ends too soon.
        if let Ok(mut stream) = listener.accept().await {
            let _ = serve(&mut stream, &asked).await;
        }
    });
    let client = exchange(site.client.clone(), site.server.address(PORT), exchanges.clone());
    let times = site.run(client)?.map_err(failed)?;
    let done = site.tally().since(before);
    let mut observation = Observation::default();
    observation.sample(figure::HANDSHAKE_TIME, times.handshake.as_secs_f64());
    for response in &times.responses {
        observation.sample(figure::RESPONSE_TIME, response.as_secs_f64());
    }
    observation.sample(figure::TRANSFER_TIME, times.all.as_secs_f64());
    observation.sample(figure::LINK_BYTES, done.bytes_down as f64);
    observation.sample(figure::RETRANSMISSIONS, done.retransmissions as f64);
    observation.sample(figure::QUEUE_DROPS, done.queue_drops as f64);
    observation.sample(figure::LINK_LOSSES, done.link_losses as f64);
    Ok(observation)
}

async fn serve(
    stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin),
    exchanges: &RequestResponse,
) -> io::Result<()> {
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
    let handshake = host.now() - start;
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
        responses.push(host.now() - asked);
    }
    Ok(Times {
        handshake,
        responses,
        all: host.now() - start,
    })
}
