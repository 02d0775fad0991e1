//! Measures TCP's throughput over a path that does not shape packets.

use super::path::Path;
use anyhow::{Context as _, Result};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const PORT: u16 = 80;
/// The warm-up, in which the window grows and nothing is counted.
const BEFORE: Duration = Duration::from_millis(500);
/// The duration of the count.
const COUNTED: Duration = Duration::from_secs(2);

/// Gbit/s of data that one connection carries.
///
/// # Errors
/// When there is no connection.
pub(crate) fn carried(path: &Path) -> Result<f64> {
    let listener = path.far.enter(|| TcpListener::bind((path.far_address, PORT)))??;
    let reading = thread::spawn(move || -> Result<f64> {
        let (mut stream, _) = listener.accept()?;
        let mut buffer = vec![0; 1 << 20];
        let (begun, mut counted, mut counting_since) = (Instant::now(), 0, None);
        loop {
            let read = stream.read(&mut buffer)?;
            let now = Instant::now();
            let Some(since) = counting_since else {
                counting_since = (now - begun >= BEFORE).then_some(now);
                continue;
            };
            counted += read;
            if now - since >= COUNTED {
                return Ok(counted as f64 * 8.0 / (now - since).as_secs_f64() / 1e9);
            }
        }
    });
    let mut stream = path
        .near
        .enter(|| TcpStream::connect((path.far_address, PORT)))?
        .context("connecting")?;
    let chunk = vec![0; 1 << 20];
    // Until the reader closes the connection.
    while stream.write_all(&chunk).is_ok() {}
    reading.join().map_err(|_| anyhow::anyhow!("the reader panicked"))?
}
