//! Tests of drawings that are small enough to read.

use super::*;

fn axis(label: &str, unit: &str, scale: Scale) -> Axis {
    Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale,
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

fn series(name: &str, source: Source, points: Vec<Point>) -> Series {
    Series {
        name: name.to_owned(),
        source,
        joined: true,
        points,
    }
}

fn saved(series: Vec<Series>) -> Chart {
    Chart {
        title: "What it saves".to_owned(),
        note: "Higher is better.".to_owned(),
        x: axis("Loss", "s", Scale::Linear),
        y: axis("Time saved", "1", Scale::Linear),
        series,
        ..Chart::default()
    }
}

#[test]
fn measured_published_and_predicted_differ_without_colour() {
    let of = |source| series("etdr", source, vec![point(0.0, 0.4), point(1.0, 0.1)]);
    let chart = saved(vec![of(Source::Measured), of(Source::Published), of(Source::Predicted)]);
    let drawn = svg(&chart, Layout::Narrow, "a");
    let without_colour: Vec<String> = ["c1 measured", "c1 published", "c1 predicted"]
        .iter()
        .map(|class| {
            let start = drawn
                .find(&format!("<g class=\"{class}\">"))
                .expect("the legend has it");
            drawn[start..]
                .split("<text")
                .next()
                .expect("there is a start")
                .replace(class, "")
        })
        .collect();
    assert!(without_colour[1].contains("stroke-dasharray") && without_colour[2].contains("stroke-dasharray"));
    assert!(!without_colour[0].contains("stroke-dasharray"));
    assert_ne!(without_colour[1], without_colour[2]);
    assert!(
        CSS.contains(".published .mark { fill: var(--paper) }"),
        "published marks are hollow"
    );
}

#[test]
fn measured_and_published_of_one_thing_share_their_colour() {
    let of = |name, source| series(name, source, vec![point(0.0, 0.4)]);
    for published in ["etdr", "etdr, published"] {
        let chart = saved(vec![
            of("rssdr", Source::Measured),
            of("etdr", Source::Measured),
            of(published, Source::Published),
        ]);
        let drawn = svg(&chart, Layout::Wide, "a");
        assert!(drawn.contains("c2 measured") && drawn.contains("c2 published") && !drawn.contains("c3"));
        assert!(drawn.contains(">etdr, measured<") && drawn.contains(">etdr, published<"));
    }
}

#[test]
fn a_small_chart_is_drawn_like_this() {
    let mut points = vec![point(0.0, 0.4), point(1.0, -0.1)];
    points[0].spread = Some([0.35, 0.45]);
    points[1].label = Some("A".to_owned());
    let chart = saved(vec![series("etdr", Source::Measured, points)]);
    insta::assert_snapshot!(svg(&chart, Layout::Narrow, "a"));
}

#[test]
fn a_series_too_dense_for_marks_is_a_line_alone() {
    let drawn = |count: usize, joined| {
        let points = (0..count).map(|n| point(n as f64, n as f64)).collect();
        let mut dense = series("octets", Source::Measured, points);
        dense.joined = joined;
        let chart = Chart {
            x: axis("Time", "s", Scale::Linear),
            ..saved(vec![dense])
        };
        let svg = svg(&chart, Layout::Wide, "a");
        (
            svg.matches("class=\"line\"").count(),
            svg.matches("class=\"mark\"").count(),
        )
    };
    assert_eq!(drawn(24, true), (1, 24));
    assert_eq!(drawn(50, true), (1, 50));
    assert_eq!(drawn(500, true), (1, 0));
    assert_eq!(drawn(500, false), (0, 500), "marks that no line joins are all there is");
}

#[test]
fn one_chart_gives_the_same_bytes_twice() {
    let chart = saved(vec![series(
        "etdr",
        Source::Measured,
        vec![point(0.0, 0.4), point(1.0, 1.0 / 3.0)],
    )]);
    assert_eq!(svg(&chart, Layout::Wide, "a"), svg(&chart.clone(), Layout::Wide, "a"));
}

#[test]
fn a_point_without_a_place_is_counted_and_not_drawn() {
    let mut chart = saved(vec![series(
        "etdr",
        Source::Measured,
        vec![point(0.0, 0.4), point(f64::INFINITY, 0.1), point(1.0, f64::NAN)],
    )]);
    let drawn = svg(&chart, Layout::Wide, "a");
    assert!(drawn.contains("are not shown: 2."));
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
    chart.series.clear();
    assert!(
        svg(&chart, Layout::Wide, "a").ends_with("</svg>\n"),
        "a chart of nothing is still a drawing"
    );
}

#[test]
fn labels_at_one_place_do_not_cover_each_other() {
    let labelled = |y: f64, text: &str| Point {
        label: Some(text.to_owned()),
        ..point(1.0, y)
    };
    // In the middle, where there is room on all sides.
    let near = vec![
        point(0.0, 0.1),
        labelled(0.400, "first"),
        labelled(0.401, "second"),
        point(2.0, 0.7),
    ];
    let chart = saved(vec![series("etdr", Source::Measured, near)]);
    let drawn = svg(&chart, Layout::Wide, "a");
    let label_positions: Vec<&str> = drawn
        .lines()
        .filter(|line| line.contains("class=\"label"))
        .map(|line| line.split("text-anchor").next().unwrap())
        .collect();
    assert_eq!(label_positions.len(), 2);
    let number = |position: &str, name: &str| {
        let from = position.split_once(&format!(" {name}=\"")).unwrap().1;
        from.split('"').next().unwrap().parse::<f64>().unwrap()
    };
    let apart = |name| (number(label_positions[0], name) - number(label_positions[1], name)).abs();
    assert!(apart("x") > 30.0 || apart("y") > 9.0, "{label_positions:?}");
}

#[test]
fn of_many_labels_at_one_place_only_those_with_room_are_written() {
    let labelled = |at: u32| Point {
        label: Some(format!("setting-{at}")),
        ..point(0.0, 0.4)
    };
    let chart = saved(vec![series("etdr", Source::Measured, (0..40).map(labelled).collect())]);
    let drawn = svg(&chart, Layout::Narrow, "a");
    let mut places: Vec<&str> = drawn
        .lines()
        .filter(|line| line.contains("class=\"label"))
        .map(|line| line.split("text-anchor").next().unwrap())
        .collect();
    let written = places.len();
    places.sort_unstable();
    places.dedup();
    // A point has eight places around it.
    assert!((1..=8).contains(&written), "{written}");
    assert_eq!(places.len(), written, "each at a place of its own");
}

#[test]
fn names_with_markup_stay_text() {
    let mut chart = saved(vec![series(
        "</text><script>",
        Source::Published,
        vec![point(0.0, 0.4)],
    )]);
    chart.title = "<script>alert(1)</script>".to_owned();
    chart.x.scale = Scale::Named(vec!["\"><img src=x>".to_owned()]);
    let drawn = svg(&chart, Layout::Wide, "chart");
    assert!(!drawn.contains("<script") && !drawn.contains("<img"));
}

#[test]
fn what_comes_first_lies_on_top() {
    let of = |name| series(name, Source::Measured, vec![point(0.0, 0.4)]);
    let drawn = svg(&saved(vec![of("to use"), of("others")]), Layout::Wide, "a");
    let tool_tip = |name: &str| drawn.find(&format!("<title>{name}: ")).expect("it is drawn");
    assert!(
        tool_tip("to use") > tool_tip("others"),
        "what is drawn later covers what was drawn before"
    );
}

#[test]
fn stacked_series_lie_on_top_of_each_other_and_fill_the_axis_together() {
    let of = |name, low: f64, high: f64| series(name, Source::Measured, vec![point(0.0, low), point(10.0, high)]);
    let mut chart = saved(vec![of("data", 0.2, 0.7), of("idle", 0.8, 0.3)]);
    (chart.x.scale, chart.y.scale) = (Scale::Linear, Scale::Stacked);
    let areas = |drawn: &str| -> Vec<String> {
        let paths = drawn.split("<path class=\"area\" d=\"").skip(1);
        paths.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let drawn = svg(&chart, Layout::Wide, "a");
    let found = areas(&drawn);
    assert_eq!(found.len(), 2);
    let ends = |path: &str| -> Vec<f64> {
        let corners = path.trim_end_matches('Z').split(['M', 'L']).skip(1);
        corners
            .map(|corner| corner.split(' ').nth(1).unwrap().parse().unwrap())
            .collect()
    };
    let (data, idle) = (ends(&found[0]), ends(&found[1]));
    // Each path runs along its upper edge and back along its lower one.
    assert_eq!(
        [data[0], data[1]],
        [idle[3], idle[2]],
        "idle time begins where data ends"
    );
    assert_eq!(idle[0], idle[1], "together they are always 100 %");
    assert!(data[2] == data[3] && data[0] > data[1]);
    assert!(drawn.contains("data: 70 %"), "{drawn}");

    chart.x.scale = Scale::Named(vec!["1".to_owned()]);
    assert_eq!(
        svg(&chart, Layout::Wide, "a").matches("<rect class=\"area\"").count(),
        2 + 2,
        "legend and bars"
    );
    assert_eq!(
        drawn.matches("url(#a-wide-hatch1)").count(),
        0,
        "the first has no lines, and the remainder none"
    );
}

#[test]
fn a_mark_has_a_ring_a_line_to_the_axis_and_its_label() {
    let mut chart = saved(vec![series(
        "response",
        Source::Measured,
        (1..=9).map(|at| point(f64::from(at), f64::from(at) / 10.0)).collect(),
    )]);
    chart.x.scale = Scale::Linear;
    let mark = |x: f64, y: f64| Mark {
        x,
        y,
        label: "the knee: 5/s <".to_owned(),
    };
    chart.marks = vec![mark(5.0, 0.5), mark(5.0, f64::NAN)];
    let drawn = svg(&chart, Layout::Narrow, "a");
    assert_eq!(
        drawn.matches("class=\"ring\"").count(),
        1,
        "a mark without a place is left out"
    );
    assert_eq!(drawn.matches("class=\"drop\"").count(), 1);
    assert!(drawn.contains(">the knee: 5/s &lt;</text>"));
}

#[test]
fn dense_lines_keep_some_marks_where_there_are_several() {
    let line = |name, high: f64| {
        let points = (0..500).map(|n| point(f64::from(n), f64::from(n) * high)).collect();
        series(name, Source::Measured, points)
    };
    let mut chart = saved(vec![line("one", 1.0), line("two", 2.0)]);
    chart.x.scale = Scale::Linear;
    let drawn = svg(&chart, Layout::Wide, "a");
    let marks = |name: &str| drawn.matches(&format!("<title>{name}: ")).count();
    assert_eq!((marks("one"), marks("two")), (7, 7));
}

#[test]
fn what_lies_beyond_a_limit_is_shaded_and_its_label_is_written() {
    let mut chart = saved(vec![series(
        "response",
        Source::Measured,
        (1..=9).map(|at| point(f64::from(at), f64::from(at) / 10.0)).collect(),
    )]);
    let limit = |axis, most: f64, label: &str| Limit {
        axis,
        most,
        label: label.to_owned(),
    };
    chart.limits = vec![
        limit(LimitAxis::X, 5.0, "does not fit <"),
        limit(LimitAxis::Y, 0.95, "p99 < 950 ms"),
        limit(LimitAxis::X, 5e6, "far away"),
        limit(LimitAxis::X, f64::NAN, "unknown"),
    ];
    let drawn = svg(&chart, Layout::Narrow, "a");
    assert_eq!(drawn.matches("class=\"beyond\"").count(), 2);
    assert!(drawn.contains(">does not fit &lt;</text>") && drawn.contains(">p99 &lt; 950 ms</text>"));
    assert!(
        drawn.contains("far away: 5,000,000 s.") || drawn.contains("far away: "),
        "it is described"
    );
    assert!(!drawn.contains(">far away</text>"));
}

#[test]
fn a_lower_panel_has_the_same_horizontal_axis() {
    let line = |name, from: u32, to: u32| {
        series(
            name,
            Source::Measured,
            (from..=to).map(|at| point(f64::from(at), f64::from(at))).collect(),
        )
    };
    let mut chart = saved(vec![line("response", 1, 6)]);
    chart.below = Some(Box::new(saved(vec![line("failed", 4, 9)])));
    let drawn = svg(&chart, Layout::Wide, "a");
    let x_of = |title: &str| {
        let mark = drawn[drawn.find(title).expect(title)..].split("cx=\"").nth(1).unwrap();
        mark.split('"').next().unwrap().to_owned()
    };
    for at in 4..=6 {
        let [upper, lower] = ["response", "failed"].map(|name| x_of(&format!("<title>{name}: {at}00 % at {at} s<")));
        assert_eq!(upper, lower);
    }
}

#[test]
fn single_runs_share_colour_and_lane_with_their_mean_and_no_legend() {
    let mut chart = saved(vec![
        series("time", Source::Measured, vec![point(0.0, 0.4)]),
        series("time", Source::Sample, vec![point(0.0, 0.3), point(0.0, 0.5)]),
    ]);
    chart.x.scale = Scale::Named(vec!["cable".to_owned()]);
    let drawn = svg(&chart, Layout::Wide, "a");
    assert_eq!(drawn.matches("class=\"sample\"").count(), 2);
    assert_eq!(drawn.matches("class=\"legend\"").count(), 0);
    let heights: Vec<&str> = drawn
        .split(" cy=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(
        heights.len() == 3 && heights.iter().all(|y| *y == heights[0]),
        "{heights:?}"
    );
}

#[test]
fn every_label_of_the_first_series_is_written_on_a_phone() {
    let cloud: Vec<Point> = (0..400).map(|n| point(f64::from(n % 20), f64::from(n / 20))).collect();
    let mut to_use = series("to use", Source::Measured, vec![point(9.5, 9.5)]);
    to_use.points[0].label = Some("to use, deflate:6/w13/m6 with a long name, 6.70 µs".to_owned());
    let mut others = series("others", Source::Measured, cloud);
    (to_use.joined, others.joined) = (false, false);
    let drawn = svg(&saved(vec![to_use, others]), Layout::Narrow, "a");
    assert!(drawn.contains(">to use</text>"), "{drawn}");
}

#[test]
fn legends_and_titles_of_axes_are_whole_on_a_phone() {
    let names = [
        "Extracting time decrease ratio, by processor, slow-down 1",
        "Extracting time decrease ratio, by processor, slow-down 10",
    ];
    let mut chart = saved(
        names
            .map(|name| series(name, Source::Measured, vec![point(0.0, 0.4)]))
            .to_vec(),
    );
    chart.y.label = "The time that is saved, as a share of the time without compression".to_owned();
    chart.x.label = "The rate of the link towards its users, headers of every layer included".to_owned();
    let drawn = svg(&chart, Layout::Narrow, "a");
    assert!(!drawn.contains('…') && drawn.contains("slow-down 10</text>"), "{drawn}");
    let ends: Vec<f64> = drawn
        .split("<text class=\"legend\"")
        .skip(1)
        .map(|rest| {
            rest.split(" y=\"")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .parse()
                .unwrap()
        })
        .collect();
    assert!(ends.len() == 4 && ends.is_sorted(), "two lines each: {ends:?}");
}

/// The linear parts of red, green and blue of `#rrggbb`.
fn linear(colour: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| {
        let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            libm::pow((part + 0.055) / 1.055, 2.4)
        }
    })
}

fn times(matrix: [[f64; 3]; 3], colour: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(colour).map(|(a, b)| a * b).sum())
}

/// CIE 1976 L*, a* and b* with the white D65.
fn lab(linear: [f64; 3]) -> [f64; 3] {
    let xyz = times(
        [
            [0.4124, 0.3576, 0.1805],
            [0.2126, 0.7152, 0.0722],
            [0.0193, 0.1192, 0.9505],
        ],
        linear,
    );
    let f = |t: f64| {
        if t > 0.008_856 {
            libm::cbrt(t)
        } else {
            7.787 * t + 16.0 / 116.0
        }
    };
    let [x, y, z] = [f(xyz[0] / 0.950_47), f(xyz[1]), f(xyz[2] / 1.088_83)];
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

#[test]
fn colours_differ_with_every_colour_vision_and_stand_out_from_the_paper() {
    // Machado, Oliveira and Fernandes (2009), severity 1: none, protanopia, deuteranopia, tritanopia.
    const VISIONS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];
    let css = include_str!("chart.css");
    let (light, dark) = css.split_once("@media screen").unwrap();
    for (theme, paper) in [(light, "#ffffff"), (dark, "#171716")] {
        let colours: Vec<&str> = (1..=7)
            .map(|at| {
                theme
                    .split(&format!("--c{at}: "))
                    .nth(1)
                    .unwrap()
                    .split(';')
                    .next()
                    .unwrap()
            })
            .collect();
        let luminance = |colour: &str| times([[0.2126, 0.7152, 0.0722]; 3], linear(colour))[0] + 0.05;
        for (at, one) in colours.iter().enumerate() {
            let contrast = luminance(one) / luminance(paper);
            assert!(contrast.max(1.0 / contrast) >= 3.0, "{one} on {paper}");
            for (other, vision) in colours[..at]
                .iter()
                .flat_map(|other| VISIONS.map(|vision| (other, vision)))
            {
                let [one_lab, other_lab] =
                    [one, other].map(|colour| lab(times(vision, linear(colour)).map(|part| part.max(0.0))));
                let distance = one_lab
                    .iter()
                    .zip(other_lab)
                    .map(|(a, b)| (a - b) * (a - b))
                    .sum::<f64>()
                    .sqrt();
                assert!(distance >= 15.0, "{one} and {other}: {distance}");
            }
        }
    }
}

#[test]
fn many_series_of_every_source_differ_without_colour() {
    for source in [Source::Measured, Source::Published, Source::Predicted] {
        let all: Vec<Series> = (0..6)
            .map(|at| series(&format!("series {at}"), source, vec![point(0.0, f64::from(at))]))
            .collect();
        let mut forms: Vec<String> = Vec::new();
        for style in markers::styles(&all) {
            let mut form = String::new();
            style.write_mark(&mut form, 0.0, 0.0).unwrap();
            assert!(!forms.contains(&form), "{source:?}: {form}");
            forms.push(form);
        }
    }
}
