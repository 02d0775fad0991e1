//! What travels over a medium?

use lastmile_units::Bytes;

/// Who is attached to a medium: a number that the medium's owner hands out. A wire has two, a shared radio as many as
/// it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Station(pub u16);

/// A packet on its way from one station to another.
///
/// The model looks at `size` alone; `payload` is carried untouched, and may be real bytes or a mere token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<P> {
    /// Who sends it.
    pub from: Station,
    /// Who is to receive it.
    pub to: Station,
    /// IP bytes, IP and transport headers included. A medium adds its own framing overhead when it serialises the
    /// frame.
    pub size: Bytes,
    /// What it carries.
    pub payload: P,
}
