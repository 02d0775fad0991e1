//! The interface of a testbed to the emulated world.

use super::TestbedWorld;
use crate::doubt;
use crate::failure::Failure;
use crate::testbed::HostSetup;
use lastmile_link::{DirectionSpec, LinkSpec};
use lastmile_report::record::Doubt;
use lastmile_units::{ByteCount, Seed};
use lastmile_world::MeasuredTimes;
use lastmile_world::emu::{Disturbance, EmuHost, InvalidReason, World};
use lastmile_world::topology::{Assembly, HostName, Topology};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::oneshot;

/// The time allowed in addition to the transfer: for starting, opening connections, and waiting for full queues. Our own choice.
const SLACK: Duration = Duration::from_secs(60);
/// The multiple of a transfer's time at the link's rate, and of its round trips, that is allowed: for losses and TCP's slow start. Our
/// own choice.
const TIMEOUT_FACTOR: u32 = 10;
/// The least payload of a segment where there is enough to send: 1,500 bytes without the headers of IPv6 and TCP with options.
const SEGMENT: u64 = 1400;

impl TestbedWorld for World {
    /// Our own choice: no repeat of a planned run takes a tenth of it, and a user who asks for a whole study can wait.
    const LIMIT: Duration = Duration::from_secs(4 * 3600);

    /// Since real time passes here, and a stuck peer must not block for long: a minute, plus ten times the time that it would take if
    /// every message and every segment waited for the one before.
    fn limit(link: &LinkSpec, messages: usize, bytes: ByteCount) -> Duration {
        let serialised = [&link.down, &link.up].into_iter().filter_map(DirectionSpec::rate_mean);
        let serialised = serialised.map(|rate| bytes / rate).max().unwrap_or_default();
        let in_turn = messages as u64 + bytes.get() / SEGMENT;
        let waited = link
            .round_trip()
            .saturating_mul(u32::try_from(in_turn).unwrap_or(u32::MAX));
        let transfer = serialised.saturating_add(waited).saturating_mul(TIMEOUT_FACTOR);
        SLACK.saturating_add(transfer).min(Self::LIMIT)
    }

    const IS_EXACT: bool = false;
    type ValidityMark = Disturbance;

    fn assemble(
        topology: &Topology,
        mut setups: BTreeMap<HostName, HostSetup>,
        seed: Seed,
    ) -> Result<Assembly<Self>, Failure> {
        let kernel = |name: &HostName| setups.remove(name).unwrap_or_default().kernel;
        Self::from_topology(topology, seed, kernel).map_err(Failure::from_error)
    }

    fn doubts_since(&self, mark: &mut Disturbance) -> Vec<Doubt> {
        doubts(disturbance_since(self, mark).verdict())
    }

    fn doubts_about(&self, times: &MeasuredTimes, mark: &mut Disturbance) -> Vec<Doubt> {
        doubts(disturbance_since(self, mark).verdict_on(times))
    }

    fn in_namespace_of<T>(&self, host: &EmuHost, act: impl FnOnce() -> T) -> Result<T, Failure> {
        host.namespace()
            .enter(act)
            .map_err(|error| Failure::new(format!("the host cannot be entered: {error}")))
    }

    fn run_in_namespace_of<T: Send + 'static>(
        &self,
        host: &EmuHost,
        limit: Duration,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let namespace = host.namespace().clone();
        let (sender, receiver) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            // The receiver is gone where the world has stopped.
            let _ = sender.send(namespace.enter(act));
        });
        let ended = lastmile_world::World::run_for(self, limit, receiver);
        let joined = thread.join();
        let ended = ended.map_err(Failure::from_error)?;
        joined.map_err(|_| Failure::new("a thread on a host panicked"))?;
        ended
            .map_err(|_| Failure::new("a thread on a host gave no result"))?
            .map_err(|error| Failure::new(format!("the host cannot be entered: {error}")))
    }
}

/// What happened since `mark`, which is updated.
fn disturbance_since(world: &World, mark: &mut Disturbance) -> Disturbance {
    let now = world.disturbance();
    let since = now.since(mark);
    *mark = now;
    since
}

/// The doubts about figures with this verdict.
fn doubts(verdict: Result<(), InvalidReason>) -> Vec<Doubt> {
    let invalid = verdict.err();
    invalid.map(|invalid| doubt::disturbed(&invalid)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubt::DOUBTS;
    use lastmile_link::resolve;
    use lastmile_report::record::DoubtKind;
    use lastmile_world::emu::UnmodelledLosses;

    #[test]
    fn a_stuck_conversation_is_given_up_in_minutes_and_a_slow_one_is_not() {
        let limit =
            |link: &str, messages, bytes| World::limit(&resolve(link).unwrap(), messages, ByteCount::new(bytes));
        // 28 ms of round trip (`wpt/cable`): 10 * (20 messages + 1 segment) * 28 ms, and 2,000 bytes at 1 Mbit/s are 16 ms.
        let chat = limit("wpt/cable", 20, 2000);
        assert_eq!(chat, SLACK + Duration::from_millis(10 * (21 * 28 + 16)));
        let slow = limit("wpt/dial", 1, 25_000_000);
        assert_eq!(slow, World::LIMIT);
    }

    /// A disturbance that raises a doubt of this kind.
    fn doubtful(kind: DoubtKind) -> Disturbance {
        match kind {
            DoubtKind::Disturbed => Disturbance {
                losses: UnmodelledLosses {
                    before_link: 1,
                    after_link: 0,
                },
                ..Disturbance::default()
            },
            other => panic!("{other} has no row"),
        }
    }

    #[test]
    fn every_kind_of_doubt_is_raised() {
        assert_eq!(doubts(Disturbance::default().verdict()), []);
        for kind in DOUBTS {
            let kinds: Vec<DoubtKind> = doubts(doubtful(*kind).verdict())
                .iter()
                .map(|doubt| doubt.kind)
                .collect();
            assert_eq!(kinds, [*kind]);
        }
    }
}
