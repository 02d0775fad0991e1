use super::*;
use crate::journal::Outcomes;
use crate::run_folder::Meta;
use lastmile_report::record::Figure;
use lastmile_testbed::cpu_cost_model::CostTable;

const STUDY: &str =
    "name = 't'\nquestion = ''\n[[part]]\nname = 'cases'\n[part.factors]\ncodec = ['identity', 'gzip:6', 'gzip:9']\n";

fn parsed(finding: &str) -> Result<Study, String> {
    let toml = format!("{STUDY}[[finding]]\ntitle = 'On bytes'\n{finding}");
    Study::parse("t.toml", &toml).map_err(|error| error.to_string())
}

/// A run whose cells have these means of `response_bytes`.
fn run(means: &[(&str, f64)]) -> Run {
    let cell = |(codec, mean): &(&str, f64)| Cell {
        part: Some("cases".to_owned()),
        levels: Levels::from([("codec".to_owned(), (*codec).to_owned())]),
        repeats: 1,
        failed: 0,
        figures: BTreeMap::from([("response_bytes".to_owned(), figure(*mean))]),
        valid: true,
        doubts: Vec::new(),
    };
    let study = Study::parse("t.toml", STUDY).unwrap();
    let expanded = crate::cell::expand(&study).unwrap();
    let meta = Meta::new(&study, &CostTable::free(), "");
    let mut run = crate::summary::summarise(&expanded, &Outcomes::default(), &meta, "");
    run.cells = means.iter().map(cell).collect();
    run
}

fn figure(mean: f64) -> Figure {
    serde_json::from_value(serde_json::json!({
        "unit": "B", "per": "run", "n": 1, "mean": mean, "population_sd": 0.0, "quantiles": {}, "varied": [], "run_means": [],
        "bootstrap": false, "first_against_rest": [mean, 2.0]
    }))
    .unwrap()
}

fn text(finding: &str, means: &[(&str, f64)]) -> Option<String> {
    let study = parsed(finding).unwrap();
    assert_eq!(Study::parse("again", &study.expanded()).unwrap(), study);
    study.findings[0].in_run(&run(means)).map(|finding| finding.text)
}

const MEANS: [(&str, f64); 3] = [("identity", 1024.0), ("gzip:6", 512.0), ("gzip:9", 256.0)];

#[test]
fn expressions_are_written_in_the_format_that_is_asked_for() {
    let text = |expression: &str| {
        let values = "[finding.values]\nplain = 'mean(response_bytes; cases; codec=identity)'\nof = 'mean(response_bytes; cases)'";
        text(&format!("text = '{{{expression}}}'\n{values}"), &MEANS).unwrap()
    };
    assert_eq!(text("plain|KiB"), "1 KiB");
    assert_eq!(text("plain|B"), "1.02 kB");
    assert_eq!(text("1 - of(codec=gzip:6) / plain|%"), "50 %");
    assert_eq!(text("2 * (plain - of(codec=gzip:9))"), "1536");
    assert_eq!(text("abs(1 - 3)|.2"), "2.00");
    assert_eq!(text("of(codec=gzip:6) / plain|slower"), "50 % faster");
    assert_eq!(
        text("first(response_bytes; cases; codec=gzip:6) / rest(response_bytes; cases; codec=gzip:6)"),
        "256"
    );
    assert_eq!(text("max(codec of cases: of) / min(codec of cases: of)"), "4");
    assert_eq!(text("count(cells of cases: of) + max(1, 2)"), "5");
}

#[test]
fn a_text_is_repeated_for_levels_picked_among_them_and_depends_on_rules() {
    let of = "text = '{codec} {mean(response_bytes; cases)|B}'\neach = 'codec of cases'";
    let list = |more: &str| {
        text(
            &format!("text = '{{list}}'\n[finding.names]\nidentity = 'plain'\n[finding.texts.list]\n{of}\n{more}"),
            &MEANS,
        )
    };
    assert_eq!(
        list("except = ['gzip:9']"),
        Some("plain 1.02 kB; gzip:6 512 B".to_owned())
    );
    assert_eq!(list("pick = 'last'\njoin = ', '"), Some("gzip:9 256 B".to_owned()));
    assert_eq!(
        list("pick = 'mean(response_bytes; cases)'"),
        Some("plain 1.02 kB".to_owned())
    );
    assert_eq!(
        list("when = ['mean(response_bytes; cases) < 300']"),
        Some("gzip:9 256 B".to_owned())
    );
    assert_eq!(list("when = ['1 > 2']\notherwise = 'none'"), Some("none".to_owned()));
    assert_eq!(list("when = ['1 > 2']"), None);
}

#[test]
fn a_claim_says_whether_it_held_and_a_finding_is_left_out_where_a_cell_is_missing() {
    let claim = |rules: &str| text(&format!("text = 'So.'\nholds = [{rules}]"), &MEANS).unwrap();
    assert_eq!(claim("'2 > 1', '1 > 0 and 1 <= 1'"), "Held. So.");
    assert_eq!(claim("'2 > 1', '1 > 0 and 1 < 1'"), "Held in part. So.");
    assert_eq!(claim("'1 < 1'"), "Did not hold. So.");
    let lacking_gzip_9 = |expression: &str| text(&format!("text = '{{{expression}}}'"), &MEANS[..2]);
    assert_eq!(lacking_gzip_9("mean(response_bytes; cases; codec=gzip:9)"), None);
    assert_eq!(lacking_gzip_9("0 / 0|%"), None, "a share of nothing is no number");
}

#[test]
fn the_greatest_of_some_levels_is_not_taken_for_that_of_all() {
    let invalid = |statistic: &str| {
        let mut run = run(&MEANS);
        run.cells[0].valid = false;
        let finding = parsed(&format!(
            "text = '{{{statistic}(codec of cases: mean(response_bytes; cases))}}'"
        ))
        .unwrap();
        finding.findings[0].in_run(&run).map(|finding| finding.text)
    };
    assert_eq!([invalid("max"), invalid("min")], [None, None]);
    assert_eq!(invalid("count"), Some("2".to_owned()));
}

#[test]
fn what_a_study_lacks_is_refused_by_name() {
    let refusal = |text: &str| parsed(&format!("text = '{{{text}}}'")).unwrap_err();
    assert!(refusal("mean(response_bytes; case)").contains("finding \"On bytes\": no part is called \"case\""));
    assert!(refusal("mean(response_bites; cases)").contains("response_bytes"));
    assert!(refusal("mean(response_bytes; cases; codec=gzip:7)").contains("gzip:6"));
    assert!(refusal("mean(response_bytes; cases; codek=gzip:6)").contains("\"codec\""));
    assert!(refusal("mean(response_bytes; cases)").contains("of several cells; name a level of codec"));
    assert!(refusal("mode(response_bytes; cases)").contains("unknown statistic"));
    assert!(refusal("ratio(none)").contains("no ratio"));
    assert!(refusal("1|furlong").contains("no format"));
    assert!(refusal("max(codec in cases: 1)").contains("codec of cases"));
    assert!(refusal("(1").contains("not closed") && refusal("1 1").contains("not understood"));
    assert!(refusal("of").contains("nothing is called"));
    let circle = parsed("text = '{a}'\n[finding.values]\na = 'b'\nb = 'a'").unwrap_err();
    assert!(circle.contains("stands for itself"), "{circle}");
}

#[test]
fn a_finding_with_rules_and_no_text_is_refused() {
    assert!(parsed("holds = ['1 > 0']").unwrap_err().contains("it has no text"));
    assert_eq!(
        parsed("").unwrap().findings[0].in_run(&run(&MEANS)),
        None,
        "that of a computed one"
    );
}
