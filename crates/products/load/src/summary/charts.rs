//! The charts of a load: completed requests, response time, failures and fairness against rate, and the distribution of response times.

use crate::record::{Knee, LoadRun, RateLimit, RunPurpose};
use crate::slo;
use lastmile_report::number::quantity;
use lastmile_report::record::{Axis, Chart, Limit, LimitAxis, Mark, Point, Scale, Series, Source};
use lastmile_statistics::mean;
use std::collections::BTreeMap;

/// The charts of `runs`, with the knees and the limits marked. A search for the highest rate within a limit is a curve, too.
pub fn charts(runs: &[LoadRun], knees: &[Knee], limits: &[RateLimit]) -> Vec<Chart> {
    let runs: Vec<&LoadRun> = runs
        .iter()
        .filter(|run| run.purpose == RunPurpose::Measurement || !limits.is_empty())
        .collect();
    let mut worlds: Vec<&str> = runs.iter().map(|run| run.world.as_str()).collect();
    worlds.dedup();
    let mut charts = Vec::new();
    let rates = runs.iter().filter_map(|run| run.rate);
    let is_curve = rates.clone().any(|rate| Some(rate) != rates.clone().next());
    if is_curve {
        charts.extend(curves(&runs, &worlds, knees, limits));
    }
    charts.extend(against_size(&runs, &worlds));
    charts.extend(distributions(&runs));
    charts
}

/// A figure of a run.
type RunFigure = fn(&LoadRun) -> Option<f64>;

/// What was measured at each rate: transactions, response times, failures and fairness.
fn curves(runs: &[&LoadRun], worlds: &[&str], knees: &[Knee], limits: &[RateLimit]) -> Vec<Chart> {
    let response: [(&str, RunFigure); 3] = [
        ("mean", |run| Some(run.times.get("response")?.mean)),
        ("p50", |run| Some(run.times.get("response")?.p50)),
        ("p99", |run| Some(run.times.get("response")?.p99)),
    ];
    let each = |name: &str, figure: RunFigure| -> Vec<Series> {
        let name = |world: &str| {
            if name.is_empty() {
                world.to_owned()
            } else {
                format!("{name}, {world}")
            }
        };
        worlds
            .iter()
            .map(|world| curve(name(world), world, runs, figure))
            .collect()
    };
    let mut charts = vec![
        against_rate(
            "Completed requests against rate",
            "The dotted line is what a server completes that keeps up. Bars are the range of repeats.",
            ("completed requests", "1/s", Scale::Linear),
            [each("", |run| Some(run.transaction_rate)), vec![due(runs)]].concat(),
        ),
        against_rate(
            "Response time against rate",
            "Response times are from when each request should have started. Bars are the range of repeats.",
            ("response time", "s", Scale::Log),
            response.iter().flat_map(|(name, figure)| each(name, *figure)).collect(),
        ),
    ];
    for (chart, is_time) in charts.iter_mut().zip([false, true]) {
        chart.marks = knees.iter().filter_map(|knee| knee_mark(knee, runs, is_time)).collect();
    }
    if runs.iter().any(|run| run.failed > 0) {
        let mut failed = against_rate(
            "Failed requests against rate",
            "",
            ("failed requests, of those that ended", "1", Scale::Linear),
            each("", |run| run.error_rate),
        );
        failed.limits = bounds(limits, false);
        charts[1].below = Some(Box::new(failed));
    }
    charts[1].limits = bounds(limits, true);
    if runs.iter().any(|run| run.fairness.is_some()) {
        charts.push(against_rate(
            "Fairness among clients against rate",
            "Jain's index of the clients' completed requests: 100 % where all have equally many.",
            ("fairness", "1", Scale::Linear),
            each("", |run| run.fairness),
        ));
    }
    charts.retain(|chart| chart.series.iter().any(|series| !series.points.is_empty()));
    charts
}

/// The bounds on response times or on failures, each once, and the highest rates within them.
fn bounds(limits: &[RateLimit], is_time: bool) -> Vec<Limit> {
    let mut bounds = Vec::new();
    for limit in limits {
        let rules = limit.limit.parse::<slo::Limit>();
        let rules = rules.iter().flat_map(|rules| rules.bounds().collect::<Vec<_>>());
        bounds.extend(rules.filter(|rule| rule.is_time == is_time).map(|rule| Limit {
            axis: LimitAxis::Y,
            most: rule.most,
            label: rule.text,
        }));
        let highest = limit.rate.filter(|_| is_time).map(|rate| Limit {
            axis: LimitAxis::X,
            most: rate,
            label: format!("highest rate, {}: {}", limit.world, quantity(rate, "1/s")),
        });
        bounds.extend(highest);
    }
    let mut seen: Vec<Limit> = Vec::new();
    for bound in bounds {
        if !seen.contains(&bound) {
            seen.push(bound);
        }
    }
    seen
}

/// The mark of a knee, on the curve of mean response times or on that of completed requests.
fn knee_mark(knee: &Knee, runs: &[&LoadRun], is_time: bool) -> Option<Mark> {
    let completed: RunFigure = |run| Some(run.transaction_rate);
    let at_knee: Vec<&LoadRun> = runs.iter().copied().filter(|run| run.rate == Some(knee.rate)).collect();
    let (y, unit) = if is_time {
        (knee.response_time_mean, "s")
    } else {
        (
            curve(String::new(), &knee.world, &at_knee, completed).points.first()?.y,
            "1/s",
        )
    };
    Some(Mark {
        x: knee.rate,
        y,
        label: format!(
            "knee, {}: {} at {}",
            knee.world,
            quantity(y, unit),
            quantity(knee.rate, "1/s")
        ),
    })
}

/// The line on which as many requests are completed as are due.
fn due(runs: &[&LoadRun]) -> Series {
    let rates = || runs.iter().filter_map(|run| run.rate);
    let ends = [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)];
    Series {
        source: Source::Predicted,
        ..series("all that are due".to_owned(), ends.map(|rate| point(rate, rate)).into())
    }
}

/// A figure at each rate: the mean over the repeats in a world, with their range.
fn curve(name: String, world: &str, runs: &[&LoadRun], figure: RunFigure) -> Series {
    let mut rates: BTreeMap<u64, (f64, Vec<f64>)> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.world == world) {
        let (Some(rate), Some(value)) = (run.rate, figure(run)) else {
            continue;
        };
        rates
            .entry(rate.to_bits())
            .or_insert_with(|| (rate, Vec::new()))
            .1
            .push(value);
    }
    let points = rates.into_values().filter_map(|(rate, values)| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Point {
            spread: (low < high).then_some([low, high]),
            ..point(rate, mean(&values)?)
        })
    });
    series(name, points.collect())
}

fn against_rate(title: &str, note: &str, (label, unit, scale): (&str, &str, Scale), mut series: Vec<Series>) -> Chart {
    let axis = |label: &str, unit: &str, scale| Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale,
    };
    if scale == Scale::Log {
        series
            .iter_mut()
            .for_each(|series| series.points.retain(|point| point.y > 0.0));
    }
    Chart {
        title: title.to_owned(),
        note: note.to_owned(),
        x: axis("requests due", "1/s", Scale::Linear),
        y: axis(label, unit, scale),
        series,
        ..Chart::default()
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
        ..Chart::default()
    })
}

/// No more distributions than this are drawn in one chart. Our own choice.
const DISTRIBUTIONS_MAX: usize = 6;

/// The distributions of response times: of one run per rate, size and world.
fn distributions(runs: &[&LoadRun]) -> Vec<Chart> {
    let mut drawn: Vec<(String, &LoadRun)> = Vec::new();
    for run in runs.iter().filter(|run| run.response_cumulative.len() > 1) {
        let size = run
            .size
            .map_or_else(String::new, |size| format!("{} at ", quantity(size as f64, "B")));
        let name = match run.rate {
            Some(rate) => format!("{size}{}, {}", quantity(rate, "1/s"), run.world),
            None => format!("{size}closed loop, {}", run.world),
        };
        if !drawn.iter().any(|(known, _)| *known == name) {
            drawn.push((name, run));
        }
    }
    drawn.sort_by(|(_, one), (_, other)| one.rate.unwrap_or(0.0).total_cmp(&other.rate.unwrap_or(0.0)));
    let step = drawn.len().div_ceil(DISTRIBUTIONS_MAX).max(1);
    let drawn: Vec<(String, &LoadRun)> = drawn.into_iter().step_by(step).collect();
    if drawn.is_empty() {
        return Vec::new();
    }
    let has_repeats = runs.len() > drawn.len()
        && runs
            .iter()
            .any(|run| run.rate != runs[0].rate || run.size != runs[0].size);
    let of_one = if has_repeats {
        " Of one run at each rate that is drawn."
    } else {
        ""
    };
    let chart = |title: &str, note: &str, label: &str, scale: Scale, share: fn(f64) -> f64| {
        let of_run = |(name, run): &(String, &LoadRun)| {
            let points = run
                .response_cumulative
                .iter()
                .map(|[time, at_most]| point(*time, share(*at_most)));
            series(
                name.clone(),
                points
                    .filter(|point| point.x > 0.0 && (scale == Scale::Linear || point.y > 0.0))
                    .collect(),
            )
        };
        Chart {
            title: title.to_owned(),
            note: format!("{note}{of_one}"),
            x: Axis {
                label: "response time".to_owned(),
                unit: "s".to_owned(),
                scale: Scale::Log,
            },
            y: Axis {
                label: label.to_owned(),
                unit: "1".to_owned(),
                scale: scale.clone(),
            },
            series: drawn
                .iter()
                .map(of_run)
                .filter(|series| !series.points.is_empty())
                .collect(),
            ..Chart::default()
        }
    };
    vec![
        chart(
            "Distribution of response times",
            "The share of completed requests whose response time is at most the one on the axis.",
            "completed requests",
            Scale::Linear,
            |at_most| at_most,
        ),
        chart(
            "Tail of response times",
            "The share of completed requests whose response time is longer than the one on the axis.",
            "slower requests",
            Scale::Log,
            |at_most| 1.0 - at_most,
        ),
    ]
}
