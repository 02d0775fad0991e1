//! The record of `lastmile link`: what happened on a link while a command ran behind it, as an object and as a line of text.

use crate::number::quantity;
use crate::record::{Doubt, DoubtKind};
#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `lastmile link` prints at its end, on stderr: stdout is the command's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct LinkRunSummary {
    /// `lastmile/link/1`.
    #[cfg_attr(feature = "testing", schemars(extend("const" = LinkRunSummary::SCHEMA)))]
    pub schema: String,
    /// The link, as a formula.
    pub link: String,
    /// The root of every random choice of the link.
    pub seed: u64,
    /// The command's exit code, or 128 plus the number of the signal that ended it. Null where there was no command.
    pub exit_code: Option<u8>,
    /// How long the command ran, in seconds. Null where there was no command.
    #[serde(default)]
    pub took: Option<f64>,
    /// The congestion control of both ends' senders, by the kernel's name.
    pub congestion_control: String,
    /// The interfaces' offloads: always `none`, so that packets cross the link as they would cross a wire.
    pub offloads: String,
    /// How the ends were attached to the link: `TUN`, or `veth and packet sockets`.
    pub attachment: String,
    /// Whether the forwarding thread ran with real-time priority.
    pub real_time: bool,
    /// Towards the command.
    pub down: Direction,
    /// From the command.
    pub up: Direction,
    /// How much later than in the link model packets were delivered.
    pub lateness: Lateness,
    /// How long programs waited for a CPU.
    #[serde(default)]
    pub cpu_wait: CpuWait,
    /// Packets lost outside the link model, before or after it.
    pub lost_beside_link: u64,
    /// Packets to an address that no host of the link has.
    pub packets_astray: u64,
    /// Whether figures measured over this link may be used.
    pub valid: bool,
    /// Why they may not be used. Null where they may.
    pub why_invalid: Option<String>,
    /// What makes them suspect.
    pub doubts: Vec<Doubt>,
}

/// The kinds of doubts about a link's run.
pub const DOUBTS: &[DoubtKind] = &[DoubtKind::NoPackets];

/// The packets of one direction, by fate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Direction {
    /// Packets that were sent.
    pub packets_offered: u64,
    /// Their bytes, IP headers counted.
    pub bytes_offered: u64,
    /// Packets that arrived.
    pub packets_delivered: u64,
    /// Their bytes, IP headers counted.
    pub bytes_delivered: u64,
    /// Packets dropped since the queue was full.
    pub dropped_by_full_queue: u64,
    /// Packets that CoDel dropped.
    pub dropped_by_active_queue_management: u64,
    /// Packets lost at random.
    pub dropped_by_random_loss: u64,
    /// The most packets in the queue at once, besides the one being sent.
    pub longest_queue: u64,
}

/// How late packets were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Lateness {
    /// The 99th percentile, in seconds.
    pub p99: f64,
    /// The largest, in seconds.
    pub largest: f64,
    /// The largest 99th percentile at which figures may be used, in seconds.
    pub bound: f64,
}

/// How long programs that were ready had to wait for a CPU: the command, and what carries its packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct CpuWait {
    /// The time in which any of them waited, in seconds: the command took longer by at most this.
    pub waited: f64,
    /// The time that was observed, in seconds.
    pub observed: f64,
    /// The largest share of the time without waits at which figures may be used.
    pub bound: f64,
}

impl LinkRunSummary {
    /// The name of this record's shape.
    pub const SCHEMA: &'static str = "lastmile/link/1";

    /// Says that nothing was measured where no packet was sent in either direction; `hint` says how packets get onto the link.
    #[must_use]
    pub fn checked_for_packets(mut self, hint: &str) -> Self {
        if self.down.packets_offered + self.up.packets_offered == 0 {
            self.valid = false;
            // Whatever else was wrong, there is nothing that it could have moved.
            self.why_invalid = Some(NOTHING.to_owned());
            self.doubts
                .push(Doubt::new(DoubtKind::NoPackets, format!("{NOTHING}: {hint}")));
        }
        self
    }

    /// Everything in one line, validity last.
    pub fn line(&self) -> String {
        let seconds = |value| quantity(value, "s");
        let verdict = match (&self.why_invalid, self.doubts.as_slice()) {
            (None, _) => "valid".to_owned(),
            (Some(why), [nothing]) if why == NOTHING => nothing.text.clone(),
            (Some(why), _) => format!("INVALID: {why}"),
        };
        let took = self.took.map_or_else(String::new, |took| {
            let rate = 8.0 * self.down.bytes_delivered as f64 / took;
            format!("took {}, {} down; ", seconds(took), quantity(rate, "bit/s"))
        });
        format!(
            "{}: {took}down {}; up {}; {}lateness p99 {}, max {}, bound {}; CPU waits {} of {}; {}, \
             no offloads; {verdict}",
            self.link,
            self.down.line(),
            self.up.line(),
            match self.packets_astray {
                0 => String::new(),
                astray => format!("{} to no host of the link; ", count(astray)),
            },
            seconds(self.lateness.p99),
            seconds(self.lateness.largest),
            seconds(self.lateness.bound),
            seconds(self.cpu_wait.waited),
            seconds(self.cpu_wait.observed),
            self.congestion_control,
        )
    }
}

/// Why a run is invalid in which nothing was sent.
const NOTHING: &str = "no packet crossed the link";

impl Direction {
    /// All packets that were dropped.
    pub const fn dropped(&self) -> u64 {
        self.dropped_by_full_queue + self.dropped_by_active_queue_management + self.dropped_by_random_loss
    }

    fn line(&self) -> String {
        let causes = [
            (self.dropped_by_full_queue, "queue full"),
            (self.dropped_by_active_queue_management, "active queue management"),
            (self.dropped_by_random_loss, "random loss"),
        ];
        let causes: Vec<_> = causes
            .iter()
            .filter(|(packets, _)| *packets > 0)
            .map(|(packets, cause)| format!("{packets} {cause}"))
            .collect();
        let causes = if causes.is_empty() {
            String::new()
        } else {
            format!(" ({})", causes.join(", "))
        };
        format!(
            "{} in {}, {} dropped{causes}, queue up to {}",
            quantity(self.bytes_offered as f64, "B"),
            count(self.packets_offered),
            self.dropped(),
            self.longest_queue,
        )
    }
}

/// `1 packet`, `2 packets`.
fn count(packets: u64) -> String {
    let plural = if packets == 1 { "" } else { "s" };
    format!("{packets} packet{plural}")
}

/// A sample of the record.
#[cfg(test)]
pub(crate) fn sample() -> LinkRunSummary {
    let direction = |packets, bytes, dropped, longest_queue| Direction {
        packets_offered: packets,
        bytes_offered: bytes,
        packets_delivered: packets - dropped,
        bytes_delivered: bytes - 1500 * dropped,
        dropped_by_full_queue: dropped - dropped / 3,
        dropped_by_active_queue_management: 0,
        dropped_by_random_loss: dropped / 3,
        longest_queue,
    };
    LinkRunSummary {
        schema: LinkRunSummary::SCHEMA.to_owned(),
        link: "published/dialup-56k".to_owned(),
        seed: 1,
        exit_code: Some(0),
        took: Some(16.4),
        congestion_control: "cubic".to_owned(),
        offloads: "none".to_owned(),
        attachment: "TUN".to_owned(),
        real_time: true,
        down: direction(74, 105_000, 3, 50),
        up: direction(47, 2_510, 0, 1),
        lateness: Lateness {
            p99: 137e-6,
            largest: 402e-6,
            bound: 13.7e-3,
        },
        cpu_wait: CpuWait {
            waited: 3.2e-3,
            observed: 16.4,
            bound: 0.05,
        },
        lost_beside_link: 0,
        packets_astray: 0,
        valid: true,
        why_invalid: None,
        doubts: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_what_was_dropped_by_cause_and_the_verdict_last() {
        let mut crossing = super::sample();
        assert_eq!(
            crossing.line(),
            "published/dialup-56k: took 16.4 s, 49.0 kbit/s down; down 105 kB in 74 packets, 3 dropped (2 queue full, 1 random loss), queue up to 50; up 2.51 kB in 47 packets, \
             0 dropped, queue up to 1; lateness p99 137 µs, max 402 µs, bound 13.7 ms; CPU waits 3.20 ms of 16.4 s; cubic, no offloads; valid"
        );
        crossing.why_invalid = Some("too late".to_owned());
        crossing.packets_astray = 1;
        let line = crossing.line();
        assert!(line.contains("; 1 packet to no host of the link; ") && line.ends_with("; INVALID: too late"));
    }

    #[test]
    fn every_kind_of_doubt_is_raised() {
        let crossing = super::sample().checked_for_packets("say how");
        assert!(crossing.valid && crossing.doubts.is_empty());
        let mut idle = super::sample();
        (idle.down, idle.up) = (Direction::default(), Direction::default());
        let idle = idle.checked_for_packets("say how");
        let kinds: Vec<DoubtKind> = idle.doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, DOUBTS);
        assert!(!idle.valid);
        let line = idle.line();
        assert!(line.ends_with("; no packet crossed the link: say how"), "{line}");
    }
}
