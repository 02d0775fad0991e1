//! The settings worth replaying: those that no other beats in size and CPU time on either side, and common defaults.
//!
//! Files are compressed once, before the first request, so what that takes on the server does not count for them.

use super::PreparedReplay;
use super::response_classes::Group;
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_page::scripted_response::EncodedResponse;
use lastmile_testbed::cpu_cost_model::{CostTable, Operation};
use lastmile_traffic::responses::{Origin, Response};
use lastmile_units::{ByteCount, Seed};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A setting on a group, before any replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub(super) codec: CodecSpec,
    /// The total size of the group's bodies as carried.
    pub(super) size: ByteCount,
    /// Whether a part of that is estimated.
    pub(super) estimated: bool,
    /// CPU time of the server, at its speed, for every body of the group once.
    pub(super) server: Duration,
    /// CPU time of the client, at its speed.
    pub(super) client: Duration,
}

/// Smaller relative differences in size and in CPU time count as none when settings are picked for replay: our own choice. Neighbouring
/// levels often differ by less, and by less than a cost table's spread.
const SAME_SIZE: f64 = 0.01;
const SAME_COMPUTING: f64 = 0.2;

/// Shorter bodies are not compressed, in replays as in snippets: our own choice. The overhead of the format and a header outweigh what is
/// saved on them, which fits into the same packet anyway.
pub(super) const LENGTH_MIN: ByteCount = ByteCount::new(256);

impl Candidate {
    /// Nothing, compressed with a codec: a sum begins with it.
    fn nothing(codec: CodecSpec) -> Self {
        Self {
            codec,
            size: ByteCount::ZERO,
            estimated: false,
            server: Duration::ZERO,
            client: Duration::ZERO,
        }
    }

    fn add(&mut self, other: &Self) {
        self.size += other.size;
        self.estimated |= other.estimated;
        self.server += other.server;
        self.client += other.client;
    }

    /// Whether `self` is as good as `other` in every respect, apart from differences that count as none, and really better in one.
    fn beats(&self, other: &Self) -> bool {
        let (size, server, client) = (self.size.as_f64(), self.server.as_secs_f64(), self.client.as_secs_f64());
        let (other_size, other_server, other_client) = (
            other.size.as_f64(),
            other.server.as_secs_f64(),
            other.client.as_secs_f64(),
        );
        let no_worse = size <= other_size * (1.0 + SAME_SIZE)
            && server <= other_server * (1.0 + SAME_COMPUTING)
            && client <= other_client * (1.0 + SAME_COMPUTING);
        let better = size < other_size * (1.0 - SAME_SIZE)
            || server < other_server * (1.0 - SAME_COMPUTING)
            || client < other_client * (1.0 - SAME_COMPUTING);
        no_worse && better
    }
}

impl PreparedReplay<'_> {
    /// A codec on all of a group's items, with the medians of the cost table's samples.
    pub(super) fn candidate(&self, codec: CodecSpec, group: &Group) -> Candidate {
        let mut candidate = Candidate::nothing(codec);
        for item in &group.items {
            let delivery = self.delivery(*item, codec);
            candidate.size += delivery.size;
            // A result that is no smaller is discarded and not charged; with a sensible minimum length that is rare.
            let Some(codec) = delivery.codec else { continue };
            candidate.estimated |= self.sizes.get(*item, codec).is_some_and(|size| size.estimated);
            let plain = self.page.items[*item].plain;
            candidate.server += median_cost(self.costs, Operation::Encode(codec), plain);
            candidate.client += median_cost(self.costs, Operation::Decode(codec), plain);
        }
        candidate.server = candidate.server.mul_f64(self.options.load.server.slow_down);
        candidate.client = candidate.client.mul_f64(self.options.load.slow_client);
        candidate
    }

    /// The CPU time of the server for all of a group's bodies as recorded; none where none has a content coding.
    pub(super) fn cpu_as_recorded(&self, group: &Group) -> Option<Duration> {
        let coded = |item: &&usize| self.response(**item).content_encoding.is_some();
        let mut coded = group.items.iter().filter(coded).peekable();
        coded.peek()?;
        let cost = |item: &usize| {
            self.recorded_delivery(*item).codec.map_or(Duration::ZERO, |codec| {
                median_cost(self.costs, Operation::Encode(codec), self.page.items[*item].plain)
            })
        };
        Some(
            coded
                .map(cost)
                .sum::<Duration>()
                .mul_f64(self.options.load.server.slow_down),
        )
    }

    /// How an item is carried under a setting; uncompressed where it is short, or that setting was not tried.
    pub(super) fn delivery(&self, item: usize, codec: CodecSpec) -> EncodedResponse {
        let plain = self.page.items[item].plain;
        let size = self.sizes.get(item, codec).filter(|_| plain >= LENGTH_MIN);
        size.map_or(EncodedResponse::identity(plain), |size| {
            EncodedResponse::compressed(codec, size.bytes, plain)
        })
    }

    /// How an item was carried when it was recorded. An archive does not contain the compression level: the level whose size is nearest
    /// gives the CPU cost.
    pub(super) fn recorded_delivery(&self, item: usize) -> EncodedResponse {
        let Response {
            content_encoding,
            transferred,
            ..
        } = self.response(item);
        let coding = content_encoding.as_deref().and_then(Coding::from_token);
        let Some(coding) = coding.filter(|coding| *coding != Coding::Identity) else {
            return self.size_as_recorded(item);
        };
        let Some(size) = *transferred else {
            return self.delivery(item, CodecSpec::with_default_level(coding));
        };
        let of_coding = self
            .sizes
            .exact_sizes(item)
            .filter(|(codec, _)| codec.coding() == coding);
        let nearest = of_coding.min_by_key(|(_, exact)| exact.get().abs_diff(size.get()));
        EncodedResponse {
            size,
            coding,
            codec: nearest.map(|(codec, _)| codec),
        }
    }

    /// An item that is not compressed here, at its recorded size.
    pub(super) fn size_as_recorded(&self, item: usize) -> EncodedResponse {
        let response = self.response(item);
        let coded = response.content_encoding.is_some();
        let seen = response
            .transferred
            .filter(|_| coded || !self.page.items[item].has_body);
        EncodedResponse::identity(seen.unwrap_or(self.page.items[item].plain))
    }
}

/// The median of the cost table's samples.
pub(super) fn median_cost(costs: &CostTable, operation: Operation, plain: ByteCount) -> Duration {
    let mut rng = Seed::new(0).derive("typical").rng();
    let mut draws: Vec<Duration> = (0..TYPICAL_DRAWS)
        .map(|_| costs.draw(&mut rng, operation, plain))
        .collect();
    draws.sort();
    draws[TYPICAL_DRAWS / 2]
}

const TYPICAL_DRAWS: usize = 31;

/// The settings that are worth replaying on the groups of an origin, by the sums of their candidates.
pub(super) fn worth_replaying<'a>(
    origin: Origin,
    candidates: impl Iterator<Item = &'a Candidate>,
) -> BTreeSet<CodecSpec> {
    let mut sums: BTreeMap<CodecSpec, Candidate> = BTreeMap::new();
    for candidate in candidates {
        let sum = sums.entry(candidate.codec);
        sum.or_insert_with(|| Candidate::nothing(candidate.codec))
            .add(candidate);
    }
    if origin == Origin::Static {
        for sum in sums.values_mut() {
            sum.server = Duration::ZERO;
        }
    }
    let beaten = |candidate: &Candidate| sums.values().any(|other| other.beats(candidate));
    sums.values()
        .filter(|candidate| !beaten(candidate))
        .map(|candidate| candidate.codec)
        .collect()
}

/// Common defaults of servers: the gzip level of nginx and Apache, brotli levels that servers are set to, and zstd's default.
pub(super) fn common_defaults() -> impl Iterator<Item = CodecSpec> {
    [
        (Coding::Gzip, 6),
        (Coding::Brotli, 4),
        (Coding::Brotli, 5),
        (Coding::Brotli, 11),
        (Coding::Zstd, 3),
    ]
    .into_iter()
    .filter_map(|(coding, level)| CodecSpec::new(coding, level).ok())
}

/// Whether the server compresses on every request.
pub(super) const fn compressed_per_request(origin: Origin) -> bool {
    matches!(origin, Origin::Dynamic)
}
