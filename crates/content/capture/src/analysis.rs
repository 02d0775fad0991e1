//! Analyses a whole capture: assigns each packet to its flow, and counts those that belong to none.
//!
//! Only figures are kept of packets, so memory is bounded by the number of flows and by the data outstanding on each.

use crate::connection_table::ConnectionTable;
use crate::container::{Format, Interface, Packet, Packets};
use crate::datagram::{Datagram, SkipReason, Transport};
use crate::error::{CaptureError, Problem};
use crate::http::{HttpTracker, Transaction};
use crate::packet_reader::PacketReader;
use crate::streaming_summary::StreamingSummary;
use crate::tcp::{self, Connection, TcpFlow};
use crate::udp::UdpFlow;
use crate::wireless::Wireless;
use lastmile_units::{ByteCount, Instant};
use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

/// The figures of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// The file format.
    pub format: Format,
    /// The file's length, as far as it was read.
    pub file: ByteCount,
    /// Where packets were captured.
    pub interfaces: Vec<Interface>,
    /// The number of packets.
    pub packets: u64,
    /// Their bytes on the wire, including what precedes the IP packets.
    pub bytes: ByteCount,
    /// When the first packet passed.
    pub first: Instant,
    /// When the last packet passed.
    pub last: Instant,
    /// Packets that were captured only in part.
    pub snapped: u64,
    /// Packets with an earlier time than a packet before them in the file.
    pub out_of_time: u64,
    /// Packets that are in no flow, by reason.
    pub set_aside: BTreeMap<SkipReason, u64>,
    /// The comments that the capture's writer attached to packets, and to how many packets each.
    pub comments: BTreeMap<String, u64>,
    /// TCP connections, in the order of their first packets.
    pub tcp: Vec<TcpFlow>,
    /// UDP flows, in the order of their first packets.
    pub udp: Vec<UdpFlow>,
    /// The unencrypted HTTP/1.1 transactions.
    pub http: Transactions,
    /// The frames of 802.11, if there are any.
    pub wireless: Wireless,
    /// Where the file ends, if it ends inside a block or record.
    pub cut_off: Option<u64>,
}

/// HTTP/1.1 transactions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transactions {
    /// How many there are.
    pub count: u64,
    /// How many of them are complete.
    pub whole: u64,
    /// The first [`LISTED_MAX`] that ended, each with the index of its connection in [`Analysis::tcp`], in the order of their beginning.
    pub listed: Vec<(usize, Transaction)>,
    /// From the request's first byte to the response's first, in seconds, for complete ones.
    pub time_to_first_byte: StreamingSummary,
    /// From the request's first byte to the response's last, in seconds, for complete ones.
    pub time_to_last_byte: StreamingSummary,
}

/// The most transactions that are listed; all are counted. Our own choice, to bound the memory for a long capture.
pub const LISTED_MAX: usize = 10_000;

/// The most comment texts that are kept; others are counted together. Our own choice, for the same reason.
const COMMENTS_MAX: usize = 1000;

/// Reads a capture to its end and sums it up. Errors call it `name`.
///
/// # Errors
/// When it is empty, not a capture, damaged, without a complete packet, or cannot be read.
pub fn analyse<R: Read>(from: R, name: &str) -> Result<Analysis, CaptureError> {
    let mut packets = Packets::open(from, name)?;
    let mut flows = Flows::default();
    while let Some(packet) = packets.next()? {
        flows.push(&packet);
    }
    flows.finish(&packets).map_err(|problem| CaptureError {
        name: name.to_owned(),
        problem,
    })
}

/// Both ends of a flow, the lesser first, so that both directions have the same key.
/// The flows found so far.
#[derive(Debug, Default)]
struct Flows {
    packets: u64,
    bytes: ByteCount,
    span: Option<(Instant, Instant)>,
    snapped: u64,
    out_of_time: u64,
    set_aside: BTreeMap<SkipReason, u64>,
    comments: BTreeMap<String, u64>,
    tcp: ConnectionTable<Connection<HttpTracker>>,
    udp: ConnectionTable<UdpFlow>,
    http: Transactions,
    reader: PacketReader,
}

impl Flows {
    fn push(&mut self, packet: &Packet<'_>) {
        self.packets += 1;
        self.bytes += ByteCount::new(packet.length.into());
        self.snapped += u64::from((packet.bytes.len() as u64) < u64::from(packet.length));
        let (first, last) = self.span.unwrap_or((packet.at, packet.at));
        self.out_of_time += u64::from(packet.at < last);
        self.span = Some((first.min(packet.at), last.max(packet.at)));
        for comment in packet.comments {
            tcp::count_text(&mut self.comments, comment, COMMENTS_MAX);
        }
        match self.reader.read(packet) {
            Ok(datagram) => self.push_datagram(packet, &datagram),
            Err(why) => *self.set_aside.entry(why).or_default() += 1,
        }
    }

    fn push_datagram(&mut self, packet: &Packet<'_>, datagram: &Datagram<'_>) {
        match &datagram.transport {
            Transport::Udp => {
                let begin = || UdpFlow::new(packet.at, datagram);
                let index = self.udp.index_of(datagram, |_| false, begin);
                self.udp.connections[index].push(packet.at, datagram);
            }
            Transport::Tcp(segment) => {
                let is_reused = |connection: &Connection<HttpTracker>| connection.is_reused_by(datagram.from, segment);
                let begin = || Connection::new(packet.at, datagram, segment, HttpTracker::default());
                let index = self.tcp.index_of(datagram, is_reused, begin);
                let connection = &mut self.tcp.connections[index];
                connection.observe(packet.at, datagram, segment, packet.comments);
                for transaction in connection.observer_mut().drain_completed() {
                    self.http.add(index, transaction);
                }
            }
        }
    }

    fn finish<R: Read>(mut self, packets: &Packets<R>) -> Result<Analysis, Problem> {
        let Some((first, last)) = self.span else {
            return Err(packets.without_packet());
        };
        let mut tcp = Vec::with_capacity(self.tcp.connections.len());
        for (index, connection) in self.tcp.connections.into_iter().enumerate() {
            let (mut flow, http) = connection.into_parts();
            let (transactions, http_lost) = http.into_unfinished();
            flow.http_lost = http_lost;
            tcp.push(flow);
            for transaction in transactions {
                self.http.add(index, transaction);
            }
        }
        self.http
            .listed
            .sort_by_key(|(index, transaction)| (transaction.began, *index));
        Ok(Analysis {
            format: packets.format(),
            file: ByteCount::new(packets.bytes_read()),
            interfaces: packets.interfaces().to_vec(),
            packets: self.packets,
            bytes: self.bytes,
            first,
            last,
            snapped: self.snapped,
            out_of_time: self.out_of_time,
            set_aside: self.set_aside,
            comments: self.comments,
            tcp,
            udp: self.udp.connections,
            http: self.http,
            wireless: self.reader.wireless,
            cut_off: packets.cut_off(),
        })
    }
}

impl Transactions {
    fn add(&mut self, connection: usize, transaction: Transaction) {
        self.count += 1;
        if let (Some(first_byte), Some(ended)) = (transaction.first_byte, transaction.ended) {
            self.whole += 1;
            let since = |at: Instant| at.saturating_since(transaction.began).as_secs_f64();
            self.time_to_first_byte.add(since(first_byte));
            self.time_to_last_byte.add(since(ended));
        }
        if self.listed.len() < LISTED_MAX {
            self.listed.push((connection, transaction));
        }
    }
}

impl Analysis {
    /// From the first packet to the last.
    pub fn duration(&self) -> Duration {
        self.last.saturating_since(self.first)
    }
}
