//! How is what was found told? The record that is published, made of what was measured.

use super::candidate::{Candidate, USUAL};
use super::choose::choose;
use super::direction::Direction;
use super::part::Part;
use super::recording::Recording;
use super::timing::Timed;
use super::{Options, clock, doubts, findings, frontier, snippets, words};
use crate::advise::figures::Figures;
use lastmile_payload::message_codec::{self, Deflate, MessageCodec};
use lastmile_payload::sweep::Point;
use lastmile_payload::transcript::{self, Kind};
use lastmile_report::record::Figure;
use lastmile_report::tune as record;
use std::collections::BTreeMap;

/// The record.
pub(super) fn tuning(
    recording: &Recording,
    options: &Options,
    directions: &[Direction<'_>],
    links: Vec<record::LinkDelivery>,
) -> record::Tuning {
    let told: Vec<Told<'_>> = directions.iter().map(|own| Told::of(own, options)).collect();
    record::Tuning {
        schema: record::Tuning::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        transcript: transcript(recording),
        options: record::Options {
            connections: options.holder.connections.get(),
            memory_bytes: options.memory.map(lastmile_units::Bytes::get),
            sampling: options.sampling,
        },
        seed: options.seed,
        zlib: zlib(),
        libraries: libraries(directions),
        cpu_machine: Some(format!("{}, by {}", crate::cost::this_machine(), clock::NAME)),
        directions: directions.iter().map(stream).collect(),
        points: told.iter().flat_map(Told::points).collect(),
        codecs: told.iter().flat_map(Told::codecs).collect(),
        answer: record::Answer {
            text: words::answer(&told, &links),
            choices: told.iter().flat_map(Told::choices).collect(),
        },
        snippets: snippets(recording, &told),
        findings: told.iter().flat_map(findings::findings).collect(),
        thresholds: Vec::new(),
        doubts: doubts::doubts(recording, &told),
        links,
    }
}

/// A direction, and what is chosen for it.
pub(super) struct Told<'a> {
    pub(super) direction: &'a Direction<'a>,
    pub(super) options: &'a Options,
    /// What a setting of permessage-deflate is chosen among.
    pub(super) candidates: Vec<Candidate>,
    /// What any setting is chosen among.
    pub(super) all: Vec<Candidate>,
    figures: Figures,
}

impl<'a> Told<'a> {
    fn of(direction: &'a Direction<'a>, options: &'a Options) -> Self {
        Self {
            direction,
            options,
            candidates: direction.candidates(),
            all: direction.all_candidates(),
            figures: Figures {
                varied: vec!["round of timing".to_owned()],
                seed: options.root().derive("intervals"),
            },
        }
    }

    /// The setting of permessage-deflate to use, or messages as they are.
    pub(super) fn chosen(&self) -> &Candidate {
        &self.candidates[choose(&self.candidates, &self.options.limits())]
    }

    /// The setting to use where both ends are one's own.
    pub(super) fn chosen_of_all(&self) -> &Candidate {
        &self.all[choose(&self.all, &self.options.limits())]
    }

    /// What most libraries do unless told otherwise, if it is in the grid.
    pub(super) fn usual(&self) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.is(USUAL))
    }

    /// The ratio of any setting of the grid.
    pub(super) fn ratio(&self, setting: Deflate) -> Option<f64> {
        let mut points = self.direction.points.iter();
        points.find(|point| point.setting == setting).map(|point| point.ratio)
    }

    /// As in JSON.
    pub(super) fn name(&self) -> &'static str {
        direction(self.direction.stream.direction).name()
    }

    fn computing(&self, timed: &Timed) -> Option<Figure> {
        let rounds = timed.compressing.iter().map(|seconds| vec![*seconds]).collect();
        (!timed.compressing.is_empty()).then(|| self.figures.figure("s", "round", &rounds))
    }

    fn points(&self) -> Vec<record::Point> {
        let objectives: Vec<_> = self
            .candidates
            .iter()
            .map(|candidate| candidate.objectives(self.options.holder))
            .collect();
        let unbeaten: Vec<MessageCodec> = self
            .candidates
            .iter()
            .zip(frontier::unbeaten(&objectives))
            .filter(|(_, unbeaten)| *unbeaten)
            .map(|(candidate, _)| candidate.codec)
            .collect();
        let of_point = |point: &Point| {
            let parameters = deflate(point.setting);
            record::Point {
                direction: direction(self.direction.stream.direction),
                takeover: parameters.takeover,
                window_bits: parameters.window_bits,
                runs_as_window_bits: point.setting.window_bits.runs_as().get(),
                level: parameters.level,
                mem_level: parameters.mem_level,
                strategy: parameters.strategy,
                compressed_bytes: point.compressed.get(),
                ratio: point.ratio,
                ratio_ci95: point.ratio_ci95.map(|interval| [interval.low, interval.high]),
                exact: point.ratio_ci95.is_none(),
                memory_bytes: point.memory.get(),
                cpu_seconds: self
                    .direction
                    .timed
                    .get(&point.setting)
                    .and_then(|timed| self.computing(timed)),
                frontier: unbeaten.contains(&MessageCodec::Deflate(point.setting)),
            }
        };
        self.direction.points.iter().map(of_point).collect()
    }

    fn codecs(&self) -> Vec<record::CodecPoint> {
        let trials = || self.direction.trials.iter().zip(&self.direction.trials_timed);
        let all = Part::all(self.direction.stream.messages);
        let beaten = |part: &Part, own: [f64; 3]| {
            let tried = self.direction.tried_on(part);
            let points = self.candidates.iter().filter(|_| *part == all).cloned();
            let mut settings: Vec<[f64; 3]> = vec![own];
            settings.extend(
                points
                    .chain(tried)
                    .map(|candidate| candidate.objectives(self.options.holder)),
            );
            !frontier::unbeaten(&settings)[0]
        };
        trials()
            .map(|((trial, measured), timed)| {
                let objectives = Candidate {
                    codec: trial.codec,
                    ratio: measured.ratio(),
                    contexts: measured.contexts,
                    timed: timed.clone(),
                    ..Candidate::identity()
                }
                .objectives(self.options.holder);
                record::CodecPoint {
                    direction: direction(self.direction.stream.direction),
                    codec: trial.codec.to_string(),
                    dictionary: trial.dictionary.as_ref().map(|(known, _)| known.clone()),
                    policy: trial.policy.map(|policy| policy.to_string()),
                    measured_on: trial.part.name.clone(),
                    messages: trial.part.messages.len() as u64,
                    bytes: measured.plain,
                    compressed_bytes: measured.coded,
                    ratio: measured.ratio(),
                    ratio_ci95: None,
                    exact: true,
                    memory_bytes: measured.contexts.compressing.get(),
                    cpu_seconds: self.computing(timed),
                    frontier: trial.policy.is_none() && !beaten(&trial.part, objectives),
                }
            })
            .collect()
    }

    fn choices(&self) -> Vec<record::Choice> {
        let choice = |scope, chosen: &Candidate, why| record::Choice {
            direction: direction(self.direction.stream.direction),
            scope,
            setting: chosen.codec.to_string(),
            deflate: match chosen.codec {
                MessageCodec::Deflate(setting) => Some(deflate(setting)),
                _ => None,
            },
            dictionary: chosen.dictionary.clone(),
            policy: None,
            ratio: chosen.ratio,
            ratio_ci95: chosen.ratio_ci95,
            memory_bytes: chosen.contexts.compressing.get(),
            memory_total_bytes: chosen.contexts.total(self.options.holder).get(),
            cpu_seconds: self.computing(&chosen.timed),
            fits: self.options.memory.map(|_| self.options.limits().fits(chosen)),
            why,
        };
        let mut choices = vec![choice(
            record::Scope::PermessageDeflate,
            self.chosen(),
            words::why(self, &self.candidates, self.chosen()),
        )];
        if self.options.beyond {
            let chosen = self.chosen_of_all();
            choices.push(choice(
                record::Scope::AnyCodec,
                chosen,
                words::why(self, &self.all, chosen),
            ));
        }
        choices
    }
}

fn transcript(recording: &Recording) -> record::Transcript {
    let bytes = recording.messages.sent.total() + recording.messages.received.total();
    record::Transcript {
        source: recording.source.clone(),
        format: recording.format,
        messages: recording.count() as u64,
        bytes: bytes.get(),
        connections: recording.connections() as u64,
        duration_seconds: recording.duration().map(|duration| duration.as_secs_f64()),
        notes: recording.notes.clone(),
    }
}

fn stream(own: &Direction<'_>) -> record::Stream {
    let messages = own.stream.messages;
    let mut lengths: Vec<u64> = messages.payloads().map(|payload| payload.len() as u64).collect();
    lengths.sort_unstable();
    let count = lengths.len();
    // The rank of the nearest-rank method: the smallest length that so many per cent of messages are no longer than.
    let ranked = |per_cent: usize| lengths[(count * per_cent).div_ceil(100).max(1) - 1];
    let is_text = |message: &usize| messages.kind(*message) == Kind::Text;
    record::Stream {
        direction: direction(own.stream.direction),
        messages: count as u64,
        text_messages: (0..count).filter(is_text).count() as u64,
        empty_messages: lengths.iter().filter(|length| **length == 0).count() as u64,
        bytes: messages.total().get(),
        length_min_bytes: lengths[0],
        length_median_bytes: ranked(50),
        length_p95_bytes: ranked(95),
        length_max_bytes: lengths[count - 1],
        sampled_bytes: own.sampled.map(lastmile_units::Bytes::get),
        distinct_streams: Some(own.distinct_streams as u64),
    }
}

/// What a server sends is what it is configured for; where it sends nothing, what it could send.
fn snippets(recording: &Recording, told: &[Told<'_>]) -> Vec<record::Snippet> {
    let by_server = |told: &&Told<'_>| recording.sender(told.direction.stream.direction) == super::End::Server;
    let told = told.iter().find(by_server).unwrap_or(&told[0]);
    snippets::snippets(&snippets::Wanted {
        deflate: match told.chosen().codec {
            MessageCodec::Deflate(deflate) => Some(deflate),
            _ => None,
        },
        ratio_of: &|setting| told.ratio(setting),
    })
}

fn zlib() -> String {
    MessageCodec::Deflate(USUAL)
        .back_end()
        .map_or_else(String::new, |back_end| back_end.version.to_owned())
}

fn libraries(directions: &[Direction<'_>]) -> BTreeMap<String, String> {
    let codecs = directions
        .iter()
        .flat_map(|own| own.trials.iter().map(|(trial, _)| trial.codec));
    codecs
        .filter(|codec| !matches!(codec, MessageCodec::Deflate(_)))
        .filter_map(|codec| codec.back_end())
        .map(|back_end| (back_end.name.to_owned(), back_end.version.to_owned()))
        .collect()
}

/// As in the record.
pub(super) fn direction(direction: transcript::Direction) -> record::Direction {
    match direction {
        transcript::Direction::Sent => record::Direction::Sent,
        transcript::Direction::Received => record::Direction::Received,
    }
}

fn deflate(setting: Deflate) -> record::Deflate {
    record::Deflate {
        takeover: setting.takeover,
        window_bits: setting.window_bits.get(),
        level: setting.level,
        mem_level: setting.mem_level,
        strategy: match setting.strategy {
            message_codec::Strategy::Default => record::Strategy::Default,
            message_codec::Strategy::Filtered => record::Strategy::Filtered,
            message_codec::Strategy::HuffmanOnly => record::Strategy::HuffmanOnly,
            message_codec::Strategy::Rle => record::Strategy::Rle,
            message_codec::Strategy::Fixed => record::Strategy::Fixed,
        },
    }
}
