//! How is a real kernel set for a cell, and which of a cell's settings have no meaning there?

use crate::settings::{CongestionControl, Hosts, Nagle, Settings, SlowDown};
use lastmile_units::Probability;
use lastmile_world::emu::HostSpec;

/// How the settings ask a kernel to be set.
pub(super) fn kernel(settings: &Settings) -> HostSpec {
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
pub(super) fn check(settings: &Settings) -> Result<(), String> {
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
