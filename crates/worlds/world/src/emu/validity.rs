//! Decides whether the figures of an emulated world count, by what happened to packets outside the link model, and by what programs
//! waited for a CPU.
//!
//! A packet may be late, and it may be lost outside the link model: in the queue before the forwarder, or on its way into the
//! receiver's kernel. A sender cannot tell such a loss from a loss by the link, so a single one invalidates a figure.

use super::cpu_wait::{CpuWaits, ProgramsWaited};
use super::interface::{Interface, NAME};
use super::lateness::{Lateness, LatenessBound, LatenessExceeded};
use super::namespace::Namespace;
use crate::MeasuredTimes;
use std::fs;

/// What happened to packets and programs outside the link model, in a span of time.
#[derive(Debug, Clone, Default)]
pub struct Disturbance {
    /// The lateness of packets.
    pub lateness: Lateness,
    /// The greatest lateness that is allowed.
    pub bound: LatenessBound,
    /// The losses.
    pub losses: UnmodelledLosses,
    /// What programs waited for a CPU.
    pub waits: CpuWaits,
}

/// The numbers of packets that were lost outside the link model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnmodelledLosses {
    /// Packets from a host that were lost because the queue before the forwarder was full.
    pub before_link: u64,
    /// Packets written to a host's interface that its kernel dropped.
    pub after_link: u64,
}

/// The reason why figures of an emulated world do not count.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidReason {
    /// Packets were late.
    #[error(transparent)]
    TooLate(#[from] LatenessExceeded),
    /// Packets were lost outside the link model.
    #[error(
        "{} packets were lost outside the link model, {} before a link and {} after it: this machine is too busy, or the load \
        exceeds what the emulated world can carry (run `lastmile doctor` to measure it)",
        .0.before_link + .0.after_link, .0.before_link, .0.after_link
    )]
    Lost(UnmodelledLosses),
    /// Programs waited for a CPU.
    #[error(transparent)]
    Waited(#[from] ProgramsWaited),
}

impl Disturbance {
    /// What happened since `earlier`, which must be an earlier state of the same world.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            lateness: self.lateness.since(&earlier.lateness),
            bound: self.bound,
            losses: UnmodelledLosses {
                before_link: self.losses.before_link - earlier.losses.before_link,
                after_link: self.losses.after_link - earlier.losses.after_link,
            },
            waits: self.waits.since(&earlier.waits),
        }
    }

    /// Checks that a figure measured over the whole of this span of time counts.
    ///
    /// # Errors
    /// If it does not, the reason, with figures.
    pub fn verdict(&self) -> Result<(), InvalidReason> {
        self.verdict_on_packets()?;
        Ok(self.waits.within_share_of_whole()?)
    }

    /// Checks that figures measured in this span of time count, of which `times` has the times.
    ///
    /// # Errors
    /// If they do not, the reason, with figures.
    pub fn verdict_on(&self, times: &MeasuredTimes) -> Result<(), InvalidReason> {
        match self.verdict_on_packets() {
            Err(InvalidReason::TooLate(_)) if self.is_early_enough_for(times) => {}
            verdict => verdict?,
        }
        Ok(self.waits.within_share(times)?)
    }

    /// Whether the lateness of all packets together moves none of these times by more than [`LatenessBound::SHARE_OF_TIME`].
    fn is_early_enough_for(&self, times: &MeasuredTimes) -> bool {
        let spans = times.values().flatten();
        let shortest = spans.map(|span| span.end.saturating_since(span.start)).min();
        shortest.is_some_and(|shortest| self.lateness.total() <= shortest.mul_f64(LatenessBound::SHARE_OF_TIME))
    }

    fn verdict_on_packets(&self) -> Result<(), InvalidReason> {
        if self.losses != UnmodelledLosses::default() {
            return Err(InvalidReason::Lost(self.losses));
        }
        Ok(self.lateness.within(self.bound)?)
    }
}

impl UnmodelledLosses {
    /// Adds the losses of one host so far, from its kernel's counters.
    pub(super) fn add_counters(&mut self, host: &Namespace, interface: &Interface) {
        let counters = host.enter(|| fs::read_to_string("/proc/thread-self/net/dev"));
        let counters = counters.ok().and_then(Result::ok);
        let (received, sent) = counters
            .and_then(|counters| dropped(&counters, NAME))
            .unwrap_or_default();
        self.before_link += sent + interface.overflowed();
        self.after_link += received;
    }
}

/// The numbers of received and of sent packets that `interface` has dropped, from /proc/net/dev (proc_pid_net(5)).
fn dropped(counters: &str, interface: &str) -> Option<(u64, u64)> {
    let of_interface = |line: &str| {
        let (name, counters) = line.split_once(':')?;
        (name.trim() == interface).then(|| counters.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    let counters = counters.lines().find_map(of_interface)?;
    // Eight columns for received packets, eight for sent ones: bytes, packets, errs, drop, ...
    Some((counters.get(3)?.parse().ok()?, counters.get(11)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::Instant;
    use std::time::Duration;

    #[test]
    fn drops_are_read_from_the_column_of_their_direction() {
        let counters = "Inter-|   Receive          |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    5    0     0          0         0        0       0    0    6    0     0       0          0
 link0:  1105673   2232    1    2    3     0          0         0  1105673    2232    7    4    8     0       0          0
";
        assert_eq!(dropped(counters, "link0"), Some((2, 4)));
        assert_eq!(dropped(counters, "link1"), None);
        assert_eq!(dropped("link0: 1 2 3", "link0"), None);
    }

    #[test]
    fn late_packets_do_not_spoil_times_that_are_long_enough() {
        let mut disturbance = Disturbance::default();
        for _ in 0..10 {
            disturbance.lateness.record(Duration::from_millis(1));
        }
        let measured = |seconds: u64| {
            let span = Instant::START..Instant::START + Duration::from_secs(seconds);
            MeasuredTimes::from([("transfer_time".to_owned(), vec![span])])
        };
        // 10 ms of 2 s are 0.5 %, and of half a second 2 %.
        assert_eq!(disturbance.verdict_on(&measured(2)), Ok(()));
        assert!(disturbance.verdict_on(&MeasuredTimes::default()).is_err());
        let short = MeasuredTimes::from([(
            "transfer_time".to_owned(),
            vec![Instant::START..Instant::START + Duration::from_millis(500)],
        )]);
        assert!(disturbance.verdict_on(&short).is_err());
    }

    #[test]
    fn one_packet_lost_beside_the_links_makes_figures_invalid() {
        let earlier = Disturbance::default();
        assert_eq!(earlier.verdict(), Ok(()));
        let losses = UnmodelledLosses {
            before_link: 3,
            after_link: 1,
        };
        let later = Disturbance {
            losses,
            ..Disturbance::default()
        };
        let invalid = later.since(&earlier).verdict().expect_err("packets were lost");
        assert!(
            invalid
                .to_string()
                .starts_with("4 packets were lost outside the link model, 3 before"),
            "{invalid}"
        );
        assert_eq!(later.since(&later).verdict(), Ok(()));
    }
}
