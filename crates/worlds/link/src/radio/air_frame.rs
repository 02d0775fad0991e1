//! The frames that were on the air, one by one: what a monitor next to the stations would record.

use super::phy::Rate;
use crate::Station;
use lastmile_units::{Dbm, Instant};
use std::time::Duration;

/// A frame that was on the air.
#[derive(Debug, Clone, PartialEq)]
pub struct AirFrame<P> {
    /// When it began.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// Its kind.
    pub kind: FrameKind,
    /// The rate of its body.
    pub rate: Rate,
    /// Whether its header has a short preamble.
    pub has_short_preamble: bool,
    /// Its size with MAC header and frame check sequence.
    pub bytes: u32,
    /// Whether it is sent again.
    pub is_retry: bool,
    /// Its sequence number, from 0 to 4095; 0 for frames that have none.
    pub sequence: u16,
    /// The sender.
    pub from: Station,
    /// The receiver; none of a beacon.
    pub to: Option<Station>,
    /// How long the medium is reserved after it.
    pub reservation: Duration,
    /// Whether the receiver got it; of a beacon, whether any station did.
    pub is_received: bool,
    /// Whether other frames were on the air meanwhile.
    pub is_overlapped: bool,
    /// Its power at the receiver; of a beacon, at the station that receives it best.
    pub signal: Dbm,
    /// The packet of a data frame.
    pub payload: Option<P>,
}

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameKind {
    /// A packet.
    Data,
    /// The acknowledgement of a data frame.
    Ack,
    /// A request to send.
    Rts,
    /// Its answer.
    Cts,
    /// The beacon of an ad hoc network.
    Beacon,
}
