//! Which messages of a direction are sent, coded how, and when? And what does coding them cost where that is simulated?

use crate::tune::Pace;
use crate::tune::candidate::Candidate;
use crate::tune::direction::Direction;
use crate::tune::part::Part;
use crate::tune::recording::End;
use crate::websocket::{Coding, Connection, Conversation, Due, Outgoing, Pricing, Start};
use lastmile_payload::message_codec::{Dictionary, MessageCodec};
use lastmile_units::Bytes;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The messages of the busiest connection that a setting's dictionary was not learnt from, all where it has none; none where none are left.
pub(super) fn not_learnt_from(direction: &Direction<'_>, setting: &Candidate) -> Option<Range<usize>> {
    let busiest = direction.stream.busiest();
    let start = match tried_with(direction, setting) {
        Some((part, _)) => busiest.start.max(part.messages.start),
        None => busiest.start,
    };
    (start < busiest.end).then_some(start..busiest.end)
}

/// What a setting's dictionary was tried on, and the dictionary; none where it has none.
fn tried_with<'a>(direction: &'a Direction<'_>, setting: &Candidate) -> Option<(&'a Part, &'a Arc<Dictionary>)> {
    let known = setting.dictionary.as_ref()?;
    let mut tried = direction.tried.iter().filter_map(|tried| {
        let (name, dictionary) = tried.trial.dictionary.as_ref()?;
        (name == known).then_some((&tried.trial.part, dictionary))
    });
    Some(tried.next().expect("a setting with a dictionary has been tried"))
}

/// Whether it is known of each of these messages when it was sent.
pub(super) fn are_timed(direction: &Direction<'_>, mut among: Range<usize>) -> bool {
    among.all(|message| direction.stream.messages.at(message).is_some())
}

/// How a direction is sent.
pub(super) struct Sending<'a, 'b> {
    pub(super) direction: &'a Direction<'b>,
    pub(super) sender: End,
    pub(super) pace: Pace,
}

impl Sending<'_, '_> {
    /// Who codes messages under a setting, and how.
    pub(super) fn coding(&self, setting: &Candidate) -> Coding {
        match tried_with(self.direction, setting) {
            Some((_, dictionary)) => Coding::with_dictionary(setting.codec, Arc::clone(dictionary)),
            None => Coding::of(setting.codec),
        }
    }

    /// The messages `among` those of the stream, over one connection that stands before the first is due.
    pub(super) fn conversation(&self, setting: &Candidate, among: &Range<usize>) -> Conversation {
        let messages = self.direction.stream.messages;
        let is_coded = setting.codec != MessageCodec::Identity;
        let recorded = self.pace == Pace::Recorded && are_timed(self.direction, self.direction.stream.busiest());
        let first = messages.at(among.start).unwrap_or_default();
        let policy = setting.policy;
        let outgoing = among.clone().map(|message| {
            let (payload, kind, at) = (messages.payload(message), messages.kind(message), messages.at(message));
            let size = Bytes::from(payload.len());
            let is_coded = is_coded && policy.codes(kind, size);
            Outgoing {
                kind,
                payload: bytes::Bytes::copy_from_slice(payload),
                due: match (self.pace, at) {
                    (Pace::Recorded, Some(at)) if recorded => Due::After(at.saturating_sub(first)),
                    (Pace::Rate(rate), _) => Due::After(Duration::from_secs_f64((message - among.start) as f64 / rate)),
                    (Pace::Recorded | Pace::OneByOne, _) => Due::OneByOne,
                },
                fragment: policy.fragment,
                pieces: if is_coded { policy.pieces(size) } else { Vec::new() },
                afresh: false,
            }
        });
        let mut connection = Connection::default();
        match self.sender {
            End::Server => connection.down = outgoing.collect(),
            End::Client => connection.up = outgoing.collect(),
        }
        connection.forget_by(&policy);
        Conversation {
            connections: vec![connection],
            start: Start::BothOpenings,
        }
    }
}

/// What was timed of a setting, a mean over all messages, in the proportion of a message's octets; what is left as it is computes nothing.
pub(super) struct Shares {
    /// Those that are coded, a message.
    octets: f64,
    encoding: Duration,
    decoding: Duration,
}

impl Shares {
    pub(super) fn of(direction: &Direction<'_>, setting: &Candidate) -> Self {
        let messages = direction.stream.messages;
        let coded = (0..messages.len()).filter_map(|message| {
            let size = Bytes::from(messages.payload(message).len());
            setting.policy.codes(messages.kind(message), size).then_some(size)
        });
        Self {
            octets: coded.sum::<Bytes>().as_f64() / messages.len() as f64,
            encoding: setting.computing_time(),
            decoding: setting.decompressing_time(),
        }
    }

    fn share(&self, message: &Outgoing) -> f64 {
        // Where octets are none, nothing that is coded has any.
        if message.is_coded() && !message.payload.is_empty() {
            message.payload.len() as f64 / self.octets
        } else {
            0.0
        }
    }
}

impl Pricing for Shares {
    fn encoding(&self, message: &Outgoing) -> Duration {
        self.encoding.mul_f64(self.share(message))
    }

    fn decoding(&self, message: &Outgoing) -> Duration {
        self.decoding.mul_f64(self.share(message))
    }
}
