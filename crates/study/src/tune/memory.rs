//! How much memory do so many connections take? What their contexts' allocators were asked for, times as many as there must be.
//!
//! With context takeover each connection keeps a context to compress with and one to decompress what comes in, for as long as it is
//! open. Without, nothing has to be kept between messages (RFC 7692 section 7.1.1), so that each core needs one of either, whatever
//! the number of connections. Both directions are taken to have the same setting. An application's own buffers, the kernel's, and what an
//! allocator loses between blocks come on top.

use lastmile_units::Bytes;
use std::num::{NonZeroU16, NonZeroU64};

/// What one connection's contexts take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Contexts {
    /// Whether they have to be kept between messages.
    pub(super) takeover: bool,
    /// To compress what is sent.
    pub(super) compressing: Bytes,
    /// To decompress what is received.
    pub(super) decompressing: Bytes,
}

/// What holds connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// How many connections it has open at once.
    pub connections: NonZeroU64,
    /// How many of them it computes for at once.
    pub cores: NonZeroU16,
}

impl Contexts {
    /// Both directions of a connection.
    pub(super) fn pair(self) -> Bytes {
        self.compressing + self.decompressing
    }

    /// How many pairs there must be.
    pub(super) fn pairs(self, holder: Holder) -> u64 {
        let connections = holder.connections.get();
        if self.takeover {
            connections
        } else {
            connections.min(u64::from(holder.cores.get()))
        }
    }

    /// What all of them take.
    pub(super) fn total(self, holder: Holder) -> Bytes {
        Bytes::new(self.pair().get().saturating_mul(self.pairs(holder)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_takeover_every_connection_pays_for_both_directions_and_without_every_core_does() {
        let holder = Holder {
            connections: NonZeroU64::new(50_000).unwrap(),
            cores: NonZeroU16::new(4).unwrap(),
        };
        let kept = Contexts {
            takeover: true,
            compressing: Bytes::new(268_112),
            decompressing: Bytes::new(39_912),
        };
        assert_eq!(kept.total(holder), Bytes::new(50_000 * 308_024));
        let shared = Contexts {
            takeover: false,
            ..kept
        };
        assert_eq!(shared.total(holder), Bytes::new(4 * 308_024));
        let alone = Holder {
            connections: NonZeroU64::MIN,
            ..holder
        };
        assert_eq!(shared.total(alone), kept.total(alone));
    }
}
