//! `lastmile compare`: runs in folders and in files, and the gate that a pull request passes.

use crate::place::Place;

/// A run, and one over a link with half the rate.
fn two_runs(place: &Place) {
    let study = |rate| {
        format!(
            "name = 'mine'\nquestion = ''\nrepeats = 1\n[fixed]\nworkload = {{ kind = 'bulk', bytes = '50 kB' }}\ndelivery = 'tcp'\n\
             [factors]\nlink = [{{ name = 'own', rate = '{rate} kbit/s', one_way_delay = '20 ms' }}]"
        )
    };
    for (name, rate) in [("before", 800), ("after", 400)] {
        let file = place.file("mine.toml", study(rate));
        let record = place.data(&["run", file, "--out", name, "--format", "json"]);
        place.file(&format!("{name}.json"), record);
    }
}

#[test]
fn a_regression_exits_99_and_an_improvement_does_not() {
    let place = Place::new();
    two_runs(&place);
    let rule = "mean(transfer_time)>+5%";
    let worse = place.run(&["compare", "before", "after", "--fail-on", rule, "--format", "json"]);
    assert_eq!(worse.code, Some(99), "{}", worse.stderr);
    let comparison = crate::place::parsed(&worse.stdout);
    let change = comparison["cells"][0]["changes"]["transfer_time"]["change"]
        .as_f64()
        .unwrap();
    assert!(
        (0.5..1.0).contains(&change),
        "half the rate takes up to twice as long: {change}"
    );
    place.data(&["compare", "after", "before", "--fail-on", rule]);
    place.data(&["compare", "before", "after"]);
}

#[test]
fn a_folder_and_the_record_that_was_printed_of_it_are_the_same() {
    let place = Place::new();
    two_runs(&place);
    for format in ["table", "json", "csv", "md"] {
        let folders = place.data(&["compare", "before", "after", "--format", format]);
        let files = place.data(&["compare", "before.json", "after.json", "--format", format]);
        assert_eq!(folders, files);
        assert!(!folders.is_empty());
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let place = Place::new();
    two_runs(&place);
    place.data(&["run", "bulk", "--out", "bulk"]);
    place
        .run(&["compare", "before", "bulk"])
        .refused(2, &["no cell in common", "\"mine\"", "\"bulk\""]);
    place
        .run(&["compare", "before", "nowhere"])
        .refused(2, &["nowhere does not exist"]);
    let foreign = place.file("foreign.json", "{}");
    place
        .run(&["compare", "before", foreign])
        .refused(2, &["foreign.json is no record of a run"]);
    place
        .run(&["compare", "before", "after", "--fail-on", "p95>5"])
        .refused(2, &["is not a rule", "p95(transfer_time)>+5%"]);
}
