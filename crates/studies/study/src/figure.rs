//! The catalogue of figures: the name, the unit and the kind of sample of each.
//!
//! Experiments measure the figures; `statistics` summarises their samples.

use lastmile_units::suggest::nearest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A figure that an experiment can report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// As written in studies and in JSON: `transfer_time`.
    pub name: &'static str,
    /// As written on an axis.
    pub title: &'static str,
    /// Its SI base unit: `s`, `B`, `bit/s`, `1`, `1/s`.
    pub unit: &'static str,
    /// The kind of one sample: `run`, `request`.
    pub per: &'static str,
    /// Which direction is an improvement.
    pub better: Better,
    /// What one sample is.
    pub about: &'static str,
}

impl Figure {
    /// The unit of its axis. On an axis `1` means a share, in per cent, so a count has no unit.
    pub fn unit_of_axis(&self) -> &'static str {
        let is_share = ["_ratio", "_rate", "_share"].iter().any(|end| self.name.ends_with(end));
        if self.unit == "1" && !is_share { "" } else { self.unit }
    }
}

/// Which direction of a figure is an improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// A time, a size, a loss.
    Lower,
    /// A rate.
    Higher,
}

/// The figure of that name.
///
/// # Errors
/// When there is none; the message has the nearest, or else all of them.
pub fn find(name: &str) -> Result<&'static Figure, String> {
    let names = || ALL.iter().map(|figure| figure.name);
    let found = ALL.iter().copied().find(|figure| figure.name == name);
    found.ok_or_else(|| {
        let remedy = match nearest(name, names()) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None => format!("the figures are {}", names().collect::<Vec<_>>().join(", ")),
        };
        format!("unknown figure {name:?}; {remedy}")
    })
}

/// A figure, as a study names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureName(pub &'static Figure);

impl Serialize for FigureName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for FigureName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        find(&String::deserialize(from)?)
            .map(FigureName)
            .map_err(serde::de::Error::custom)
    }
}

/// Declares each figure as a constant, and the list of them all.
macro_rules! catalogue {
    ($($(#[doc = $about:literal])+ $constant:ident = $name:literal, $title:literal, $unit:literal per $per:literal, $better:ident;)+) => {
        $($(#[doc = $about])+
        pub const $constant: &Figure = &Figure {
            name: $name, title: $title, unit: $unit, per: $per, better: Better::$better, about: concat!($($about),+).trim_ascii(),
        };)+

        /// Every figure, in the order a table shows them.
        pub const ALL: &[&Figure] = &[$($constant),+];
    };
}

catalogue! {
    // HTTP and objects: sizes.
    /// Bytes of the responses' bodies as carried: after content coding, without headers.
    RESPONSE_BYTES = "response_bytes", "Response size", "B" per "run", Lower;

    // Link and TCP: bytes.
    /// Bytes that the link carried towards the client: every header and retransmission counts.
    LINK_BYTES = "link_bytes", "Bytes on the link", "B" per "run", Lower;
    /// Bytes that the link carried from the client, likewise.
    LINK_BYTES_UP = "link_bytes_up", "Bytes on the link from the client", "B" per "run", Lower;
    /// Bytes that the link carried towards the users of calls, likewise; other deliveries call it `link_bytes`.
    LINK_BYTES_DOWN = "link_bytes_down", "Bytes on the link towards the client", "B" per "run", Lower;

    // HTTP and objects: times and rates.
    /// From opening the connection to the last object decoded.
    EXTRACT_TIME = "extract_time", "Extracting time", "s" per "run", Lower;
    /// Objects decoded, divided by the extracting time.
    TRANSFER_RATE = "transfer_rate", "Transfer rate, objects per second", "1/s" per "run", Higher;

    // The run: times that the programs of any delivery see.
    /// From the first SYN to the connection being open at the client: TCP's, and WebSocket's over it. The longest of several.
    HANDSHAKE_TIME = "handshake_time", "Handshake time", "s" per "run", Lower;
    /// From opening the connection to the first byte read by the client.
    FIRST_BYTE_TIME = "first_byte_time", "Time to the first byte", "s" per "run", Lower;
    /// From opening the connection to the last byte read by the client; for messages, to the last complete one in either direction. Of
    /// calls, over a connection that is open: from the first being made to the last being answered, or, one-way, received.
    TRANSFER_TIME = "transfer_time", "Transfer time", "s" per "run", Lower;
    /// The transfer time of one call by arithmetic: its bytes and the headers of its packets at the link's rate.
    PREDICTED_TIME = "predicted_time", "Transfer time by arithmetic", "s" per "run", Lower;
    /// From a request being due to its response being complete.
    RESPONSE_TIME = "response_time", "Response time", "s" per "request", Lower;

    // Pages.
    /// From the first request of a page to the end of its last response, decompressed.
    PAGE_TIME = "page_time", "Page time", "s" per "page", Lower;

    // Messages: over a link.
    /// From a message being due to its being complete and decompressed at the receiving program.
    DELIVERY_TIME = "delivery_time", "Delivery time", "s" per "message", Lower;

    // Link and TCP: rates, retransmissions and drops.
    /// Bits delivered to the client's program per second, from opening the connection to the last byte. Of a load: bits of the bodies of
    /// completed requests per second, while requests are sent.
    GOODPUT = "goodput", "Goodput", "bit/s" per "run", Higher;
    /// Segments that TCP retransmitted, both directions.
    RETRANSMISSIONS = "retransmissions", "Retransmissions", "1" per "run", Lower;
    /// Frames that a full queue of the link dropped, both directions.
    QUEUE_DROPS = "queue_drops", "Queue drops", "1" per "run", Lower;
    /// Frames that the link lost by chance, both directions.
    LINK_LOSSES = "link_losses", "Frames lost on the link", "1" per "run", Lower;

    // The run: CPU time of the programs.
    /// CPU time of the server's program: charged in virtual time, or used on real cores by all its processes.
    SERVER_CPU_TIME = "server_cpu_time", "CPU time of the server", "s" per "run", Lower;
    /// CPU time of the client's program, likewise.
    CLIENT_CPU_TIME = "client_cpu_time", "CPU time of the client", "s" per "run", Lower;

    // Messages: sizes, memory, and CPU time of the codec.
    /// Messages of the transcript.
    MESSAGES = "messages", "Messages", "1" per "run", Higher;
    /// Bytes of the messages of the transcript. Of calls, the bytes that their protocol sends for a transfer, compressed where they are.
    MESSAGE_BYTES = "message_bytes", "Size of the messages", "B" per "run", Lower;
    /// Bytes of the messages as carried: after compression, without frame headers.
    COMPRESSED_BYTES = "compressed_bytes", "Size of the compressed messages", "B" per "run", Lower;
    /// Bytes of the messages as carried, divided by those of the messages; frame headers count on neither side.
    COMPRESSION_RATIO = "compression_ratio", "Compression ratio", "1" per "run", Lower;
    /// The same of the text messages only, where there are also binary ones.
    TEXT_COMPRESSION_RATIO = "text_compression_ratio", "Compression ratio of text", "1" per "run", Lower;
    /// Memory that the compressor of one direction of a connection allocates and keeps.
    MEMORY_BYTES = "memory_bytes", "Memory of a compressor", "B" per "connection", Lower;
    /// Memory that the decompressor of one direction of a connection allocates and keeps.
    DECODER_MEMORY_BYTES = "decoder_memory_bytes", "Memory of a decompressor", "B" per "connection", Lower;
    /// CPU time of compressing a message.
    COMPRESS_TIME = "compress_time", "Time to compress a message", "s" per "message", Lower;
    /// CPU time of decompressing a message.
    DECOMPRESS_TIME = "decompress_time", "Time to decompress a message", "s" per "message", Lower;
    /// CPU time of compressing every message of the transcript once.
    PASS_TIME = "pass_time", "Time to compress the transcript", "s" per "run", Lower;

    // Calls.
    /// Bytes that opening and closing the connections of a transfer added: handshakes of the protocol, without TCP's.
    SETUP_BYTES = "setup_bytes", "Bytes to set up connections", "B" per "run", Lower;

    // Events.
    /// The time in which an application creates its events, all together. The mean of several applications.
    CREATE_TIME = "create_time", "Time to create the events", "s" per "run", Lower;
    /// The time in which an application waits for its events to be sent, all together; likewise.
    SEND_TIME = "send_time", "Time to send the events", "s" per "run", Lower;
    /// The time that submitting events costs an application: creating and sending them; of delayed submission, and where events are mixed with
    /// work, its time with events less that without them; likewise.
    SUBMISSION_TIME = "submission_time", "Time to submit the events", "s" per "run", Lower;
    /// From an application's first step to its last event being acknowledged by the sensor; likewise.
    APPLICATION_TIME = "application_time", "Time of the application", "s" per "run", Lower;
    /// The same of a control run that submits no events; likewise.
    CONTROL_TIME = "control_time", "Time of the application without events", "s" per "run", Lower;
    /// How much longer an application takes with events than without them, relative to its time without them.
    SLOWDOWN_RATIO = "slowdown_ratio", "Slow-down of the application", "1" per "run", Lower;
    /// Events that the monitor stores per second, from the first one being created to the last one being stored.
    EVENT_RATE = "event_rate", "Events per second", "1/s" per "run", Higher;
    /// From a client receiving its first event to its receiving the last one.
    SUBSCRIPTION_TIME = "subscription_time", "Time to receive the events", "s" per "client", Lower;
    /// What a client's own timing of events takes, all together.
    TIMING_TIME = "timing_time", "Time of the timing itself", "s" per "client", Lower;
    /// From a client beginning to ask, its connection included where it opens one, to its having read the last event.
    QUERY_TIME = "query_time", "Query time", "s" per "query", Lower;
    /// Events that applications tried to submit and that are not stored, or, of subscriptions and queries, did not reach every client.
    EVENTS_LOST = "events_lost", "Events lost", "1" per "run", Lower;
    /// Those of them that no loss event accounts for.
    LOSSES_UNEXPLAINED = "losses_unexplained", "Lost events without an explanation", "1" per "run", Lower;

    // Load: requests at a rate of their own, over a radio.
    /// Requests that were completed per second, while requests are sent.
    TRANSACTION_RATE = "transaction_rate", "Transactions per second", "1/s" per "run", Higher;
    /// Requests that failed, as a share of all that ended.
    ERROR_RATE = "error_rate", "Failed requests", "1" per "run", Lower;
    /// From the first SYN of a connection that was established to its closing by the client.
    CONNECTION_DURATION = "connection_duration", "Connection duration", "s" per "connection", Lower;
    /// Packets that found the transmit queue of a client full, while requests are sent.
    CLIENT_QUEUE_DROPS = "client_queue_drops", "Drops at clients' queues", "1" per "run", Lower;
    /// Packets that found the transmit queue of the server full, likewise.
    SERVER_QUEUE_DROPS = "server_queue_drops", "Drops at the server's queue", "1" per "run", Lower;
    /// Frames that stations sent again, while requests are sent.
    MAC_RETRIES = "mac_retries", "Frames sent again", "1" per "run", Lower;
    /// The share of the time in which at least one station was sending, while requests are sent.
    AIRTIME_SHARE = "airtime_share", "Airtime in use", "1" per "run", Lower;
    /// The share of the time in which one data frame was alone on the air, while requests are sent.
    DATA_AIRTIME_SHARE = "data_airtime_share", "Data", "1" per "run", Lower;
    /// The same of an ACK.
    ACK_AIRTIME_SHARE = "ack_airtime_share", "ACKs", "1" per "run", Lower;
    /// The same of an RTS or CTS.
    RESERVATION_AIRTIME_SHARE = "reservation_airtime_share", "RTS and CTS", "1" per "run", Lower;
    /// The same of a beacon.
    BEACON_AIRTIME_SHARE = "beacon_airtime_share", "Beacons", "1" per "run", Lower;
    /// The share of the time in which several stations were sending at once.
    COLLISION_AIRTIME_SHARE = "collision_airtime_share", "Collisions", "1" per "run", Lower;
    /// The share of the time in which no station was sending: back-off and the spaces between frames, or nothing to send.
    IDLE_AIRTIME_SHARE = "idle_airtime_share", "Idle, back-off and spaces", "1" per "run", Lower;
    /// Packets that wait in the transmit queues of all clients, on average over the time in which requests are sent.
    CLIENT_QUEUE = "client_queue", "Packets waiting at the clients", "1" per "run", Lower;
    /// Packets that wait in the transmit queue of the server, likewise.
    SERVER_QUEUE = "server_queue", "Packets waiting at the server", "1" per "run", Lower;
    /// How equally the clients' transaction rates are shared: Jain's index, 1 where they are equal, 1/n where one of n has all.
    FAIRNESS = "fairness", "Fairness (Jain)", "1" per "run", Higher;
    /// How much of what varies in connection durations one period explains: the share of the greatest peak in the periodogram of their
    /// ranks, in the order of opening (Fisher's g).
    PERIODICITY = "periodicity", "Periodicity of connection durations (Fisher's g)", "1" per "run", Lower;
    /// The greatest chance of such a peak among durations in random order.
    PERIODICITY_CHANCE = "periodicity_chance", "Chance of such a periodicity", "1" per "run", Lower;
    /// The period of that peak.
    PERIOD = "period", "Period of connection durations", "s" per "run", Lower;
    /// The least chance that connection durations in random order depend as much on the phase of a period that is known beforehand: that
    /// of beacons, or of the mains.
    PHASE_CHANCE = "phase_chance", "Chance of such a dependence on a known period's phase", "1" per "run", Lower;
    /// That period.
    PHASE_PERIOD = "phase_period", "Known period on whose phase connection durations depend most", "s" per "run", Lower;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_figure_is_met_with_the_nearest_or_with_all() {
        assert_eq!(
            find("transfer_tim").unwrap_err().to_string(),
            "unknown figure \"transfer_tim\"; did you mean \"transfer_time\"?"
        );
        let all = find("xyz").unwrap_err().to_string();
        assert!(
            all.starts_with("unknown figure \"xyz\"; the figures are response_bytes, link_bytes, "),
            "{all}"
        );
        assert!(all.ends_with(", phase_period"), "{all}");
    }

    #[test]
    fn an_axis_of_counts_is_not_in_per_cent() {
        let unit = |name| find(name).unwrap().unit_of_axis();
        assert_eq!(["queue_drops", "messages"].map(unit), ["", ""]);
        assert_eq!(
            ["compression_ratio", "error_rate", "transfer_time"].map(unit),
            ["1", "1", "s"]
        );
        assert_eq!(unit("transaction_rate"), "1/s");
    }

    #[test]
    fn every_name_finds_its_own_figure_and_every_unit_is_a_base_unit() {
        for figure in ALL {
            assert_eq!(
                find(figure.name),
                Ok(*figure),
                "two figures share the name {}",
                figure.name
            );
            assert!(
                ["s", "B", "bit/s", "1", "1/s"].contains(&figure.unit),
                "{}",
                figure.unit
            );
        }
    }
}
