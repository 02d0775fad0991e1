//! HTTP load: requests at times of their own, and response times from when each request should have started.
//!
//! [`plan`] says what is asked: [`schedule`] when, [`session`] what depends on what. [`client`] decides, sans-IO, with [`http1`] and `http2`; two drivers carry
//! its decisions out: [`epoll`] over real sockets, and [`over_host`], a program on a host of any world, which [`on_testbed`] starts, against a
//! [`server_model`] too. [`measurement`] holds the figures, [`sending_window`] those of the time of sending, and [`self_check`] says whether they count. [`search`] finds the highest rate
//! within a limit ([`slo`]), and [`queueing_theory`] knows it for some servers; [`record`] makes what is published.

pub mod client;
mod csv;
pub mod distribution;
mod document;
#[cfg(target_os = "linux")]
pub mod epoll;
pub mod error_cause;
pub mod http1;
mod http2;
pub mod link_use;
pub mod live;
pub mod measurement;
pub mod on_testbed;
pub mod over_host;
pub mod plan;
pub mod queueing_theory;
pub mod rate;
pub mod record;
pub mod request;
pub mod schedule;
mod screen;
pub mod search;
pub mod self_check;
#[cfg(target_os = "linux")]
pub mod send_capture;
mod send_counts;
pub mod sending_window;
pub mod server_model;
pub mod session;
pub mod slo;
pub mod summary;
pub mod target;
#[cfg(test)]
mod tests;
#[cfg(target_os = "linux")]
pub mod tls;
mod tls_reason;

pub use send_counts::SendCounts;
