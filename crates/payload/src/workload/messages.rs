//! What goes over message connections? Messages made from a seed, as each kind of service would send them.
//!
//! None of it is anybody's: a chat service. [`crate::transcript`] reads what was recorded.

mod chat;

pub use chat::Chat;

use super::draw::below;
use lastmile_units::Rng;
use std::time::Duration;

/// A clock for what a generator makes, in whole seconds from midnight.
#[derive(Debug, Default, Clone, Copy)]
struct Timeline {
    seconds: u64,
}

impl Timeline {
    /// Since midnight of the first day.
    fn now(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Lets `least` to `most` seconds pass; short times are likelier than long ones.
    fn pause(&mut self, rng: &mut Rng, least: usize, most: usize) {
        let span = below(rng, most - least + 1) + 1;
        self.seconds += (least + below(rng, span)) as u64;
    }

    /// `08:30:00`
    fn time_of_day(&self) -> String {
        let (hours, minutes, seconds) = (self.seconds / 3600 % 24, self.seconds / 60 % 60, self.seconds % 60);
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests;
