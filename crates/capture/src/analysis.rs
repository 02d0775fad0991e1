//! What does a whole capture say? Each packet goes to its flow; what belongs to none is counted.
//!
//! Nothing is kept of a packet that has passed but figures, so memory is bounded by the number of flows, and by what is outstanding
//! on each.

use crate::container::{Format, Interface, Packet, Packets};
use crate::datagram::{self, Datagram, SetAside, Transport};
use crate::distribution::Distribution;
use crate::error::{CaptureError, Problem};
use crate::http::{Dialogue, Transaction};
use crate::link_layer::{Framed, unframe};
use crate::tcp::{self, Connection, TcpFlow};
use crate::udp::UdpFlow;
use lastmile_units::{Bytes, Instant};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::net::SocketAddr;
use std::time::Duration;

/// What a capture says.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// How its file is laid out.
    pub format: Format,
    /// How long the file is, as far as it was read.
    pub file: Bytes,
    /// Where packets were captured.
    pub interfaces: Vec<Interface>,
    /// Packets in it.
    pub packets: u64,
    /// Their octets on the wire, whatever stands before IP packets included.
    pub bytes: Bytes,
    /// When the first of them passed.
    pub first: Instant,
    /// When the last of them passed.
    pub last: Instant,
    /// Packets of which less was kept than passed.
    pub snapped: u64,
    /// Packets that stand behind one that passed later.
    pub out_of_time: u64,
    /// Packets that are in no flow, by why.
    pub set_aside: BTreeMap<SetAside, u64>,
    /// What the writer remarks on packets, and on how many.
    pub comments: BTreeMap<String, u64>,
    /// TCP connections, in the order of their first packets.
    pub tcp: Vec<TcpFlow>,
    /// UDP flows, in the order of their first packets.
    pub udp: Vec<UdpFlow>,
    /// What was asked and answered in clear HTTP/1.1.
    pub http: Transactions,
    /// Where the file ends, if that is in the midst of something.
    pub cut_off: Option<u64>,
}

/// HTTP/1.1 transactions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transactions {
    /// How many there are.
    pub count: u64,
    /// How many of them are whole.
    pub whole: u64,
    /// The first [`LISTED_MAX`] that ended, each with the place of its connection in [`Analysis::tcp`], in the order of their beginning.
    pub listed: Vec<(usize, Transaction)>,
    /// From the request's first octet to the response's first, in seconds, of those that are whole.
    pub time_to_first_byte: Distribution,
    /// From the request's first octet to the response's last, in seconds, of those that are whole.
    pub time_to_last_byte: Distribution,
}

/// No more transactions are listed than this; all are counted. Our own choice, so that a long capture takes no more memory.
pub const LISTED_MAX: usize = 10_000;

/// Texts of comments that are kept; others are counted together. Our own choice, likewise.
const COMMENTS_MAX: usize = 1000;

/// Reads a capture to its end and sums it up. `name` is what errors call it.
///
/// # Errors
/// When it is empty, no capture, damaged, without a whole packet, or cannot be read.
pub fn analyse<R: Read>(from: R, name: &str) -> Result<Analysis, CaptureError> {
    let mut packets = Packets::open(from, name)?;
    let mut flows = Flows::default();
    while let Some(packet) = packets.next()? {
        flows.pass(&packet);
    }
    flows.finish(&packets).map_err(|problem| CaptureError {
        name: name.to_owned(),
        problem,
    })
}

/// Both ends of a flow, the lesser first, so that both directions are one.
pub(crate) type Ends = (SocketAddr, SocketAddr);

/// Everything that is followed.
#[derive(Debug, Default)]
struct Flows {
    packets: u64,
    bytes: Bytes,
    span: Option<(Instant, Instant)>,
    snapped: u64,
    out_of_time: u64,
    set_aside: BTreeMap<SetAside, u64>,
    comments: BTreeMap<String, u64>,
    tcp: Vec<Connection<Dialogue>>,
    udp: Vec<UdpFlow>,
    /// The latest connection between two ends. Looked up and never walked, so that its order does not matter.
    tcp_by_ends: HashMap<Ends, usize>,
    udp_by_ends: HashMap<Ends, usize>,
    http: Transactions,
}

impl Flows {
    fn pass(&mut self, packet: &Packet<'_>) {
        self.packets += 1;
        self.bytes += Bytes::new(packet.length.into());
        self.snapped += u64::from((packet.octets.len() as u64) < u64::from(packet.length));
        let (first, last) = self.span.unwrap_or((packet.at, packet.at));
        self.out_of_time += u64::from(packet.at < last);
        self.span = Some((first.min(packet.at), last.max(packet.at)));
        for comment in packet.comments {
            tcp::count(&mut self.comments, comment, COMMENTS_MAX);
        }
        match read(packet) {
            Ok(datagram) => self.pass_datagram(packet, &datagram),
            Err(why) => *self.set_aside.entry(why).or_default() += 1,
        }
    }

    fn pass_datagram(&mut self, packet: &Packet<'_>, datagram: &Datagram<'_>) {
        let ends = (datagram.from.min(datagram.to), datagram.from.max(datagram.to));
        match &datagram.transport {
            Transport::Udp => {
                let next = self.udp.len();
                let place = *self.udp_by_ends.entry(ends).or_insert(next);
                if place == next {
                    self.udp.push(UdpFlow::new(packet.at, datagram));
                }
                self.udp[place].pass(packet.at, datagram);
            }
            Transport::Tcp(segment) => {
                let known = self.tcp_by_ends.get(&ends).copied();
                let going_on = known.filter(|place| !self.tcp[*place].is_reused_by(datagram.from, segment));
                let place = going_on.unwrap_or_else(|| {
                    let dialogue = Dialogue::default();
                    self.tcp.push(Connection::new(packet.at, datagram, segment, dialogue));
                    self.tcp_by_ends.insert(ends, self.tcp.len() - 1);
                    self.tcp.len() - 1
                });
                let connection = &mut self.tcp[place];
                connection.pass(packet.at, datagram, segment, packet.comments);
                for transaction in connection.take_transactions() {
                    self.http.add(place, transaction);
                }
            }
        }
    }

    fn finish<R: Read>(mut self, packets: &Packets<R>) -> Result<Analysis, Problem> {
        let Some((first, last)) = self.span else {
            return Err(match packets.cut_off() {
                Some(at) => Problem::NothingWhole { at },
                None => Problem::NoPacket,
            });
        };
        let mut tcp = Vec::with_capacity(self.tcp.len());
        for (place, connection) in self.tcp.into_iter().enumerate() {
            let (flow, transactions) = connection.finish();
            tcp.push(flow);
            for transaction in transactions {
                self.http.add(place, transaction);
            }
        }
        self.http
            .listed
            .sort_by_key(|(place, transaction)| (transaction.began, *place));
        Ok(Analysis {
            format: packets.format(),
            file: Bytes::new(packets.octets()),
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
            udp: self.udp,
            http: self.http,
            cut_off: packets.cut_off(),
        })
    }
}

/// What a packet carries, or why it is in no flow.
pub(crate) fn read<'a>(packet: &Packet<'a>) -> Result<Datagram<'a>, SetAside> {
    match unframe(packet.link_type, packet.octets) {
        Framed::Ip(ip, head) => datagram::read(ip, packet.length.saturating_sub(head)),
        Framed::NotIp => Err(SetAside::NotIp),
        Framed::Short => Err(SetAside::BrokenHeader),
        Framed::UnknownLink => Err(SetAside::UnknownLink),
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
