use super::*;

const WHOLE: &str = r#"
name = "bulk"
question = "How long does a bulk transfer take?"
repeats = 3
seed = 7
interval = "2m"
fresh = "repeat"

[fixed]
workload = { kind = "bulk", bytes = "1 MB" }
delivery = "tcp"

[factors]
codec = ["identity", "gzip:6"]
link = ["wpt/3g", { name = "short-queue", rate = "512 kbit/s", one_way_delay = "50 ms", queue = "20 packets", loss = "0 %" }]

[[part]]
name = "cases"
title = "By codec"
[part.fixed]
link = "wpt/3g"

[[part]]
name = "links"

[measure]
figures = ["transfer_time", "queue_drops"]

[[ratio]]
name = "rssdr"
title = "Response stream size decrease ratio"
figure = "response_bytes"
form = "decrease"
factor = "codec"
base = "identity"
treated = "gzip:6"
parts = ["cases"]
levels = ["link"]
published = [{ link = "wpt/3g", value = 0.93 }, { link = "short-queue", value = [0.007, 0.022] }]

[[chart]]
title = "What the size buys"
x = { figure = "response_bytes", scale = "log" }
y = { ratios = ["rssdr"] }
published = [{ name = "printed", points = [{ x = 27769, y = 0.98, label = "B" }] }]

[[chart]]
title = "By link"
x = { factor = "link" }
y = { figure = "transfer_time" }
series = ["codec"]

[emu]
repeats = 3
parts = ["cases"]

[thresholds]
"p95(transfer_time)" = "< 20 s"
"#;

fn refusal(from: &str, to: &str) -> String {
    assert!(WHOLE.contains(from));
    Study::parse("bulk.toml", &WHOLE.replacen(from, to, 1))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_whole_study_is_read() {
    let study = Study::parse("bulk.toml", WHOLE).unwrap();
    assert_eq!(study.interval, Duration::from_secs(120));
    assert_eq!(study.fresh, Fresh::Repeat);
    assert_eq!(study.varied_keys(), ["link", "codec"]);
    assert_eq!(
        study.ratios[0].published[1].value,
        lastmile_report::record::Published::Range([0.007, 0.022])
    );
}

#[test]
fn the_expanded_study_reads_back_as_the_same_study() {
    let study = Study::parse("bulk.toml", WHOLE).unwrap();
    assert_eq!(Study::parse("study.toml", &study.expanded()), Ok(study));
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_known_one() {
    assert_eq!(
        refusal("repeats = 3", "repeat = 3"),
        "bulk.toml: TOML parse error at line 4, column 1\n  |\n4 | repeat = 3\n  | ^^^^^^\nunknown field `repeat`, expected one of \
         `name`, `question`, `repeats`, `seed`, `world`, `interval`, `fresh`, `fixed`, `factors`, `part`, `measure`, `published`, `ratio`, \
         `chart`, `finding`, `emu`, `thresholds`\ndid you mean `repeats`?"
    );
    let in_a_part = refusal("[part.fixed]\nlink =", "[part.fixed]\nlnk =");
    assert!(
        in_a_part.contains("line 21") && in_a_part.ends_with("did you mean `link`?"),
        "{in_a_part}"
    );
    let of_a_link = refusal("repeats = 3", "loss = 3");
    assert!(
        of_a_link.ends_with("link = [\"wpt/3g\", \"wpt/3g+loss=...\"]"),
        "{of_a_link}"
    );
}

#[test]
fn a_value_out_of_place_is_refused_with_its_line() {
    let unit = refusal("interval = \"2m\"", "interval = \"2\"");
    assert!(
        unit.contains("line 6") && unit.contains("its unit is missing"),
        "{unit}"
    );
    let none = refusal("repeats = 3", "repeats = 0");
    assert!(none.contains("line 4") && none.contains("nonzero"), "{none}");
    let figure = refusal("\"transfer_time\"", "\"transfertime\"");
    assert!(
        figure.contains("line 27") && figure.contains("did you mean \"transfer_time\""),
        "{figure}"
    );
    let word = refusal("fresh = \"repeat\"", "fresh = \"repeats\"");
    assert!(
        word.contains("line 7") && word.ends_with("did you mean `repeat`?"),
        "{word}"
    );
    let axis = refusal(
        "x = { factor = \"link\" }",
        "x = { factor = \"link\", figure = \"goodput\" }",
    );
    assert!(axis.contains("either a `figure`, a `factor` or the `time`"), "{axis}");
    assert!(refusal("name = \"bulk\"", "name = \"../bulk\"").contains("cannot name a run folder"));
}

#[test]
fn a_reference_to_what_the_study_lacks_is_refused() {
    assert_eq!(
        refusal("base = \"identity\"", "base = \"identty\""),
        "bulk.toml: ratio \"rssdr\": \"identty\" is not a level of the factor \"codec\"; did you mean \"identity\"?"
    );
    assert!(refusal("parts = [\"cases\"]\nlevels", "parts = [\"case\"]\nlevels").contains("did you mean \"cases\"?"));
    assert!(
        refusal("levels = [\"link\"]", "levels = [\"round_trip\"]")
            .contains("\"round_trip\" is not a factor of this study")
    );
    assert!(refusal("{ ratios = [\"rssdr\"] }", "{ ratios = [\"etdr\"] }").contains("no ratio is called \"etdr\""));
    assert!(refusal("{ x = 27769,", "{ x = \"B\",").contains("x is \"B\", but the axis shows a figure; give a number"));
    assert!(refusal("name = \"links\"", "name = \"cases\"").contains("two parts are called \"cases\""));
}

#[test]
fn a_file_that_is_no_toml_is_refused_without_a_panic() {
    for text in [
        "",
        "name",
        "name = \"a\"",
        "\u{0}\u{1}",
        "[[[",
        "name = \"a\"\nquestion = \"b\"\nfactors = 3",
    ] {
        assert!(Study::parse("x.toml", text).is_err(), "{text:?}");
    }
}

#[test]
fn the_plan_for_the_emulated_world_says_how_much_is_run_there() {
    let study = Study::parse("bulk.toml", WHOLE).unwrap();
    let cells = |study: &Study| crate::cell::expand(study).unwrap().cells;
    let simulated = cells(&study).len();
    let planned = study.clone().in_world(World::Emulated, false);
    assert_eq!((planned.repeats.get(), planned.interval), (3, Duration::ZERO));
    assert!(cells(&planned).iter().all(|cell| cell.part.as_deref() == Some("cases")));
    assert!(
        cells(&planned)
            .iter()
            .all(|cell| cell.repeats.get() == 3 && cell.world() == World::Emulated)
    );
    let full = study.clone().in_world(World::Emulated, true);
    assert_eq!((full.repeats, full.interval), (study.repeats, study.interval));
    assert_eq!(cells(&full).len(), simulated);
}

#[test]
fn a_part_may_be_for_one_world_and_have_repeats_of_its_own() {
    let toml = WHOLE.replacen("name = \"cases\"", "name = \"cases\"\nworld = \"emu\"\nrepeats = 30", 1);
    let study = Study::parse("bulk.toml", &toml).unwrap();
    let cells = crate::cell::expand(&study).unwrap().cells;
    assert!(cells.iter().all(|cell| cell.part.as_deref() != Some("cases")));
    let cells = crate::cell::expand(&study.in_world(World::Emulated, true))
        .unwrap()
        .cells;
    assert!(
        cells
            .iter()
            .any(|cell| cell.part.as_deref() == Some("cases") && cell.repeats.get() == 30)
    );
}

/// The error of a study whose chart has these axes.
fn chart_error(axes: &str) -> String {
    let text = format!("name = 'c'\nquestion = '?'\n[factors]\nrate = [10, 20]\n[[chart]]\ntitle = 't'\n{axes}\n");
    Study::parse("c.toml", &text).map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn the_axes_of_each_kind_of_chart_go_together() {
    for good in [
        "x = { figure = 'response_time', scale = 'log' }\ny = { share = 'above', scale = 'log' }",
        "x = { time = true }\ny = { timelines = ['client_queue', 'server_queue'] }\nwhere = { rate = ['10', '20'] }",
        "x = { factor = 'rate', scale = 'linear' }\ny = { stack = ['data_airtime_share', 'idle_airtime_share'], title = 'Airtime' }",
        "x = { factor = 'rate', scale = 'linear' }\ny = { figure = 'goodput' }\nmark = { most = 'goodput', per = 'response_time', label = 'knee' }",
    ] {
        assert_eq!(chart_error(good), "", "{good}");
    }
    for (bad, why) in [
        (
            "x = { factor = 'rate' }\ny = { share = 'at-most' }",
            "a share needs the figure that it is of",
        ),
        (
            "x = { factor = 'rate' }\ny = { timelines = ['client_queue'] }",
            "timelines need x = { time = true }",
        ),
        (
            "x = { time = true }\ny = { figure = 'goodput' }",
            "needs y = { timelines = [...] }",
        ),
        (
            "x = { time = false }\ny = { timelines = ['goodput'] }",
            "either a `figure`, a `factor` or the `time`",
        ),
        (
            "x = { figure = 'goodput' }\ny = { stack = ['goodput'], title = 'a' }",
            "stacked figures need a factor",
        ),
        (
            "x = { factor = 'rate' }\ny = { stack = ['goodput'] }",
            "a `stack` needs a `title`",
        ),
        (
            "x = { factor = 'rate' }\ny = { figure = 'goodput', share = 'above' }",
            "a vertical axis shows either",
        ),
        (
            "x = { figure = 'goodput' }\ny = { share = 'above' }\nmark = { most = 'goodput', label = 'a' }",
            "a mark belongs to a curve",
        ),
    ] {
        assert!(chart_error(bad).contains(why), "{bad}: {}", chart_error(bad));
    }
}
