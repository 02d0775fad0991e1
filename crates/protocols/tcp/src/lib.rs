//! A lean TCP that does no input or output: it accepts segments and times, and returns segments and deadlines.
//!
//! [`Connection`] is one end of a connection. Its driver calls, in this order: one of [`Connection::on_segment`],
//! [`Connection::on_timer`], [`Connection::write`], [`Connection::read`], [`Connection::shutdown`], [`Connection::close`]; then
//! [`Connection::next_transmit`] until it returns nothing; then [`Connection::next_deadline`] to know when to call `on_timer`.
//! Time is an argument and never goes back.
//!
//! It behaves like a recent Linux, so that its figures are transferable: where it departs from an RFC it follows the kernel,
//! and a comment there says so. Not implemented: ECN.
//!
//! | subject | file |
//! | --- | --- |
//! | segments on the wire | `segment` |
//! | states of a connection | `connection`: `handshake`, `input`, `output` |
//! | what may be sent now | `sender`: `input`, `output`, `timer`, over `send_buffer`, `scoreboard`, `send_window` |
//! | loss detection and retransmission | `recovery`: `rack`, `proportional_rate_reduction`, `tail_loss_probe`, `undo` |
//! | the sender's timer, and how late it fires | `retransmission_timer`, `timer_wheel` |
//! | the congestion window, and its use | `congestion`: `cubic`, `reno`, `hystart`; `bbr`; `cwnd_validation` |
//! | pacing, and the delivery rate | `pacing`, `delivery_rate` |
//! | round trips and timeouts | `round_trip` |
//! | arrived data, and its acknowledgement | `receiver`, over `reassembly`, `delayed_ack`, `receive_window` |

mod config;
mod congestion;
mod connection;
mod cwnd_validation;
mod deadline;
mod delayed_ack;
mod delivery_rate;
mod pacing;
mod reassembly;
mod receive_window;
mod receiver;
mod recovery;
mod retransmission_timer;
mod round_trip;
mod scoreboard;
mod segment;
mod send_buffer;
mod send_window;
mod sender;
mod sequence_space;
mod timer_wheel;

pub use config::{Config, CongestionControl, Nagle};
pub use connection::{Connection, Read};
pub use segment::{Flags, SackBlocks, Segment, Timestamps};
pub use sender::Counters;

#[cfg(test)]
mod tests;
