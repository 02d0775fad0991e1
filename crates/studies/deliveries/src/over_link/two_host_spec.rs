//! Reads a cell's settings into the specification of its testbed, so that missing or contradictory settings are reported before
//! anything runs.

#[cfg(target_os = "linux")]
use super::emulated;
use lastmile_link::LinkSpec;
use lastmile_study::settings::{CongestionControl, Nagle, RoundTrip, Settings};
use lastmile_tcp as tcp;
use lastmile_testbed::settings::World;
use lastmile_testbed::testbed::{HostSetup, TwoHostSpec};
use lastmile_world::sim::CpuSpec;

/// The testbed that `settings` describe; the error is a message for the author of the study. `nagle` is how the delivery's programs set
/// Nagle's algorithm unless the settings say.
pub(super) fn two_host_spec(settings: &Settings, nagle: Nagle) -> Result<TwoHostSpec, String> {
    let link = link(settings)?;
    let link = match settings.round_trip {
        Some(RoundTrip::Of(round_trip)) => link.with_round_trip(round_trip),
        Some(RoundTrip::OfLink) | None => link,
    };
    check_world(settings)?;
    let host = host_setup(settings, nagle);
    let client_slow_down = settings.cpu_slowdown_client.unwrap_or(settings.cpu_slowdown());
    Ok(TwoHostSpec {
        link,
        tcp: host.tcp,
        #[cfg(target_os = "linux")]
        kernel: host.kernel,
        server_cpu: host.cpu,
        client_cpu: CpuSpec {
            slow_down: client_slow_down.get(),
            ..host.cpu
        },
        hosts: settings.hosts(),
    })
}

/// A host with the TCP, the kernel and the CPU that a cell's settings ask for. `nagle` is how the delivery's programs set Nagle's algorithm
/// unless the settings say.
pub(crate) fn host_setup(settings: &Settings, nagle: Nagle) -> HostSetup {
    let nagle = settings.nagle.unwrap_or(nagle);
    HostSetup {
        tcp: tcp_config(settings, nagle),
        #[cfg(target_os = "linux")]
        kernel: emulated::kernel(settings, nagle),
        cpu: CpuSpec {
            slow_down: settings.cpu_slowdown().get(),
            background_load: settings.background_load().get(),
            ..CpuSpec::default()
        },
        cpu_of: None,
    }
}

/// The link of a cell, which must have one.
pub(crate) fn link(settings: &Settings) -> Result<LinkSpec, String> {
    let link = settings.link.as_ref();
    let link = link.ok_or("no link is set; add link = \"wpt/3g\" to [fixed] or [factors]")?;
    Ok(link.0.clone())
}

/// Checks that the cell's world supports its settings.
pub(crate) fn check_world(settings: &Settings) -> Result<(), String> {
    match settings.world() {
        World::Simulated => match settings.real_server() {
            Some(server) => Err(format!(
                "server {server} is a real program, which runs only in the emulated world; set world = \"emu\" for this part"
            )),
            None => Ok(()),
        },
        #[cfg(target_os = "linux")]
        World::Emulated => emulated::check(settings),
        #[cfg(not(target_os = "linux"))]
        World::Emulated => Err("the emulated world needs Linux; set world = \"sim\"".to_owned()),
    }
}

/// The settings of our TCP that a cell's settings ask for, with Nagle's algorithm as given.
fn tcp_config(settings: &Settings, nagle: Nagle) -> tcp::Config {
    let mut config = tcp::Config::default();
    if let Some(segments) = settings.initial_window {
        config.initial_window = segments.get();
    }
    config.nagle = match nagle {
        Nagle::Off => tcp::Nagle::Off,
        Nagle::Classic => tcp::Nagle::Classic,
        Nagle::On => tcp::Nagle::Minshall,
    };
    if let Some(window) = settings.receive_window {
        (config.receive_window, config.receive_window_maximum) = (window, window);
    }
    if let Some(delay) = settings.delayed_acknowledgement {
        (config.delayed_acknowledgement, config.quick_acknowledgements) = (delay.0, 0);
    }
    if let Some(timeout) = settings.syn_timeout {
        (config.syn_timeout, config.syn_linear_repetitions) = (timeout.0, 0);
    }
    config.congestion_control = match settings.congestion_control() {
        CongestionControl::Reno => tcp::CongestionControl::Reno,
        CongestionControl::Bbr => tcp::CongestionControl::Bbr,
        CongestionControl::Cubic => tcp::CongestionControl::Cubic,
    };
    config
}
