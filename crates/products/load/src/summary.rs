//! Makes the published record of runs.

mod charts;
mod hdr_log;

use crate::distribution::Distribution;
use crate::measurement::{Ending, Measurement};
use crate::plan::{Demand, HttpVersion, Plan};
use crate::record::{Knee, LoadPlan, LoadRun, RateLimit, RunPurpose, SelfCheck, TimeDistribution};
use crate::schedule::Arrivals;
use crate::self_check::{GeneratorCost, check};
pub use charts::charts;
pub use hdr_log::hdr_log;
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_statistics::LoadPoint;
use lastmile_units::Seed;
use std::collections::BTreeMap;
use std::time::Duration;

/// The kinds of doubts that a load raises.
pub const DOUBTS: &[DoubtKind] = &[
    DoubtKind::LateSender,
    DoubtKind::RateNotHeld,
    DoubtKind::Interrupted,
    DoubtKind::InconsistentFigures,
    DoubtKind::Disturbed,
    DoubtKind::FewCompletions,
    DoubtKind::WideInterval,
];

/// The number of points of a drawn distribution, and the factor from point to point of what is left in its tail: our own choice.
const CUMULATIVE_POINTS: usize = 100;
const TAIL_FACTOR: f64 = 0.8;

/// What was asked of the server.
pub fn plan(plan: &Plan) -> LoadPlan {
    let (arrivals, requests, think_time, expected) = match &plan.demand {
        Demand::Open { arrivals, session } => (
            match arrivals {
                Arrivals::Constant(_) => "constant",
                Arrivals::Poisson(_) => "poisson",
                Arrivals::Ramp { .. } => "ramp",
                Arrivals::Recorded(_) => "recorded",
            },
            session.requests.get(),
            session.think_time,
            session.expected_response_time,
        ),
        Demand::Closed { think_time, .. } => ("closed", 1, *think_time, Duration::ZERO),
    };
    LoadPlan {
        arrivals: arrivals.to_owned(),
        duration_s: plan.duration.as_secs_f64(),
        warm_up_s: plan.warm_up.as_secs_f64(),
        clients: plan.clients.get().into(),
        connections_per_client: plan.connections_per_client.get().into(),
        http_version: match plan.http {
            HttpVersion::Http11 => "HTTP/1.1".to_owned(),
            HttpVersion::Http2 { .. } => "HTTP/2".to_owned(),
        },
        max_concurrent_streams: match plan.http {
            HttpVersion::Http11 => None,
            HttpVersion::Http2 { streams } => Some(streams.get().into()),
        },
        users: match plan.demand {
            Demand::Open { .. } => None,
            Demand::Closed { users, .. } => Some(users.get().into()),
        },
        requests_per_connection: plan.requests_per_connection.map(|requests| requests.get().into()),
        requests_per_session: requests.into(),
        think_time_s: think_time.as_secs_f64(),
        expected_response_time_s: expected.as_secs_f64(),
        timeout_s: plan.timeout.as_secs_f64(),
        connect_timeout_s: plan.connect_timeout.as_secs_f64(),
    }
}

/// A run in `world`. `cost` is the generator's; none where computing takes no time.
pub fn run(
    world: &str,
    plan: &Plan,
    seed: Seed,
    purpose: RunPurpose,
    measured: &Measurement,
    cost: Option<GeneratorCost>,
) -> LoadRun {
    let verdict = check(measured);
    let is_complete = measured.ending == Ending::Complete;
    let rate = match &plan.demand {
        Demand::Open { arrivals, session } => {
            Some(arrivals.mean_rate(plan.duration) * f64::from(session.requests.get()))
        }
        Demand::Closed { .. } => None,
    };
    let times = [
        ("response", &measured.response),
        ("service", &measured.service),
        ("lateness", &measured.lateness),
        ("local_queue", &measured.local_queue),
        ("connect", &measured.connect),
        ("tls", &measured.tls),
        ("first_byte", &measured.first_byte),
        ("transfer", &measured.transfer),
        ("connection_duration", &measured.connection_duration),
        ("round_trip", &measured.tcp.round_trip),
    ];
    let times = times
        .iter()
        .filter_map(|(name, times)| Some(((*name).to_owned(), time_distribution(times)?)));
    let errors = measured
        .errors
        .iter()
        .map(|(cause, count)| (cause.name().to_owned(), *count));
    let mut error_reasons: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for ((cause, reason), count) in &measured.reasons {
        let reasons = error_reasons.entry(cause.name().to_owned()).or_default();
        reasons.insert(reason.to_string(), *count);
    }
    LoadRun {
        world: world.to_owned(),
        rate,
        size: None,
        seed: seed.get(),
        purpose,
        valid: verdict.is_ok(),
        why_invalid: verdict.err().map(|why| why.to_string()),
        span_s: measured.span.as_secs_f64(),
        intended: measured.intended,
        sent: measured.sent,
        completed: measured.completed,
        failed: measured.failed(),
        errors: errors.filter(|(_, count)| *count > 0).collect(),
        error_reasons,
        retries: measured.retries,
        unfinished: measured.unfinished,
        skipped: measured.skipped,
        queued: measured.queued,
        offered_rate: measured.offered_rate(),
        transaction_rate: measured.transaction_rate(),
        goodput_bit_per_s: measured.goodput(),
        error_rate: measured.error_rate(),
        fairness: (measured.clients.len() > 1).then(|| measured.fairness()).flatten(),
        times: times.collect(),
        response_cumulative: cumulative(&measured.response),
        connections: measured.connections,
        connections_max: measured.connections_max,
        bytes_received: measured.bytes_received,
        retransmissions: (measured.tcp.connections > 0).then_some(measured.tcp.retransmissions),
        listen_drops: measured.listen_drops,
        link: measured.link,
        self_check: SelfCheck {
            sent_per_ms_max: measured.sends.sent_max().into(),
            due_per_ms_max: measured.sends.due_max().into(),
            cpu_s: cost.map(|cost| cost.cpu.as_secs_f64()),
            cpu_share: cost.map(|cost| cost.cpu_share()),
            cpu_per_request_s: cost
                .filter(|_| measured.sent > 0)
                .map(|cost| cost.cpu.as_secs_f64() / measured.sent as f64),
            threads: cost.map_or(1, |cost| cost.threads.into()),
            in_flight_mean: is_complete.then(|| measured.window.in_flight_mean()),
            in_flight_by_law: is_complete.then(|| measured.in_flight_by_law()),
            capture: None,
        },
    }
}

/// A distribution as it is published; none of no times.
fn time_distribution(times: &Distribution) -> Option<TimeDistribution> {
    let quantile = |probability| times.quantile(probability).map(|time| time.as_secs_f64());
    Some(TimeDistribution {
        n: times.count(),
        mean: times.mean()?.as_secs_f64(),
        population_sd: times.population_sd(),
        p50: quantile(0.5)?,
        p90: quantile(0.9)?,
        p95: quantile(0.95)?,
        p99: quantile(0.99)?,
        p99_9: quantile(0.999)?,
        max: times.max()?.as_secs_f64(),
    })
}

/// The cumulative distribution at equal steps of the share and, towards its end, at equal factors of what is left.
fn cumulative(times: &Distribution) -> Vec<[f64; 2]> {
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (time, share) in times.cumulative() {
        let last = points.last().map_or(0.0, |[_, share]| *share);
        let is_step = (share - last) * CUMULATIVE_POINTS as f64 >= 1.0;
        let is_factor = 1.0 - share <= (1.0 - last) * TAIL_FACTOR;
        if share == 1.0 || is_step || is_factor {
            points.push([time.as_secs_f64(), share]);
        }
    }
    points
}

/// The doubts about runs, one per kind and world.
pub fn doubts(runs: &[(&LoadRun, &Measurement)]) -> Vec<Doubt> {
    let mut doubts: BTreeMap<(&str, DoubtKind), (u64, String)> = BTreeMap::new();
    for (run, measured) in runs {
        let Some((kind, why)) = fault(run, measured) else {
            continue;
        };
        let (count, _) = doubts.entry((&run.world, kind)).or_insert_with(|| {
            let rate = run
                .rate
                .map_or_else(|| "in a closed loop".to_owned(), |rate| format!("at {rate}/s"));
            (0, format!("{rate}: {why}"))
        });
        *count += 1;
    }
    doubts
        .into_iter()
        .map(|((world, kind), (count, first))| {
            let others = if count > 1 {
                format!("; the same holds for {} more runs", count - 1)
            } else {
                String::new()
            };
            Doubt::new(kind, format!("{world}, {first}{others}"))
        })
        .collect()
}

/// Why the figures of a run do not count or are uncertain.
fn fault(run: &LoadRun, measured: &Measurement) -> Option<(DoubtKind, String)> {
    if let Some(why) = &run.why_invalid {
        // Where it has no fault of its own, the world's verdict stands.
        let kind = check(measured).map_or_else(|spoilt| spoilt.doubt_kind(), |()| DoubtKind::Disturbed);
        return Some((kind, why.clone()));
    }
    let text = || {
        format!(
            "{} of {} requests were completed while requests were sent, too few for a rate; a longer --duration gives more",
            measured.window.completed, measured.intended
        )
    };
    (run.has_few_completions() && !run.has_failed()).then(|| (DoubtKind::FewCompletions, text()))
}

/// A highest rate whose interval reaches further than this share of it on either side is called uncertain: our own choice.
const INTERVAL_SHARE: f64 = 0.05;

/// The doubts about highest rates that were found.
pub fn limit_doubts(limits: &[RateLimit]) -> Vec<Doubt> {
    let doubt = |limit: &RateLimit| {
        let rate = limit.rate?;
        let [low, high] = limit.ci95.unwrap_or([rate; 2]);
        let reach = ((high - low) / 2.0 / rate).max(0.0);
        let spread = if reach > INTERVAL_SHARE {
            format!("its 95 % interval reaches {:.0} % to either side", reach * 100.0)
        } else if limit.unsettled > 0 {
            format!(
                "in {} of {} repeats, runs at the same rate kept giving different results",
                limit.unsettled,
                limit.repeats.len()
            )
        } else {
            return None;
        };
        let remedy = "more --repeats, a longer --duration or a quieter machine narrow it";
        Some(Doubt::new(
            DoubtKind::WideInterval,
            format!(
                "{}: the highest rate within {} is uncertain: {spread}; {remedy}",
                limit.world, limit.limit
            ),
        ))
    };
    limits.iter().filter_map(doubt).collect()
}

/// The smallest share of requests that must be completed in time for a rate to count as carried: our own choice.
const CARRIED_SHARE: f64 = 0.98;

/// The knee of the curve that `runs` of one world make, by [`lastmile_statistics::knee`]. Repeats at a rate count by their means, and invalid runs
/// not at all.
pub fn knee(world: &str, runs: &[LoadRun]) -> Option<Knee> {
    let mut rates: Vec<(f64, Vec<&LoadRun>)> = Vec::new();
    for run in runs
        .iter()
        .filter(|run| run.world == world && run.purpose == RunPurpose::Measurement && run.valid)
    {
        let Some(rate) = run.rate else { continue };
        match rates.iter_mut().find(|(known, _)| *known == rate) {
            Some((_, repeats)) => repeats.push(run),
            None => rates.push((rate, vec![run])),
        }
    }
    rates.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let mean = |runs: &[&LoadRun], figure: fn(&LoadRun) -> Option<f64>| {
        let found: Vec<f64> = runs.iter().filter_map(|run| figure(run)).collect();
        lastmile_statistics::mean(&found)
    };
    let response = |runs: &[&LoadRun]| mean(runs, |run| Some(run.times.get("response")?.mean));
    let transactions = |runs: &[&LoadRun]| mean(runs, |run| Some(run.transaction_rate));
    let points: Vec<LoadPoint> = rates
        .iter()
        .map(|(_, runs)| LoadPoint {
            throughput: transactions(runs).unwrap_or(0.0),
            response_time: response(runs),
            error_rate: mean(runs, |run| run.error_rate).unwrap_or(0.0),
        })
        .collect();
    let (rate, at_knee) = &rates[lastmile_statistics::knee(&points)?];
    // What was due within the last response time cannot be completed yet.
    let unloaded = points[0].response_time.unwrap_or(0.0);
    let is_carried = |runs: &[&LoadRun]| {
        let due = mean(runs, |run| Some(run.offered_rate));
        let span = mean(runs, |run| Some(run.span_s));
        let [done, due, span] = [transactions(runs), due, span].map(|value| value.unwrap_or(0.0));
        done > 0.0 && done >= CARRIED_SHARE * due * (1.0 - unloaded / span)
    };
    let carried = rates.iter().take_while(|(_, runs)| is_carried(runs)).last();
    Some(Knee {
        world: world.to_owned(),
        rate: *rate,
        response_time_mean: response(at_knee)?,
        carried_rate_max: carried.map(|(rate, _)| *rate),
    })
}

/// Whether a run was stopped by the user.
pub fn is_interrupted(measured: &Measurement) -> bool {
    measured.ending == Ending::Interrupted
}

#[cfg(test)]
mod tests;
