//! The identities of a world's media: a wire has two, one per direction; a radio has one.

/// One medium of a world: a direction of a wire, or a radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MediumId(pub(crate) usize);

/// One wire of a world: two media, one per direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkId {
    /// Towards the near side.
    pub down: MediumId,
    /// Towards the far side.
    pub up: MediumId,
}

/// One radio of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RadioId(pub(crate) MediumId);

impl RadioId {
    /// Its medium, which has the counters of packets.
    pub const fn medium(self) -> MediumId {
        self.0
    }
}
