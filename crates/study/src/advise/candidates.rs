//! Which settings are worth replaying? Those that no other beats in size and in computing on either side, and the usual defaults.

use super::Options;
use super::groups::Group;
use super::order::Delivery;
use super::page::Page;
use super::sizes::Sizes;
use crate::cost::{CostTable, Operation};
use lastmile_payload::codec::{CodecSpec, Coding};
use lastmile_payload::traffic::{Origin, Response, Traffic};
use lastmile_units::{Bytes, Seed};
use std::collections::BTreeSet;
use std::time::Duration;

/// A setting on a group, before any replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub(super) codec: CodecSpec,
    /// The group's bodies as carried, summed.
    pub(super) size: Bytes,
    /// Whether a part of that is estimated.
    pub(super) estimated: bool,
    /// Computing on the server, at its speed, for every body of the group once.
    pub(super) server: Duration,
    /// On the client, at its speed.
    pub(super) client: Duration,
}

/// Differences in size below this, and in computing below that, are taken for none when settings are picked for replay: our own
/// choice. Neighbouring levels often differ by less, and by less than a cost table's spread.
const SAME_SIZE: f64 = 0.002;
const SAME_COMPUTING: f64 = 0.1;

impl Candidate {
    /// A codec on all of a group's items, with the middle of the cost table's samples.
    pub(super) fn of(
        codec: CodecSpec,
        group: &Group,
        page: &Page,
        sizes: &Sizes,
        costs: &CostTable,
        options: &Options,
    ) -> Self {
        let mut candidate = Self {
            codec,
            size: Bytes::ZERO,
            estimated: false,
            server: Duration::ZERO,
            client: Duration::ZERO,
        };
        for item in &group.items {
            let plain = page.items[*item].plain;
            let delivery = delivery(*item, codec, page, sizes);
            candidate.size += delivery.size;
            if delivery.codec.is_some() {
                candidate.estimated |= sizes.get(*item, codec).is_some_and(|size| size.estimated);
            }
            // Coding is paid for even where its result is thrown away; by a sensible least length it seldom is.
            candidate.server += delivery
                .codec
                .map_or(Duration::ZERO, |codec| typical(costs, Operation::Encode(codec), plain));
            candidate.client += delivery
                .codec
                .map_or(Duration::ZERO, |codec| typical(costs, Operation::Decode(codec), plain));
        }
        candidate.server = candidate.server.mul_f64(options.server.slow_down);
        candidate.client = candidate.client.mul_f64(options.slow_client);
        candidate
    }

    /// Whether `self` is as good as `other` in every respect, give or take what counts as none, and truly better in one.
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

/// How an item is carried under a setting; as it is where that was not tried.
pub(super) fn delivery(item: usize, codec: CodecSpec, page: &Page, sizes: &Sizes) -> Delivery {
    let plain = page.items[item].plain;
    sizes.get(item, codec).map_or(Delivery::identity(plain), |size| {
        Delivery::coded(codec, size.bytes, plain)
    })
}

/// The middle of the cost table's samples.
pub(super) fn typical(costs: &CostTable, operation: Operation, plain: Bytes) -> Duration {
    let mut rng = Seed::new(0).derive("typical").rng();
    let mut draws: Vec<Duration> = (0..TYPICAL_DRAWS)
        .map(|_| costs.draw(&mut rng, operation, plain))
        .collect();
    draws.sort();
    draws[TYPICAL_DRAWS / 2]
}

const TYPICAL_DRAWS: usize = 31;

/// The candidates of a group that are worth replaying.
pub(super) fn worth_replaying(candidates: &[Candidate]) -> BTreeSet<CodecSpec> {
    let beaten = |candidate: &Candidate| candidates.iter().any(|other| other.beats(candidate));
    candidates
        .iter()
        .filter(|candidate| !beaten(candidate))
        .map(|candidate| candidate.codec)
        .collect()
}

/// What servers do where nobody chose: nginx's and Apache's gzip, levels of brotli that servers are set to, zstd's own.
pub(super) fn usual_defaults() -> impl Iterator<Item = CodecSpec> {
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

/// How an item was carried when it was recorded. Its coding's level is not in an archive: the one whose size is nearest is taken, for
/// what it costs to compute.
pub(super) fn delivery_today(item: usize, traffic: &Traffic, page: &Page, sizes: &Sizes) -> Delivery {
    let Response {
        content_encoding,
        transferred,
        ..
    } = &traffic.responses[page.items[item].response];
    let plain = page.items[item].plain;
    let Some(token) = content_encoding
        .as_deref()
        .filter(|token| *token != Coding::Identity.token())
    else {
        return as_seen(item, traffic, page);
    };
    let Some(coding) = Coding::from_token(token) else {
        return as_seen(item, traffic, page);
    };
    let of_coding = sizes.of_item(item).filter(|(codec, _)| codec.coding() == coding);
    let nearest = match transferred {
        Some(seen) => of_coding
            .min_by_key(|(_, size)| size.bytes.get().abs_diff(seen.get()))
            .map(|(codec, _)| codec),
        None => Some(CodecSpec::with_default_level(coding)),
    };
    match (nearest, transferred) {
        (codec, Some(size)) => Delivery {
            size: *size,
            coding,
            codec,
        },
        (Some(codec), None) => delivery(item, codec, page, sizes),
        (None, None) => Delivery::identity(plain),
    }
}

/// An item that is not coded here, at the size at which it was seen.
pub(super) fn as_seen(item: usize, traffic: &Traffic, page: &Page) -> Delivery {
    let response = &traffic.responses[page.items[item].response];
    let coded = response.content_encoding.is_some();
    let seen = response.transferred.filter(|_| coded || !page.items[item].has_body);
    Delivery::identity(seen.unwrap_or(page.items[item].plain))
}

/// Whether the server codes anew for every request.
pub(super) const fn codes_on_request(origin: Origin) -> bool {
    matches!(origin, Origin::Dynamic)
}
