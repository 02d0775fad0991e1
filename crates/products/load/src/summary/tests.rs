use super::*;
use crate::rate::RequestRate;
use crate::request::Request;
use crate::sending_window::SendingWindow;

fn open(rate: f64) -> Plan {
    let demand = Demand::open(Arrivals::Constant(RequestRate::new(rate).unwrap()));
    Plan::new(demand, Duration::from_secs(1), Request::get("server", "/"))
}

/// A run at a rate of which `completed` requests took `response` each.
fn measured(completed: u64, response: Duration, ending: Ending) -> Measurement {
    let mut measured = Measurement {
        span: Duration::from_secs(1),
        intended: 100,
        completed,
        ending,
        ..Measurement::default()
    };
    measured.window = SendingWindow::new(Duration::ZERO, Duration::from_secs(1));
    for _ in 0..completed {
        measured.response.record(response);
        measured.window.begin(Duration::ZERO);
        measured.window.complete(response, response, 0);
    }
    measured
}

fn published(rate: f64, measured: &Measurement) -> LoadRun {
    run(
        "sim",
        &open(rate),
        Seed::new(1),
        RunPurpose::Measurement,
        measured,
        None,
    )
}

#[test]
fn each_kind_of_doubt_is_raised_by_its_fault() {
    let millisecond = Duration::from_millis(1);
    let mut late = measured(100, millisecond, Ending::Complete);
    late.lateness.record(10 * millisecond);
    let mut inconsistent = measured(100, millisecond, Ending::Complete);
    inconsistent.span /= 2;
    let faults = [
        (DoubtKind::LateSender, late, None),
        (
            DoubtKind::RateNotHeld,
            measured(1, millisecond, Ending::RateNotHeld),
            None,
        ),
        (
            DoubtKind::Interrupted,
            measured(1, millisecond, Ending::Interrupted),
            None,
        ),
        (DoubtKind::InconsistentFigures, inconsistent, None),
        (
            DoubtKind::Disturbed,
            measured(1, millisecond, Ending::Complete),
            Some("packets were late"),
        ),
        (
            DoubtKind::FewCompletions,
            measured(9, millisecond, Ending::Complete),
            None,
        ),
    ];
    for (kind, measured, disturbance) in &faults {
        let mut run = published(100.0, measured);
        run.why_invalid = disturbance.map(str::to_owned).or(run.why_invalid);
        let found = doubts(&[(&run, measured), (&run, measured)]);
        assert_eq!(found.iter().map(|doubt| doubt.kind).collect::<Vec<_>>(), [*kind]);
        assert!(
            found[0].text.contains("at 100/s") && found[0].text.contains("1 more"),
            "{}",
            found[0].text
        );
    }
    let kinds = faults.iter().map(|(kind, ..)| *kind);
    let of_limits = limit_doubts(&[uncertain(None, 1)]).into_iter().map(|doubt| doubt.kind);
    assert_eq!(kinds.chain(of_limits).collect::<Vec<_>>(), DOUBTS);
    let well = measured(100, millisecond, Ending::Complete);
    assert_eq!(doubts(&[(&published(100.0, &well), &well)]), []);
}

#[test]
fn the_knee_is_where_throughput_over_response_time_is_greatest() {
    let curve = [(50.0, 50, 10), (100.0, 100, 12), (150.0, 110, 80)];
    let runs: Vec<LoadRun> = curve
        .iter()
        .map(|(rate, completed, millis)| {
            let mut measured = measured(*completed, Duration::from_millis(*millis), Ending::Complete);
            measured.intended = *rate as u64;
            published(*rate, &measured)
        })
        .collect();
    let knee = knee("sim", &runs).unwrap();
    assert_eq!(
        (knee.rate, knee.response_time_mean, knee.carried_rate_max),
        (100.0, 0.012, Some(100.0))
    );
    assert_eq!(super::knee("sim", &runs[..2]), None, "two rates are no curve");
    assert_eq!(super::knee("emu", &runs), None);
    let charts = charts(&runs, &[knee], &[]);
    // Equal times have no distribution to draw, and no request failed.
    assert_eq!(charts.len(), 2);
    let marks: Vec<_> = charts.iter().flat_map(|chart| &chart.marks).collect();
    assert_eq!(marks.iter().map(|mark| mark.x).collect::<Vec<_>>(), [100.0, 100.0]);
    assert_eq!(marks[1].y, 0.012);
    let label = &marks[0].label;
    assert!(
        label.starts_with("knee, sim: ") && label.ends_with(" at 100 /s"),
        "{label}"
    );
}

#[test]
fn repeats_at_a_rate_are_one_point_with_their_range() {
    let run = |rate: f64, millis| {
        published(
            rate,
            &measured(rate as u64, Duration::from_millis(millis), Ending::Complete),
        )
    };
    let runs = [run(10.0, 10), run(10.0, 30), run(20.0, 40), run(20.0, 40)];
    let charts = charts(&runs, &[], &[]);
    let response = charts
        .iter()
        .find(|chart| chart.title == "Response time against rate")
        .unwrap();
    let mean = &response.series[0].points;
    assert_eq!(mean.len(), 2);
    assert_eq!((mean[0].y, mean[0].spread), (0.02, Some([0.01, 0.03])));
    assert_eq!((mean[1].y, mean[1].spread), (0.04, None));
}

#[test]
fn a_limit_is_drawn_on_the_curve_and_failures_below_it() {
    let run = |rate: f64, millis| {
        published(
            rate,
            &measured(rate as u64, Duration::from_millis(millis), Ending::Complete),
        )
    };
    let mut runs = [run(10.0, 10), run(20.0, 400)];
    runs[1].purpose = RunPurpose::Search;
    runs[1].failed = 1;
    let limit = |world: &str| RateLimit {
        world: world.to_owned(),
        rate: Some(15.0),
        limit: "p99<300ms,errors<0.1%".to_owned(),
        ..uncertain(None, 0)
    };
    let charts = charts(&runs, &[], &[limit("sim"), limit("emu")]);
    let times = charts
        .iter()
        .find(|chart| chart.title == "Response time against rate")
        .unwrap();
    let drawn: Vec<(f64, &str)> = times
        .limits
        .iter()
        .map(|limit| (limit.most, limit.label.as_str()))
        .collect();
    assert_eq!(
        drawn,
        [
            (0.3, "p99<300ms"),
            (15.0, "highest rate, sim: 15 /s"),
            (15.0, "highest rate, emu: 15 /s")
        ]
    );
    let failed = times.below.as_ref().unwrap();
    assert_eq!(
        failed.limits.iter().map(|limit| limit.most).collect::<Vec<_>>(),
        [0.001]
    );
    assert_eq!(failed.series[0].points.len(), 2);
    assert!(!charts.iter().any(|chart| chart.title.starts_with("Failed")));
}

fn uncertain(ci95: Option<[f64; 2]>, unsettled: u64) -> RateLimit {
    RateLimit {
        world: "machine".to_owned(),
        limit: "p99<50ms".to_owned(),
        rate: Some(100.0),
        ci95,
        repeats: vec![100.0; 3],
        resolution: 0.02,
        broken_by: None,
        is_lower_bound: false,
        unsettled,
    }
}

#[test]
fn a_highest_rate_that_is_uncertain_is_doubted() {
    let doubt = |limit| {
        limit_doubts(&[limit])
            .first()
            .map(|doubt| (doubt.kind, doubt.text.clone()))
    };
    assert_eq!(doubt(uncertain(None, 0)), None);
    assert_eq!(doubt(uncertain(Some([96.0, 104.0]), 0)), None);
    let (kind, message) = doubt(uncertain(Some([90.0, 110.0]), 0)).unwrap();
    assert_eq!(kind, DoubtKind::WideInterval);
    assert!(message.contains("10 % to either side"), "{message}");
    assert!(doubt(uncertain(None, 1)).unwrap().1.contains("1 of 3 repeats"));
}

#[test]
fn a_search_that_the_generator_ended_gives_a_rate_at_least() {
    let bounded = RateLimit {
        broken_by: Some("the sender was late".to_owned()),
        is_lower_bound: true,
        ..uncertain(None, 0)
    };
    let load = crate::record::Load {
        limits: vec![bounded],
        ..crate::tests::fixtures::load()
    };
    let answer = crate::document::answers(&load).join(" ");
    assert!(answer.contains("is at least 100 /s"), "{answer}");
    assert!(
        answer.contains("so the server may carry more: the sender was late."),
        "{answer}"
    );
}
