//! What does a site need of a world, besides what programs need of its hosts?
//!
//! The simulated world gives it here; the emulated one, which Linux alone has, in a file of its own.

#[cfg(target_os = "linux")]
mod emulated;

use super::SiteSpec;
use super::capture::CaptureFile;
use crate::observation::Failure;
use crate::settings::Hosts;
use lastmile_link::LinkSpec;
use lastmile_report::record::Doubt;
use lastmile_units::{Bytes, Seed};
use lastmile_world::sim::{self, HostSpec, SimHost};
use lastmile_world::tcp::Config;
use lastmile_world::{Host, LinkId, World};
use std::io;
use std::time::Duration;

/// A world that something can be delivered in.
pub(crate) trait Laboratory: World<Host: Host> + Sized {
    /// A program that has not ended after this much of the world's time is given up.
    const LIMIT: Duration;
    /// The same for a program that has so many messages to move over `link`, of so many octets in all.
    fn limit(link: &LinkSpec, messages: usize, bytes: Bytes) -> Duration;
    /// Whether the same seed gives the same figures, to the last digit.
    const IS_EXACT: bool;
    /// What a world has seen of disturbances so far.
    type Seen: Default;

    /// A new world with a client and a server as `spec` has them.
    fn with_hosts(spec: &SiteSpec, seed: Seed) -> Result<(Self, Self::Host, Self::Host), Failure>;

    /// Joins the two by a link.
    fn join(&self, link: &LinkSpec, client: &Self::Host, server: &Self::Host) -> LinkId;

    /// Captures what passes a host from now on.
    fn capture_host(&self, host: &Self::Host, to: CaptureFile) -> io::Result<()>;

    /// Captures what a link drops from now on.
    fn capture_drops_of(&self, link: LinkId, to: CaptureFile) -> io::Result<()>;

    /// The first error of writing a capture.
    fn capture_error(&self) -> Option<io::Error>;

    /// What makes the figures of what ran since `seen` suspect; `seen` is then brought up to now.
    fn doubts_since(&self, seen: &mut Self::Seen) -> Vec<Doubt>;

    /// Does something inside a host, where real programs can be started; a world that is none of real programs refuses.
    fn inside<T>(&self, host: &Self::Host, act: impl FnOnce() -> T) -> Result<T, Failure>;
}

impl Laboratory for sim::World {
    /// Our own choice: 25 MB at 56 kbit/s take an hour.
    const LIMIT: Duration = Duration::from_secs(30 * 24 * 3600);
    const IS_EXACT: bool = true;
    type Seen = ();

    fn limit(_: &LinkSpec, _: usize, _: Bytes) -> Duration {
        Self::LIMIT
    }

    fn with_hosts(spec: &SiteSpec, seed: Seed) -> Result<(Self, SimHost, SimHost), Failure> {
        let world = Self::new(seed);
        let tcp = Config {
            seed: seed.derive("tcp"),
            ..spec.tcp.clone()
        };
        let host = |cpu| HostSpec { cpu, tcp: tcp.clone() };
        let cpu = world.cpu(spec.server_cpu);
        let server = world.host_on(cpu, host(spec.server_cpu));
        let client = match spec.hosts {
            Hosts::One => world.host_on(cpu, host(spec.client_cpu)),
            Hosts::Two => world.host(host(spec.client_cpu)),
        };
        Ok((world, client, server))
    }

    fn join(&self, link: &LinkSpec, client: &SimHost, server: &SimHost) -> LinkId {
        self.link(&link.down, &link.up, &[client], &[server])
    }

    fn capture_host(&self, host: &SimHost, to: CaptureFile) -> io::Result<()> {
        self.capture(host, Box::new(to))
    }

    fn capture_drops_of(&self, link: LinkId, to: CaptureFile) -> io::Result<()> {
        self.capture_drops(link, Box::new(to))
    }

    fn capture_error(&self) -> Option<io::Error> {
        self.capture_error()
    }

    fn doubts_since(&self, _: &mut ()) -> Vec<Doubt> {
        Vec::new()
    }

    fn inside<T>(&self, _: &SimHost, _: impl FnOnce() -> T) -> Result<T, Failure> {
        Err(Failure::new(
            "real programs run in the emulated world alone: set world = \"emu\"",
        ))
    }
}
