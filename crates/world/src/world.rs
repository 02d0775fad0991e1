//! What can a study do with a world, whichever it is? Run programs in it, and ask what became of their packets.

use crate::Host;
use lastmile_link::Counters;
use std::future::Future;
use std::net::Ipv4Addr;
use std::time::Duration;

/// Hosts, links and programs. How a world is built is its own; what follows is the same in all.
pub trait World {
    /// A machine in it.
    type Host: Host;

    /// Adds a program that runs beside the one that [`World::run_for`] waits for.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);

    /// Runs the world until `program` is done, for at most `limit` of its time. Other programs stop where they are, and go on
    /// with the next call.
    ///
    /// # Errors
    /// When the world cannot go on, or the time is over.
    fn run_for<T: 'static>(&self, limit: Duration, program: impl Future<Output = T> + 'static) -> Result<T, Halt>;

    /// What became of the packets of a link, down and up.
    fn link_counters(&self, link: LinkId) -> (Counters, Counters);

    /// How many segments that carry data or SYN the TCP of `host` has sent again.
    fn retransmissions(&self, host: &Self::Host) -> u64;

    /// How long cores have worked for the programs of `host`: those that were [spawned](Host::spawn) on it, where programs really
    /// compute, and whatever was [charged](Host::compute), where computing is simulated.
    fn cpu_time(&self, host: &Self::Host) -> Duration;
}

/// Which link of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkId {
    pub(crate) down: usize,
    pub(crate) up: usize,
}

/// A world that cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// The program waits, and nothing will ever happen.
    #[error("at {at} the program waits for something that will never happen")]
    Stalled {
        /// When the last thing happened.
        at: lastmile_units::Instant,
    },
    /// Time ran out.
    #[error("the program is not done after {limit:?}")]
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

/// Which host an address in the world's network would be that of.
pub(crate) fn host_number(address: Ipv4Addr) -> Option<usize> {
    let number = u32::from(address).checked_sub(NETWORK)?;
    (number < 1 << 24).then(|| (number as usize).checked_sub(1))?
}
