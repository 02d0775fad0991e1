//! What happened on a link while a command ran behind it? One object for a program, one line for a person.

use crate::number::quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `lastmile link` says at its end, on stderr: stdout is the command's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossing {
    /// `lastmile/link/1`.
    #[schemars(extend("const" = Crossing::SCHEMA))]
    pub schema: String,
    /// The link, as a formula.
    pub link: String,
    /// The root of every random choice of the link.
    pub seed: u64,
    /// The command's exit code: 128 and the number of the signal that ended it. Null where there was no command.
    pub exit_code: Option<u8>,
    /// How senders at both ends controlled congestion, by the kernel's name.
    pub congestion_control: String,
    /// What interfaces did for the kernel: always `none`, so packets cross the link as they would cross a wire.
    pub offloads: String,
    /// By what the ends were attached to the link: `TUN`, or `veth and packet sockets`.
    pub attachment: String,
    /// Whether the forwarding thread ran before every ordinary one.
    pub real_time: bool,
    /// Towards the command.
    pub down: Direction,
    /// From the command.
    pub up: Direction,
    /// How much later than the link model says packets were handed over.
    pub lateness: Lateness,
    /// Packets lost beside the link, on their way to it or from it.
    pub lost_beside_link: u64,
    /// Packets for which there was no host.
    pub packets_astray: u64,
    /// Whether figures of this crossing count.
    pub valid: bool,
    /// Why they do not.
    pub why_invalid: Option<String>,
}

/// What became of the packets of one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Direction {
    /// Packets that were sent.
    pub packets_offered: u64,
    /// Their bytes, IP headers counted.
    pub bytes_offered: u64,
    /// Packets that arrived.
    pub packets_delivered: u64,
    /// Their bytes, IP headers counted.
    pub bytes_delivered: u64,
    /// Packets that found the queue full.
    pub dropped_by_full_queue: u64,
    /// Packets that CoDel dropped.
    pub dropped_by_active_queue_management: u64,
    /// Packets that the wire lost.
    pub dropped_by_random_loss: u64,
    /// The most packets that waited at once, besides the one in service.
    pub longest_queue: u64,
}

/// How late packets were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lateness {
    /// The 99th percentile, in seconds.
    pub p99: f64,
    /// That of the latest packet, in seconds.
    pub largest: f64,
    /// What the 99th percentile may be for figures to count, in seconds.
    pub bound: f64,
}

impl Crossing {
    /// The name of this record's shape.
    pub const SCHEMA: &'static str = "lastmile/link/1";

    /// Everything in one line, validity last.
    pub fn line(&self) -> String {
        let seconds = |value| quantity(value, "s");
        let verdict = match &self.why_invalid {
            None => "valid".to_owned(),
            Some(why) => format!("INVALID: {why}"),
        };
        format!(
            "{}: down {}; up {}; {}lateness p99 {}, max {}, bound {}; {}, no offloads; {verdict}",
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
            self.congestion_control,
        )
    }
}

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

/// What a crossing looks like.
#[cfg(test)]
pub(crate) fn sample() -> Crossing {
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
    Crossing {
        schema: Crossing::SCHEMA.to_owned(),
        link: "seeds/dialup-56k".to_owned(),
        seed: 1,
        exit_code: Some(0),
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
        lost_beside_link: 0,
        packets_astray: 0,
        valid: true,
        why_invalid: None,
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn the_line_has_what_was_dropped_by_cause_and_the_verdict_last() {
        let mut crossing = super::sample();
        assert_eq!(
            crossing.line(),
            "seeds/dialup-56k: down 105 kB in 74 packets, 3 dropped (2 queue full, 1 random loss), queue up to 50; up 2.51 kB in 47 packets, \
             0 dropped, queue up to 1; lateness p99 137 µs, max 402 µs, bound 13.7 ms; cubic, no offloads; valid"
        );
        crossing.why_invalid = Some("too late".to_owned());
        crossing.packets_astray = 1;
        let line = crossing.line();
        assert!(line.contains("; 1 packet to no host of the link; ") && line.ends_with("; INVALID: too late"));
    }
}
