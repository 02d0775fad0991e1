//! Reports what the messages of a capture leave out, how often, and where that began, so that a part is not mistaken for the whole.

use super::{Conversation, DirectionStats, Messages, ReadingEnd};
use crate::container::LinkType;
use crate::datagram::SkipReason;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read;

/// Packets that could not be read.
#[derive(Debug, Default)]
pub(super) struct UnreadPackets {
    by_reason: BTreeMap<SkipReason, u64>,
    /// The unsupported link types among them.
    links: BTreeSet<LinkType>,
}

impl UnreadPackets {
    pub(super) fn count(&mut self, why: SkipReason, link: LinkType) {
        *self.by_reason.entry(why).or_default() += 1;
        if why == SkipReason::UnknownLink {
            self.links.insert(link);
        }
    }

    /// One sentence per reason, for packets that may have held part of a message: packets that are neither TCP nor UDP cannot.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        let links: Vec<String> = self.links.iter().map(|LinkType(number)| number.to_string()).collect();
        self.by_reason.iter().filter_map(move |(why, packets)| {
            let what = match why {
                SkipReason::UnknownLink => format!(
                    "unsupported link type {} (capture on an IP or Ethernet interface)",
                    links.join(" and ")
                ),
                SkipReason::Fragment => "IP fragments, which are not reassembled".to_owned(),
                SkipReason::BrokenHeader => "incomplete headers".to_owned(),
                SkipReason::NotIp | SkipReason::OtherProtocol | SkipReason::MacRetry => return None,
            };
            Some(format!(
                "{} skipped: {what}",
                count_with_noun(*packets, "packet", "packets")
            ))
        })
    }
}

impl<R: Read> Messages<R> {
    /// What was left out so far, one sentence each.
    pub fn left_out(&self) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(byte) = self.packets.cut_off() {
            said.push(format!(
                "the capture is cut off at byte {byte}; everything before that is read"
            ));
        }
        said.extend(self.unread.sentences());
        let silent = self
            .flows
            .connections
            .iter()
            .filter(|flow| flow.conversation.is_none())
            .count();
        if silent > 0 {
            said.push(format!(
                "{silent} of {} left out: no WebSocket handshake in the capture (begun before it, inside TLS, or another protocol)",
                count_with_noun(self.flows.connections.len() as u64, "TCP connection", "TCP connections")
            ));
        }
        let refused = self.conversations.iter().filter(|one| one.deflate.is_err()).count();
        if refused > 0 {
            said.push(format!(
                "{} left out: the client had to refuse the server's handshake response",
                count_with_noun(refused as u64, "connection", "connections")
            ));
        }
        let lost = directions(&self.conversations).map(|way| way.stats.lost).sum();
        if lost > 0 {
            said.push(format!(
                "{} left out: not captured completely, or compressed with reference to data that was not captured",
                count_with_noun(lost, "message", "messages")
            ));
        }
        said.extend(unread_ends(&self.conversations));
        said
    }
}

/// One direction of a conversation.
struct DirectionReading<'a> {
    connection: usize,
    of: &'a Conversation,
    by_client: bool,
    stats: &'a DirectionStats,
}

fn directions(conversations: &[Conversation]) -> impl Iterator<Item = DirectionReading<'_>> {
    conversations.iter().enumerate().flat_map(|(connection, of)| {
        [(true, &of.sent), (false, &of.received)].map(|(by_client, stats)| DirectionReading {
            connection,
            of,
            by_client,
            stats,
        })
    })
}

/// The directions that were not read to their ends: the first with a hole, and the first that breaks the protocol.
fn unread_ends(conversations: &[Conversation]) -> impl Iterator<Item = String> {
    let mut holes = Vec::new();
    let mut broken = Vec::new();
    for way in directions(conversations) {
        match &way.stats.ended {
            Some(ReadingEnd::Hole) => holes.push((way, "packets are missing after it".to_owned())),
            Some(ReadingEnd::Broken(violation)) => broken.push((way, violation.to_string())),
            Some(ReadingEnd::Closed(_)) | None => {}
        }
    }
    [holes, broken].into_iter().filter_map(|alike| {
        let (way, why) = alike.first()?;
        let who = if way.by_client { "client" } else { "server" };
        let (from, to) = if way.by_client {
            (way.of.client, way.of.server)
        } else {
            (way.of.server, way.of.client)
        };
        let mut said = format!(
            "messages from the {who} of connection {} ({from} to {to}) are read up to message {} and no further: {why}",
            way.connection, way.stats.messages
        );
        if alike.len() > 1 {
            let others = count_with_noun(alike.len() as u64 - 1, "other direction", "other directions");
            let _ = write!(said, "; the same happened in {others}");
        }
        Some(said)
    })
}

/// The count, with the singular or plural noun.
pub(super) fn count_with_noun(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
