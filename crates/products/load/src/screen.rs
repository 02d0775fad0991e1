//! The answer of a load on one screen.

use crate::document::{answers, world_label};
use crate::record::{Knee, Load, LoadRun, RateLimit, RunPurpose};
use lastmile_report::number::{counted, percent, quantity};
use lastmile_report::screen::{Bar, BarGroup, Screen, Tile};

/// The most rates that are shown; of more, each of these is the nearest to an even step.
const RATES_MAX: usize = 10;

pub(crate) fn screen(load: &Load) -> Screen {
    let over = load
        .link
        .as_ref()
        .map_or_else(String::new, |link| format!(" over {link}"));
    let model = load
        .model
        .as_ref()
        .map_or_else(String::new, |model| format!(" Simulated: {model}."));
    let plan = &load.plan;
    let mut worlds: Vec<&str> = load.runs.iter().map(|run| run.world.as_str()).collect();
    worlds.dedup();
    Screen {
        question: format!(
            "{}{over}: {} arrivals for {} a run, {}.{model} Bars: p99 of the response time.",
            load.target,
            plan.arrivals,
            quantity(plan.duration_s, "s"),
            counted(plan.clients, "client"),
        ),
        bars: worlds
            .iter()
            .map(|world| curve(load, world))
            .filter(|group| !group.bars.is_empty())
            .collect(),
        tiles: tiles(load),
        doubts: Screen::doubt_texts(&load.doubts),
        answer: answers(load).join(" "),
        ..Screen::default()
    }
}

/// The highest rates within each limit, or else the knees, or else what the only run measured.
fn tiles(load: &Load) -> Vec<Tile> {
    let limit = |limit: &RateLimit| {
        let least = if limit.is_lower_bound { "at least " } else { "" };
        let found = limit.rate.map(|rate| format!("{least}{}", quantity(rate, "1/s")));
        let rate = found.unwrap_or_else(|| "none".to_owned());
        let detail = format!("the highest rate within {}", limit.limit);
        Tile::new(world_label(&limit.world), rate, detail)
    };
    let knee = |knee: &Knee| {
        let time = quantity(knee.response_time_mean, "s");
        let detail = format!("the rate of the knee, with a mean response time of {time}");
        Tile::new(world_label(&knee.world), quantity(knee.rate, "1/s"), detail)
    };
    let tiles: Vec<Tile> = load
        .limits
        .iter()
        .map(limit)
        .chain(load.knees.iter().map(knee))
        .collect();
    match &load.runs[..] {
        [run] if tiles.is_empty() => {
            let time = |(name, time): (&str, f64)| {
                let detail = format!("{name} of the response time at {}", quantity(run.offered_rate, "1/s"));
                Tile::new(world_label(&run.world), quantity(time, "s"), detail)
            };
            let times = run.times.get("response").filter(|_| run.valid);
            let times = times.map(|times| [("median", times.p50), ("p99", times.p99)]);
            times.into_iter().flatten().map(time).collect()
        }
        _ => tiles,
    }
}

/// The tail of the response time at each rate: of the runs that measure, or else of those of the search.
fn curve(load: &Load, world: &str) -> BarGroup {
    let of = |purpose| {
        let runs = load
            .runs
            .iter()
            .filter(move |run| run.world == world && run.purpose == purpose);
        let mut runs: Vec<&LoadRun> = runs.collect();
        runs.sort_by(|one, other| one.offered_rate.total_cmp(&other.offered_rate));
        runs.dedup_by(|later, first| later.rate == first.rate);
        runs
    };
    let mut runs = of(RunPurpose::Measurement);
    if runs.is_empty() {
        runs = of(RunPurpose::Search);
    }
    let step = runs.len().div_ceil(RATES_MAX).max(1);
    let shown = runs
        .iter()
        .enumerate()
        .filter(|(at, _)| (runs.len() - 1 - at) % step == 0);
    let bar = |(_, run): (usize, &&LoadRun)| {
        let p99 = run.times.get("response").map(|times| times.p99);
        Bar {
            label: quantity(run.rate.unwrap_or(run.offered_rate), "1/s"),
            length: p99.unwrap_or(0.0),
            figure: p99.map_or_else(|| "no response".to_owned(), |p99| quantity(p99, "s")),
            change: match run.error_rate {
                _ if !run.valid => "invalid".to_owned(),
                Some(share) if share > 0.0 => format!("{} failed", percent(share)),
                _ => String::new(),
            },
            interval: String::new(),
        }
    };
    BarGroup {
        name: if world == "sim" { "simulated" } else { "measured" }.to_owned(),
        detail: String::new(),
        bars: shown.map(bar).collect(),
    }
}
