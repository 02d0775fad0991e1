//! Limits how many messages are delivered in real time.
//!
//! The limit is as many messages as arrive uncompressed (about the slowest setting) within a time budget, which the simulated world predicts. A
//! recorded hour of chat is therefore not delivered whole.

use super::LinkDeliveryRun;
use super::message_schedule::conversation;
use crate::candidate::Candidate;
use crate::{Options, TuneError};
use lastmile_report::number::quantity;
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::messaging::{self, CompressionMode, ConnectionOptions};
use lastmile_testbed::testbed::TwoHostTestbed;
use lastmile_world::sim;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// The time budget for all repeats of a setting, a direction and a link together: our own choice. Four settings then take less than two
/// minutes.
const REAL_TIME: Duration = Duration::from_secs(20);

/// The budget of each repeat.
fn budget_per_repeat(options: &Options) -> Duration {
    REAL_TIME.div_f64(options.repeats.get() as f64)
}

impl LinkDeliveryRun<'_, '_> {
    /// The messages of `among` that arrive within the budget; at least one.
    pub(super) fn messages_within_budget(
        &self,
        among: &Range<usize>,
        options: &Options,
    ) -> Result<Range<usize>, TuneError> {
        let failed = |failure: Failure| self.failed(&failure);
        let seed = self.seed(options).derive_index(0);
        let testbed = TwoHostTestbed::<sim::World>::build(&self.testbed(options), seed).map_err(failed)?;
        let conversation = Rc::new(conversation(
            self.direction,
            options.pace,
            &Candidate::identity(),
            among,
        ));
        let connection_options = ConnectionOptions::without_cpu_cost(CompressionMode::Identity);
        let seen =
            messaging::run_connections(&testbed, &conversation, &connection_options, None, seed).map_err(failed)?;
        let (sender, receiver) = self.ends(&seen[0]);
        let start = sender.due.first().copied().unwrap_or_default();
        let in_time =
            |complete: &&lastmile_units::Instant| complete.saturating_since(start) <= budget_per_repeat(options);
        let count = receiver.complete.iter().take_while(in_time).count();
        Ok(among.start..among.start + count.max(1))
    }

    /// The doubt that some messages are left out for lack of time, if any are.
    pub(super) fn left_out(&self, among: &Range<usize>, options: &Options) -> Option<Doubt> {
        let all = self.direction.stream.busiest().len();
        let text = || {
            format!(
                "{}: only {} of a connection's {all} messages are delivered, those that arrive within {} of real time, {} times; fewer \
                 --repeats or a faster --pace deliver more",
                self.direction.stream.direction.name(),
                among.len(),
                quantity(budget_per_repeat(options).as_secs_f64(), "s"),
                options.repeats,
            )
        };
        (among.len() < all).then(|| Doubt::new(DoubtKind::BeginningOnly, text()))
    }
}
