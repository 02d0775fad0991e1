use super::*;
use crate::cell::expand;
use crate::figure;
use crate::journal::Outcomes;
use lastmile_report::record::{Doubt, DoubtKind, Levels, Published, Scale, Source};

const STUDY: &str = r#"
name = "test"
question = "What does it buy?"
repeats = 5

[factors]
codec = ["identity", "gzip:6"]
link = ["wpt/3g", "wpt/cable"]

[[ratio]]
name = "etdr"
title = "Decrease of the time"
figure = "transfer_time"
form = "decrease"
factor = "codec"
base = "identity"
treated = "gzip:6"
published = [{ link = "wpt/3g", value = 0.43 }, { link = "wpt/cable", value = [0.2, 0.4] }]

[[ratio]]
name = "times"
title = "Times as many bytes"
figure = "response_bytes"
form = "quotient"
factor = "codec"
base = "identity"
treated = "gzip:6"
levels = []

[[chart]]
title = "Time by link"
x = { factor = "link" }
y = { figure = "transfer_time" }
series = ["codec"]
joined = true
published = [{ name = "printed", points = [{ x = "wpt/cable", y = 1.5 }] }]

[[chart]]
title = "Decrease by size"
x = { figure = "response_bytes", scale = "log" }
y = { ratios = ["etdr"] }
label = "link"

[thresholds]
"max(transfer_time)" = "< 8 s"
"#;

const RUN: &str = "runs/test-1";

fn meta(study: &Study) -> Meta {
    Meta::new(study, &lastmile_testbed::cpu_cost_model::CostTable::free(), "0")
}

fn study(toml: &str) -> Study {
    Study::parse("test.toml", toml).unwrap()
}

/// Five repeats per cell: over wpt/3g `identity` takes 2, 4, 6, 8, 10 s and 1000 B, gzip half of both; over wpt/cable a tenth of it.
fn outcomes(study: &Study) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for cell in expand(study).unwrap().cells {
        let half = if cell.levels["codec"] == "gzip:6" { 0.5 } else { 1.0 };
        let scale = if cell.levels["link"] == "wpt/cable" { 0.1 } else { 1.0 };
        for repeat in 0..5 {
            let mut seen = Observation::default();
            seen.sample(figure::TRANSFER_TIME, 2.0 * (repeat + 1) as f64 * half * scale);
            seen.sample(figure::RESPONSE_BYTES, 1000.0 * half);
            seen.vary("content");
            outcomes.entry(cell.key()).or_default().insert(repeat, Ok(seen));
        }
    }
    outcomes
}

fn run(toml: &str) -> Run {
    let study = study(toml);
    summarise(&expand(&study).unwrap(), &outcomes(&study), &meta(&study), RUN)
}

#[test]
fn a_figure_is_summed_up_over_its_repeats() {
    let run = run(STUDY);
    assert_eq!(run.cells.len(), 4);
    let time = &run.cells[0].figures["transfer_time"];
    assert_eq!(
        (time.unit.as_str(), time.per.as_str(), time.n, time.mean),
        ("s", "run", 5, 6.0)
    );
    assert_eq!((time.population_sd, time.sd), (8.0_f64.sqrt(), Some(10.0_f64.sqrt())));
    assert_eq!((time.quantiles["0.5"], time.quantiles["0.95"]), (6.0, 9.6));
    assert_eq!(time.first_against_rest, Some([2.0, 7.0]));
    assert_eq!(time.varied, ["content"]);
    // 6 -+ 2.776 * sqrt(10 / 5)
    let half = 2.776 * 2.0_f64.sqrt();
    let [low, high] = time.ci95.unwrap();
    assert!((low - (6.0 - half)).abs() < 1e-12 && (high - (6.0 + half)).abs() < 1e-12);
    assert!(run.cells[0].valid && run.cells[0].doubts.is_empty());
}

#[test]
fn a_figure_that_did_not_vary_has_no_interval_and_no_source_of_variation() {
    let size = &run(STUDY).cells[0].figures["response_bytes"];
    assert_eq!((size.population_sd, size.ci95, size.varied.len()), (0.0, None, 0));
}

#[test]
fn a_spread_that_no_chance_made_has_no_interval() {
    let study = study(STUDY);
    let mut outcomes = outcomes(&study);
    for outcome in outcomes.values_mut().flat_map(|repeats| repeats.values_mut()) {
        outcome.as_mut().unwrap().varied.clear();
    }
    let run = summarise(&expand(&study).unwrap(), &outcomes, &meta(&study), RUN);
    let time = &run.cells[0].figures["transfer_time"];
    assert_eq!(time.ci95, None);
    assert!(time.population_sd > 0.0);
}

#[test]
fn the_interval_is_that_of_runs_and_not_of_the_requests_in_them() {
    let study = study(STUDY);
    let mut outcomes = outcomes(&study);
    for outcome in outcomes.values_mut().flat_map(|repeats| repeats.values_mut()) {
        for requests in outcome.as_mut().unwrap().figures.values_mut() {
            *requests = vec![requests[0]; 100];
        }
    }
    let run_of_requests = summarise(&expand(&study).unwrap(), &outcomes, &meta(&study), RUN);
    let time = &run_of_requests.cells[0].figures["transfer_time"];
    assert_eq!(time.n, 500);
    assert_eq!(time.ci95, run(STUDY).cells[0].figures["transfer_time"].ci95);
}

#[test]
fn a_ratio_is_paired_repeat_by_repeat_and_carries_what_was_published() {
    let run = run(STUDY);
    let found: Vec<_> = run
        .ratios
        .iter()
        .map(|ratio| (ratio.name.as_str(), ratio.levels["link"].as_str(), ratio.mean))
        .collect();
    assert_eq!(
        found,
        [
            ("etdr", "wpt/3g", 0.5),
            ("etdr", "wpt/cable", 0.5),
            ("times", "wpt/3g", 0.5),
            ("times", "wpt/cable", 0.5)
        ]
    );
    let ratio = &run.ratios[0];
    assert_eq!(
        (ratio.n, ratio.population_sd, ratio.ci95, ratio.varied.len()),
        (5, 0.0, None, 0)
    );
    assert_eq!(ratio.published, Some(Published::Value(0.43)));
    assert_eq!(run.ratios[1].published, Some(Published::Range([0.2, 0.4])));
    assert_eq!(run.ratios[2].published, None);
}

#[test]
fn a_failed_repeat_is_left_out_of_pairs_and_doubted() {
    let study = study(STUDY);
    let mut outcomes = outcomes(&study);
    let plain = expand(&study).unwrap().cells[0].key();
    outcomes
        .get_mut(&plain)
        .unwrap()
        .insert(1, Err(Failure::new("it was reset")));
    let run = summarise(&expand(&study).unwrap(), &outcomes, &meta(&study), RUN);
    let cell = &run.cells[0];
    assert_eq!(
        (
            cell.repeats,
            cell.failed,
            cell.figures["transfer_time"].n,
            run.ratios[0].n
        ),
        (5, 1, 4, 4)
    );
    let kinds: Vec<_> = cell.doubts.iter().map(|doubt| doubt.kind.name()).collect();
    assert_eq!(kinds, ["failed-runs", "few-runs"]);
}

#[test]
fn a_cell_without_a_single_success_is_invalid_and_its_ratio_is_left_out() {
    let study = study(STUDY);
    let mut outcomes = outcomes(&study);
    let plain = expand(&study).unwrap().cells[0].key();
    for outcome in outcomes.get_mut(&plain).unwrap().values_mut() {
        *outcome = Err(Failure::new("it was reset"));
    }
    let run = summarise(&expand(&study).unwrap(), &outcomes, &meta(&study), RUN);
    assert!(!run.cells[0].valid && run.cells[0].figures.is_empty());
    assert_eq!(run.ratios.iter().filter(|ratio| ratio.name == "etdr").count(), 1);
}

#[test]
fn a_doubt_of_the_experiment_is_shown_once_and_a_figure_that_is_missing_is_doubted() {
    let study = study(&STUDY.replace(
        "[factors]",
        "[measure]\nfigures = ['transfer_time', 'goodput']\n[factors]",
    ));
    let mut outcomes = outcomes(&study);
    for outcome in outcomes.values_mut().flat_map(|repeats| repeats.values_mut()) {
        let doubt = Doubt::new(DoubtKind::NoCost, "none");
        outcome.as_mut().unwrap().doubts.push(doubt);
    }
    let cell = &summarise(&expand(&study).unwrap(), &outcomes, &meta(&study), RUN).cells[0];
    let kinds: Vec<_> = cell.doubts.iter().map(|doubt| doubt.kind.name()).collect();
    assert_eq!(kinds, ["no-cost", "missing-figure"]);
    assert_eq!(cell.figures.keys().collect::<Vec<_>>(), ["transfer_time"]);
}

#[test]
fn a_chart_over_a_factor_names_its_levels_and_puts_the_published_points_at_theirs() {
    let chart = &run(STUDY).charts[0];
    assert_eq!(chart.x.scale, Scale::Named(vec!["wpt/3g".into(), "wpt/cable".into()]));
    assert_eq!((chart.y.label.as_str(), chart.y.unit.as_str()), ("Transfer time", "s"));
    let shown: Vec<_> = chart
        .series
        .iter()
        .map(|series| {
            (
                series.name.as_str(),
                series.source,
                series.points.iter().map(|at| (at.x, at.y)).collect::<Vec<_>>(),
            )
        })
        .collect();
    let tenths = |y: f64| (y * 10.0).round() / 10.0;
    let shown: Vec<_> = (shown.into_iter())
        .map(|(name, source, points)| {
            (
                name,
                source,
                points.into_iter().map(|(x, y)| (x, tenths(y))).collect::<Vec<_>>(),
            )
        })
        .collect();
    let runs = |step: f64| -> Vec<(f64, f64)> {
        let of_link = |x: f64, step: f64| (1..=5).map(move |run| (x, tenths(f64::from(run) * step)));
        of_link(0.0, step).chain(of_link(1.0, step / 10.0)).collect()
    };
    assert_eq!(
        shown,
        [
            ("identity", Source::Measured, vec![(0.0, 6.0), (1.0, 0.6)]),
            ("identity", Source::Sample, runs(2.0)),
            ("gzip:6", Source::Measured, vec![(0.0, 3.0), (1.0, 0.3)]),
            ("gzip:6", Source::Sample, runs(1.0)),
            ("printed", Source::Published, vec![(1.0, 1.5)]),
        ]
    );
}

#[test]
fn links_on_a_numeric_axis_lie_at_their_rates_unless_these_are_equal() {
    let chart_of = |study: String| run(&study).charts[0].clone();
    let on_log = STUDY.replacen(
        r#"x = { factor = "link" }"#,
        r#"x = { factor = "link", scale = "log" }"#,
        1,
    );
    let chart = chart_of(on_log.clone());
    assert_eq!((&chart.x.scale, chart.x.unit.as_str()), (&Scale::Log, "bit/s"));
    let xs: Vec<f64> = chart.series[0].points.iter().map(|point| point.x).collect();
    assert_eq!(xs, [1.6e6, 5e6]);
    let published = chart
        .series
        .iter()
        .find(|series| series.source == Source::Published)
        .unwrap();
    assert_eq!(
        published.points[0].x, 5e6,
        "a published point lies at the rate of its link"
    );
    let equal = chart_of(on_log.replace("wpt/3g", "wpt/cable+loss=1%"));
    assert!(matches!(equal.x.scale, Scale::Named(_)), "{:?}", equal.x);
}

#[test]
fn a_chart_of_ratios_lies_over_the_base_cells_figure_with_the_published_beside() {
    let chart = &run(STUDY).charts[1];
    assert_eq!((&chart.x.scale, chart.x.unit.as_str()), (&Scale::Log, "B"));
    let [measured, published] = &chart.series[..] else {
        panic!("{:?}", chart.series)
    };
    assert_eq!(measured.name, "Decrease of the time");
    assert_eq!((measured.points[0].x, measured.points[0].y), (1000.0, 0.5));
    assert_eq!(measured.points[0].label.as_deref(), Some("wpt/3g"));
    assert_eq!(published.source, Source::Published);
    assert_eq!(
        (published.points[1].y, published.points[1].spread),
        (f64::midpoint(0.2, 0.4), Some([0.2, 0.4]))
    );
}

#[test]
fn a_threshold_is_held_against_every_cell() {
    let thresholds = run(STUDY).thresholds;
    assert_eq!(
        thresholds.iter().map(|rule| rule.held).collect::<Vec<_>>(),
        [false, true, true, true]
    );
    assert_eq!(
        (thresholds[0].rule.as_str(), thresholds[0].found),
        ("max(transfer_time) < 8 s", 10.0)
    );
}

#[test]
fn the_record_does_not_depend_on_the_order_in_which_repeats_came() {
    let study = study(STUDY);
    let mut backwards = Outcomes::new();
    for (key, repeats) in outcomes(&study).into_iter().rev() {
        for (repeat, outcome) in repeats.into_iter().rev() {
            backwards.entry(key.clone()).or_default().insert(repeat, outcome);
        }
    }
    assert_eq!(
        summarise(&expand(&study).unwrap(), &backwards, &meta(&study), RUN),
        run(STUDY)
    );
}

#[test]
fn work_that_two_parts_share_is_shown_in_both() {
    let run = run(&format!(
        "{STUDY}\n[[part]]\nname = 'all'\n[[part]]\nname = 'slow'\n[part.fixed]\nlink = 'wpt/3g'\n"
    ));
    let part = |name: &str| {
        run.cells
            .iter()
            .filter(|cell| cell.part.as_deref() == Some(name))
            .collect::<Vec<_>>()
    };
    assert_eq!((part("all").len(), part("slow").len()), (4, 2));
    assert_eq!(part("all")[0].figures, part("slow")[0].figures);
    assert_eq!(
        part("slow")[0].levels,
        Levels::from([("codec".into(), "identity".into()), ("link".into(), "wpt/3g".into())])
    );
}

/// The doubts of a run that raises one of this kind.
fn doubtful(kind: DoubtKind) -> Vec<Doubt> {
    let study = study(&match kind {
        DoubtKind::MissingFigure => STUDY.replace("[factors]", "[measure]\nfigures = ['goodput']\n[factors]"),
        _ => STUDY.to_owned(),
    });
    let mut outcomes = outcomes(&study);
    for repeats in outcomes.values_mut() {
        match kind {
            DoubtKind::FailedRuns => {
                repeats.insert(0, Err(Failure::new("it was reset")));
            }
            DoubtKind::FewRuns => repeats.retain(|repeat, _| *repeat < 4),
            DoubtKind::SlowFirstRun => {
                let first = repeats.get_mut(&0).unwrap().as_mut().unwrap();
                first.figures.insert("transfer_time".to_owned(), vec![100.0]);
            }
            DoubtKind::Observed => {
                let first = repeats.get_mut(&0).unwrap().as_mut().unwrap();
                assert_eq!(crate::doubt::observed(0.01), None);
                first.doubts.extend(crate::doubt::observed(0.02));
            }
            DoubtKind::MissingFigure => {}
            other => panic!("{other} has no row"),
        }
    }
    summarise(&expand(&study).unwrap(), &outcomes, &meta(&study), RUN)
        .cells
        .remove(0)
        .doubts
}

#[test]
fn every_kind_of_doubt_is_raised() {
    for kind in crate::doubt::DOUBTS {
        let doubts = doubtful(*kind);
        assert!(doubts.iter().any(|doubt| doubt.kind == *kind), "{kind}: {doubts:?}");
    }
}

/// A load at three rates, with a repeat each: many response times, shares of airtime, and a queue over time.
const LOAD: &str = r#"
name = "load"
question = "?"
repeats = 1
[factors]
rate = [10, 20, 40]
[[chart]]
title = "Curve"
x = { factor = "rate", scale = "linear" }
x_title = "Requests per second"
y = { figure = "transaction_rate" }
joined = true
mark = { most = "transaction_rate", per = "response_time", label = "knee" }
[[chart]]
title = "At most"
x = { figure = "response_time", scale = "log" }
y = { share = "at-most" }
series = ["rate"]
where = { rate = ["10", "40"] }
[[chart]]
title = "Above"
x = { figure = "response_time", scale = "log" }
y = { share = "above", scale = "log" }
where = { rate = "40" }
[[chart]]
title = "Queues"
x = { time = true }
y = { timelines = ["client_queue", "server_queue"] }
where = { rate = "20" }
[[chart]]
title = "Airtime"
x = { factor = "rate", scale = "linear" }
y = { stack = ["data_airtime_share", "beacon_airtime_share", "idle_airtime_share"], title = "Share of the time" }
"#;

/// Response times from 1 to 5,000 ms at 10/s; twice as long at 20/s, and ten times as long at 40/s.
fn load_outcomes(study: &Study) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for (cell, factor) in expand(study).unwrap().cells.into_iter().zip([1.0, 1.5, 10.0]) {
        let rate: f64 = cell.levels["rate"].parse().unwrap();
        let mut seen = Observation::default();
        (1..=5_000).for_each(|at| seen.sample(figure::RESPONSE_TIME, f64::from(at) * factor / 1000.0));
        seen.sample(figure::TRANSACTION_RATE, rate.min(30.0));
        seen.sample(figure::DATA_AIRTIME_SHARE, rate / 100.0);
        seen.sample(figure::BEACON_AIRTIME_SHARE, 0.0);
        seen.sample(figure::IDLE_AIRTIME_SHARE, 1.0 - rate / 100.0);
        for figure in [figure::CLIENT_QUEUE, figure::SERVER_QUEUE] {
            seen.timeline(figure, std::time::Duration::from_secs(1), &[1.0, 2.0, rate]);
        }
        seen.bound_samples();
        outcomes.entry(cell.key()).or_default().insert(0, Ok(seen));
    }
    outcomes
}

fn load_run() -> Run {
    let study = study(LOAD);
    summarise(&expand(&study).unwrap(), &load_outcomes(&study), &meta(&study), RUN)
}

#[test]
fn many_samples_have_an_exact_mean_and_quantiles_within_a_tenth_of_a_per_cent() {
    let study = study(LOAD);
    let outcomes = load_outcomes(&study);
    let kept = outcomes.values().next().unwrap()[&0].as_ref().unwrap();
    assert!(
        !kept.figures.contains_key("response_time"),
        "they are not kept one by one"
    );
    let time = &load_run().cells[0].figures["response_time"];
    assert_eq!(
        (time.n, time.mean),
        (5_000, lastmile_statistics::mean(&samples()).unwrap())
    );
    for (name, probability) in [("0.5", 0.5), ("0.95", 0.95), ("0.99", 0.99)] {
        let exact = lastmile_statistics::quantile(&samples(), probability).unwrap();
        assert!((time.quantiles[name] / exact - 1.0).abs() < 0.001, "{name}");
    }
}

fn samples() -> Vec<f64> {
    (1..=5_000).map(|at| f64::from(at) / 1000.0).collect()
}

#[test]
fn a_cell_with_raw_and_with_compressed_repeats_has_both() {
    let study = study(LOAD);
    let mut outcomes = load_outcomes(&study);
    let mut raw = Observation::default();
    samples()
        .iter()
        .for_each(|time| raw.sample(figure::RESPONSE_TIME, *time));
    let key = expand(&study).unwrap().cells.remove(0).key();
    outcomes.entry(key).or_default().insert(1, Ok(raw));
    let time = &summarise(&expand(&study).unwrap(), &outcomes, &meta(&study), RUN).cells[0].figures["response_time"];
    assert_eq!(time.n, 10_000);
    assert!((time.quantiles["0.5"] / 2.5005 - 1.0).abs() < 0.001);
}

#[test]
fn a_curve_has_its_knee_marked_where_the_quotient_is_greatest() {
    let curve = &load_run().charts[0];
    assert_eq!(curve.x.label, "Requests per second");
    let mark = &curve.marks[0];
    assert_eq!((mark.x, mark.y, mark.label.as_str()), (20.0, 20.0, "knee: 20 /s at 20"));
}

#[test]
fn distributions_have_one_line_per_cell_and_a_tail_is_their_complement() {
    let run = load_run();
    let (at_most, above) = (&run.charts[1], &run.charts[2]);
    let names: Vec<&str> = at_most.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["rate 10", "rate 40"]);
    let points = &at_most.series[0].points;
    assert!(points.is_sorted_by(|one, other| one.x < other.x && one.y < other.y));
    assert_eq!((points.last().unwrap().x, points.last().unwrap().y), (5.0, 1.0));
    let half = points.iter().find(|point| point.y >= 0.5).unwrap();
    assert!((half.x / 2.5 - 1.0).abs() < 0.02, "{half:?}");
    assert_eq!(
        (&above.y.scale, &above.series[0].name[..]),
        (&Scale::Log, "Response time")
    );
    let tail = &above.series[0].points;
    assert!(tail.iter().all(|point| point.y > 0.0) && tail.last().unwrap().y < 0.001);
    assert!(tail.len() < 400, "{} points", tail.len());
}

#[test]
fn timelines_say_which_repeat_they_are_of() {
    let queues = &load_run().charts[3];
    assert_eq!(queues.note, "Repeat 1 alone, as means over equal parts of its time.");
    assert_eq!(
        (queues.y.label.as_str(), queues.y.unit.as_str()),
        ("Packets waiting", "")
    );
    let [client, server] = &queues.series[..] else {
        panic!("{:?}", queues.series)
    };
    assert_eq!(
        (client.name.as_str(), server.name.as_str()),
        ("Packets waiting at the clients", "Packets waiting at the server")
    );
    let points: Vec<(f64, f64)> = client.points.iter().map(|point| (point.x, point.y)).collect();
    assert_eq!(points, [(0.5, 1.0), (1.5, 2.0), (2.5, 20.0)]);
}

#[test]
fn a_stack_leaves_out_what_is_nowhere() {
    let airtime = &load_run().charts[4];
    assert_eq!(airtime.y.scale, Scale::Stacked);
    let names: Vec<&str> = airtime.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["Data", "Idle, back-off and spaces"]);
}
