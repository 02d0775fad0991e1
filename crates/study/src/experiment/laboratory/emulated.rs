//! How is a cell delivered in the emulated world, and what of its settings has no meaning there?

use super::Laboratory;
use crate::doubt;
use crate::experiment::capture::CaptureFile;
use crate::experiment::plan::Plan;
use crate::observation::Failure;
use crate::settings::{CongestionControl, Hosts, Nagle, Settings, SlowDown};
use lastmile_link::LinkSpec;
use lastmile_report::record::Doubt;
use lastmile_units::{Probability, Seed};
use lastmile_world::LinkId;
use lastmile_world::emu::{Disturbance, EmuHost, HostSpec, Unavailable, World};
use std::io;
use std::time::Duration;

impl Laboratory for World {
    /// Our own choice: nothing of a planned run takes a tenth of it, and whoever asks for all of a study can wait.
    const LIMIT: Duration = Duration::from_secs(4 * 3600);
    const IS_EXACT: bool = false;
    type Seen = Disturbance;

    fn with_hosts(plan: &Plan, seed: Seed) -> Result<(Self, EmuHost, EmuHost), Failure> {
        let build = || -> Result<_, Unavailable> {
            let world = Self::new(seed)?;
            let server = world.host(plan.kernel.clone())?;
            let client = world.host(plan.kernel.clone())?;
            Ok((world, client, server))
        };
        build().map_err(|error| Failure::new(error.to_string()))
    }

    fn join(&self, link: &LinkSpec, client: &EmuHost, server: &EmuHost) -> LinkId {
        self.link(&link.down, &link.up, &[client], &[server])
    }

    fn capture_host(&self, host: &EmuHost, to: CaptureFile) -> io::Result<()> {
        self.capture(host, Box::new(to))
    }

    fn capture_drops_of(&self, link: LinkId, to: CaptureFile) -> io::Result<()> {
        self.capture_drops(link, Box::new(to))
    }

    fn capture_error(&self) -> Option<io::Error> {
        self.capture_error()
    }

    fn doubts_since(&self, seen: &mut Disturbance) -> Vec<Doubt> {
        let now = self.disturbance();
        let verdict = now.since(seen).verdict();
        *seen = now;
        verdict
            .err()
            .map(|invalid| doubt::disturbed(&invalid))
            .into_iter()
            .collect()
    }

    fn inside<T>(&self, host: &EmuHost, act: impl FnOnce() -> T) -> Result<T, Failure> {
        host.namespace()
            .enter(act)
            .map_err(|error| Failure::new(format!("the host cannot be entered: {error}")))
    }
}

/// How the settings ask a kernel to be set.
pub(in crate::experiment) fn kernel(settings: &Settings) -> HostSpec {
    HostSpec {
        congestion_control: settings
            .congestion_control
            .unwrap_or(CongestionControl::Cubic)
            .to_string(),
        initial_window: settings.initial_window.map(std::num::NonZeroU32::get),
        no_delay: settings.nagle_of_delivery() == Nagle::Off,
    }
}

/// Whether a real kernel and a real machine can be set like that; otherwise what stands in the way.
pub(in crate::experiment) fn check(settings: &Settings) -> Result<(), String> {
    let only_simulated = [
        ("nagle = \"classic\"", settings.nagle == Some(Nagle::Classic)),
        ("receive_window", settings.receive_window.is_some()),
        ("delayed_acknowledgement", settings.delayed_acknowledgement.is_some()),
        ("hosts = \"one\"", settings.hosts == Some(Hosts::One)),
        (
            "a cpu_slowdown other than 1",
            settings.cpu_slowdown.is_some_and(|factor| factor != SlowDown::NONE),
        ),
        (
            "a cpu_slowdown_client other than 1",
            settings
                .cpu_slowdown_client
                .is_some_and(|factor| factor != SlowDown::NONE),
        ),
        (
            "a background_load",
            settings.background_load.is_some_and(|load| load > Probability::NEVER),
        ),
    ];
    match only_simulated.iter().find(|(_, asked)| *asked) {
        Some((what, _)) => Err(format!(
            "{what} can be had in the simulated world alone; leave it out, or set world = \"sim\" for this part"
        )),
        None => Ok(()),
    }
}
