//! Servers of known behaviour, each for as long as this process lives.

use anyhow::Result;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// The stack of a thread per connection: little, as there are many.
const STACK: usize = 64 * 1024;

/// A request that waits for a worker: the worker tells its connection when it has been served.
type WaitingRequest = Sender<()>;

/// Serves requests by so many workers, each request for so long, first come first served.
pub(crate) fn workers(count: usize, service: Duration) -> Result<SocketAddr> {
    let (submit, submitted) = channel::<WaitingRequest>();
    let submitted = Arc::new(Mutex::new(submitted));
    for _ in 0..count {
        let submitted = Arc::clone(&submitted);
        thread::spawn(move || {
            loop {
                let work = submitted.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(done) = work else { return };
                // A sleep ends some 60 us late: it is made shorter by that, and its end is waited for.
                let end = Instant::now() + service;
                thread::sleep(service.saturating_sub(Duration::from_micros(300)));
                while Instant::now() < end {
                    std::hint::spin_loop();
                }
                // The connection may be gone.
                let _ = done.send(());
            }
        });
    }
    serve(move || {
        let (done, finished) = channel();
        // The workers live as long as this process.
        let _ = submit.send(done);
        let _ = finished.recv();
    })
}

/// Answers at once, save during a stall that begins so long after the first request.
pub(crate) fn stalling(after: Duration, stall: Duration) -> Result<SocketAddr> {
    let first = OnceLock::new();
    serve(move || {
        let begin = *first.get_or_init(Instant::now) + after;
        let now = Instant::now();
        if now >= begin && now < begin + stall {
            thread::sleep(begin + stall - now);
        }
    })
}

/// Answers each request after so long.
pub(crate) fn delaying(time: Duration) -> Result<SocketAddr> {
    serve(move || thread::sleep(time))
}

/// A thread per connection; `work` returns when a request has been served.
fn serve(work: impl Fn() + Send + Sync + 'static) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let work = Arc::new(work);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            let work = Arc::clone(&work);
            // Where no thread is left, the connection is closed.
            let _ = thread::Builder::new()
                .stack_size(STACK)
                .spawn(move || answer(stream, &*work));
        }
    });
    Ok(address)
}

/// Answers requests, which fit into one read, until the client closes.
fn answer(mut stream: TcpStream, work: &dyn Fn()) {
    let _ = stream.set_nodelay(true);
    let mut request = [0; 1024];
    while stream.read(&mut request).is_ok_and(|read| read > 0) {
        work();
        if stream.write_all(RESPONSE).is_err() {
            return;
        }
    }
}
