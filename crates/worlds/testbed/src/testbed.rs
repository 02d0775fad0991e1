//! The testbed: the hosts and links of a topology by name, in either world, with their captures and counters.
//!
//! A [`TwoHostTestbed`] is a testbed of a client and a server. `world_adapter` is the interface to the two worlds, `capture` writes packet
//! captures.

mod capture;
mod observation;
mod two_hosts;
mod world_adapter;

pub use capture::CaptureFile;
pub use lastmile_world::MeasuredTimes;
pub use observation::{Gauge, Reading, TestbedObserver};
pub use two_hosts::{CLIENT, Counters, TwoHostSpec, TwoHostTestbed};
pub use world_adapter::TestbedWorld;

use crate::failure::Failure;
use capture::Captures;
use lastmile_link::radio::RadioCounters;
use lastmile_link::{DirectionSpec, Jitter, LinkSpec, Reordering};
use lastmile_report::record::Doubt;
use lastmile_tcp::{self as tcp, CongestionControl};
use lastmile_units::{Probability, Seed};
use lastmile_world::sim::CpuSpec;
use lastmile_world::topology::{AIR, DROPS, HostName, MediumKind, MediumName, Topology, TopologyMedium};
use lastmile_world::{Host, LinkId, RadioId};
use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::time::Duration;
use tokio::sync::oneshot;

/// The settings of a host.
#[derive(Debug, Clone, Default)]
pub struct HostSetup {
    /// The settings of our TCP, for the simulated world.
    pub tcp: tcp::Config,
    /// The settings of its kernel, for the emulated world.
    #[cfg(target_os = "linux")]
    pub kernel: lastmile_world::emu::HostSpec,
    /// Its simulated CPU.
    pub cpu: CpuSpec,
    /// A host that comes before it in the topology, and whose simulated CPU it shares; none where it has a CPU of its own.
    pub cpu_of: Option<HostName>,
}

impl HostSetup {
    /// The same, with TCP's random choices from `seed`.
    #[must_use]
    pub fn seeded(mut self, seed: Seed) -> Self {
        self.tcp.seed = seed.derive("tcp");
        self
    }
}

/// A world that was made from a topology, with its hosts and links by name.
pub struct Testbed<W: TestbedWorld> {
    /// The world.
    pub world: W,
    hosts: BTreeMap<HostName, W::Host>,
    links: BTreeMap<MediumName, LinkId>,
    radios: BTreeMap<MediumName, RadioId>,
    random_sources: Vec<&'static str>,
    captures: Option<Captures>,
    validity_mark: W::ValidityMark,
}

impl<W: TestbedWorld> Testbed<W> {
    /// A new world with the hosts and media of `topology`; `setup` gives the settings of each host.
    ///
    /// # Errors
    /// Where this machine cannot make such a world.
    pub fn build(topology: &Topology, seed: Seed, setup: impl Fn(&HostName) -> HostSetup) -> Result<Self, Failure> {
        let hosts = topology.hosts().iter().map(|host| &host.name);
        let setups: BTreeMap<HostName, HostSetup> = hosts.map(|name| (name.clone(), setup(name))).collect();
        let links = topology.media().iter().filter_map(|medium| match &medium.kind {
            MediumKind::Wire(wire) => Some(&wire.link),
            MediumKind::Radio(_) => None,
        });
        let mut random_sources = random_sources(links, setups.values().map(|setup| &setup.tcp));
        let is_radio = |medium: &TopologyMedium| matches!(medium.kind, MediumKind::Radio(_));
        if topology.media().iter().any(is_radio) {
            random_sources.push("radio");
        }
        let assembly = W::assemble(topology, setups, seed)?;
        Ok(Self {
            world: assembly.world,
            hosts: assembly.hosts,
            links: assembly.links,
            radios: assembly.radios,
            random_sources,
            captures: None,
            validity_mark: W::ValidityMark::default(),
        })
    }

    /// The host of that name.
    ///
    /// # Panics
    /// Where the topology has none.
    pub fn host(&self, name: &str) -> &W::Host {
        self.hosts
            .get(name)
            .unwrap_or_else(|| panic!("the topology has a host {name:?}"))
    }

    /// The link of that name.
    ///
    /// # Panics
    /// Where the topology has none.
    pub fn link(&self, name: &str) -> LinkId {
        *self
            .links
            .get(name)
            .unwrap_or_else(|| panic!("the topology has a link {name:?}"))
    }

    /// The radio of that name.
    ///
    /// # Panics
    /// Where the topology has none.
    pub fn radio(&self, name: &str) -> RadioId {
        *self
            .radios
            .get(name)
            .unwrap_or_else(|| panic!("the topology has a radio {name:?}"))
    }

    /// The counters of each radio and its stations.
    pub fn radio_counters(&self) -> impl Iterator<Item = (&MediumName, RadioCounters)> {
        let counted = |(name, radio): (_, &RadioId)| (name, self.world.radio_counters(*radio));
        self.radios.iter().map(counted)
    }

    /// Captures the packets at each host from now on, and those that each link or radio drops, into files of `folder`:
    /// `<name>-<host>.pcapng`, and `<name>-drops.pcapng` where there is one medium, `<name>-drops-<medium>.pcapng` where there are several.
    /// The frames on the air of a radio, of which there are more than packets, are in `<name>-air-<radio>.pcapng`.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn capture(&mut self, folder: &Path, name: &str) -> Result<(), Failure> {
        let mut captures = Captures::new(folder, name);
        for (host, handle) in &self.hosts {
            captures.begin(host.as_str(), |file| self.world.capture(handle, Box::new(file)))?;
        }
        let links = self.links.iter().map(|(name, link)| (name, vec![link.down, link.up]));
        let radios = self.radios.iter().map(|(name, radio)| (name, vec![radio.medium()]));
        for (medium, ids) in links.chain(radios) {
            let vantage_point = match self.links.len() + self.radios.len() {
                1 => DROPS.to_owned(),
                _ => format!("{DROPS}-{medium}"),
            };
            captures.begin(&vantage_point, |file| self.world.capture_drops_of(&ids, Box::new(file)))?;
        }
        for (name, radio) in &self.radios {
            let vantage_point = format!("{AIR}-{name}");
            captures.begin(&vantage_point, |file| self.world.capture_air(*radio, Box::new(file)))?;
        }
        self.captures = Some(captures);
        Ok(())
    }

    /// The capture at a host, if there is one. Clones share the file.
    pub fn capture_at(&self, host: &str) -> Option<CaptureFile> {
        self.captures.as_ref()?.file(host)
    }

    /// Flushes the captures, if there are any; a repeat whose packets could not be written has failed.
    ///
    /// # Errors
    /// Where a file could not be written.
    pub fn flush_captures(&mut self) -> Result<(), Failure> {
        self.captures
            .as_mut()
            .map_or(Ok(()), |captures| captures.flush(&self.world))
    }

    /// Runs a program on a host to its end, with a timeout.
    ///
    /// # Errors
    /// Where it has not ended then, or the world cannot go on.
    pub fn run_on<T: 'static>(
        &self,
        host: &W::Host,
        limit: Duration,
        program: impl Future<Output = T> + 'static,
    ) -> Result<T, Failure> {
        let (sender, receiver) = oneshot::channel();
        host.spawn(async move {
            // The receiver is gone after the timeout.
            let _ = sender.send(program.await);
        });
        let ended = self.world.run_for(limit, receiver);
        let ended = ended.map_err(Failure::from_error)?;
        ended.map_err(|_| Failure::new("the host's program was stopped"))
    }

    /// Lets time pass.
    pub fn idle(&self, time: Duration) {
        let Some(host) = self.hosts.values().next().cloned() else {
            return;
        };
        let until = host.now() + time;
        // A sleep always ends.
        let _ = self
            .world
            .run_for(W::LIMIT, async move { host.sleep_until(until).await });
    }

    /// The world's doubts about a figure of everything that ran since the last call of this or of [`Self::doubts_about`].
    pub fn doubts(&mut self) -> Vec<Doubt> {
        self.world.doubts_since(&mut self.validity_mark)
    }

    /// The world's doubts about the figures of what ran since the last call, of which `times` has the times: a short one is moved more by
    /// the same disturbance.
    pub fn doubts_about(&mut self, times: &MeasuredTimes) -> Vec<Doubt> {
        self.world.doubts_about(times, &mut self.validity_mark)
    }

    /// The random sources: links, TCP, and the machine where its time is real.
    pub fn random_sources(&self) -> impl Iterator<Item = &'static str> {
        let machine = (!W::IS_EXACT).then_some("machine");
        machine.into_iter().chain(self.random_sources.iter().copied())
    }
}

/// The random sources of links and of hosts' TCP, in either world.
fn random_sources<'a>(
    links: impl IntoIterator<Item = &'a LinkSpec>,
    hosts: impl IntoIterator<Item = &'a tcp::Config>,
) -> Vec<&'static str> {
    let directions: Vec<_> = links.into_iter().flat_map(|link| [&link.down, &link.up]).collect();
    let any = |has: fn(&DirectionSpec) -> bool| directions.iter().any(|direction| has(direction));
    let is_bbr = |tcp: &tcp::Config| tcp.congestion_control == CongestionControl::Bbr;
    let sources = [
        (any(|direction| direction.loss.rate() > Probability::NEVER), "loss"),
        (
            any(|direction| direction.jitter != Jitter::None || direction.reordering != Reordering::None),
            "jitter",
        ),
        (hosts.into_iter().any(is_bbr), "gain-phase"),
    ];
    sources
        .into_iter()
        .filter(|(there, _)| *there)
        .map(|(_, name)| name)
        .collect()
}

#[cfg(test)]
mod tests;
