//! The kernel settings of a cell in the emulated world, and the settings that it does not support.

use lastmile_study::settings::{Nagle, Settings, SlowDown};
use lastmile_testbed::settings::Hosts;
use lastmile_units::Probability;
use lastmile_world::emu::HostSpec;

/// The kernel settings that a cell's settings ask for, with Nagle's algorithm as given.
pub(super) fn kernel(settings: &Settings, nagle: Nagle) -> HostSpec {
    HostSpec {
        congestion_control: settings.congestion_control().to_string(),
        initial_window: settings.initial_window.map(std::num::NonZeroU32::get),
        no_delay: nagle == Nagle::Off,
    }
}

/// Checks that a real kernel and a real machine support the settings; the error names the first that they do not.
pub(super) fn check(settings: &Settings) -> Result<(), String> {
    let only_simulated = [
        ("nagle = \"classic\"", settings.nagle == Some(Nagle::Classic)),
        ("syn_timeout", settings.syn_timeout.is_some()),
        ("receive_window", settings.receive_window.is_some()),
        ("delayed_acknowledgement", settings.delayed_acknowledgement.is_some()),
        ("hosts = \"one\"", settings.hosts() == Hosts::One),
        ("a cpu_slowdown other than 1", settings.cpu_slowdown() != SlowDown::NONE),
        (
            "a cpu_slowdown_client other than 1",
            settings.cpu_slowdown_client.unwrap_or(SlowDown::NONE) != SlowDown::NONE,
        ),
        ("a background_load", settings.background_load() > Probability::NEVER),
    ];
    match only_simulated.iter().find(|(_, asked)| *asked) {
        Some((what, _)) => Err(format!(
            "{what} is possible only in the simulated world; leave it out, or set world = \"sim\" for this part"
        )),
        None => Ok(()),
    }
}
