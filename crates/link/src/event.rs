//! What can happen to a frame, and when did it?

use crate::Frame;
use lastmile_units::Instant;
use std::fmt;

/// Something that happened to a frame, with its model time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<P> {
    /// The last bit reached the receiver.
    Delivered {
        /// When it did.
        at: Instant,
        /// What did.
        frame: Frame<P>,
    },
    /// The frame was lost after it had been accepted.
    Dropped {
        /// When it was lost: on leaving the queue, or at the end of its serialisation.
        at: Instant,
        /// What was lost.
        frame: Frame<P>,
        /// Why.
        cause: DropCause,
    },
}

impl<P> Event<P> {
    /// When it happened.
    pub const fn at(&self) -> Instant {
        match self {
            Self::Delivered { at, .. } | Self::Dropped { at, .. } => *at,
        }
    }

    /// The frame it happened to.
    pub const fn frame(&self) -> &Frame<P> {
        match self {
            Self::Delivered { frame, .. } | Self::Dropped { frame, .. } => frame,
        }
    }
}

/// Why a frame was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropCause {
    /// There was no room in the queue when the frame was offered. The frame comes back in [`crate::Rejected`].
    QueueFull,
    /// CoDel dropped it on leaving the queue, so that senders slow down.
    ActiveQueueManagement,
    /// The loss model took it on the wire.
    RandomLoss,
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QueueFull => "queue full",
            Self::ActiveQueueManagement => "active queue management",
            Self::RandomLoss => "random loss",
        })
    }
}
