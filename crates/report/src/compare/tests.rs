//! Claims about comparisons.

use super::*;
use crate::sample;

fn rule(text: &str) -> Rule {
    text.parse().expect("a rule")
}

fn slower(factor: f64) -> Run {
    let mut run = sample::run();
    let time = run.cells[0].figures.get_mut("extract_time").expect("it has one");
    time.mean *= factor;
    time.ci95 = time.ci95.map(|ci| ci.map(|end| end * factor));
    time.quantiles.values_mut().for_each(|value| *value *= factor);
    run
}

#[test]
fn a_run_differs_from_itself_in_nothing() {
    let comparison = compare(&sample::run(), &sample::run(), &[rule("p95>+0%"), rule("mean<-0%")]);
    assert!(comparison.unmatched.is_empty() && comparison.doubts.is_empty());
    assert!(!comparison.breaks_a_rule());
    let verdicts = comparison
        .cells
        .iter()
        .flat_map(|cell| cell.changes.values())
        .map(|change| change.verdict);
    let told: std::collections::BTreeSet<Verdict> = verdicts.collect();
    assert_eq!(
        told,
        [Verdict::WithinNoise, Verdict::Unknown].into(),
        "only the invalid cell cannot be told"
    );
}

#[test]
fn a_change_past_the_interval_is_told_from_noise_and_one_within_is_not() {
    let verdict = |factor| compare(&sample::run(), &slower(factor), &[]).cells[0].changes["extract_time"].verdict;
    assert_eq!(verdict(1.1), Verdict::Worse);
    assert_eq!(verdict(0.9), Verdict::Better);
    // Each mean is known to 1.2 %, so that their difference is known to 1.2 % times the square root of 2.
    assert_eq!(verdict(1.016), Verdict::WithinNoise);
    assert_eq!(verdict(1.018), Verdict::Worse);
}

#[test]
fn the_interval_is_that_of_zou_and_donner() {
    let mut before = sample::figure("s", "run", 10.0, 1.0);
    let mut after = sample::figure("s", "run", 20.0, 1.0);
    (before.ci95, after.ci95) = (Some([6.0, 13.0]), Some([16.0, 28.0]));
    // Down by the hypotenuse of 4 and 3, up by that of 8 and 4.
    assert_eq!(difference_interval(&before, &after), Some([5.0, 10.0 + 80.0f64.sqrt()]));
    after.ci95 = None;
    assert_eq!(
        difference_interval(&before, &after),
        None,
        "it varies, and gives no interval"
    );
}

#[test]
fn where_nothing_varies_any_difference_is_real() {
    let mut after = sample::run();
    after.cells[0]
        .figures
        .get_mut("response_bytes")
        .expect("it has one")
        .mean += 1.0;
    let comparison = compare(&sample::run(), &after, &[]);
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
    let comparison = compare(&sample::run(), &after, &[rule("mean>+5%"), rule("mean<-5%")]);
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
    assert!(compare(&sample::run(), &sample::run(), &[rule("p95(no_such_figure)>+5%")]).breaks_a_rule());
}

#[test]
fn growth_from_nothing_breaks_every_upper_bound() {
    let (mut before, mut after) = (sample::run(), sample::run());
    before.cells[0]
        .figures
        .get_mut("extract_time")
        .expect("it has one")
        .mean = 0.0;
    after.cells[0].figures.get_mut("extract_time").expect("it has one").mean = 1e-9;
    let comparison = compare(&before, &after, &[rule("mean(extract_time)>+1000000%")]);
    assert_eq!(comparison.rules[0].breaches[0].change, None);
}

#[test]
fn cells_of_one_run_alone_and_other_settings_are_named() {
    let mut after = sample::run();
    after.cells[1].levels.insert("case".to_owned(), "Z".to_owned());
    after.seed = 2;
    let comparison = compare(&sample::run(), &after, &[]);
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
