//! The monitor keeps events safely, and answers queries and subscriptions; the sensor takes events of applications on its host and passes
//! them on to a monitor.
//!
//! Both keep chunks in a [`log::Log`]: SQLite, one thread that writes, and what was written last in memory. The [`ledger`] decides, without
//! clock, disk or socket, what is taken: the chunks of a source must tile its sequence. A [`cursor::Cursor`] is a place in a log: backlog, then
//! live events, in one call. A subscriber that is slow costs its cursor and one page, wherever it is.

pub mod client;
pub mod cursor;
pub mod event_json;
pub mod filter;
pub mod ledger;
pub mod log;
pub mod runtime;
pub mod sensor;
pub mod server;
pub mod service;

/// Runs a future of this crate on a thread's own runtime.
///
/// # Errors
/// When the system gives no runtime.
pub fn block_on<F: Future>(future: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(future))
}
