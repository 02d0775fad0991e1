//! Tests of drawings that are small enough to read.

use super::*;

fn row(name: &str, start: f64, phases: &[(Phase, f64)], before: Option<[f64; 2]>) -> Row {
    Row {
        name: name.to_owned(),
        host: "a.example".to_owned(),
        details: "12 kB br of 40 kB".to_owned(),
        start,
        phases: phases.to_vec(),
        before,
        is_critical: false,
        connection: None,
    }
}

/// A document, a script that the page waits for, and an image that comes later than before.
fn small() -> Waterfall {
    let handshakes = [
        (Phase::Connect, 0.1),
        (Phase::Encrypt, 0.1),
        (Phase::Wait, 0.2),
        (Phase::Receive, 0.1),
    ];
    let mut rows = vec![
        row(
            "/img/logo.png",
            0.6,
            &[(Phase::Blocked, 0.3), (Phase::Wait, 0.2)],
            Some([0.6, 1.0]),
        ),
        row("/", 0.0, &handshakes, Some([0.0, 0.5])),
        row(
            "/static/scripts/application.js",
            0.5,
            &[
                (Phase::Send, 0.0),
                (Phase::Wait, 0.4),
                (Phase::Receive, 0.7),
                (Phase::Decode, 0.02),
            ],
            Some([0.5, 2.0]),
        ),
    ];
    (rows[1].is_critical, rows[2].is_critical) = (true, true);
    (rows[1].connection, rows[2].connection) = (Some(1), Some(2));
    Waterfall {
        title: "Every request".to_owned(),
        note: String::new(),
        load: Load {
            name: "as recommended".to_owned(),
            events: vec![
                (Event::DomContentLoaded, 0.5),
                (Event::LoadEvent, 1.1),
                (Event::PageEnd, 1.62),
            ],
        },
        before: Some(Load {
            name: "as recorded".to_owned(),
            events: vec![(Event::PageEnd, 2.0)],
        }),
        rows,
    }
}

#[test]
fn a_small_waterfall_is_drawn_like_this() {
    insta::assert_snapshot!(html(&small()));
}

/// The widths of the bars of a row in per cent, with what is left of them.
fn bars(row: &str) -> (f64, f64) {
    let percents = |key: &str| {
        let found = row.split(key).skip(1).map(|rest| rest.split('%').next().unwrap());
        found.map(|number| number.parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    let (_, own) = row.split_once("</s>").unwrap();
    let widths = own.split("width:").skip(1).map(|rest| rest.split('%').next().unwrap());
    let widths = widths.map(|number| number.parse::<f64>().unwrap()).sum();
    (percents("margin-left:").first().copied().unwrap_or_default(), widths)
}

#[test]
fn the_bars_of_a_row_add_up_to_its_length_and_the_last_one_ends_with_the_page() {
    let drawn = html(&small());
    let script = drawn.lines().find(|line| line.contains("/application.js")).unwrap();
    let (left, widths) = bars(script);
    let axis = 2.0 * 1.01;
    assert!((left - 100.0 * 0.5 / axis).abs() < 0.01, "{left}");
    assert!((widths - 100.0 * 1.12 / axis).abs() < 0.03, "{widths}");
    let page: f64 = drawn
        .split("--end:")
        .nth(1)
        .unwrap()
        .split('%')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((left + widths - page).abs() < 0.05, "{left} + {widths} = {page}");
}

#[test]
fn rows_are_sorted_and_say_how_much_sooner_they_end() {
    let drawn = html(&small());
    let last_cells: Vec<&str> = drawn
        .lines()
        .filter(|line| line.starts_with("<li class=\"row"))
        .map(|line| line.rsplit_once("<span class=\"d").unwrap().1)
        .collect();
    assert_eq!(
        last_cells,
        [
            " same\">same</span></li>",
            "\">0.38</span></li>",
            " later\">−0.10</span></li>"
        ]
    );
    let alone = Waterfall {
        before: None,
        rows: small()
            .rows
            .into_iter()
            .map(|row| Row { before: None, ..row })
            .collect(),
        ..small()
    };
    let drawn = html(&alone);
    assert!(drawn.contains("takes (s)") && drawn.contains(">1.12</span>"));
    assert!(
        !drawn.contains("<s>") && !drawn.contains("<s style"),
        "there is nothing to outline"
    );
}

#[test]
fn the_legend_explains_what_occurs_and_phases_differ_without_colour() {
    let drawn = html(&small());
    let legend = drawn.lines().find(|line| line.contains("class=\"key\"")).unwrap();
    for phase in Phase::ALL {
        let occurs = !matches!(phase, Phase::Lookup | Phase::Send);
        assert_eq!(legend.contains(phase.name()), occurs, "{phase:?}");
    }
    assert!(legend.contains("page time as recommended: 1.62 s") && legend.contains("page time as recorded: 2 s"));
    // What a class sets besides its colour.
    let form = |class: char| {
        let rules = crate::CSS
            .split('}')
            .filter(|rule| rule.contains(&format!(".waterfall i.{class}")));
        let own = rules.flat_map(|rule| rule.split_once('{').unwrap().1.split(';'));
        let mut form: Vec<String> = own
            .map(str::trim)
            .filter(|rule| !rule.starts_with("--c:"))
            .map(str::to_owned)
            .collect();
        form.sort();
        form
    };
    for (nth, one) in Phase::ALL.iter().enumerate() {
        for other in &Phase::ALL[nth + 1..] {
            assert_ne!(form(one.class()), form(other.class()), "{one:?} and {other:?}");
        }
    }
}

#[test]
fn orders_are_offered_where_rows_differ_in_them() {
    let orders = |waterfall: &Waterfall| {
        let drawn = html(waterfall);
        ["start", "saved", "lane"].map(|order| drawn.contains(&format!("value=\"{order}\"")))
    };
    assert_eq!(orders(&small()), [true, true, true]);
    let mut alone = small();
    alone.before = None;
    assert_eq!(orders(&alone), [true, false, true]);
    for row in &mut alone.rows {
        row.connection = None;
    }
    assert_eq!(orders(&alone), [false; 3], "one order is no choice");
    assert!(html(&small()).contains("data-lane=\"2 to a.example\""));
}

#[test]
fn many_rows_are_folded_by_host_below_those_that_the_page_waits_for() {
    let mut many = small();
    for number in 0..400 {
        let mut added = row(&format!("/{number}"), 0.7, &[(Phase::Wait, 0.2)], None);
        added.host = format!("{}.example", ["a", "b"][number % 2]);
        many.rows.push(added);
    }
    let drawn = html(&many);
    assert_eq!(drawn.matches("<details>").count(), 2);
    assert!(drawn.contains("<b>a.example (203)</b>") && drawn.contains("<b>b.example (200)</b>"));
    let (open, _) = drawn.split_once("<details>").unwrap();
    assert_eq!(open.matches("<li class=\"row").count(), 2, "the critical path");
    assert_eq!(drawn.matches("<li class=\"row").count(), 2 + 403);
}

#[test]
fn a_row_takes_a_few_hundred_bytes() {
    let mut many = small();
    let row = Row {
        is_critical: false,
        ..small().rows[2].clone()
    };
    many.rows = vec![row; 5_000];
    let bytes = html(&many).len() / 5_000;
    assert!(bytes < 600, "{bytes}");
}

#[test]
fn names_with_markup_stay_text_and_impossible_times_stay_inside() {
    const HOSTILE: &str = "\"></li><script>alert(1)</script>'\u{0}\n<img src=x>";
    let mut hostile = small();
    for row in &mut hostile.rows {
        row.name = HOSTILE.to_owned();
        row.host = HOSTILE.to_owned();
        row.details = HOSTILE.to_owned();
        row.start = f64::NAN;
        row.before = Some([f64::INFINITY, -1.0]);
    }
    hostile.load.name = HOSTILE.to_owned();
    hostile.before.as_mut().unwrap().name = HOSTILE.to_owned();
    hostile.rows = hostile.rows.iter().cycle().take(300).cloned().collect();
    let drawn = html(&hostile);
    assert!(!drawn.contains("<script") && !drawn.contains("<img") && !drawn.contains('\u{0}'));
    assert!(!drawn.contains("NaN%") && !drawn.contains("inf"));
}

#[test]
fn a_long_name_keeps_its_end() {
    assert_eq!(split_name("/app.js"), ("/app.js", ""));
    assert_eq!(
        split_name("/static/scripts/application.js"),
        ("/static/scripts/", "application.js")
    );
    let (head, tail) = split_name("/ユーザー/プロフィール/写真/ギャラリー.webp");
    assert_eq!(tail.chars().count(), NAME_TAIL, "{head}{tail}");
}
