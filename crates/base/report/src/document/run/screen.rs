//! The answer of a run on one screen: limits that broke, else the first chart or the cells, and the first finding.

use super::parts;
use crate::document::{Grid, factors, levels_text, readable};
use crate::number::{counted, interval, quantity, with_decimals};
use crate::record::{Cell, Chart, Doubt, DoubtKind, Figure, Point, Run, Scale, Series, Source, Threshold};
use crate::screen::{Bar, BarGroup, Screen, Tile, shell_word};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most rows of a picture.
const ROWS_MAX: usize = 8;
/// An answer has sentences until it has so many characters.
const ANSWER_LENGTH: usize = 160;

pub(super) fn screen(run: &Run) -> Screen {
    let broken: Vec<&Threshold> = run.thresholds.iter().filter(|threshold| !threshold.held).collect();
    let values = main_values(run);
    let (bars, table) = if !broken.is_empty() {
        (Vec::new(), Some(broken_limits(run, &broken)))
    } else if let Some(chart) = run.charts.iter().find(|chart| is_shown(chart)) {
        let chart = without_samples(chart);
        chart_bars(&chart).map_or_else(|| (Vec::new(), Some(chart_table(&chart))), |bars| (vec![bars], None))
    } else {
        (value_bars(&values), None)
    };
    Screen {
        tiles: tiles(run, bars.first()),
        question: format!("{}: {} {}.", run.study, run.question, size(run)),
        bars,
        table,
        doubts: doubts(run),
        answer: answer(run, &broken, &values),
        next: if run.run.is_empty() {
            String::new()
        } else {
            format!("lastmile report {} --details", shell_word(&run.run))
        },
        ..Screen::default()
    }
}

/// How many limits held, and the lowest and the highest bar.
fn tiles(run: &Run, bars: Option<&BarGroup>) -> Vec<Tile> {
    let held = run.thresholds.iter().filter(|threshold| threshold.held).count();
    let limits = format!("{held} of {}", run.thresholds.len());
    let limits = (!run.thresholds.is_empty()).then(|| Tile::new("limits", limits, "held"));
    let extremes = bars.map_or_else(Vec::new, |group| {
        let mut sorted: Vec<&Bar> = group.bars.iter().filter(|bar| bar.length.is_finite()).collect();
        sorted.sort_by(|one, other| one.length.total_cmp(&other.length));
        match sorted[..] {
            [lowest, .., highest] => vec![("lowest", lowest), ("highest", highest)],
            [only] => vec![("", only)],
            [] => Vec::new(),
        }
    });
    let tile = |(which, bar): (&str, &Bar)| {
        Tile::new(
            format!("{which} {}", bars.map_or("", |group| &group.name)).trim(),
            &bar.figure,
            &bar.label,
        )
    };
    limits.into_iter().chain(extremes.into_iter().map(tile)).collect()
}

/// `8 cells, 20 repeats each; simulated`.
fn size(run: &Run) -> String {
    let repeats = run.cells.iter().map(|cell| cell.repeats);
    let repeats = match (repeats.clone().min(), repeats.max()) {
        (Some(least), Some(most)) if least < most => format!(", {least} to {most} repeats each"),
        (Some(least), _) => format!(", {}{}", counted(least, "repeat"), each(run)),
        _ => String::new(),
    };
    let (differ, _) = factors(run.cells.iter().map(|cell| &cell.levels));
    let cell = match &differ[..] {
        [factor] if factor == "link" => factor,
        _ => "cell",
    };
    let cells = counted(run.cells.len() as u64, cell);
    format!("{cells}{repeats}; {}", crate::page::world(&run.world))
}

fn each(run: &Run) -> &'static str {
    if run.cells.len() > 1 { " each" } else { "" }
}

fn broken_limits(run: &Run, broken: &[&Threshold]) -> Grid {
    let row = |threshold: &&Threshold| {
        vec![
            threshold.rule.clone(),
            threshold_value(run, threshold),
            cell_name(threshold.part.as_deref(), &threshold.levels),
        ]
    };
    Grid::new("", "")
        .word_columns(["BROKEN limit"])
        .figure_columns(["found"])
        .word_columns(["in"])
        .plain_rows(broken.iter().map(row))
}

/// The value found, in the unit of the figure that the rule names.
pub(super) fn threshold_value(run: &Run, threshold: &Threshold) -> String {
    let figure = threshold.rule.split(['(', ')']).nth(1).unwrap_or_default();
    let unit = run.cells.iter().find_map(|cell| Some(&cell.figures.get(figure)?.unit));
    quantity(threshold.found, unit.map_or("1", String::as_str))
}

/// The chart without the values of single runs.
fn without_samples(chart: &Chart) -> Chart {
    let mut chart = chart.clone();
    chart.series.retain(|series| series.source != Source::Sample);
    chart
}

fn is_shown(chart: &Chart) -> bool {
    chart.x.scale != Scale::Stacked
        && chart.y.scale != Scale::Stacked
        && chart.series.iter().any(|series| !series.points.is_empty())
}

/// A chart of one series with few points as bars.
fn chart_bars(chart: &Chart) -> Option<BarGroup> {
    let [series] = chart.series.as_slice() else {
        return None;
    };
    let bar = |point: &Point| Bar {
        label: place_name(chart, point.x),
        length: point.y,
        figure: quantity(point.y, &chart.y.unit),
        change: String::new(),
        interval: point
            .spread
            .map_or_else(String::new, |spread| format!("({})", interval(spread, &chart.y.unit))),
    };
    (series.points.len() <= ROWS_MAX && series.points.iter().all(|point| point.y >= 0.0)).then(|| BarGroup {
        name: lower_first(&chart.y.label),
        detail: format!("by {}", lower_first(&chart.x.label)),
        bars: series.points.iter().map(bar).collect(),
    })
}

/// A chart as a table: a row for each place on the horizontal axis, the marked places among them, and a column for each series.
fn chart_table(chart: &Chart) -> Grid {
    let measured = chart.series.iter().filter(|series| series.source == Source::Measured);
    let mut places: Vec<f64> = measured
        .flat_map(|series| &series.points)
        .map(|point| point.x)
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let is_marked = |x: f64| chart.marks.iter().any(|mark| mark.x == x);
    let shown: Vec<f64> = spread_over(&places, is_marked);
    let names: Vec<String> = chart
        .series
        .iter()
        .enumerate()
        .map(|(at, series)| column_name(chart, at, series))
        .collect();
    let row = |x: &f64| {
        let marks = chart
            .marks
            .iter()
            .filter(|mark| mark.x == *x)
            .map(|mark| format!(", {}", mark.label.split(':').next().unwrap_or_default()));
        let mut row = vec![marks.fold(place_name(chart, *x), |name, mark| name + &mark)];
        row.extend(chart.series.iter().map(|series| value_at(chart, series, *x)));
        row
    };
    let mut caption = if chart.title.starts_with(&chart.y.label) || names.contains(&chart.y.label) {
        chart.title.clone()
    } else {
        format!("{} ({})", chart.title, lower_first(&chart.y.label))
    };
    if shown.len() < places.len() {
        caption += &format!(", {} of {} rows", shown.len(), places.len());
    }
    Grid::new(caption, "")
        .word_columns([lower_first(&chart.x.label)])
        .figure_columns(names)
        .plain_rows(shown.iter().map(row))
}

/// The name of a series; of a published one that follows the measured one of its name, `published` alone.
fn column_name(chart: &Chart, at: usize, series: &Series) -> String {
    if series.source != Source::Published {
        return series.name.clone();
    }
    let name = series.name.strip_suffix(", published").unwrap_or(&series.name);
    if at > 0 && chart.series[at - 1].name == name {
        "published".to_owned()
    } else if name.ends_with("published") {
        name.to_owned()
    } else {
        format!("{name}, published")
    }
}

/// At most [`ROWS_MAX`] of the places: the marked ones, the first, the last, and as many between as there is room for, evenly spread.
fn spread_over(places: &[f64], is_marked: impl Fn(f64) -> bool) -> Vec<f64> {
    if places.len() <= ROWS_MAX {
        return places.to_vec();
    }
    let marked = places.iter().copied().filter(|x| is_marked(*x)).take(ROWS_MAX - 2);
    let mut shown: Vec<f64> = marked.collect();
    let room = ROWS_MAX - shown.len();
    shown.extend((0..room).map(|at| places[at * (places.len() - 1) / (room - 1)]));
    shown.sort_by(f64::total_cmp);
    shown.dedup();
    shown
}

fn place_name(chart: &Chart, x: f64) -> String {
    match &chart.x.scale {
        Scale::Named(names) => names.get(x as usize).cloned().unwrap_or_default(),
        Scale::Linear | Scale::Log | Scale::Stacked => quantity(x, &chart.x.unit),
    }
}

fn value_at(chart: &Chart, series: &Series, x: f64) -> String {
    let mut points = series.points.iter().filter(|point| point.x == x);
    match (points.next(), points.next()) {
        (Some(point), None) => quantity(point.y, &chart.y.unit),
        (Some(point), Some(next)) => {
            let all = [point, next].into_iter().chain(points).map(|point| point.y);
            let [low, high] = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| {
                [low.min(y), high.max(y)]
            });
            interval([low, high], &chart.y.unit)
        }
        (None, _) => String::new(),
    }
}

/// A figure of the cells of a part.
struct PartValues<'a> {
    part: Option<&'a str>,
    figure: &'a str,
    values: Vec<(String, &'a Figure)>,
}

/// The figure of each part that tells its cells apart best: the longest time, else the most bytes, else the first figure.
fn main_values(run: &Run) -> Vec<PartValues<'_>> {
    parts(run)
        .into_iter()
        .filter_map(|(part, cells)| {
            let figure = main_figure(&cells)?;
            let (differ, _) = factors(cells.iter().map(|cell| &cell.levels));
            let name = |cell: &Cell| {
                let levels: Vec<&str> = differ
                    .iter()
                    .filter_map(|factor| Some(cell.levels.get(factor)?.as_str()))
                    .collect();
                if cell.valid {
                    levels.join(", ")
                } else {
                    format!("invalid: {}", levels.join(", "))
                }
            };
            let values = cells
                .iter()
                .filter_map(|cell| Some((name(cell), cell.figures.get(figure)?)));
            Some(PartValues {
                part,
                figure,
                values: values.collect(),
            })
        })
        .collect()
}

fn main_figure<'a>(cells: &[&'a Cell]) -> Option<&'a str> {
    let mut largest: BTreeMap<&str, (&str, f64)> = BTreeMap::new();
    for (name, figure) in cells
        .iter()
        .flat_map(|cell| &cell.figures)
        .filter(|(_, figure)| figure.mean.is_finite())
    {
        let entry = largest.entry(name).or_insert((&figure.unit, f64::NEG_INFINITY));
        entry.1 = entry.1.max(figure.mean);
    }
    let of_unit = |unit: &str| {
        let of_unit = largest.iter().filter(|(_, (known, _))| *known == unit);
        of_unit
            .max_by(|(_, (_, one)), (_, (_, other))| one.total_cmp(other))
            .map(|(name, _)| *name)
    };
    of_unit("s")
        .or_else(|| of_unit("B"))
        .or_else(|| largest.keys().next().copied())
}

/// A group of bars for each part, of at most [`ROWS_MAX`] cells in all: of more, those with the least and the greatest values.
fn value_bars(values: &[PartValues<'_>]) -> Vec<BarGroup> {
    let count: usize = values.iter().map(|part| part.values.len()).sum();
    let groups = values.iter().map(|part| {
        let mut cells: Vec<&(String, &Figure)> = part.values.iter().collect();
        if count > ROWS_MAX {
            cells.sort_by(|(_, one), (_, other)| one.mean.total_cmp(&other.mean));
            if cells.len() > 2 {
                cells.drain(1..cells.len() - 1);
            }
        }
        let bar = |(label, figure): &(String, &Figure)| Bar {
            label: label.clone(),
            length: figure.mean,
            figure: quantity(figure.mean, &figure.unit),
            change: String::new(),
            interval: figure
                .ci95
                .map_or_else(String::new, |ci| format!("({})", interval(ci, &figure.unit))),
        };
        BarGroup {
            name: part.part.map_or_else(|| readable(part.figure), readable),
            detail: part.part.map_or_else(String::new, |_| readable(part.figure)),
            bars: cells.into_iter().map(bar).collect(),
        }
    });
    groups.take(ROWS_MAX).collect()
}

/// The gravest kind first, then what is said of the most cells.
fn doubts(run: &Run) -> Vec<String> {
    let mut counts: Vec<(&Doubt, usize)> = Vec::new();
    for cell in &run.cells {
        // That a study of many parts asks for a figure which some of them lack changes no answer.
        let relevant = |doubt: &&Doubt| doubt.kind != DoubtKind::MissingFigure || !cell.valid;
        for doubt in cell.doubts.iter().filter(relevant) {
            match counts.iter_mut().find(|(known, _)| *known == doubt) {
                Some((_, count)) => *count += 1,
                None => counts.push((doubt, 1)),
            }
        }
    }
    counts.sort_by_key(|(doubt, count)| (doubt.kind, Reverse(*count)));
    let all = run.cells.len();
    let invalid = run.cells.iter().filter(|cell| !cell.valid).count();
    let mut texts = Vec::new();
    if invalid > 0 {
        texts.push(format!(
            "invalid: the figures of {invalid} of {} may not be used",
            counted(all as u64, "cell")
        ));
    }
    for (doubt, count) in counts {
        let text = Screen::doubt_texts([doubt]).concat();
        let of = if all == 1 {
            String::new()
        } else {
            format!(" ({count} of {all} cells)")
        };
        texts.push(format!("{}{of}", text.trim_end_matches('.')));
    }
    // One line has room for both: what is invalid, and why.
    if invalid > 0 && texts.len() > 1 {
        let why = texts.remove(1);
        texts[0] += &format!("; {why}");
    }
    texts
}

fn answer(run: &Run, broken: &[&Threshold], values: &[PartValues<'_>]) -> String {
    if let Some(first) = broken.first() {
        let held = run.thresholds.len() - broken.len();
        let of = counted(run.thresholds.len() as u64, "limit");
        return format!(
            "{held} of {of} held. {} is broken: {} in {}.",
            first.rule,
            threshold_value(run, first),
            cell_name(first.part.as_deref(), &first.levels)
        );
    }
    let Some(finding) = run.findings.first() else {
        let mut sentences: Vec<String> = values.iter().take(2).map(extremes).collect();
        if values.len() > 2 {
            sentences.push(format!(
                "({} with --details)",
                counted(values.len() as u64 - 2, "more part")
            ));
        }
        return sentences.join(" ");
    };
    // A sentence that names its subject needs no title.
    let title = finding.title.trim_end_matches(['.', ':']);
    let mut text = if run.findings.len() == 1 || finding.text.starts_with(title) {
        String::new()
    } else {
        format!("{title}: ")
    };
    let head = text.chars().count();
    for sentence in finding.text.split_inclusive(". ") {
        if text.chars().count() > head && text.chars().count() > ANSWER_LENGTH {
            break;
        }
        text += sentence;
    }
    let text = text.trim_end();
    match run.findings.len() - 1 {
        0 => text.to_owned(),
        more => format!("{text} ({} with --details)", counted(more as u64, "more finding")),
    }
}

/// `transfer time: 11.4 s with 2M-q30 to 16.4 s with 512k-q10, 1.44 times as much.`
fn extremes(part: &PartValues<'_>) -> String {
    let name = match part.part {
        Some(name) => format!("{}, {}", readable(name), readable(part.figure)),
        None => readable(part.figure),
    };
    let order = |one: &&(String, &Figure), other: &&(String, &Figure)| one.1.mean.total_cmp(&other.1.mean);
    let (Some(least), Some(most)) = (part.values.iter().min_by(order), part.values.iter().max_by(order)) else {
        return String::new();
    };
    let value = |(_, figure): &(String, &Figure)| quantity(figure.mean, &figure.unit);
    let times = most.1.mean / least.1.mean;
    if part.values.len() == 1 {
        format!("{name}: {}.", value(least))
    } else if value(least) == value(most) {
        format!("{name}: {} in all {} cells.", value(least), part.values.len())
    } else if least.1.mean > 0.0 {
        let times = with_decimals(times, if times < 10.0 { 2 } else { 0 });
        format!(
            "{name}: {} with {} to {} with {}, {times} times as much.",
            value(least),
            least.0,
            value(most),
            most.0
        )
    } else {
        format!(
            "{name}: {} with {} to {} with {}.",
            value(least),
            least.0,
            value(most),
            most.0
        )
    }
}

fn cell_name(part: Option<&str>, levels: &crate::record::Levels) -> String {
    match part {
        Some(part) => format!("{}: {}", readable(part), levels_text(levels)),
        None => levels_text(levels),
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    let is_word = text.chars().nth(1).is_some_and(char::is_lowercase);
    match characters.next() {
        Some(first) if is_word => first.to_lowercase().chain(characters).collect(),
        _ => text.to_owned(),
    }
}
