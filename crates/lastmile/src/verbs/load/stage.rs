//! Where a load is measured: in virtual time against a modelled server, over this machine's sockets, or behind an emulated link.

use crate::cli::load::LoadArgs;
#[cfg(not(target_os = "linux"))]
use crate::exit::UnavailableError;
use lastmile_lab::failure::Failure;
use lastmile_link::LinkSpec;
use lastmile_load::measurement::Measurement;
use lastmile_load::on_testbed::SimulatedServer;
use lastmile_load::plan::Plan;
use lastmile_load::self_check::GeneratorCost;
use lastmile_load::server_model::ServerModel;
use lastmile_units::{Bytes, Seed};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[cfg(target_os = "linux")]
mod linked;

#[cfg(target_os = "linux")]
use {
    anyhow::Context as _, lastmile_load::epoll::Generator, lastmile_world::emu::DescriptorLimit,
    linked::LinkedGenerator, std::num::NonZeroU32, std::thread::available_parallelism,
};

/// The names of worlds in records.
pub(super) const SIM: &str = "sim";
pub(super) const EMU: &str = "emu";
pub(super) const MACHINE: &str = "machine";

/// Where runs are made.
pub(super) enum Stage {
    /// In virtual time.
    Simulated(Box<SimulatedServer>),
    /// Over sockets of this machine.
    #[cfg(target_os = "linux")]
    Machine(Generator),
    /// Behind a link, with real kernels.
    #[cfg(target_os = "linux")]
    Linked(Box<LinkedGenerator>),
}

/// The figures of a run.
pub(super) struct StageRun {
    pub(super) measured: Measurement,
    /// None where computing takes no time.
    pub(super) cost: Option<GeneratorCost>,
    /// Why the world's figures do not count.
    pub(super) disturbance: Option<String>,
}

impl Stage {
    pub(super) fn simulated(link: LinkSpec, model: ServerModel) -> Self {
        Self::Simulated(Box::new(SimulatedServer { link, model }))
    }

    /// Real sockets, behind a link if there is one.
    #[cfg(target_os = "linux")]
    pub(super) fn real(args: &LoadArgs, link: Option<&LinkSpec>, interrupt: &Arc<AtomicBool>) -> anyhow::Result<Self> {
        DescriptorLimit::raise().context("the limit of file descriptors cannot be raised")?;
        let cores = available_parallelism()
            .ok()
            .and_then(|cores| NonZeroU32::try_from(cores).ok());
        let generator = Generator {
            server: args.target.resolve()?,
            threads: args.threads.or(cores).unwrap_or(NonZeroU32::MIN),
            interrupt: Arc::clone(interrupt),
        };
        Ok(match link {
            None => Self::Machine(generator),
            Some(link) => Self::Linked(Box::new(LinkedGenerator::new(link, generator, Seed::new(args.seed))?)),
        })
    }

    /// Real sockets need Linux.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn real(_: &LoadArgs, _: Option<&LinkSpec>, _: &Arc<AtomicBool>) -> anyhow::Result<Self> {
        Err(UnavailableError("the generator over real sockets runs on Linux only; use --world sim".to_owned()).into())
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Simulated(_) => SIM,
            #[cfg(target_os = "linux")]
            Self::Machine(_) => MACHINE,
            #[cfg(target_os = "linux")]
            Self::Linked(_) => EMU,
        }
    }

    /// Carries out a plan; a modelled server sends bodies of `size`, where that is varied.
    ///
    /// # Errors
    /// When the system gives no thread, or a world cannot go on.
    pub(super) fn run(
        &self,
        plan: &Plan,
        size: Option<Bytes>,
        seed: Seed,
        interrupt: &Arc<AtomicBool>,
    ) -> anyhow::Result<StageRun> {
        match self {
            Self::Simulated(server) => {
                let mut server = server.clone();
                server.model.body = size.unwrap_or(server.model.body);
                let measured = server
                    .run(plan, seed, interrupt)
                    .map_err(|failure: Failure| anyhow::anyhow!("{failure}"))?;
                Ok(StageRun {
                    measured,
                    cost: None,
                    disturbance: None,
                })
            }
            #[cfg(target_os = "linux")]
            Self::Machine(generator) => {
                let (measured, cost) = generator.run(plan, seed).context("the generator cannot run")?;
                Ok(StageRun {
                    measured,
                    cost: Some(cost),
                    disturbance: None,
                })
            }
            #[cfg(target_os = "linux")]
            Self::Linked(linked) => linked.run(plan, seed),
        }
    }
}
