//! What of a study runs in the emulated world, where an hour takes an hour?
//!
//! A study states a plan that ends within about twenty minutes; whoever has the time asks for all of it.

use super::{Part, Study};
use crate::settings::{ServerName, World};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::time::Duration;

/// How much of the study is run in the emulated world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmuPlan {
    /// How often each cell runs there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<NonZeroU64>,
    /// The parts that run there; where none is named, all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// Set by whoever wants every part, every repeat and every idle wait, however long it takes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// Servers whose cells are left out, as those are that a machine has not installed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<ServerName>,
}

impl Study {
    /// Sets `world` as where cells run that name none. In the emulated world the plan's repeats hold and nobody waits idly, unless
    /// everything is asked for.
    #[must_use]
    pub fn in_world(mut self, world: World, full: bool) -> Self {
        self.world = world;
        let Some(plan) = self.emu.as_mut().filter(|_| world == World::Emulated) else {
            return self;
        };
        plan.full |= full;
        if !plan.full {
            self.repeats = plan.repeats.unwrap_or(self.repeats);
            self.interval = Duration::ZERO;
        }
        self
    }

    /// Leaves out the cells of a server.
    pub fn leave_out(&mut self, server: ServerName) {
        let plan = self.emu.get_or_insert_default();
        if !plan.without.contains(&server) {
            plan.without.push(server);
        }
    }

    /// Whether the cells of a server are left out.
    pub(crate) fn leaves_out(&self, server: Option<&ServerName>) -> bool {
        let left_out = self.emu.iter().flat_map(|plan| &plan.without);
        server.is_some_and(|server| left_out.into_iter().any(|other| other == server))
    }

    /// Whether a part is run as the study stands.
    pub(crate) fn runs(&self, part: &Part) -> bool {
        let planned = |plan: &EmuPlan| plan.full || plan.parts.is_empty() || plan.parts.contains(&part.name);
        let in_plan = self.world == World::Simulated || self.emu.as_ref().is_none_or(planned);
        in_plan && part.world.is_none_or(|only| only == self.world)
    }
}
