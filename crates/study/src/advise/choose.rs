//! Which setting should a kind of response have? The one that lets it arrive soonest, with regard to what it costs others.
//!
//! What counts is a response's time alone on the link (see `alone`), decoded on the slow client.
//!
//! **Static** responses are compressed once, before anyone asks, so that only transfer and decoding count.
//!
//! **Dynamic** ones are compressed on every request. That the client waits for it is in the transfer time already, but other requests
//! wait as well. On a processor-sharing CPU of load `rho` (M/M/1-PS; Kleinrock, *Queueing Systems*, volume 2, section 4.4) a
//! second of work delays all requests together by `1 / (1 - rho)^2` seconds, of which `1 / (1 - rho)` falls on itself: the rest,
//! `rho / (1 - rho)^2`, is counted against a setting for each second that it computes. At the default load of one half that is 2.
//!
//! Settings that differ by less than one per cent of the time (our own choice; a cost table's samples spread by more) are taken as
//! equal: among them the cheapest to compute wins, and for static responses the smallest.

use super::candidates::Candidate;
use super::figures::Runs;
use super::groups::Group;
use super::{Options, words};
use crate::statistics::mean;
use lastmile_payload::codec::CodecSpec;
use lastmile_payload::traffic::Origin;

/// A setting that was replayed on a group over a link.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    pub(super) candidate: Candidate,
    /// A response's mean time in seconds, alone on the link.
    pub(super) alone: f64,
    /// Transfer times in seconds, in replays of the page.
    pub(super) times: Runs,
}

/// A setting that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) codec: CodecSpec,
    /// In words made from the figures.
    pub(super) why: String,
}

/// Differences below this share of the time count as none.
const SAME_TIME: f64 = 0.01;

/// Static responses of sizes that differ by less than this share are taken for equally small.
const SAME_SIZE: f64 = 0.002;

impl Tried {
    /// Of a response in replays of the page, in seconds.
    fn time_mean(&self) -> f64 {
        mean(&self.times.concat()).unwrap_or_default()
    }

    /// Whether `self` is at least as good as `other` in mean transfer time, size and computing on either side, and better in one.
    pub(super) fn dominates(&self, other: &Self) -> bool {
        let key = |tried: &Self| {
            let Candidate {
                size, server, client, ..
            } = tried.candidate;
            [
                tried.time_mean(),
                size.as_f64(),
                server.as_secs_f64(),
                client.as_secs_f64(),
            ]
        };
        let (own, others) = (key(self), key(other));
        own.iter().zip(&others).all(|(a, b)| a <= b) && own != others
    }

    /// What a response costs its client and others in seconds of waiting.
    pub(super) fn burden(&self, group: &Group, options: &Options) -> f64 {
        let computing = self.candidate.server.as_secs_f64() / group.items.len() as f64;
        match group.origin {
            Origin::Static => self.alone,
            Origin::Dynamic => self.alone + waiting_of_others(options.server.load) * computing,
        }
    }
}

/// The seconds that other requests wait for each second of computing.
pub(super) fn waiting_of_others(load: f64) -> f64 {
    load / ((1.0 - load) * (1.0 - load))
}

/// Picks among what was tried on a group; there is identity at least.
pub(super) fn choose(tried: &[Tried], group: &Group, options: &Options) -> Chosen {
    let burdens: Vec<f64> = tried.iter().map(|tried| tried.burden(group, options)).collect();
    let best = (0..tried.len())
        .min_by(|a, b| burdens[*a].total_cmp(&burdens[*b]))
        .expect("identity is always tried");
    let equals: Vec<usize> = (0..tried.len())
        .filter(|place| burdens[*place] - burdens[best] <= SAME_TIME * tried[best].alone)
        .collect();
    let chosen = match group.origin {
        Origin::Static => {
            let least = equals
                .iter()
                .map(|place| tried[*place].candidate.size.as_f64())
                .fold(f64::INFINITY, f64::min);
            let small = equals
                .iter()
                .filter(|place| tried[**place].candidate.size.as_f64() <= least * (1.0 + SAME_SIZE));
            small.min_by_key(|place| (tried[**place].candidate.server, tried[**place].candidate.size))
        }
        Origin::Dynamic => equals
            .iter()
            .min_by_key(|place| (tried[**place].candidate.server, tried[**place].candidate.size)),
    };
    let chosen = *chosen.expect("the best equals itself");
    Chosen {
        codec: tried[chosen].candidate.codec,
        why: words::why(tried, chosen, best, group, options),
    }
}
