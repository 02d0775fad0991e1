//! The bandwidth up to which compression pays off: by formula, and by replaying one response of the kind's median size.
//!
//! Symbols: S, a response's size in bytes; r, its compression ratio; C, the compression time on the server, lengthened by its load to
//! C / (1 - rho); D, the decompression time on the client; B, the bandwidth in bit/s.
//!
//! - **Store and forward**: compression, transfer and decompression follow each other: T = RTT + C + 8 r S / B + D, compared with
//!   RTT + 8 S / B without compression, so B* = 8 S (1 - r) / (C + D). This applies to a body that the server compresses in one piece.
//! - **Pipelined**: each piece is sent and decompressed while the next is compressed: T = RTT + max(C, 8 r S / B, D), so
//!   B* = 8 S / max(C, D). This applies to bodies of several pieces, the better the longer they are.
//!
//! Neither formula models slow start, because of which compressing small responses pays off at any bandwidth where it saves a round trip;
//! the replay does. The replay keeps the link's delays and queues, scales both directions alike, and leaves out random losses, jitter and
//! reordering, so that one run is enough.

use super::candidates::{Candidate, compressed_per_request, median_cost};
use super::isolated_transfer::isolated_response;
use super::response_classes::Group;
use super::select::ChosenSetting;
use super::{AdviseError, Phase, PreparedReplay, Progress, prose};
use crate::record::{BreakEven, BreakEvenSearch};
use lastmile_codec::content::CodecSpec;
use lastmile_link::LinkSpec;
use lastmile_page::ServedHost;
use lastmile_page::replay;
use lastmile_page::scripted_response::{PageScript, ScriptedResponse};
use lastmile_testbed::cpu_cost_model::Operation;
use lastmile_units::workers::Workers;
use lastmile_units::{BitRate, ByteCount};
use std::time::Duration;

/// Bandwidths searched, in bit/s: our own choice, from below any modem to above any access link.
const LOWEST: f64 = 10e3;
const HIGHEST: f64 = 10e9;

/// Bandwidths tried per factor of ten, before the crossing is bisected.
const TRIED_A_DECADE: u32 = 2;

/// The two ends of the published interval differ by no more than this factor.
const CLOSE_ENOUGH: f64 = 1.25;

/// Larger responses are not replayed: that takes long, and slow start hardly matters, so the formula is enough.
const REPLAYED_BYTES_MAX: ByteCount = ByteCount::new(2_000_000);

/// The break-even of one group on one link.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BreakEvenResult {
    pub(super) record: BreakEven,
    /// A response's time without and with the setting, at each bandwidth tried, in ascending order of these.
    pub(super) times: Vec<(f64, [f64; 2])>,
}

/// One response of a kind.
struct MedianResponse {
    plain: ByteCount,
    compressed: ByteCount,
    codec: CodecSpec,
    /// How its host is replayed.
    served: ServedHost,
    /// On the reference core.
    encoding: Duration,
    decoding: Duration,
}

/// Searches the break-even of every group's chosen setting on every link; none where that compresses nothing, or is as recorded.
pub(super) fn search_all(
    prepared: &PreparedReplay<'_>,
    links: &[&[ChosenSetting]],
    workers: &Workers<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Vec<Option<BreakEvenResult>>>, AdviseError> {
    let links_and_chosen = links.iter().enumerate();
    let jobs: Vec<(usize, usize, &ChosenSetting)> = links_and_chosen
        .flat_map(|(link, chosen)| {
            chosen
                .iter()
                .enumerate()
                .map(move |(group, chosen)| (link, group, chosen))
        })
        .collect();
    let mut on_done = Progress::counter(Phase::BreakEven, jobs.len(), progress);
    let one = |&(link, group, chosen): &(usize, usize, &ChosenSetting)| {
        let codec = chosen.codec()?;
        let mut candidates = prepared.candidates[group].iter();
        let candidate = candidates.find(|candidate| candidate.codec == codec)?;
        Some(search(prepared, link, &prepared.groups[group], candidate))
    };
    let mut found = workers.run(&jobs, one, &mut on_done)?.into_iter();
    Ok(links
        .iter()
        .map(|_| found.by_ref().take(prepared.groups.len()).collect())
        .collect())
}

fn search(prepared: &PreparedReplay<'_>, link: usize, group: &Group, candidate: &Candidate) -> BreakEvenResult {
    let typical = MedianResponse::new(prepared, group, candidate);
    let (by_formula_bit_per_second, formula) = typical.formula(prepared);
    let mut search = BreakEvenResult {
        record: BreakEven {
            by_formula_bit_per_second,
            formula,
            by_simulation: None,
        },
        times: Vec::new(),
    };
    if typical.plain <= REPLAYED_BYTES_MAX {
        let spec = &prepared.options.links[link].1;
        search.record.by_simulation = simulate(&mut search.times, |rate| typical.times(prepared, spec, rate));
        search.times.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    search
}

/// Bisects the highest bandwidth at which the second of two times is the shorter. None where there is none.
fn simulate(seen: &mut Vec<(f64, [f64; 2])>, times: impl Fn(f64) -> Option<[f64; 2]>) -> Option<BreakEvenSearch> {
    let mut pays = |rate: f64| {
        let found = times(rate)?;
        seen.push((rate, found));
        Some(found[1] < found[0])
    };
    let decades = libm::log10(HIGHEST / LOWEST).round() as u32;
    let rates: Vec<f64> = (0..=decades * TRIED_A_DECADE)
        .map(|step| LOWEST * libm::pow(10.0, f64::from(step) / f64::from(TRIED_A_DECADE)))
        .collect();
    let outcomes: Vec<bool> = rates.iter().map(|rate| pays(*rate)).collect::<Option<_>>()?;
    let last = outcomes.iter().rposition(|pays| *pays)?;
    let searched_bit_per_second = [LOWEST, HIGHEST];
    let Some(above) = rates.get(last + 1) else {
        return Some(BreakEvenSearch {
            searched_bit_per_second,
            between_bit_per_second: None,
        });
    };
    let (mut low, mut high) = (rates[last], *above);
    while high / low > CLOSE_ENOUGH {
        let middle = (low * high).sqrt();
        if pays(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(BreakEvenSearch {
        searched_bit_per_second,
        between_bit_per_second: Some([low, high]),
    })
}

impl MedianResponse {
    /// A response of the group's median size, with the compression ratio of the whole group.
    fn new(prepared: &PreparedReplay<'_>, group: &Group, candidate: &Candidate) -> Self {
        let mut sizes: Vec<(ByteCount, usize)> = group
            .items
            .iter()
            .map(|item| (prepared.page.items[*item].plain, *item))
            .collect();
        sizes.sort();
        let (plain, item) = sizes[sizes.len() / 2];
        let left = candidate.size.as_f64() / group.plain.as_f64();
        let encoding = if compressed_per_request(group.origin) {
            median_cost(prepared.costs, Operation::Encode(candidate.codec), plain)
        } else {
            Duration::ZERO
        };
        let decoding = median_cost(prepared.costs, Operation::Decode(candidate.codec), plain);
        let coded = ByteCount::new((plain.as_f64() * left).round() as u64);
        Self {
            plain,
            compressed: coded,
            codec: candidate.codec,
            served: prepared.served_host(item),
            encoding,
            decoding,
        }
    }

    /// The break-even by the formula that applies, if it is within the searched range, and the formula with its figures as text.
    fn formula(&self, prepared: &PreparedReplay<'_>) -> (Option<f64>, String) {
        let server = &prepared.options.load.server;
        let computing = self.encoding.as_secs_f64() * server.slow_down / (1.0 - server.load);
        let decoding = self.decoding.as_secs_f64() * prepared.options.load.slow_client;
        let size = 8.0 * self.plain.as_f64();
        let left = self.compressed.as_f64() / self.plain.as_f64().max(1.0);
        let pipelined = self.compressed.get() > lastmile_page::PIECE;
        let (saved, spent) = if pipelined {
            (size, computing.max(decoding))
        } else {
            (size * (1.0 - left), computing + decoding)
        };
        let found = (spent > 0.0).then(|| saved / spent).filter(|rate| *rate <= HIGHEST);
        (found, prose::formula(pipelined, self.plain, left, computing, decoding))
    }

    /// The times of a response at a bandwidth, without and with the setting; none where it never arrives.
    fn times(&self, prepared: &PreparedReplay<'_>, link: &LinkSpec, rate: f64) -> Option<[f64; 2]> {
        let link = at_rate(link, rate)?;
        let plain = isolated_response(self.plain);
        let compressed = ScriptedResponse {
            size: self.compressed,
            coding: self.codec.coding(),
            encoding: self.encoding,
            decoding: self.decoding,
            ..plain.clone()
        };
        let time = |response: ScriptedResponse| {
            let script = PageScript::from(vec![response]);
            let (handshakes, seed) = (replay::HandshakeCost::default(), prepared.options.root());
            let replayed = replay::run(&prepared.options.load, &link, &[self.served], script, handshakes, seed).ok()?;
            Some(replayed.requests[0].transfer_time().as_secs_f64())
        };
        Some([time(plain)?, time(compressed)?])
    }
}

/// The link with another bandwidth towards the client, the other direction in proportion, and without random impairments.
fn at_rate(link: &LinkSpec, rate: f64) -> Option<LinkSpec> {
    let ratio = match (link.down.rate_mean(), link.up.rate_mean()) {
        (Some(down), Some(up)) => up.bits_per_second() as f64 / down.bits_per_second() as f64,
        _ => 1.0,
    };
    let whole = |rate: f64| BitRate::new(rate.round().max(1.0) as u64);
    Some(
        link.clone()
            .without_impairments()
            .with_rates(whole(rate)?, whole(rate * ratio)?),
    )
}
