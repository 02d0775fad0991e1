//! The monitor on a TCP socket, where clients vanish, stand still or are web pages.

mod connections;
mod door;
mod timed_body;

use crate::service::{AnswerBody, Monitor, Peer, refusal};
use connections::{Answering, AnsweringBody, Connections};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use lastmile_events::Timestamp;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use timed_body::TimedBody;
use tokio::net::TcpListener;

/// The most connections at a time: our own choice.
const CONNECTIONS_MAX: usize = 1024;
/// How long a connection may take to send the head of a request, and be idle before it: our own choice.
const HEAD: Duration = Duration::from_secs(60);
/// When TCP asks a silent client whether it is still there, how often, and how many times: our own choice.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
const KEEP_ALIVE_PROBES: u32 = 4;
/// How often the server looks whether it is to stop.
const STOP_POLL: Duration = Duration::from_millis(50);

/// How often the monitor learns the time, and deletes what it does not keep any longer: our own choice.
const TICK: Duration = Duration::from_secs(1);

/// Answers connections until `stop` is set.
///
/// # Errors
/// When the socket cannot be used.
pub async fn serve(monitor: Arc<Monitor>, listener: std::net::TcpListener, stop: &AtomicBool) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    // Connections inherit these from the socket that listens.
    let keep_alive = socket2::TcpKeepalive::new()
        .with_time(KEEP_ALIVE)
        .with_interval(KEEP_ALIVE_INTERVAL)
        .with_retries(KEEP_ALIVE_PROBES);
    socket2::SockRef::from(&listener).set_tcp_keepalive(&keep_alive)?;
    let listener = TcpListener::from_std(listener)?;
    let connections = Connections::new(CONNECTIONS_MAX);
    let ticking = tokio::spawn(tick(Arc::clone(&monitor)));
    while !stop.load(Ordering::Relaxed) {
        let Ok(accepted) = tokio::time::timeout(STOP_POLL, listener.accept()).await else {
            continue;
        };
        if accepted.as_ref().is_err_and(has_no_descriptor) {
            connections.close_idlest();
        }
        let Some(((stream, peer), slot)) = accepted.ok().zip(connections.open()) else {
            // Too many connections that are being answered: those that are open go on.
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let monitor = Arc::clone(&monitor);
        let number = slot.number();
        let serving = tokio::spawn(async move {
            let respond = service_fn(|mut request| {
                request.extensions_mut().insert(Peer(peer.ip()));
                let response = respond(Arc::clone(&monitor), request, slot.answer());
                async move { Ok::<_, Infallible>(response.await) }
            });
            // The client's going away is its own affair.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .serve_connection(TokioIo::new(stream), respond)
                .await;
        });
        connections.set_task(number, serving.abort_handle());
    }
    ticking.abort();
    Ok(())
}

/// Whether a process, or all of them, may have no further descriptor (EMFILE, ENFILE).
fn has_no_descriptor(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}

async fn respond(
    monitor: Arc<Monitor>,
    request: Request<Incoming>,
    answering: Answering,
) -> Response<AnsweringBody<AnswerBody>> {
    let checked = if monitor.has_token() {
        Ok(())
    } else {
        door::check(&request)
    };
    let response = match checked {
        Ok(()) => monitor.answer(request.map(TimedBody::new)).await,
        Err((status, message)) => refusal(status, &message),
    };
    response.map(|inner| AnsweringBody {
        inner,
        _answering: answering,
    })
}

async fn tick(monitor: Arc<Monitor>) {
    loop {
        monitor.tick(Timestamp::now()).await;
        tokio::time::sleep(TICK).await;
    }
}
