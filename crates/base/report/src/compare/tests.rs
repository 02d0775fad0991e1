//! Claims about comparisons.

use super::interval::joint_change;
use super::*;
use crate::tests::fixtures;

fn compare(before: &Run, after: &Run, rules: &[Rule]) -> Comparison {
    super::compare(before, after, rules, false)
}

fn rule(text: &str) -> Rule {
    text.parse().expect("a rule")
}

fn slower(factor: f64) -> Run {
    let mut run = fixtures::run();
    let time = run.cells[0].figures.get_mut("extract_time").expect("it has one");
    time.mean *= factor;
    time.ci95 = time.ci95.map(|ci| ci.map(|end| end * factor));
    time.quantiles.values_mut().for_each(|value| *value *= factor);
    run
}

#[test]
fn a_run_differs_from_itself_in_nothing() {
    let comparison = compare(&fixtures::run(), &fixtures::run(), &[rule("p95>+0%"), rule("mean<-0%")]);
    assert!(comparison.unmatched.is_empty() && comparison.doubts.is_empty());
    assert!(!comparison.breaks_a_rule());
    let verdicts = comparison
        .cells
        .iter()
        .flat_map(|cell| cell.changes.values())
        .map(|change| change.verdict);
    let found: std::collections::BTreeSet<Verdict> = verdicts.collect();
    assert_eq!(
        found,
        [Verdict::WithinNoise, Verdict::Unknown].into(),
        "only the invalid cell is unknown"
    );
}

#[test]
fn a_change_past_the_interval_is_told_from_noise_and_one_within_is_not() {
    let verdict = |factor| compare(&fixtures::run(), &slower(factor), &[]).cells[0].changes["extract_time"].verdict;
    assert_eq!(verdict(1.1), Verdict::Worse);
    assert_eq!(verdict(0.9), Verdict::Better);
    // Each mean is known to 1.2 %, so that their difference is known to 1.2 % times the square root of 2.
    assert_eq!(verdict(1.016), Verdict::WithinNoise);
    assert_eq!(verdict(1.018), Verdict::Worse);
}

/// A pair of cells of five runs each, and the difference of the means of these figures in them.
fn difference(paired: bool, statistic: Statistic, figures: [&Figure; 2], tail: f64) -> Difference {
    let run = fixtures::run();
    let pair = CellPair {
        before: &run.cells[0],
        after: &run.cells[0],
        paired,
        drawn_once: false,
        other_seed: false,
    };
    pair.difference(statistic, figures, tail)
}

/// A figure of these runs.
fn of_runs(means: &[f64]) -> Figure {
    let runs: Vec<Vec<f64>> = means.iter().map(|mean| vec![*mean]).collect();
    let varied = ["loss".to_owned()];
    let figure = Figure::of_runs("s", "run", &runs, &varied, lastmile_units::Seed::new(1)).expect("samples");
    Figure {
        run_means: means.to_vec(),
        ..figure
    }
}

#[test]
fn the_interval_of_independent_runs_is_that_of_zou_and_donner() {
    let mut before = fixtures::figure("s", "run", 10.0, 1.0);
    let mut after = fixtures::figure("s", "run", 20.0, 1.0);
    (before.ci95, after.ci95) = (Some([6.0, 13.0]), Some([16.0, 28.0]));
    let of = |before: &Figure, after: &Figure, tail| difference(true, Statistic::Mean, [before, after], tail);
    // Down by the hypotenuse of 4 and 3, up by that of 8 and 4.
    let upper = 10.0 + 80.0f64.sqrt();
    assert_eq!(of(&before, &after, TAIL_95), Difference::Interval([5.0, upper]));
    // t of 4 degrees of freedom: 2.776 leaves 2.5 %, 4.604 leaves 0.5 %.
    let Difference::Interval([low, _]) = of(&before, &after, 0.005) else {
        panic!("an interval")
    };
    assert!((low - (10.0 - 5.0 * 4.604 / 2.776)).abs() < 0.01, "{low}");
    after.ci95 = None;
    assert_eq!(
        of(&before, &after, TAIL_95),
        Difference::Unknown,
        "it varies, and gives no interval"
    );
}

#[test]
fn repeats_of_one_seed_are_compared_pair_by_pair() {
    let before = of_runs(&[10.0, 14.0, 18.0]);
    let after = of_runs(&[11.0, 15.5, 18.5]);
    // The differences are 1, 1.5 and 0.5: their mean 1, their deviation 0.5, t of 2 degrees of freedom 4.303.
    let half = 4.303 * 0.5 / 3.0f64.sqrt();
    let Difference::Interval([low, high]) = difference(true, Statistic::Mean, [&before, &after], TAIL_95) else {
        panic!("an interval")
    };
    assert!(
        (low - (1.0 - half)).abs() < 1e-3 && (high - (1.0 + half)).abs() < 1e-3,
        "{low} {high}"
    );
    let Difference::Interval([low, _]) = difference(false, Statistic::Mean, [&before, &after], TAIL_95) else {
        panic!("an interval")
    };
    assert!(low < -10.0, "of runs of other seeds it is as wide as both: {low}");
    let same = of_runs(&[11.0, 15.0, 19.0]);
    assert_eq!(
        difference(true, Statistic::Mean, [&before, &same], TAIL_95),
        Difference::Exact
    );
}

#[test]
fn quantiles_of_runs_have_an_interval_and_those_of_samples_within_them_have_none() {
    let before = of_runs(&[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0]);
    let after = of_runs(&[30.0, 31.0, 32.0, 33.0, 34.0, 35.0, 36.0, 37.0]);
    let of = |figures| difference(false, Statistic::Quantile(0.95), figures, TAIL_95);
    let Difference::Interval([low, high]) = of([&before, &after]) else {
        panic!("an interval")
    };
    assert!(low < 20.0 && 20.0 < high && high - low < 15.0, "{low} {high}");
    let mut messages = after.clone();
    messages.n = 800;
    assert_eq!(of([&before, &messages]), Difference::Unknown);
}

#[test]
fn a_change_that_all_cells_share_shows_in_their_mean() {
    let run = fixtures::run();
    let pair = CellPair {
        before: &run.cells[0],
        after: &run.cells[0],
        paired: false,
        drawn_once: false,
        other_seed: true,
    };
    // In each cell the runs are as far from each other as the change is large, but in another order.
    let cells = [[10.0, 11.0, 12.0], [1.2, 1.0, 1.1], [110.0, 120.0, 100.0]].map(|means| {
        let slower = means.map(|mean| mean * 1.08);
        (of_runs(&means), of_runs(&slower))
    });
    let figures: Vec<_> = cells.iter().map(|(before, after)| (pair, [before, after])).collect();
    let (change, [low, high]) = joint_change(&figures, TAIL_95).unwrap();
    assert!(
        (change - 0.08).abs() < 1e-9 && low > 0.05 && high < 0.11,
        "{change} {low} {high}"
    );
    let (_, [low, _]) = joint_change(&figures[..1], TAIL_95).unwrap();
    assert!(low < 0.0, "one cell alone does not tell: {low}");
}

/// A run of eight cells of ten repeats each, whose times are log-normal, by this factor longer, and of more variation in one cell than in another.
fn noisy_run(seed: u64, factor: f64) -> Run {
    let mut rng = lastmile_units::Seed::new(seed).derive("noise").rng();
    // A sum of twelve uniform numbers is near enough to a normal one.
    let mut normal = || {
        (0..12)
            .map(|_| lastmile_units::random::below(&mut rng, 1 << 20) as f64 / f64::from(1 << 20))
            .sum::<f64>()
            - 6.0
    };
    let mut run = fixtures::run();
    run.seed = seed;
    run.cells.truncate(8);
    for (index, cell) in run.cells.iter_mut().enumerate() {
        let deviation = 0.03 * (index + 1) as f64;
        let means: Vec<f64> = (0..10).map(|_| factor * libm::exp(deviation * normal())).collect();
        cell.repeats = 10;
        cell.valid = true;
        cell.figures = [("extract_time".to_owned(), of_runs(&means))].into();
    }
    run
}

/// How many of these comparisons break a rule.
fn breaking(comparisons: u64, factor: f64, rule_text: &str, strict: bool) -> usize {
    let rules = [rule(rule_text)];
    let breaks = |index: &u64| {
        let (before, after) = (noisy_run(2 * index, 1.0), noisy_run(2 * index + 1, factor));
        super::compare(&before, &after, &rules, strict).breaks_a_rule()
    };
    (0..comparisons).filter(breaks).count()
}

#[test]
fn equal_runs_break_a_rule_rarely_and_a_change_is_found() {
    // Even a bound of no change is broken in 2.5 % of comparisons of equal runs, and in fewer where that is a bound: 10 of 400, to which three
    // standard deviations add 9.
    let by_chance = breaking(400, 1.0, "mean(extract_time)>+0%", false);
    assert!(by_chance <= 19, "{by_chance}");
    assert!(breaking(100, 1.0, "mean(extract_time)>+5%", false) <= 1);
    assert!(
        breaking(100, 1.0, "mean(extract_time)>+5%", true) >= 50,
        "values alone cry wolf"
    );
    let found = breaking(100, 1.12, "mean(extract_time)>+5%", false);
    assert!(found >= 90, "{found}");
}

#[test]
fn between_seeds_a_change_is_undecided_where_repeats_share_the_draws_of_their_cell() {
    let rules = [rule("mean(extract_time)>+5%")];
    let of = |seed: u64, fresh: &str, factor: f64| Run {
        seed,
        fresh: fresh.to_owned(),
        ..slower(factor)
    };
    let undecided = compare(&of(1, "cell", 1.0), &of(2, "cell", 1.2), &rules);
    assert!(undecided.is_undecided() && !undecided.breaks_a_rule());
    assert_eq!((undecided.rules[0].undecided, &undecided.rules[0].joint), (1, &None));
    assert_eq!(undecided.cells[0].changes["extract_time"].verdict, Verdict::Unknown);
    assert_eq!(undecided.cells[1].changes["extract_time"].verdict, Verdict::WithinNoise);
    let found = &undecided.undecided_rules()[0];
    assert!(
        found.contains("seeds 1 and 2") && found.contains("fresh = \"repeat\""),
        "{found}"
    );
    assert!(undecided.doubts[0].text.contains("fresh = \"repeat\""));
    // Within the bound there is nothing to decide; with one seed, or draws of each repeat, the intervals hold what varies.
    let decided = |before: Run, after: Run| {
        let comparison = compare(&before, &after, &rules);
        (comparison.is_undecided(), comparison.breaks_a_rule())
    };
    assert_eq!(decided(of(1, "cell", 1.0), of(2, "cell", 1.04)), (false, false));
    assert_eq!(decided(of(1, "cell", 1.0), of(1, "cell", 1.2)), (false, true));
    assert_eq!(decided(of(1, "repeat", 1.0), of(2, "repeat", 1.2)), (false, true));
    assert_eq!(decided(of(1, "repeat", 1.0), of(2, "cell", 1.2)), (true, false));
}

#[test]
fn between_seeds_a_change_without_an_interval_is_undecided() {
    let of = |seed: u64, factor: f64| Run {
        seed,
        fresh: "repeat".to_owned(),
        ..slower(factor)
    };
    // The record has no quantile of each repeat.
    let gate = |after: &Run, strict| {
        let comparison = super::compare(&of(1, 1.0), after, &[rule("p95(extract_time)>+5%")], strict);
        (comparison.is_undecided(), comparison.breaks_a_rule())
    };
    assert_eq!(gate(&of(2, 1.1), false), (true, false));
    assert_eq!(gate(&of(2, 1.04), false), (false, false));
    assert_eq!(
        gate(&of(1, 1.1), false),
        (false, true),
        "of one seed, the values decide"
    );
    assert_eq!(gate(&of(2, 1.1), true), (false, true));
}

#[test]
fn a_change_breaks_a_rule_only_where_its_whole_interval_is_beyond() {
    let outcome = |factor, strict| {
        let rules = [rule("mean(extract_time)>+5%")];
        super::compare(&fixtures::run(), &slower(factor), &rules, strict)
    };
    // Each mean is known to 1.2 %, their difference to 1.7 %; ten cells that vary widen that by 4.6 / 2.8, or so.
    let noise = outcome(1.07, false);
    assert!(!noise.breaks_a_rule());
    assert_eq!((noise.rules[0].breaches.len(), noise.rules[0].unproven.len()), (0, 1));
    let [low, high] = noise.rules[0].unproven[0].interval.unwrap();
    assert!(low < 0.05 && high > 0.07, "{low} {high}");
    assert!(outcome(1.07, true).breaks_a_rule(), "as its value alone says");
    let slow = outcome(1.15, false);
    assert_eq!(slow.rules[0].breaches.len(), 1);
    assert!(
        slow.broken_rules()[0].starts_with("mean(extract_time)>+5%: extract time "),
        "{:?}",
        slow.broken_rules()
    );
    assert!(slow.doubts.is_empty());
}

#[test]
fn a_single_run_of_what_varies_decides_by_its_value_and_that_is_a_doubt() {
    let single = |factor: f64| {
        let mut run = slower(factor);
        for cell in &mut run.cells {
            cell.repeats = 1;
            cell.doubts.push(Doubt::new(DoubtKind::FewRuns, "1 run"));
            for figure in cell.figures.values_mut() {
                (figure.ci95, figure.n) = (None, 1);
                figure.varied.clear();
            }
        }
        run
    };
    let rules = [rule("mean(extract_time)>+5%")];
    let comparison = compare(&single(1.0), &single(1.1), &rules);
    assert!(comparison.breaks_a_rule());
    assert_eq!(comparison.cells[0].changes["extract_time"].verdict, Verdict::Unknown);
    assert_eq!(comparison.doubts[0].kind, DoubtKind::NoInterval);
    assert!(!compare(&single(1.0), &single(1.04), &rules).breaks_a_rule());
}

#[test]
fn where_nothing_varies_any_difference_is_real() {
    let mut after = fixtures::run();
    after.cells[0]
        .figures
        .get_mut("response_bytes")
        .expect("it has one")
        .mean += 1.0;
    let comparison = compare(&fixtures::run(), &after, &[]);
    assert_eq!(comparison.cells[0].changes["response_bytes"].verdict, Verdict::Worse);
    assert_eq!(comparison.cells[0].changes["response_bytes"].change_ci95, None);
}

#[test]
fn a_rule_without_a_figure_is_held_where_the_change_is_for_the_worse() {
    let mut after = slower(1.1);
    after.cells[0]
        .figures
        .get_mut("transfer_rate")
        .expect("it has one")
        .mean *= 2.0;
    let comparison = compare(&fixtures::run(), &after, &[rule("mean>+5%"), rule("mean<-5%")]);
    let broken: Vec<&str> = comparison.rules[0]
        .breaches
        .iter()
        .map(|breach| breach.figure.as_str())
        .collect();
    assert_eq!(broken, ["extract_time"], "twice the rate is no breach");
    assert!(comparison.rules[1].breaches.is_empty());
    // 11 cells, one of them invalid; two figures of which less is better, and one of which more is.
    assert_eq!((comparison.rules[0].checked, comparison.rules[1].checked), (20, 10));
}

#[test]
fn a_rule_that_checks_nothing_is_broken() {
    assert!(compare(&fixtures::run(), &fixtures::run(), &[rule("p95(no_such_figure)>+5%")]).breaks_a_rule());
}

#[test]
fn growth_from_nothing_breaks_every_upper_bound() {
    let with_drops = |mean: f64| {
        let mut run = fixtures::run();
        let drops = fixtures::figure("1", "run", 1.0, 0.0);
        run.cells[0]
            .figures
            .insert("queue_drops".to_owned(), Figure { mean, ..drops });
        run
    };
    let comparison = compare(
        &with_drops(0.0),
        &with_drops(1e-9),
        &[rule("mean(queue_drops)>+1000000%")],
    );
    assert_eq!(comparison.rules[0].breaches[0].change, None);
}

#[test]
fn cells_of_one_run_alone_and_other_settings_are_named() {
    let mut after = fixtures::run();
    after.cells[1].levels.insert("case".to_owned(), "Z".to_owned());
    after.seed = 2;
    let comparison = compare(&fixtures::run(), &after, &[]);
    let sides: Vec<(bool, &str)> = comparison
        .unmatched
        .iter()
        .map(|cell| (cell.before, cell.levels["case"].as_str()))
        .collect();
    assert_eq!(sides, [(true, "A"), (false, "Z")]);
    assert_eq!(comparison.doubts[0].text, "the seed was 1 before and is 2 after");
}

#[test]
fn rules_that_cannot_be_read_are_refused_with_the_remedy() {
    for text in [
        "",
        "p95",
        "p95>5",
        "p95>x%",
        "p42>5%",
        "mean(time>5%",
        "mean(time)>NaN%",
        ">%",
        "é>+5%",
    ] {
        let error = text.parse::<Rule>().expect_err(text).to_string();
        assert!(error.contains("write it like"), "{error}");
    }
    assert_eq!(
        rule(" median ( a ) < - 10 % ".replace(' ', "").as_str()),
        rule("median(a)<-10%")
    );
}

/// A comparison that raises a doubt of this kind.
fn doubtful(kind: DoubtKind) -> Comparison {
    if kind == DoubtKind::NoInterval {
        return compare(&fixtures::run(), &slower(1.1), &[rule("p95(extract_time)>+5%")]);
    }
    let mut after = fixtures::run();
    match kind {
        DoubtKind::OtherStudy => after.study.push('2'),
        DoubtKind::OtherWorld => after.world = "emu".to_owned(),
        DoubtKind::OtherCostTable => after.cpu = "free".to_owned(),
        DoubtKind::OtherMachine => after.cpu_machine = "another".to_owned(),
        DoubtKind::OtherSeed => after.seed += 1,
        other => panic!("{other} has no row"),
    }
    compare(&fixtures::run(), &after, &[])
}

#[test]
fn every_kind_of_doubt_is_raised() {
    for kind in DOUBTS {
        let kinds: Vec<DoubtKind> = doubtful(*kind).doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [*kind]);
    }
}
