//! What became of packets that no link of the world had done to them, and may its figures count all the same?
//!
//! A packet may come late, and it may be lost beside the links: where it waits for the forwarder, or on the way into the
//! receiver's kernel. A sender cannot tell such a loss from one of the link's, so one is enough for a figure not to count.

use super::interface::{Interface, NAME};
use super::lateness::{Lateness, LatenessBound, TooLate};
use super::namespace::Namespace;
use std::fs;
use std::iter::Sum;
use std::ops::Add;

/// What a world did to packets beside what its links do, in some span of time.
#[derive(Debug, Clone, Default)]
pub struct Disturbance {
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// How late they may be.
    pub bound: LatenessBound,
    /// What was lost.
    pub losses: Losses,
}

/// Packets that were lost beside the links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    /// Those that a host sent, and that found no room where packets wait for the forwarder.
    pub before_link: u64,
    /// Those that were handed to a host's interface, whose kernel would not have them.
    pub after_link: u64,
}

/// Why figures of an emulated world do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Packets were late.
    #[error(transparent)]
    TooLate(#[from] TooLate),
    /// Packets were lost beside the links.
    #[error(
        "{} packets were lost beside the links, {} before they got there and {} after: this machine is too busy, or the load is more \
         than the emulated world carries (`lastmile doctor` measures it)",
        .0.before_link + .0.after_link, .0.before_link, .0.after_link
    )]
    Lost(Losses),
}

impl Disturbance {
    /// What happened since `earlier`, which must be an earlier state of the same world.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            lateness: self.lateness.since(&earlier.lateness),
            bound: self.bound,
            losses: Losses {
                before_link: self.losses.before_link - earlier.losses.before_link,
                after_link: self.losses.after_link - earlier.losses.after_link,
            },
        }
    }

    /// Whether figures count that were taken in this time.
    ///
    /// # Errors
    /// Where they do not, why, with figures.
    pub fn verdict(&self) -> Result<(), Invalid> {
        if self.losses != Losses::default() {
            return Err(Invalid::Lost(self.losses));
        }
        Ok(self.lateness.within(self.bound)?)
    }
}

impl Losses {
    /// Those of one host so far, as its kernel counts them.
    pub(super) fn of(host: &Namespace, interface: &Interface) -> Self {
        let counters = host.enter(|| fs::read_to_string("/proc/thread-self/net/dev"));
        let counted = counters
            .ok()
            .and_then(Result::ok)
            .and_then(|counters| dropped(&counters, NAME));
        let (received, sent) = counted.unwrap_or_default();
        Self {
            before_link: sent + interface.overflowed(),
            after_link: received,
        }
    }
}

impl Add for Losses {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            before_link: self.before_link + other.before_link,
            after_link: self.after_link + other.after_link,
        }
    }
}

impl Sum for Losses {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// How many packets `interface` has dropped of those received and of those sent, as /proc/net/dev has it (proc_pid_net(5)).
fn dropped(counters: &str, interface: &str) -> Option<(u64, u64)> {
    let of_interface = |line: &str| {
        let (name, counters) = line.split_once(':')?;
        (name.trim() == interface).then(|| counters.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    let counters = counters.lines().find_map(of_interface)?;
    // Eight columns for what is received, eight for what is sent: bytes, packets, errs, drop, ...
    Some((counters.get(3)?.parse().ok()?, counters.get(11)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn one_packet_lost_beside_the_links_makes_figures_invalid() {
        let earlier = Disturbance::default();
        assert_eq!(earlier.verdict(), Ok(()));
        let losses = Losses {
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
                .starts_with("4 packets were lost beside the links, 3 before"),
            "{invalid}"
        );
        assert_eq!(later.since(&later).verdict(), Ok(()));
    }
}
