//! Makes the published record from the measurements.

use super::broadcast::Broadcast;
use super::candidate::{Candidate, ZLIB_DEFAULT};
use super::direction_report::DirectionReport;
use super::measure_direction::Direction;
use super::message_range::MessageRange;
use super::recording::{End, Recording};
use super::{Options, context_memory, doubts, findings, pareto, prose, snippets};
use crate::record;
use lastmile_codec::message::{self, Deflate, Kind, MessageCodec};
use lastmile_sweep::Point;
use lastmile_testbed::cpu_clock;
use lastmile_units::ByteCount;
use std::collections::BTreeMap;

/// The record.
pub(super) fn tuning(
    recording: &Recording,
    options: &Options,
    directions: &[Direction<'_>],
    links: Vec<record::LinkDelivery>,
) -> record::Tuning {
    let reports: Vec<DirectionReport<'_>> = directions
        .iter()
        .map(|own| DirectionReport::new(own, options))
        .collect();
    record::Tuning {
        schema: record::Tuning::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        transcript: transcript(recording),
        options: record::Options {
            connections: options.server.connections.get(),
            memory_bytes: options.memory.map(ByteCount::get),
            cpu_seconds: options.computing.map(|time| time.as_secs_f64()),
            ratio: options.ratio,
            receivers: options.receivers.map(std::num::NonZeroU64::get),
            rate_per_second: options.rate,
            sampling: options.sampling,
        },
        seed: options.seed,
        zlib: zlib(),
        libraries: libraries(directions),
        cpu_machine: Some(format!(
            "{}, by {}",
            lastmile_testbed::cpu_cost_model::this_machine(),
            cpu_clock::NAME
        )),
        directions: directions.iter().map(stream).collect(),
        points: reports.iter().flat_map(DirectionReport::points).collect(),
        codecs: reports.iter().flat_map(DirectionReport::codecs).collect(),
        answer: record::Answer {
            text: prose::answer(&reports, &links),
            choices: reports.iter().flat_map(DirectionReport::choices).collect(),
        },
        snippets: snippets(&reports),
        findings: reports.iter().flat_map(findings::findings).collect(),
        thresholds: Vec::new(),
        doubts: doubts::doubts(recording, &reports),
        links,
    }
}

impl DirectionReport<'_> {
    fn points(&self) -> Vec<record::Point> {
        let holder = self.options.server;
        let objectives: Vec<_> = self
            .timed_points
            .iter()
            .map(|candidate| candidate.objectives(holder))
            .collect();
        let unbeaten: Vec<MessageCodec> = self
            .timed_points
            .iter()
            .zip(pareto::pareto_front(&objectives))
            .filter(|(_, unbeaten)| *unbeaten)
            .map(|(candidate, _)| candidate.codec)
            .collect();
        let mut windows: BTreeMap<u8, ByteCount> = BTreeMap::new();
        let of_point = |point: &Point| {
            let parameters = deflate(point.setting);
            let runs_as = point.setting.window_bits.runs_as().get();
            let decompressor = windows
                .entry(runs_as)
                .or_insert_with(|| context_memory::decompressing(point.setting));
            record::Point {
                direction: self.direction.stream.direction,
                takeover: parameters.takeover,
                window_bits: parameters.window_bits,
                runs_as_window_bits: runs_as,
                level: parameters.level,
                mem_level: parameters.mem_level,
                strategy: parameters.strategy,
                compressed_bytes: point.compressed.get(),
                ratio: point.ratio,
                ratio_ci95: point.ratio_ci95,
                exact: point.ratio_ci95.is_none(),
                memory_bytes: point.memory.get(),
                decompressor_memory_bytes: decompressor.get(),
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
        let stream = &self.direction.stream;
        let tried = self.direction.all_results().map(|tried| {
            let own = tried.candidate(stream);
            record::CodecPoint {
                measured_on: tried.trial.part.name.clone(),
                messages: tried.trial.part.messages.len() as u64,
                bytes: tried.measured.plain,
                compressed_bytes: tried.measured.coded,
                frontier: !self.is_dominated(&own, &tried.trial.part),
                ..self.codec(&own)
            }
        });
        let all = MessageRange::all(stream.messages);
        let once = self.best_shared().map(|own| record::CodecPoint {
            frontier: !self.is_dominated(own, &all),
            ..self.codec(own)
        });
        tried.chain(once).collect()
    }

    /// The record of a candidate, for all messages.
    fn codec(&self, own: &Candidate) -> record::CodecPoint {
        let messages = self.direction.stream.messages;
        record::CodecPoint {
            direction: self.direction.stream.direction,
            codec: own.codec.to_string(),
            dictionary: own.dictionary.clone(),
            policy: own.policy_text(),
            measured_on: MessageRange::all(messages).name,
            messages: messages.len() as u64,
            bytes: messages.total().get(),
            compressed_bytes: (own.ratio * messages.total().as_f64()).round() as u64,
            ratio: own.ratio,
            ratio_ci95: own.ratio_ci95,
            exact: own.ratio_ci95.is_none(),
            memory_bytes: own.contexts.compressing.get(),
            decompressor_memory_bytes: own.contexts.decompressing.get(),
            cpu_seconds: self.computing(&own.timed),
            frontier: false,
        }
    }

    /// Whether anything measured on the same messages is as good in all objectives and better in one.
    fn is_dominated(&self, own: &Candidate, part: &MessageRange) -> bool {
        let is_all = *part == MessageRange::all(self.direction.stream.messages);
        let points = self.timed_points.iter().filter(|_| is_all).cloned();
        let once = self.best_shared().filter(|_| is_all).cloned();
        let others = points.chain(once).chain(self.direction.results_on(part));
        let objectives = std::iter::once(own.clone())
            .chain(others)
            .map(|candidate| candidate.objectives(self.options.server));
        !pareto::pareto_front(&objectives.collect::<Vec<_>>())[0]
    }

    fn choices(&self) -> Vec<record::Choice> {
        let limits = self.options.limits();
        let choice = |scope, chosen: &Candidate, why| record::Choice {
            direction: self.direction.stream.direction,
            scope,
            setting: chosen.codec.to_string(),
            deflate: match chosen.codec {
                // permessage-deflate has no dictionaries.
                MessageCodec::Deflate(setting) if chosen.dictionary.is_none() => Some(deflate(setting)),
                _ => None,
            },
            dictionary: chosen.dictionary.clone(),
            policy: chosen.policy_text(),
            ratio: chosen.ratio,
            ratio_ci95: chosen.ratio_ci95,
            memory_bytes: chosen.contexts.compressing.get(),
            memory_total_bytes: chosen.memory(self.options.server).get(),
            cpu_seconds: self.computing(&chosen.timed),
            fits: limits.has_any().then(|| limits.fits(chosen)),
            why,
        };
        let mut choices = vec![choice(
            record::Scope::PermessageDeflate,
            self.chosen(),
            prose::reason(self, &self.candidates, self.chosen()),
        )];
        if self.options.beyond {
            let chosen = self.chosen_any_codec();
            choices.push(choice(
                record::Scope::AnyCodec,
                chosen,
                prose::reason(self, &self.all, chosen),
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
    // Nearest-rank method: the smallest length such that at least `per_cent` of the messages are no longer.
    let ranked = |per_cent: usize| lengths[(count * per_cent).div_ceil(100).max(1) - 1];
    let is_text = |message: &usize| messages.kind(*message) == Kind::Text;
    let (copied_messages, copied_bytes) = match own.broadcast {
        Some(Broadcast::Recorded {
            copies, copied_bytes, ..
        }) => (copies, copied_bytes),
        _ => (0, 0),
    };
    record::Stream {
        direction: own.stream.direction,
        messages: count as u64,
        text_messages: (0..count).filter(is_text).count() as u64,
        empty_messages: lengths.iter().filter(|length| **length == 0).count() as u64,
        bytes: messages.total().get(),
        length_min_bytes: lengths[0],
        length_median_bytes: ranked(50),
        length_p95_bytes: ranked(95),
        length_max_bytes: lengths[count - 1],
        copied_messages,
        copied_bytes,
        receivers: own.broadcast.as_ref().map(Broadcast::receivers),
        sampled_bytes: own.sampled.map(lastmile_units::ByteCount::get),
        distinct_streams: Some(own.distinct_streams as u64),
    }
}

/// Servers are configured for the direction they send; if the server sent nothing, for the other one.
fn snippets(reports: &[DirectionReport<'_>]) -> Vec<record::Snippet> {
    let by_server = |report: &&DirectionReport<'_>| report.direction.stream.sender == End::Server;
    let report = reports.iter().find(by_server).unwrap_or(&reports[0]);
    snippets::snippets(&snippets::SnippetRequest {
        deflate: report.chosen_deflate(),
        ratio_of: &|setting| report.ratio(setting),
    })
}

fn zlib() -> String {
    MessageCodec::Deflate(ZLIB_DEFAULT)
        .back_end()
        .map_or_else(String::new, |back_end| back_end.version.to_owned())
}

fn libraries(directions: &[Direction<'_>]) -> BTreeMap<String, String> {
    let codecs = directions
        .iter()
        .flat_map(|own| own.results.iter().map(|tried| tried.trial.codec));
    codecs
        .filter(|codec| !matches!(codec, MessageCodec::Deflate(_)))
        .filter_map(|codec| codec.back_end())
        .map(|back_end| (back_end.name.to_owned(), back_end.version.to_owned()))
        .collect()
}

fn deflate(setting: Deflate) -> record::Deflate {
    record::Deflate {
        takeover: setting.takeover,
        window_bits: setting.window_bits.get(),
        level: setting.level,
        mem_level: setting.mem_level,
        strategy: match setting.strategy {
            message::Strategy::Default => record::Strategy::Default,
            message::Strategy::Filtered => record::Strategy::Filtered,
            message::Strategy::HuffmanOnly => record::Strategy::HuffmanOnly,
            message::Strategy::Rle => record::Strategy::Rle,
            message::Strategy::Fixed => record::Strategy::Fixed,
        },
    }
}
