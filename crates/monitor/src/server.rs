//! The monitor on a TCP socket.

use crate::service::{Monitor, Peer};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use lastmile_events::Timestamp;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The most connections at a time: our own choice.
const MOST_CONNECTIONS: usize = 1024;
/// How often the server looks whether it is to stop.
const STOP_POLL: Duration = Duration::from_millis(50);

/// Whether only programs of this machine reach the address.
pub fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().is_loopback()
}

/// How often the monitor learns the time, and deletes what it does not keep any longer: our own choice.
const TICK: Duration = Duration::from_secs(1);

/// Answers connections until `stop` is set.
///
/// # Errors
/// When the socket cannot be used.
pub async fn serve(monitor: Arc<Monitor>, listener: std::net::TcpListener, stop: &AtomicBool) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let ticking = tokio::spawn(tick(Arc::clone(&monitor)));
    while !stop.load(Ordering::Relaxed) {
        let Ok(accepted) = tokio::time::timeout(STOP_POLL, listener.accept()).await else {
            continue;
        };
        let (Ok((stream, peer)), Ok(place)) = (accepted, Arc::clone(&places).try_acquire_owned()) else {
            // Too many connections, or too many files: those that are open go on.
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let monitor = Arc::clone(&monitor);
        tokio::spawn(async move {
            let answer = service_fn(|mut request| {
                request.extensions_mut().insert(Peer(peer.ip()));
                let monitor = Arc::clone(&monitor);
                async move { Ok::<_, Infallible>(monitor.answer(request).await) }
            });
            // The client's going away is its own affair.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
            drop(place);
        });
    }
    ticking.abort();
    Ok(())
}

async fn tick(monitor: Arc<Monitor>) {
    loop {
        monitor.tick(Timestamp::now()).await;
        tokio::time::sleep(TICK).await;
    }
}
