//! What a run shows while it goes on: the figures since they were last looked at.

use crate::distribution::Distribution;
use std::sync::{Mutex, PoisonError};

/// Figures of a short time.
#[derive(Debug, Clone, Default)]
pub struct RecentFigures {
    /// Requests that were due.
    pub due: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Response times of completed requests.
    pub response: Distribution,
}

/// Where the threads of a generator put their recent figures, and a view takes them from.
#[derive(Debug, Default)]
pub struct LiveFigures(Mutex<RecentFigures>);

impl LiveFigures {
    /// Adds the figures of a thread.
    pub fn add(&self, figures: &RecentFigures) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sum.due += figures.due;
        sum.failed += figures.failed;
        sum.response.add(&figures.response);
    }

    /// What was added since the last call.
    pub fn take(&self) -> RecentFigures {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
