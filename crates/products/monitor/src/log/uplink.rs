//! An emitter's uplink into a log of the same process.

use super::Log;
use lastmile_events::Chunk;
use lastmile_events::uplink::{Durability, Reply, Uplink};
use std::io;
use std::sync::Arc;

/// Submits to a log of this process.
#[derive(Debug)]
pub struct LogUplink {
    log: Arc<Log>,
    runtime: tokio::runtime::Runtime,
}

impl LogUplink {
    /// An uplink into this log, whose chunks survive this process.
    ///
    /// # Errors
    /// When the system gives no runtime.
    pub fn new(log: Arc<Log>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(Self { log, runtime })
    }
}

impl Uplink for LogUplink {
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        let replies = self
            .runtime
            .block_on(self.log.append(vec![chunk.clone()], Durability::Process));
        replies
            .into_iter()
            .next()
            .ok_or_else(|| io::Error::other("the log has ended"))
    }
}
