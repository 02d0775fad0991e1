//! The interface of a testbed to a world, beyond what programs need of its hosts.
//!
//! Implemented here for the simulated world, and in `emulated` for the emulated one, which needs Linux.

#[cfg(target_os = "linux")]
mod emulated;

use super::HostSetup;
use crate::failure::Failure;
use lastmile_link::LinkSpec;
use lastmile_report::record::Doubt;
use lastmile_units::{ByteCount, Seed};
use lastmile_world::sim::{self, HostSettings, HostSpec, SimHost};
use lastmile_world::topology::{Assembly, HostName, Topology};
use lastmile_world::{Host, MeasuredTimes, World};
use std::collections::BTreeMap;
use std::time::Duration;

/// A world in which something can be delivered.
pub trait TestbedWorld: World<Host: Host> + Sized + 'static {
    /// The timeout of a program, in the world's time.
    const LIMIT: Duration;
    /// The timeout of a program that delivers `messages` messages with a total size of `bytes` over `link`.
    fn limit(link: &LinkSpec, messages: usize, bytes: ByteCount) -> Duration;
    /// Whether the same seed gives exactly the same figures.
    const IS_EXACT: bool;
    /// The disturbances that a world has observed so far.
    type ValidityMark: Default;

    /// A new world with the hosts and media of `topology`; `setups` has the settings of each host.
    ///
    /// # Errors
    /// Where this machine cannot make such a world.
    fn assemble(
        topology: &Topology,
        setups: BTreeMap<HostName, HostSetup>,
        seed: Seed,
    ) -> Result<Assembly<Self>, Failure>;

    /// The doubts about a figure of everything that ran since `mark`, which is updated.
    fn doubts_since(&self, mark: &mut Self::ValidityMark) -> Vec<Doubt>;

    /// Like [`Self::doubts_since`], for figures that are times, and others of the same run.
    fn doubts_about(&self, times: &MeasuredTimes, mark: &mut Self::ValidityMark) -> Vec<Doubt>;

    /// Calls `act` inside a host, where it can start real programs; an error in the simulated world.
    fn in_namespace_of<T>(&self, host: &Self::Host, act: impl FnOnce() -> T) -> Result<T, Failure>;

    /// Calls `act` inside a host, in a thread of its own, while the world goes on: it may wait for programs of other hosts. An error in the
    /// simulated world, and where it takes longer than `limit`.
    fn run_in_namespace_of<T: Send + 'static>(
        &self,
        host: &Self::Host,
        limit: Duration,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure>;
}

impl TestbedWorld for sim::World {
    /// Our own choice: 25 MB at 56 kbit/s take an hour.
    const LIMIT: Duration = Duration::from_secs(30 * 24 * 3600);
    const IS_EXACT: bool = true;
    type ValidityMark = ();

    fn limit(_: &LinkSpec, _: usize, _: ByteCount) -> Duration {
        Self::LIMIT
    }

    fn assemble(
        topology: &Topology,
        mut setups: BTreeMap<HostName, HostSetup>,
        seed: Seed,
    ) -> Result<Assembly<Self>, Failure> {
        Ok(Self::from_topology(topology, seed, |name| {
            let HostSetup { tcp, cpu, cpu_of, .. } = setups.remove(name).unwrap_or_default();
            HostSettings {
                spec: HostSpec { cpu, tcp },
                cpu_of,
            }
        }))
    }

    fn doubts_since(&self, _: &mut ()) -> Vec<Doubt> {
        Vec::new()
    }

    fn doubts_about(&self, _: &MeasuredTimes, _: &mut ()) -> Vec<Doubt> {
        Vec::new()
    }

    fn in_namespace_of<T>(&self, _: &SimHost, _: impl FnOnce() -> T) -> Result<T, Failure> {
        Err(Failure::new(
            "real programs run only in the emulated world: set world = \"emu\"",
        ))
    }

    fn run_in_namespace_of<T: Send + 'static>(
        &self,
        _: &SimHost,
        _: Duration,
        _: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        Err(Failure::new(
            "real programs run only in the emulated world: set world = \"emu\"",
        ))
    }
}
