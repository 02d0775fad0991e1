//! The [`World`] trait: what a study does with a world of either kind. It runs programs and reads the counters of packets.

use crate::topology::id::{LinkId, MediumId, RadioId};
use crate::{Host, Observer};
use lastmile_link::Counters;
use lastmile_link::radio::RadioCounters;
use lastmile_units::Instant;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::Ipv4Addr;
use std::ops::Range;
use std::time::Duration;

/// The times that programs measured: the beginning and the end of each sample, in the world's time, by the figure's name.
pub type MeasuredTimes = BTreeMap<String, Vec<Range<Instant>>>;

/// Hosts, links and programs. Each world is built in its own way; everything else is the same in both.
pub trait World {
    /// A host of the world.
    type Host: Host;

    /// Adds a program that runs beside the one that [`World::run_for`] waits for.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);

    /// Runs the world until `program` is done, for at most `limit` of its time. Other programs stop where they are, and go on
    /// with the next call.
    ///
    /// # Errors
    /// When the world cannot go on, or the limit is reached.
    fn run_for<T: 'static>(&self, limit: Duration, program: impl Future<Output = T> + 'static) -> Result<T, Halt>;

    /// Tells `observer` what the media do, in intervals of at least `period` of the world's time. It takes the place of an earlier one.
    fn observe(&self, observer: Box<dyn Observer>, period: Duration);

    /// The counters of a medium.
    fn counters(&self, medium: MediumId) -> Counters;

    /// The counters of a link, down and up.
    fn link_counters(&self, link: LinkId) -> (Counters, Counters) {
        (self.counters(link.down), self.counters(link.up))
    }

    /// The counters of a radio and its stations.
    fn radio_counters(&self, radio: RadioId) -> RadioCounters;

    /// The number of segments with data or SYN that the TCP of `host` has retransmitted.
    fn retransmissions(&self, host: &Self::Host) -> u64;

    /// The CPU time of the programs of `host`: of those [spawned](Host::spawn) on it, where programs really compute, and the time
    /// [charged](Host::compute), where computing is simulated.
    fn cpu_time(&self, host: &Self::Host) -> Duration;
}

/// A world that cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// The program waits, and no event is left.
    #[error("the program is stalled at {at}: it waits, and no event is left that could wake it")]
    Stalled {
        /// The time of the last event.
        at: Instant,
    },
    /// Time ran out.
    #[error("the program did not finish within {limit:?}")]
    OutOfTime {
        /// The limit that was set.
        limit: Duration,
    },
}

/// The network that the hosts of a world are in: 10.0.0.0/8 (RFC 1918).
pub(crate) const NETWORK: u32 = 0x0a00_0000;

/// The address of a host: 10.0.0.1 onwards.
pub(crate) fn address_of(host: usize) -> Ipv4Addr {
    Ipv4Addr::from(NETWORK | (host as u32 + 1))
}

/// The number of the host with an address of the world's network.
pub(crate) fn host_number(address: Ipv4Addr) -> Option<usize> {
    let number = u32::from(address).checked_sub(NETWORK)?;
    (number < 1 << 24).then(|| (number as usize).checked_sub(1))?
}
