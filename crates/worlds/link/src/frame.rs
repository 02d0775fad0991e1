//! Frames, which travel over a medium, and the stations that send and receive them.

use lastmile_units::ByteCount;

/// An endpoint of a medium: a number that the medium's owner assigns. A wire has two, a shared radio any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Station(pub u16);

/// A packet on its way from one station to another.
///
/// The model reads only `size`; it carries `payload` untouched, which may be real bytes or a mere token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<P> {
    /// The sender.
    pub from: Station,
    /// The receiver.
    pub to: Station,
    /// Size in IP bytes, IP and transport headers included. A medium adds its own framing overhead when it serialises
    /// the frame.
    pub size: ByteCount,
    /// The contents.
    pub payload: P,
}
