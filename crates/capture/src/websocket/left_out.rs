//! What of a capture is in none of the messages that were read from it? Counted, and said with where it began: a part that is taken
//! for the whole misleads.

use super::{Conversation, Ended, Messages, Told};
use crate::container::LinkType;
use crate::datagram::SetAside;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read;

/// Packets of which nothing could be read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    by_reason: BTreeMap<SetAside, u64>,
    /// The link types among them that are not known here.
    links: BTreeSet<LinkType>,
}

impl Unread {
    pub(super) fn count(&mut self, why: SetAside, link: LinkType) {
        *self.by_reason.entry(why).or_default() += 1;
        if why == SetAside::UnknownLink {
            self.links.insert(link);
        }
    }

    /// Those that may have held a part of a message, in words that "packets" goes before. What is neither TCP nor UDP never does.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        let links: Vec<String> = self.links.iter().map(|LinkType(number)| number.to_string()).collect();
        self.by_reason.iter().filter_map(move |(why, packets)| {
            let what = match why {
                SetAside::UnknownLink => format!(
                    "of link type {}, which is not read (capture at an interface of IP or Ethernet)",
                    links.join(" and ")
                ),
                SetAside::Fragment => "fragments of IP packets, which are not put together".to_owned(),
                SetAside::BrokenHeader => "without a whole header".to_owned(),
                SetAside::NotIp | SetAside::OtherProtocol => return None,
            };
            Some(format!("{} {what}", counted(*packets, "packet is", "packets are")))
        })
    }
}

impl<R: Read> Messages<R> {
    /// What was left out so far, a sentence each.
    pub fn left_out(&self) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(octet) = self.packets.cut_off() {
            said.push(format!(
                "the capture is cut off at octet {octet}; what stands before it is read"
            ));
        }
        said.extend(self.unread.sentences());
        let silent = self.flows.iter().filter(|flow| flow.conversation.is_none()).count();
        if silent > 0 {
            said.push(format!(
                "{silent} of {} without a WebSocket handshake in the capture, and left out: begun before it, within TLS, or something else",
                counted(self.flows.len() as u64, "TCP connection is", "TCP connections are")
            ));
        }
        let refused = self.conversations.iter().filter(|one| one.deflate.is_err()).count();
        if refused > 0 {
            said.push(format!(
                "{} left out: the server answered what the client had to refuse",
                counted(refused as u64, "connection is", "connections are")
            ));
        }
        let lost = ways(&self.conversations).map(|way| way.told.lost).sum();
        if lost > 0 {
            said.push(format!(
                "{} not captured whole, or refer to what was not captured, and are left out",
                counted(lost, "message was", "messages were")
            ));
        }
        said.extend(unread_ends(&self.conversations));
        said
    }
}

/// One direction of a conversation.
struct Way<'a> {
    connection: usize,
    of: &'a Conversation,
    by_client: bool,
    told: &'a Told,
}

fn ways(conversations: &[Conversation]) -> impl Iterator<Item = Way<'_>> {
    conversations.iter().enumerate().flat_map(|(connection, of)| {
        [(true, &of.sent), (false, &of.received)].map(|(by_client, told)| Way {
            connection,
            of,
            by_client,
            told,
        })
    })
}

/// The directions that were not read to their ends: the first of those with a hole, and the first of those that break the protocol.
fn unread_ends(conversations: &[Conversation]) -> impl Iterator<Item = String> {
    let mut holes = Vec::new();
    let mut broken = Vec::new();
    for way in ways(conversations) {
        match &way.told.ended {
            Some(Ended::Hole) => holes.push((way, "packets are missing behind it".to_owned())),
            Some(Ended::Broken(violation)) => broken.push((way, violation.to_string())),
            Some(Ended::Closed(_)) | None => {}
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
            "what the {who} of connection {} sent ({from} to {to}) is read up to its message {} and no further: {why}",
            way.connection, way.told.messages
        );
        if alike.len() > 1 {
            let _ = write!(said, "; so it is, or the like, in {} other directions", alike.len() - 1);
        }
        Some(said)
    })
}

/// How many, with the word for one or for several.
pub(super) fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
