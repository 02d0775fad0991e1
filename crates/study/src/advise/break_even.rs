//! Up to which bandwidth does compressing pay? By formula, and by replaying one response of the kind's median size at other bandwidths.
//!
//! With the symbols S, a response's size in octets; r, the share of it that is left; C, computing on the server, lengthened by its
//! load to C / (1 - rho); D, decoding on the client; B, the bandwidth in bit/s:
//!
//! - **Store and forward**: coding, carrying and decoding follow each other, T = RTT + C + 8 r S / B + D against RTT + 8 S / B
//!   without, so that B* = 8 S (1 - r) / (C + D). This is so for a body that fits into one piece of what the server codes at a time.
//! - **Pipelined**: each piece is sent and decoded while the next is coded, T = RTT + max(C, 8 r S / B, D), so that
//!   B* = 8 S / max(C, D). This is so for longer bodies, as far as they are longer.
//!
//! Neither knows slow start, which makes small responses pay at any bandwidth where they save a round trip; the replay does. It keeps the
//! link's delays and queues, scales both directions alike, and leaves out random losses, jitter and reordering, so that one run says it.

use super::candidates::{Candidate, codes_on_request, typical};
use super::choose::Chosen;
use super::groups::Group;
use super::measure::{FirstRound, calm};
use super::order::{Exchange, Order};
use super::parallel::Workers;
use super::{AdviseError, Phase, Progress, Study, replay, site, words};
use crate::cost::Operation;
use lastmile_link::LinkSpec;
use lastmile_payload::codec::CodecSpec;
use lastmile_report::advise::{BreakEven, BreakEvenSearch};
use lastmile_units::{BitRate, Bytes};
use std::rc::Rc;
use std::time::Duration;

/// Bandwidths searched, in bit/s: our own choice, from below any modem to above any access link.
const LOWEST: f64 = 10e3;
const HIGHEST: f64 = 10e9;

/// Bandwidths tried a factor of ten, before the crossing is closed in on.
const TRIED_A_DECADE: u32 = 2;

/// The two ends of what is published differ by no more than this factor.
const CLOSE_ENOUGH: f64 = 1.25;

/// Larger responses are not replayed: they take long, and have no slow start to speak of, so that the formula says it.
const LARGEST: Bytes = Bytes::new(2_000_000);

/// The break-even of one group on one link.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Search {
    pub(super) record: BreakEven,
    /// A response's time without and with the setting, at each bandwidth tried, in ascending order of these.
    pub(super) times: Vec<(f64, [f64; 2])>,
}

/// One response of a kind.
struct Typical {
    plain: Bytes,
    coded: Bytes,
    codec: CodecSpec,
    /// On the reference core.
    encoding: Duration,
    decoding: Duration,
}

/// The break-even of every group's chosen setting on every link; none where that is identity.
pub(super) fn search_all(
    study: &Study<'_>,
    links: &[FirstRound],
    workers: &Workers<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Vec<Option<Search>>>, AdviseError> {
    let of_link = |link: usize| {
        links[link]
            .2
            .iter()
            .enumerate()
            .map(move |(group, chosen)| (link, group, chosen))
    };
    let jobs: Vec<(usize, usize, &Chosen)> = (0..links.len()).flat_map(of_link).collect();
    let mut on_done = |done| {
        progress(Progress {
            phase: Phase::BreakEven,
            done,
            total: jobs.len(),
        });
    };
    let one = |&(link, group, chosen): &(usize, usize, &Chosen)| {
        let candidate = study.candidates[group]
            .iter()
            .find(|candidate| candidate.codec == chosen.codec)?;
        (!chosen.codec.is_identity()).then(|| search(study, link, &study.groups[group], candidate))
    };
    let mut found = workers.run(&jobs, one, &mut on_done)?.into_iter();
    Ok(links
        .iter()
        .map(|_| found.by_ref().take(study.groups.len()).collect())
        .collect())
}

fn search(study: &Study<'_>, link: usize, group: &Group, candidate: &Candidate) -> Search {
    let typical = Typical::of(study, group, candidate);
    let (by_formula_bit_per_second, formula) = typical.formula(study);
    let mut search = Search {
        record: BreakEven {
            by_formula_bit_per_second,
            formula,
            by_simulation: None,
        },
        times: Vec::new(),
    };
    if typical.plain <= LARGEST {
        let spec = &study.options.links[link].1;
        search.record.by_simulation = simulate(&mut search.times, |rate| typical.times(study, spec, rate));
        search.times.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    search
}

/// Looks for the highest bandwidth at which the second of two times is the shorter, and closes in on it. None where there is none.
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

impl Typical {
    /// Of the group's median size, with the share that is left of all of them together.
    fn of(study: &Study<'_>, group: &Group, candidate: &Candidate) -> Self {
        let mut sizes: Vec<Bytes> = group.items.iter().map(|item| study.page.items[*item].plain).collect();
        sizes.sort();
        let plain = sizes[sizes.len() / 2];
        let left = candidate.size.as_f64() / group.plain.as_f64();
        let encoding = if codes_on_request(group.origin) {
            typical(study.costs, Operation::Encode(candidate.codec), plain)
        } else {
            Duration::ZERO
        };
        let decoding = typical(study.costs, Operation::Decode(candidate.codec), plain);
        let coded = Bytes::new((plain.as_f64() * left).round() as u64);
        Self {
            plain,
            coded,
            codec: candidate.codec,
            encoding,
            decoding,
        }
    }

    /// The break-even by the formula that applies, if it is within what is searched; and the formula in words, with its figures.
    fn formula(&self, study: &Study<'_>) -> (Option<f64>, String) {
        let server = &study.options.server;
        let computing = self.encoding.as_secs_f64() * server.slow_down / (1.0 - server.load);
        let decoding = self.decoding.as_secs_f64() * study.options.slow_client;
        let size = 8.0 * self.plain.as_f64();
        let left = self.coded.as_f64() / self.plain.as_f64().max(1.0);
        let pipelined = self.plain.get() > site::PIECE;
        let (saved, spent) = if pipelined {
            (size, computing.max(decoding))
        } else {
            (size * (1.0 - left), computing + decoding)
        };
        let found = (spent > 0.0).then(|| saved / spent).filter(|rate| *rate <= HIGHEST);
        (found, words::formula(pipelined, self.plain, left, computing, decoding))
    }

    /// How long a response takes at a bandwidth, without and with the setting; none where it never comes.
    fn times(&self, study: &Study<'_>, link: &LinkSpec, rate: f64) -> Option<[f64; 2]> {
        let link = at_rate(link, rate)?;
        let order = |coded: bool| Order {
            host: 0,
            gap: Duration::ZERO,
            think: Duration::ZERO,
            request_head: super::page::REQUEST_HEAD,
            response_head: super::page::RESPONSE_HEAD,
            size: if coded { self.coded } else { self.plain },
            plain: self.plain,
            coding: if coded {
                self.codec.coding()
            } else {
                CodecSpec::IDENTITY.coding()
            },
            encoding: if coded { self.encoding } else { Duration::ZERO },
            decoding: if coded { self.decoding } else { Duration::ZERO },
            exchange: Exchange::FREE,
            dependents: Vec::new(),
        };
        let time = |coded| {
            let orders: Rc<[Order]> = Rc::new([order(coded)]);
            let (handshakes, seed) = (replay::Handshakes::default(), study.options.root());
            let replayed = replay::run(study.options, &link, 1, orders, handshakes, seed).ok()?;
            Some(replayed.transfer_times[0].as_secs_f64())
        };
        Some([time(false)?, time(true)?])
    }
}

/// The link with another bandwidth towards the client, the other direction in proportion, and without chance.
fn at_rate(link: &LinkSpec, rate: f64) -> Option<LinkSpec> {
    let ratio = match (link.down.rate_mean(), link.up.rate_mean()) {
        (Some(down), Some(up)) => up.bits_per_second() as f64 / down.bits_per_second() as f64,
        _ => 1.0,
    };
    let whole = |rate: f64| BitRate::new(rate.round().max(1.0) as u64);
    Some(calm(link).with_rates(whole(rate)?, whole(rate * ratio)?))
}
