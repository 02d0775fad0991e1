//! What the systems share: the events' payload, a buffered connection, and the marks by which deliveries are timed.

use anyhow::{Result, bail};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The bytes of an event.
pub(crate) const EVENT: usize = 128;

/// An event's payload: a mark with its number, and filling.
pub(crate) fn payload(number: u64) -> String {
    format!("#{number:010}#{}", "x".repeat(EVENT - 12))
}

/// The number of the first payload in these bytes, and where the mark ends.
pub(crate) fn mark(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| *byte == b'#')?;
        let mark = bytes.get(at..at + 12)?;
        if mark[11] == b'#' && mark[1..11].iter().all(u8::is_ascii_digit) {
            let digits = std::str::from_utf8(&mark[1..11]).expect("digits are text");
            return Some((digits.parse().expect("ten digits are a number"), at + 12));
        }
        from = at + 1;
    }
}

/// A connection that is read in whole parts.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    start: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(1 << 18),
            start: 0,
        })
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Reads until `parse` finds a whole part, and tells it and its length.
    pub(crate) async fn read<T>(&mut self, mut parse: impl FnMut(&[u8]) -> Result<Option<(T, usize)>>) -> Result<T> {
        loop {
            if let Some((part, length)) = parse(&self.buffer[self.start..])? {
                self.start += length;
                return Ok(part);
            }
            if self.start > 0 {
                self.buffer.drain(..self.start);
                self.start = 0;
            }
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the server closed the connection");
            }
        }
    }

    /// Reads to the next mark.
    pub(crate) async fn read_mark(&mut self) -> Result<u64> {
        self.read(|bytes| Ok(mark(bytes))).await
    }
}

/// The bytes until a line's end, and the length with it.
pub(crate) fn line(bytes: &[u8]) -> Option<(&str, usize)> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    Some((std::str::from_utf8(&bytes[..end]).unwrap_or("?"), end + 2))
}

/// When events were published, and how long each delivery took.
pub(crate) struct Deliveries {
    published: Vec<Instant>,
    first: u64,
    times: Vec<Duration>,
}

impl Deliveries {
    /// Of events whose numbers begin at `first`.
    pub(crate) const fn new(first: u64) -> Self {
        Self {
            published: Vec::new(),
            first,
            times: Vec::new(),
        }
    }

    pub(crate) fn publish(&mut self) {
        self.published.push(Instant::now());
    }

    pub(crate) fn deliver(&mut self, number: u64) {
        let at = number.checked_sub(self.first).map(|at| self.published.get(at as usize));
        if let Some(Some(published)) = at {
            self.times.push(published.elapsed());
        }
    }

    pub(crate) fn into_times(self) -> Vec<Duration> {
        self.times
    }
}

const TIMEOUT: Duration = Duration::from_secs(20);

/// Runs a publisher and its readers until all of them are done.
///
/// # Errors
/// When one fails, or they take longer than `TIMEOUT`.
pub(crate) async fn publish_and_read(
    publishing: impl Future<Output = Result<()>>,
    reading: impl IntoIterator<Item = impl Future<Output = Result<()>>>,
) -> Result<()> {
    let reading = futures_util::future::try_join_all(reading);
    tokio::time::timeout(TIMEOUT, futures_util::future::try_join(publishing, reading)).await??;
    Ok(())
}
