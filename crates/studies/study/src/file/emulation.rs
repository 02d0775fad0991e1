//! The part of a study that runs in the emulated world, where an hour takes an hour.
//!
//! A study states a plan that takes about twenty minutes at most; the full study runs on request.

use super::{Study, SubStudy};
use crate::settings::{ServerName, Settings};
use lastmile_testbed::settings::World;
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
    /// Whether every part, every repeat and every idle wait is run, however long that takes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// Servers and generators whose cells are left out, for example because they are not installed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<ServerName>,
}

impl Study {
    /// Sets `world` as the default of cells. In the emulated world the plan's repeats apply and there are no idle waits, unless `full`
    /// is set.
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

    /// Leaves out the cells of a server or a generator.
    pub fn exclude_server(&mut self, server: ServerName) {
        let plan = self.emu.get_or_insert_default();
        if !plan.without.contains(&server) {
            plan.without.push(server);
        }
    }

    /// Whether the cells with these settings are left out, because of their server or their generator.
    pub(crate) fn excludes(&self, settings: &Settings) -> bool {
        let mut left_out = self.emu.iter().flat_map(|plan| &plan.without);
        left_out.any(|other| settings.server.as_ref() == Some(other) || settings.generator.as_ref() == Some(other))
    }

    /// Whether a part is run in the study's world and plan.
    pub(crate) fn includes_part(&self, part: &SubStudy) -> bool {
        let planned = |plan: &EmuPlan| plan.full || plan.parts.is_empty() || plan.parts.contains(&part.name);
        let in_plan = self.world == World::Simulated || self.emu.as_ref().is_none_or(planned);
        in_plan && part.world.is_none_or(|only| only == self.world)
    }
}
