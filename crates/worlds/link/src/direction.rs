//! One direction of a link: the figures that the model works from. How they are written is left to `setting`.

use crate::{DeliveryTrace, Jitter, Loss, Reordering};
use lastmile_units::{BitRate, ByteCount};
use std::time::Duration;

/// One direction of a wire, in the order a frame meets its parts: queue, serialisation, loss, delay.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectionSpec {
    /// How fast frames are serialised.
    pub capacity: Capacity,
    /// From a frame's last bit leaving the sender to its last bit reaching the receiver. Serialisation and queueing
    /// come on top.
    pub one_way_delay: Duration,
    /// How the delay varies between frames.
    pub jitter: Jitter,
    /// Whether frames may overtake each other.
    pub reordering: Reordering,
    /// Holds frames while another is serialised.
    pub queue: Queue,
    /// Losses on the wire, after serialisation.
    pub loss: Loss,
    /// Bytes that the link adds to each IP packet when it serialises it: Ethernet 18 B, PPP 8 B. The limits of a
    /// queue exclude it.
    pub framing_overhead: ByteCount,
}

/// How fast frames are serialised.
#[derive(Debug, Clone, PartialEq)]
pub enum Capacity {
    /// Instantly; nothing ever queues. `"unlimited"`
    Unlimited,
    /// At a constant rate that includes framing overhead. `"512 kbit/s"`
    Rate(BitRate),
    /// At the delivery opportunities of a recorded trace, framing overhead included.
    Trace(DeliveryTrace),
}

/// Holds frames while another is serialised. The frame in service is not in the queue: a queue of 20 packets holds 20
/// besides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// Drop-tail, of a length that follows from the link: see [`DirectionSpec::queue_packets`]. `"auto"`
    Auto,
    /// Holds everything. `"unlimited"`
    Unlimited,
    /// Drop-tail: a frame that arrives when this many wait is dropped. `"20 packets"`
    Packets(u64),
    /// Drop-tail: a frame is dropped if the queue would exceed this many IP bytes with it. `"64 kB"`
    Bytes(ByteCount),
    /// Controlled delay (CoDel), RFC 8289. `"codel"`, `"codel(target=5 ms, interval=100 ms, limit=1000 packets)"`
    CoDel(CoDel),
}

/// The parameters of CoDel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoDel {
    /// The acceptable standing delay (RFC 8289, section 4.4: 5 ms).
    pub target: Duration,
    /// How long the delay must stay above the target before a drop; about a long round trip (section 4.3: 100 ms).
    pub interval: Duration,
    /// The most packets that the queue can hold; a frame beyond them is dropped on arrival. 1,000 in Linux's `codel`.
    pub limit: u64,
}

impl Default for CoDel {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            limit: 1000,
        }
    }
}

/// The smallest automatic queue: the default of dummynet's pipes (ipfw(8): 50 slots), which shape links in the tools
/// that many profiles come from.
const AUTO_QUEUE_MIN: u64 = 50;

/// The packet size that an automatic queue is counted in.
const AUTO_QUEUE_PACKET_BITS: u128 = 1500 * 8;

impl DirectionSpec {
    /// A direction that leaves frames as they are: unlimited rate, no delay, no loss.
    pub const IDEAL: DirectionSpec = DirectionSpec {
        capacity: Capacity::Unlimited,
        one_way_delay: Duration::ZERO,
        jitter: Jitter::None,
        reordering: Reordering::None,
        queue: Queue::Auto,
        loss: Loss::NONE,
        framing_overhead: ByteCount::ZERO,
    };

    /// The long-run rate; none where it is unlimited.
    pub fn rate_mean(&self) -> Option<BitRate> {
        match &self.capacity {
            Capacity::Unlimited => None,
            Capacity::Rate(rate) => Some(*rate),
            Capacity::Trace(trace) => Some(trace.rate_mean()),
        }
    }

    /// The mean one-way delay of a frame that does not wait for others, without serialisation.
    pub fn one_way_delay_mean(&self) -> Duration {
        let late = match self.reordering {
            Reordering::None | Reordering::ByJitter => Duration::ZERO,
            Reordering::Late {
                probability,
                extra_delay,
            } => extra_delay.mul_f64(probability.get()),
        };
        self.one_way_delay + self.jitter.added_mean() + late
    }

    /// How many packets the queue holds besides the one in service; none where it is not limited by packets.
    ///
    /// [`Queue::Auto`] holds 50, or one bandwidth-delay product in packets of 1,500 B if that is more (Villamizar and
    /// Song, "High performance TCP in ANSNET", ACM CCR 24(5), 1994), where the round trip is twice this direction's
    /// one-way delay. Few sources of profiles state a queue, and no length is neutral: a short queue drops what a long
    /// one delays. This length neither starves a single transfer nor holds more than a shaper would. Using it where the
    /// source states none is our own choice, and every description of a link shows it.
    pub fn queue_packets(&self) -> Option<u64> {
        match self.queue {
            Queue::Auto => {
                let rate = u128::from(self.rate_mean()?.bits_per_second());
                let product = rate * 2 * self.one_way_delay.as_nanos() / 1_000_000_000;
                let packets = u64::try_from(product.div_ceil(AUTO_QUEUE_PACKET_BITS)).unwrap_or(u64::MAX);
                Some(packets.max(AUTO_QUEUE_MIN))
            }
            Queue::Packets(packets) => Some(packets),
            Queue::CoDel(codel) => Some(codel.limit),
            Queue::Unlimited | Queue::Bytes(_) => None,
        }
    }
}
