//! Where a load is measured: in virtual time against a modelled server, over this machine's sockets, or behind an emulated link.

use crate::cli::load::LoadArgs;
#[cfg(not(target_os = "linux"))]
use crate::exit::UnavailableError;
use lastmile_link::LinkSpec;
use lastmile_load::live::LiveFigures;
use lastmile_load::measurement::Measurement;
use lastmile_load::on_testbed::SimulatedServer;
use lastmile_load::plan::Plan;
use lastmile_load::record::CapturedSchedule;
use lastmile_load::self_check::GeneratorCost;
use lastmile_load::server_model::ServerModel;
use lastmile_testbed::failure::Failure;
use lastmile_units::{ByteCount, Seed};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod linked;

#[cfg(target_os = "linux")]
use {
    anyhow::Context as _, capture::CaptureFile, lastmile_load::epoll::Generator, lastmile_load::tls::ClientTls,
    lastmile_load::tls::Trust, lastmile_world::emu::DescriptorLimit, linked::LinkedGenerator, std::num::NonZeroU32,
    std::thread::available_parallelism,
};

/// The names of worlds in records.
pub(super) const SIM: &str = "sim";
pub(super) const EMU: &str = "emu";
pub(super) const MACHINE: &str = "machine";

/// Where runs are made.
pub(super) enum LoadTarget {
    /// In virtual time.
    Simulated(Box<SimulatedServer>),
    /// Over sockets of this machine.
    #[cfg(target_os = "linux")]
    Machine(Generator, Option<CaptureFile>),
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
    /// The schedule by the time stamps of a capture, or why that is not known; none without a capture.
    pub(super) captured: Option<Result<CapturedSchedule, String>>,
}

impl LoadTarget {
    pub(super) fn simulated(link: LinkSpec, model: ServerModel) -> Self {
        Self::Simulated(Box::new(SimulatedServer { link, model }))
    }

    /// Real sockets, behind a link if there is one.
    #[cfg(target_os = "linux")]
    pub(super) fn real(
        args: &LoadArgs,
        link: Option<&LinkSpec>,
        interrupt: &Arc<AtomicBool>,
        live: &Arc<LiveFigures>,
    ) -> anyhow::Result<Self> {
        DescriptorLimit::raise().context("the limit of file descriptors cannot be raised")?;
        let cores = available_parallelism()
            .ok()
            .and_then(|cores| NonZeroU32::try_from(cores).ok());
        let threads = args.threads.or(cores).unwrap_or(NonZeroU32::MIN);
        let generator = Generator {
            tls: args.target.is_secure().then(|| tls(args)).transpose()?,
            live: Some(Arc::clone(live)),
            ..Generator::new(args.target.resolve()?, threads, Arc::clone(interrupt))
        };
        let capture = args.capture.as_deref().map(CaptureFile::create).transpose()?;
        Ok(match link {
            None => Self::Machine(generator, capture),
            Some(link) => Self::Linked(Box::new(LinkedGenerator::new(
                link,
                generator,
                capture,
                Seed::new(args.seed),
            )?)),
        })
    }

    /// Real sockets need Linux.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn real(
        _: &LoadArgs,
        _: Option<&LinkSpec>,
        _: &Arc<AtomicBool>,
        _: &Arc<LiveFigures>,
    ) -> anyhow::Result<Self> {
        Err(UnavailableError("the generator over real sockets runs on Linux only; use --world sim".to_owned()).into())
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Simulated(_) => SIM,
            #[cfg(target_os = "linux")]
            Self::Machine(..) => MACHINE,
            #[cfg(target_os = "linux")]
            Self::Linked(_) => EMU,
        }
    }

    /// Whether a server of this machine or another one is loaded, not a model.
    pub(super) const fn is_real(&self) -> bool {
        !matches!(self, Self::Simulated(_))
    }

    /// Carries out a plan; a modelled server sends bodies of `size`, where that is varied.
    ///
    /// # Errors
    /// When the system gives no thread, or a world cannot go on.
    pub(super) fn run(
        &self,
        plan: &Plan,
        size: Option<ByteCount>,
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
                    captured: None,
                })
            }
            #[cfg(target_os = "linux")]
            Self::Machine(generator, capture) => run_captured(generator, capture.as_ref(), plan, seed),
            #[cfg(target_os = "linux")]
            Self::Linked(linked) => linked.run(plan, seed),
        }
    }
}

/// A run over real sockets of the namespace that this thread is in, and its capture.
#[cfg(target_os = "linux")]
fn run_captured(
    generator: &Generator,
    file: Option<&CaptureFile>,
    plan: &Plan,
    seed: Seed,
) -> anyhow::Result<StageRun> {
    let capture = file.map(|file| file.begin(generator.server.port())).transpose()?;
    let run = generator.run(plan, seed).context("the generator cannot run")?;
    let captured = match file.zip(capture) {
        Some((file, capture)) => Some(capture::schedule(&file.end(capture)?, plan, seed, &run)),
        None => None,
    };
    Ok(StageRun {
        measured: run.measurement,
        cost: Some(run.cost),
        disturbance: None,
        captured,
    })
}

/// TLS as the command line asks for it.
#[cfg(target_os = "linux")]
fn tls(args: &LoadArgs) -> anyhow::Result<ClientTls> {
    let trust = match &args.ca {
        _ if args.insecure => Trust::Anyone,
        Some(path) => Trust::File(path.clone()),
        None => Trust::System,
    };
    Ok(ClientTls::new(
        args.target.host(),
        args.http_version().version(),
        &trust,
    )?)
}
