//! The deliveries whose programs run on the two hosts of a cell's link, in either world.
//!
//! A [`LinkDelivery`] reads its plan from the settings and has a program for one repeat. [`OverLink`] makes a
//! [`Delivery`] of it: it reads the testbed's specification, builds it in the cell's world, and runs the repeats in it one after another, with
//! captures and the world's doubts.

#[cfg(target_os = "linux")]
mod emulated;
mod two_host_spec;

pub(crate) use two_host_spec::{check_world, host_setup, link};

use crate::capture_name;
use lastmile_study::cell::Cell;
use lastmile_study::delivery::{Delivery, Refusal};
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::runner::RunContext;
use lastmile_study::settings::{Nagle, Settings};
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::settings::World;
use lastmile_testbed::testbed::{Counters, Testbed, TestbedObserver, TestbedWorld, TwoHostSpec, TwoHostTestbed};
use lastmile_units::{ByteCount, Seed};
use lastmile_workload::WorkloadSpec;
use std::ops::DerefMut;
use std::rc::Rc;
use std::time::Duration;

/// A delivery over the link of a cell.
pub trait LinkDelivery: Sync {
    /// Its name, as studies and records write it.
    const NAME: &'static str;
    /// The workloads that it carries, in the plural, for messages.
    const CARRIES: &'static str;
    /// What it does, in a sentence for those who write a study.
    const ABOUT: &'static str;
    /// How its programs set Nagle's algorithm unless the cell's settings say.
    const NAGLE: Nagle = Nagle::On;

    /// What is delivered and how, as the settings say.
    type Plan;

    /// Reads the settings of a cell, except those of its testbed.
    ///
    /// # Errors
    /// When a setting is missing or contradicts another.
    fn plan(&self, settings: &Settings) -> Result<Self::Plan, Refusal>;

    /// The approximate CPU time of one repeat in the simulated world.
    fn expected_time(&self, plan: &Self::Plan) -> Duration;

    /// The figures that its program measures. By default it does not say.
    fn figures(&self, plan: &Self::Plan) -> &'static [&'static Figure] {
        let _ = plan;
        &[]
    }

    /// Whether each new world has content of its own, which its seed decides. By default it has not.
    fn has_seeded_content(&self, plan: &Self::Plan) -> bool {
        let _ = plan;
        false
    }

    /// Prepares what all repeats in one world share, such as content and a real server, and returns the program of a repeat.
    ///
    /// # Errors
    /// When no repeat can be run.
    fn prepare<'a, W: TestbedWorld>(
        &'a self,
        plan: &'a Self::Plan,
        testbed: &TwoHostTestbed<W>,
        setup: &Setup,
    ) -> Result<Program<'a, W>, Failure>;
}

/// Runs one repeat on a testbed; the seed is for CPU times.
pub type Program<'a, W> = Box<dyn FnMut(&TwoHostTestbed<W>, Seed) -> Outcome + 'a>;

/// What the repeats in one world share.
#[derive(Debug)]
pub struct Setup {
    /// The seed of the workload. Repeats in one world deliver the same content, like the runs of one test.
    pub workload: Seed,
    /// The CPU cost of operations; nothing is charged in the emulated world, where real programs use real CPU time.
    pub costs: Rc<CostTable>,
}

/// Makes a [`Delivery`] of a [`LinkDelivery`].
#[derive(Debug, Clone, Copy)]
pub struct OverLink<D>(pub D);

impl<D: LinkDelivery> Delivery for OverLink<D> {
    fn name(&self) -> &'static str {
        D::NAME
    }

    fn carries(&self) -> &'static str {
        D::CARRIES
    }

    fn about(&self) -> &'static str {
        D::ABOUT
    }

    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        self.read(settings).map(drop)
    }

    fn figures(&self, settings: &Settings) -> &'static [&'static Figure] {
        self.read(settings).map_or(&[], |(_, plan)| self.0.figures(&plan))
    }

    fn expected_time(&self, settings: &Settings) -> Duration {
        self.read(settings)
            .map_or(Duration::ZERO, |(_, plan)| self.0.expected_time(&plan))
    }

    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
        let (testbed, plan) = self.read(&cell.settings).map_err(Failure::from_error)?;
        match cell.world() {
            World::Simulated => self.repeats::<lastmile_world::sim::World>(&testbed, &plan, cell, context),
            #[cfg(target_os = "linux")]
            World::Emulated => self.repeats::<lastmile_world::emu::World>(&testbed, &plan, cell, context),
            #[cfg(not(target_os = "linux"))]
            World::Emulated => unreachable!("a plan for another world is refused"),
        }
    }
}

impl<D: LinkDelivery> OverLink<D> {
    fn read(&self, settings: &Settings) -> Result<(TwoHostSpec, D::Plan), Refusal> {
        Ok((
            two_host_spec::two_host_spec(settings, D::NAGLE)?,
            self.0.plan(settings)?,
        ))
    }

    /// Runs the repeats of a cell in one new world, up to the first that fails.
    fn repeats<W: TestbedWorld>(
        &self,
        testbed: &TwoHostSpec,
        plan: &D::Plan,
        cell: &Cell,
        context: &RunContext<'_>,
    ) -> Result<Vec<Outcome>, Failure> {
        // Repeats in one world share the delivered content, like the runs of one test; a new world has content of its own.
        let seeds = context.seeds(cell, context.repeats.start);
        let mut testbed = TwoHostTestbed::<W>::build(testbed, seeds.link)?;
        if let Some(folder) = context.captures {
            testbed.capture(folder, &capture_name::name(cell, &context.repeats))?;
        }
        if let Some(observer) = observer(cell, context) {
            testbed.observe(observer, None);
        }
        // In the emulated world real programs use real CPU time, so nothing is charged.
        let costs = Rc::new(if W::IS_EXACT {
            context.costs.clone()
        } else {
            CostTable::free()
        });
        let setup = Setup {
            workload: seeds.workload,
            costs,
        };
        // The content is made once, and delivered in every repeat.
        let mut program = self.0.prepare(plan, &testbed, &setup)?;
        // With one repeat in a world, each repeat of the cell has content of its own.
        let content_varies = context.repeats.end - context.repeats.start == 1 && self.0.has_seeded_content(plan);
        Ok(run_repeats(&mut testbed, context, |testbed, repeat| {
            let mut observation = program(testbed, context.seeds(cell, repeat).compute)?;
            if content_varies {
                observation.vary("content");
            }
            Ok(observation)
        }))
    }
}

/// Who sees the world of a cell's repeats from inside, if anybody does.
pub(crate) fn observer(cell: &Cell, context: &RunContext<'_>) -> Option<Box<dyn TestbedObserver>> {
    context.observer?.observer_of_world(cell)
}

/// Runs the repeats of a world one after another, up to the first that fails, with the world's doubts and captures.
pub(crate) fn run_repeats<W: TestbedWorld, T: DerefMut<Target = Testbed<W>>>(
    testbed: &mut T,
    context: &RunContext<'_>,
    mut program: impl FnMut(&T, u64) -> Outcome,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for repeat in context.repeats.clone() {
        if repeat > context.repeats.start {
            testbed.idle(context.interval);
        }
        let outcome = program(testbed, repeat).and_then(|mut observation| {
            testbed.random_sources().for_each(|source| observation.vary(source));
            let times = std::mem::take(&mut observation.times);
            observation.doubts.extend(testbed.doubts_about(&times));
            testbed.flush_captures().map(|()| observation)
        });
        let failed = outcome.is_err();
        outcomes.push(outcome);
        if failed {
            break;
        }
    }
    outcomes
}

/// Adds what the link carried, and what was sent again or dropped.
pub(crate) fn observe_link(done: &Counters, observation: &mut Observation) {
    observation.sample(figure::LINK_BYTES, done.bytes_down as f64);
    observation.sample(figure::RETRANSMISSIONS, done.retransmissions as f64);
    observation.sample(figure::QUEUE_DROPS, done.queue_drops as f64);
}

/// The workload of a cell.
///
/// # Errors
/// When none is set.
pub fn workload(settings: &Settings) -> Result<&WorkloadSpec, Refusal> {
    let workload = settings
        .delivered()
        .ok_or("no workload is set; add workload = { kind = \"bulk\", bytes = \"1 MB\" } to [fixed] or [factors]")?;
    Ok(workload.content())
}

/// The approximate CPU time of one repeat that carries `bytes` in large pieces in the simulated world.
pub fn cpu_time_of_bulk(bytes: ByteCount) -> Duration {
    CPU_PER_REPEAT + Duration::from_secs_f64(bytes.as_f64() * SECONDS_PER_BULK_BYTE)
}

/// The CPU time of any repeat, and the CPU time per byte of bulk data: 0.6 us per full packet (1,448 bytes). Measured with 200 repeats
/// of 1 kB to 10 MB of bulk, on the machine of the reference cost table. Losses are not included.
pub(crate) const CPU_PER_REPEAT: Duration = Duration::from_micros(50);
const SECONDS_PER_BULK_BYTE: f64 = 0.6e-6 / 1448.0;
