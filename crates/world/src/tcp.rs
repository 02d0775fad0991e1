//! A lean TCP that does no input or output: it is given segments and times, and returns segments and deadlines.
//!
//! [`Connection`] is one end of a connection. Whoever drives it calls, in this order: one of [`Connection::on_segment`],
//! [`Connection::on_timer`], [`Connection::write`], [`Connection::read`], [`Connection::shutdown`], [`Connection::close`]; then
//! [`Connection::next_transmit`] until it returns nothing; then [`Connection::next_deadline`] to know when to call
//! `on_timer`. Time is an argument and never goes back.
//!
//! It behaves as a recent Linux does, so that figures transfer: what departs from an RFC follows the kernel, and says so
//! where it stands. Absent: ECN.
//!
//! | question | file |
//! | --- | --- |
//! | what is on the wire? | `segment` |
//! | which state is the connection in? | `connection`: `handshake`, `arrival`, `departure` |
//! | what may be sent now? | `sender`: `arrival`, `departure`, `timer`, over `send_buffer`, `scoreboard`, `peer_window` |
//! | what was lost, and how fast may it be resent? | `recovery`: `rack`, `rate_reduction`, `tail_loss_probe`, `undo` |
//! | what is the sender's timer set for, and how late does it fire? | `retransmission_timer`, `timer_wheel` |
//! | how large is the congestion window, and is it in use? | `congestion`: `cubic`, `reno`, `hystart`; `bbr`; `window_usage` |
//! | how fast may segments leave, and how fast do they arrive? | `pacing`, `delivery_rate` |
//! | how long is a round trip, and a timeout? | `round_trip` |
//! | what has arrived, and when is it acknowledged? | `receiver`, over `reassembly`, `acknowledgement`, `receive_window` |

mod acknowledgement;
mod config;
mod congestion;
mod connection;
mod delivery_rate;
mod pacing;
mod peer_window;
mod reassembly;
mod receive_window;
mod receiver;
mod recovery;
mod retransmission_timer;
mod round_trip;
mod scoreboard;
mod segment;
mod send_buffer;
mod sender;
mod sequence;
mod timer_wheel;
mod window_usage;

pub use config::{Config, CongestionControl, Nagle};
pub use connection::{Connection, Read};
pub use segment::{Flags, SackBlocks, Segment, Timestamps};
pub use sender::Counters;

#[cfg(test)]
mod tests;
