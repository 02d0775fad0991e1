//! The events of a frame (delivered or dropped), with their times.

use crate::Frame;
use lastmile_units::Instant;
use std::fmt;

/// Something that happened to a frame, with its model time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<P> {
    /// Its last bit reached the receiver.
    Delivered {
        /// When it was delivered.
        at: Instant,
        /// The delivered frame.
        frame: Frame<P>,
    },
    /// The frame was lost after it had been accepted.
    Dropped {
        /// When it was lost: on leaving the queue, or at the end of its serialisation.
        at: Instant,
        /// The dropped frame.
        frame: Frame<P>,
        /// The cause.
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

/// Why a frame was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropCause {
    /// The queue had no room when the frame was offered. The frame is returned in [`crate::Rejected`].
    QueueFull,
    /// CoDel dropped it at the head of the queue, to make senders slow down.
    ActiveQueueManagement,
    /// The loss model dropped it on the wire.
    RandomLoss,
    /// A radio gave it up after its last attempt.
    RetryLimit,
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QueueFull => "queue full",
            Self::ActiveQueueManagement => "active queue management",
            Self::RandomLoss => "random loss",
            Self::RetryLimit => "retry limit",
        })
    }
}
