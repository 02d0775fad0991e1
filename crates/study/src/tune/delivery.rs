//! When are messages there, over a link, under the chosen setting, the usual one, and none?
//!
//! Each direction's busiest connection is delivered in the simulated world, the beginning of it where it is long, in fresh contexts;
//! computing is charged as it was timed, by a message's share of the octets. Runs that only chance tells apart share it under every setting,
//! so that settings are compared message by message.

mod stream;

use super::candidate::{Candidate, USUAL};
use super::choose::choose;
use super::direction::Direction;
use super::recording::{End, Recording};
use super::{Options, Pace, Phase, TuneError, Work, answer, words};
use crate::advise::answer::description;
use crate::advise::figures::{Figures, Runs};
use lastmile_link::{Jitter, LinkSpec, Reordering};
use lastmile_payload::message_codec::{MessageCodec, PolicyEncoder, Treatment};
use lastmile_payload::transcript::Kind;
use lastmile_payload::websocket::{FrameHeader, MaskKey, Opcode};
use lastmile_report::record::Doubt;
use lastmile_report::tune::{DeliveryOutcome, LinkDelivery};
use lastmile_units::Seed;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;
use stream::{Delivered, Framed, Setting};

/// No more messages of a connection are delivered: our own choice. The 95th percentile of so many is known to within some per cent.
const MESSAGES_MOST: usize = 1000;

/// Delivers every direction over every link.
pub(super) fn deliver(
    recording: &Recording,
    directions: &[Direction<'_>],
    work: &mut Work<'_>,
) -> Result<Vec<LinkDelivery>, TuneError> {
    let options = work.options;
    let mut links = Vec::new();
    for (place, (name, link)) in options.links.iter().enumerate() {
        let mut outcomes = Vec::new();
        let mut chosen = Vec::new();
        for (number, direction) in directions.iter().enumerate() {
            let steps = directions.len() * options.links.len();
            work.tell(
                Phase::Delivering,
                (place * directions.len() + number) as f64 / steps as f64,
            );
            if work.workers.interrupt.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(TuneError::Interrupted);
            }
            let candidates = direction.candidates();
            let setting = candidates[choose(&candidates, &options.limits())].name();
            chosen.push((answer::direction(direction.stream.direction), setting));
            let found = Deliveries::of(
                direction,
                recording.sender(direction.stream.direction),
                name,
                link,
                options,
            );
            outcomes.extend(found.outcomes().map_err(|why| TuneError::Link {
                link: name.clone(),
                why: why.to_string(),
            })?);
        }
        links.push(LinkDelivery {
            name: name.clone(),
            description: description(link),
            world: "sim".to_owned(),
            summary: words::of_link(name, &outcomes, &chosen),
            doubts: doubts(directions, options),
            outcomes,
        });
    }
    Ok(links)
}

/// What makes a delivery suspect.
fn doubts(directions: &[Direction<'_>], options: &Options) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let untimed = directions.iter().any(|direction| {
        let messages = messages(direction);
        !messages
            .clone()
            .all(|message| direction.stream.messages.at(message).is_some())
    });
    if options.pace == Pace::Recorded && untimed {
        doubts.push(Doubt {
            kind: "no-times".to_owned(),
            text: "the transcript does not say when messages were sent: each is sent once the one before has been decoded, and none waits \
                   for another"
                .to_owned(),
        });
    }
    let left_out = directions
        .iter()
        .any(|direction| direction.stream.busiest().len() > MESSAGES_MOST);
    if left_out {
        doubts.push(Doubt {
            kind: "beginning-only".to_owned(),
            text: format!("only the first {MESSAGES_MOST} messages of a connection are delivered"),
        });
    }
    doubts
}

/// Which messages are delivered.
fn messages(direction: &Direction<'_>) -> Range<usize> {
    let busiest = direction.stream.busiest();
    busiest.start..busiest.end.min(busiest.start + MESSAGES_MOST)
}

/// One direction over one link.
struct Deliveries<'a, 'b> {
    direction: &'a Direction<'b>,
    sender: End,
    link: &'a LinkSpec,
    options: &'a Options,
    seed: Seed,
}

impl<'a, 'b> Deliveries<'a, 'b> {
    fn of(direction: &'a Direction<'b>, sender: End, name: &str, link: &'a LinkSpec, options: &'a Options) -> Self {
        let seed = options.root().derive("delivery").derive(name);
        Self {
            direction,
            sender,
            link,
            options,
            seed: seed.derive(answer::direction(direction.stream.direction).name()),
        }
    }

    /// Identity, the usual setting, the chosen one of permessage-deflate and the chosen one of all, each once.
    fn settings(&self) -> Vec<Candidate> {
        let limits = self.options.limits();
        let (own, all) = (self.direction.candidates(), self.direction.all_candidates());
        let mut settings = vec![Candidate::identity()];
        settings.extend(own.iter().find(|candidate| candidate.is(USUAL)).cloned());
        settings.push(own[choose(&own, &limits)].clone());
        settings.push(all[choose(&all, &limits)].clone());
        let mut told = Vec::new();
        settings.retain(|setting| {
            // Dictionaries are not delivered.
            let new = setting.dictionary.is_none() && !told.contains(&setting.name());
            told.push(setting.name());
            new
        });
        settings
    }

    fn outcomes(&self) -> Result<Vec<DeliveryOutcome>, stream::DeliveryError> {
        let varied = varied(self.link);
        let repeats = if varied.is_empty() {
            1
        } else {
            self.options.repeats.get()
        };
        let figures = Figures {
            varied,
            seed: self.seed.derive("intervals"),
        };
        let mut identity: Option<Runs> = None;
        let mut outcomes = Vec::new();
        for setting in self.settings() {
            let framed: Rc<[Framed]> = self.framed(&setting).into();
            let runs: Vec<Delivered> = (0..repeats)
                .map(|repeat| {
                    let setting = Setting {
                        link: self.link,
                        sender: self.sender,
                        slow_client: self.options.slow_client,
                        seed: self.seed.derive_index(repeat),
                    };
                    stream::run(&framed, &setting)
                })
                .collect::<Result<_, _>>()?;
            let seconds = |run: &Delivered| run.times.iter().map(Duration::as_secs_f64).collect();
            let times: Runs = runs.iter().map(seconds).collect();
            let carried: Runs = runs.iter().map(|run| vec![run.carried.as_f64()]).collect();
            outcomes.push(DeliveryOutcome {
                direction: answer::direction(self.direction.stream.direction),
                setting: setting.name(),
                delivery_time: figures.figure("s", "message", &times),
                link_bytes: figures.figure("B", "run", &carried),
                saving_against_identity: identity.as_ref().map(|identity| figures.saving(identity, &times)),
            });
            identity.get_or_insert(times);
        }
        Ok(outcomes)
    }

    /// The messages under a setting, in frames.
    fn framed(&self, setting: &Candidate) -> Vec<Framed> {
        let stream = &self.direction.stream;
        let among = messages(self.direction);
        let known = "what was chosen has been measured";
        let mut encoder = PolicyEncoder::new(&setting.codec, None, setting.policy).expect(known);
        let first = stream.messages.at(among.start).unwrap_or_default();
        let recorded =
            self.options.pace == Pace::Recorded && among.clone().all(|message| stream.messages.at(message).is_some());
        // What was timed is the mean over all messages.
        let octets = stream.messages.total().as_f64() / stream.messages.len() as f64;
        among
            .clone()
            .map(|message| {
                let plain = stream.messages.payload(message);
                let (kind, at) = (stream.messages.kind(message), stream.messages.at(message));
                let mut coded = Vec::new();
                let treatment = encoder.encode(kind, at, plain, &mut coded, &mut Vec::new());
                let due = match self.options.pace {
                    Pace::Recorded if recorded => stream.messages.at(message).map(|at| at.saturating_sub(first)),
                    Pace::Rate(rate) => Some(Duration::from_secs_f64((message - among.start) as f64 / rate)),
                    Pace::Recorded | Pace::OneByOne => None,
                };
                let share = plain.len() as f64 / octets;
                Framed {
                    octets: self.frame(setting, kind, treatment, &coded),
                    due,
                    compressing: setting.computing_time().mul_f64(share),
                    decompressing: setting.decompressing_time().mul_f64(share),
                }
            })
            .collect()
    }

    /// A whole message in a frame; a client's is masked, by any key.
    fn frame(&self, setting: &Candidate, kind: Kind, treatment: Treatment, coded: &[u8]) -> Vec<u8> {
        let header = FrameHeader {
            is_final: true,
            rsv1: setting.codec != MessageCodec::Identity && treatment == Treatment::Coded,
            rsv2: false,
            rsv3: false,
            opcode: match kind {
                Kind::Text => Opcode::Text,
                Kind::Binary => Opcode::Binary,
            },
            mask: (self.sender == End::Client).then_some(MaskKey([0x37, 0xfa, 0x21, 0x3d])),
            length: coded.len() as u64,
        };
        let mut octets = Vec::with_capacity(coded.len() + 14);
        header.write_with(coded, &mut octets);
        octets
    }
}

/// What tells runs over a link apart.
fn varied(link: &LinkSpec) -> Vec<String> {
    let directions = [&link.down, &link.up];
    let any = |does: &dyn Fn(&lastmile_link::DirectionSpec) -> bool| directions.iter().any(|direction| does(direction));
    [
        (any(&|direction| direction.loss.rate().get() > 0.0), "random loss"),
        (any(&|direction| direction.jitter != Jitter::None), "jitter"),
        (any(&|direction| direction.reordering != Reordering::None), "reordering"),
    ]
    .into_iter()
    .filter(|(does, _)| *does)
    .map(|(_, name)| name.to_owned())
    .collect()
}

#[cfg(test)]
mod tests;
