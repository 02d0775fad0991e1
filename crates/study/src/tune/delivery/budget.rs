//! How many messages are delivered where that takes real time?
//!
//! As many as are there within a budget, uncompressed, which is about the slowest way: the simulated world says beforehand how many. An
//! hour of chat at its own pace is not sat through.

use super::{Deliveries, doubt};
use crate::observation::Failure;
use crate::site::Site;
use crate::tune::candidate::Candidate;
use crate::tune::{Options, TuneError, answer};
use crate::websocket::{self, Coding, Server, Terms};
use lastmile_report::number::quantity;
use lastmile_report::record::Doubt;
use lastmile_world::sim;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// All repeats of a setting, a direction and a link together send for about so long: our own choice. Four settings are then done within two
/// minutes.
const REAL_TIME: Duration = Duration::from_secs(20);

/// What each repeat has of it.
fn of_repeat(options: &Options) -> Duration {
    REAL_TIME.div_f64(options.repeats.get() as f64)
}

impl Deliveries<'_, '_> {
    /// Those of `among` that are there in time; one at least.
    pub(super) fn fitting(&self, among: &Range<usize>, options: &Options) -> Result<Range<usize>, TuneError> {
        let failed = |failure: Failure| self.failed(&failure);
        let seed = self.seed(options).derive_index(0);
        let site = Site::<sim::World>::build(&self.site(options), seed).map_err(failed)?;
        let conversation = Rc::new(self.sending(options).conversation(&Candidate::identity(), among));
        let terms = Terms::unpriced(Coding::Identity);
        let seen = websocket::converse(&site, &conversation, &terms, Server::Ours, seed).map_err(failed)?;
        let (sender, receiver) = self.ends(&seen[0]);
        let start = sender.due.first().copied().unwrap_or_default();
        let in_time = |complete: &&lastmile_units::Instant| complete.saturating_since(start) <= of_repeat(options);
        let count = receiver.complete.iter().take_while(in_time).count();
        Ok(among.start..among.start + count.max(1))
    }

    /// That messages are not delivered for the want of time, where that is so.
    pub(super) fn left_out(&self, among: &Range<usize>, options: &Options) -> Option<Doubt> {
        let all = self.direction.stream.busiest().len();
        let text = || {
            format!(
                "{}: only {} of a connection's {all} messages are delivered, those that are there within {} of real time, {} times; fewer \
                 --repeats deliver more, and so does a faster --pace",
                answer::direction(self.direction.stream.direction).name(),
                among.len(),
                quantity(of_repeat(options).as_secs_f64(), "s"),
                options.repeats,
            )
        };
        (among.len() < all).then(|| doubt("beginning-only", text()))
    }
}
