//! The highest rate of a server within a limit: by a search, and by a scan upwards.

use super::cores::{self, Core};
use super::runs::{plan, rate, run};
use anyhow::{Context as _, Result};
use lastmile_bench::spread::Spread;
use lastmile_link::{DirectionSpec, LinkSpec};
use lastmile_load::on_testbed::SimulatedServer;
use lastmile_load::plan::Plan;
use lastmile_load::rate::RequestRate;
use lastmile_load::request::Request;
use lastmile_load::schedule::Arrivals;
use lastmile_load::search::{LimitCheck, REST, SearchOptions, VOTES, highest_rate};
use lastmile_load::server_model::ServerModel;
use lastmile_load::slo::Limit;
use lastmile_units::Seed;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The limit of the questions below.
const LIMIT: &str = "p99<50ms,errors<0.1%";
/// The steps of the scan, and the resolution of the search.
const STEP: f64 = 0.02;

/// The beginning of each run that is not measured, as `lastmile load --slo` has it at runs of 10 s.
const WARM_UP: Duration = Duration::from_secs(1);

/// What is the highest rate of a server within the limit?
pub(crate) struct Question<'a> {
    pub(crate) name: &'a str,
    pub(crate) server: SocketAddr,
    /// What is asked of it.
    pub(crate) request: Request,
    /// That of a run.
    pub(crate) duration: Duration,
    pub(crate) shows_runs: bool,
}

impl Question<'_> {
    /// Searches and scans in turns, with other arrivals in each round. Returns the median of what the searches found.
    pub(crate) fn search_and_scan(&self, start: f64, rounds: u32) -> Result<Option<f64>> {
        println!(
            "{}, {LIMIT}: the highest rate by a search, and by a scan upwards:",
            self.name
        );
        let (mut found, mut ratios) = (Vec::new(), Vec::new());
        let mut start = start;
        for round in 0..rounds {
            let seed = Seed::new(1).derive_index(round.into());
            let began = std::time::Instant::now();
            let Some(searched) = self.search(start, seed)? else {
                println!("  even the lowest rate breaks the limit");
                continue;
            };
            let searching = began.elapsed();
            let scanned = self.scan(searched * 0.85, seed)?;
            println!(
                "  search {searched:.1}/s ({:.0} s), scan {scanned:.1}/s ({:.0} s): {:+.1} %",
                searching.as_secs_f64(),
                (began.elapsed() - searching).as_secs_f64(),
                (searched / scanned - 1.0) * 100.0
            );
            found.push(searched);
            ratios.push(searched / scanned);
            // The next round begins nearer, to save time.
            start = searched / 2.0;
        }
        if let (Some(rate), Some(ratio)) = (Spread::of(found.clone()), Spread::of(ratios)) {
            println!(
                "  search {:.1}/s ({:.1} to {:.1}), {:+.1} % of the scan ({:+.1} to {:+.1})",
                rate.median,
                rate.min,
                rate.max,
                (ratio.median - 1.0) * 100.0,
                (ratio.min - 1.0) * 100.0,
                (ratio.max - 1.0) * 100.0
            );
        }
        Ok(Spread::of(found).map(|spread| spread.median))
    }

    fn search(&self, start: f64, seed: Seed) -> Result<Option<f64>> {
        search(start, seed, &mut |rate, seed| self.judge(rate, seed))
    }

    /// The median of what as many searches find on a model of the server in virtual time, over a link without delay.
    pub(crate) fn search_in_simulation(&self, start: f64, rounds: u32, model: &ServerModel) -> Result<f64> {
        let server = SimulatedServer {
            link: LinkSpec::new("ideal", DirectionSpec::IDEAL, DirectionSpec::IDEAL)?,
            model: model.clone(),
        };
        let limit: Limit = LIMIT.parse()?;
        let mut judge = |rate: RequestRate, seed: Seed| -> Result<LimitCheck> {
            let plan = self.plan(rate);
            Ok(limit.judge(&server.run(&plan, seed, &Arc::default())?))
        };
        let mut found = Vec::new();
        for round in 0..rounds {
            found.extend(search(start, Seed::new(1).derive_index(round.into()), &mut judge)?);
        }
        let median = Spread::of(found).map(|spread| spread.median);
        median.context("even the lowest rate breaks the limit")
    }

    /// The highest rate such that it and all below were within the limit in most passes. A pass goes upwards from `start` in steps, until two in a
    /// row are not. The runs at one rate are far apart in time: what disturbs the machine for some seconds does not decide on a rate.
    fn scan(&self, start: f64, seed: Seed) -> Result<f64> {
        let votes = VOTES.get() as usize;
        let mut passes = Vec::new();
        for pass in 0..votes {
            let seed = seed.derive("scan").derive_index(pass as u64);
            let (mut within, mut step): (Vec<bool>, f64) = (Vec::new(), start);
            while !within.ends_with(&[false; 2]) {
                within.push(self.judge(rate(step)?, seed)?.is_ok());
                step *= 1.0 + STEP;
            }
            passes.push(within);
        }
        let is_within = |step: &usize| {
            let within = passes.iter().filter(|pass| pass.get(*step) == Some(&true));
            2 * within.count() > votes
        };
        let steps = (0..).take_while(is_within).count();
        Ok(start * (1.0 + STEP).powi(steps as i32 - 1))
    }

    fn plan(&self, rate: RequestRate) -> Plan {
        Plan {
            warm_up: WARM_UP,
            request: self.request.clone(),
            ..plan(Arrivals::Poisson(rate), self.duration, self.server)
        }
    }

    /// A run at a rate: is it within the limit?
    fn judge(&self, rate: RequestRate, seed: Seed) -> Result<LimitCheck> {
        let limit: Limit = LIMIT.parse()?;
        let plan = self.plan(rate);
        let sent = cores::on(Core::Generator, || run(self.server, &plan, NonZeroU32::MIN, seed));
        let measured = sent?.measurement;
        let judged = limit.judge(&measured);
        if self.shows_runs {
            let p99 = measured.response.quantile(0.99).unwrap_or_default();
            println!(
                "    {rate}: p99 {p99:?}, {} connections, {judged:?}",
                measured.connections
            );
        }
        if judged.is_err() {
            thread::sleep(REST);
        }
        Ok(judged)
    }
}

fn search(
    start: f64,
    seed: Seed,
    judge: &mut impl FnMut(RequestRate, Seed) -> Result<LimitCheck>,
) -> Result<Option<f64>> {
    let options = SearchOptions {
        start: rate(start)?,
        highest: rate(1e6)?,
        resolution: STEP,
        repeats: 1,
        votes: VOTES,
    };
    Ok(highest_rate(&options, seed, judge)?.median())
}
