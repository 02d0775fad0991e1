//! The charts of a load: response time and transaction rate against rate, and the distribution of response times.

use lastmile_report::load::{Knee, LoadRun, RunPurpose, TimeDistribution};
use lastmile_report::record::{Axis, Chart, Point, Scale, Series, Source};

/// The charts of `runs`, with the knees marked.
pub fn charts(runs: &[LoadRun], knees: &[Knee]) -> Vec<Chart> {
    let runs: Vec<&LoadRun> = runs
        .iter()
        .filter(|run| run.purpose == RunPurpose::Measurement)
        .collect();
    let mut worlds: Vec<&str> = runs.iter().map(|run| run.world.as_str()).collect();
    worlds.dedup();
    let mut charts = Vec::new();
    let rates = runs.iter().filter_map(|run| run.rate);
    let is_curve = rates.clone().any(|rate| Some(rate) != rates.clone().next());
    if is_curve {
        charts.push(against_rate(
            "Response time against rate",
            "Response times are from when each request should have started.",
            ("response time", "s", Scale::Log),
            worlds
                .iter()
                .flat_map(|world| response_series(world, &runs, knees))
                .collect(),
        ));
        charts.push(against_rate(
            "Completed requests against rate",
            "Up to the knee, as many requests are completed as are due.",
            ("completed requests", "1/s", Scale::Linear),
            worlds.iter().map(|world| transaction_series(world, &runs)).collect(),
        ));
    }
    charts.extend(against_size(&runs, &worlds));
    charts.extend(distributions(&runs));
    charts
}

fn against_rate(title: &str, note: &str, (label, unit, scale): (&str, &str, Scale), series: Vec<Series>) -> Chart {
    let axis = |label: &str, unit: &str, scale| Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale,
    };
    Chart {
        title: title.to_owned(),
        note: note.to_owned(),
        x: axis("requests due", "1/s", Scale::Linear),
        y: axis(label, unit, scale),
        series,
    }
}

fn series(name: String, mut points: Vec<Point>) -> Series {
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    Series {
        name,
        source: Source::Measured,
        joined: true,
        points,
    }
}

fn point(x: f64, y: f64) -> Point {
    Point {
        x,
        y,
        spread: None,
        label: None,
    }
}

/// A statistic of times, by its name.
type NamedStatistic = (&'static str, fn(&TimeDistribution) -> f64);

fn response_series(world: &str, runs: &[&LoadRun], knees: &[Knee]) -> Vec<Series> {
    let statistics: [NamedStatistic; 2] = [("p50", |times| times.p50), ("p99", |times| times.p99)];
    let of_world = || runs.iter().filter(|run| run.world == world);
    let curve = |(name, statistic): NamedStatistic| {
        let points = of_world().filter_map(|run| Some(point(run.rate?, statistic(run.times.get("response")?))));
        series(
            format!("{name}, {world}"),
            points.filter(|point| point.y > 0.0).collect(),
        )
    };
    let mut all: Vec<Series> = statistics.map(curve).into();
    if let (Some(knee), Some(median)) = (knees.iter().find(|knee| knee.world == world), all.first_mut())
        && let Some(point) = median.points.iter_mut().find(|point| point.x == knee.rate)
    {
        point.label = Some("knee".to_owned());
    }
    all
}

fn transaction_series(world: &str, runs: &[&LoadRun]) -> Series {
    let points = runs.iter().filter(|run| run.world == world);
    let points = points.filter_map(|run| Some(point(run.rate?, run.transaction_rate)));
    series(world.to_owned(), points.collect())
}

/// Response time and how long connections last, where sizes were varied.
fn against_size(runs: &[&LoadRun], worlds: &[&str]) -> Option<Chart> {
    let sized: Vec<&&LoadRun> = runs
        .iter()
        .filter(|run| run.size.is_some_and(|size| size > 0))
        .collect();
    if sized.len() < 2 {
        return None;
    }
    let figures = [
        ("response", "response time"),
        ("connection_duration", "connection duration"),
    ];
    let curve = |world: &str, (name, label): (&str, &str)| {
        let points = sized.iter().filter(|run| run.world == world);
        let points = points.filter_map(|run| {
            let times = run.times.get(name)?;
            Some(Point {
                spread: Some([times.p50, times.p99]),
                ..point(run.size? as f64, times.mean)
            })
        });
        series(
            format!("{label}, {world}"),
            points.filter(|point| point.y > 0.0).collect(),
        )
    };
    let series = worlds
        .iter()
        .flat_map(|world| figures.map(|figure| curve(world, figure)));
    let axis = |label: &str, unit: &str| Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale: Scale::Log,
    };
    Some(Chart {
        title: "Time against transfer size".to_owned(),
        note: "Means, with the range from the median to the 99th percentile.".to_owned(),
        x: axis("response body", "B"),
        y: axis("time", "s"),
        series: series.filter(|series| !series.points.is_empty()).collect(),
    })
}

/// No more distributions than this are drawn in one chart. Our own choice.
const DISTRIBUTIONS_MAX: usize = 6;

fn distributions(runs: &[&LoadRun]) -> Option<Chart> {
    let drawn: Vec<&&LoadRun> = runs.iter().filter(|run| run.response_cumulative.len() > 1).collect();
    let step = drawn.len().div_ceil(DISTRIBUTIONS_MAX).max(1);
    let series: Vec<Series> = drawn
        .into_iter()
        .step_by(step)
        .map(|run| {
            let points = run.response_cumulative.iter().filter(|[time, _]| *time > 0.0);
            let size = run.size.map_or_else(String::new, |size| format!("{size} B at "));
            let name = match run.rate {
                Some(rate) => format!("{size}{rate}/s, {}", run.world),
                None => format!("{size}closed loop, {}", run.world),
            };
            series(name, points.map(|[time, share]| point(*time, *share)).collect())
        })
        .collect();
    (!series.is_empty()).then(|| Chart {
        title: "Distribution of response times".to_owned(),
        note: "The share of completed requests whose response time is at most the one on the axis.".to_owned(),
        x: Axis {
            label: "response time".to_owned(),
            unit: "s".to_owned(),
            scale: Scale::Log,
        },
        y: Axis {
            label: "completed requests".to_owned(),
            unit: "1".to_owned(),
            scale: Scale::Linear,
        },
        series,
    })
}
