//! The tables of settings: the answer, the settings with a name and the frontier of the grid; then codecs and policies beyond the grid.

use super::{Detail, computing, memory, ratio};
use crate::record::{CodecPoint, Deflate, Direction, Point, Stream, Tuning};
use lastmile_report::document::{Block, Grid, RowEmphasis};
use lastmile_report::number::{count, counted, quantity, signed_percent};
use std::collections::BTreeSet;

/// How many rows of a table of settings a short answer has: our own choice.
const ROWS_SHORT: usize = 16;

/// The settings that have a name. Those of 2013 are P. Thorson's for short JSON messages.
const NAMED: [(&str, Deflate); 5] = [
    ("zlib's default", Deflate::DEFAULT),
    (
        "no takeover",
        Deflate {
            takeover: false,
            ..Deflate::DEFAULT
        },
    ),
    ("balanced (2013)", sized(11, 4)),
    ("small (2013)", sized(11, 1)),
    ("Python websockets", sized(12, 5)),
];

/// zlib's default with another memory.
const fn sized(window_bits: u8, mem_level: u8) -> Deflate {
    Deflate {
        window_bits,
        mem_level,
        ..Deflate::DEFAULT
    }
}

/// The remarks on a point: whether it is the one to use, its name, whether it is on the frontier.
pub(super) fn remarks(tuning: &Tuning, point: &Point) -> Vec<&'static str> {
    let deflate = point.deflate();
    let chosen = tuning
        .answer
        .choices
        .iter()
        .any(|choice| choice.direction == point.direction && choice.deflate == Some(deflate));
    let named = NAMED
        .iter()
        .filter(|(_, named)| *named == deflate)
        .map(|(name, _)| *name);
    chosen
        .then_some("to use")
        .into_iter()
        .chain(named)
        .chain(point.frontier.then_some("frontier"))
        .collect()
}

/// The answer, the settings with a name and the frontier, or every point in full detail. The smallest ratio comes first.
pub(crate) fn settings(tuning: &Tuning, stream: &Stream, detail: Detail) -> Option<Block> {
    let of_stream = tuning.points.iter().filter(|point| point.direction == stream.direction);
    let mut shown: Vec<(&Point, Vec<&str>)> = of_stream.map(|point| (point, remarks(tuning, point))).collect();
    let there = shown.len();
    let default = tuning
        .point(stream.direction, &Deflate::DEFAULT)
        .map(|point| point.ratio);
    if detail != Detail::All {
        let (frontier, named): (Vec<_>, Vec<_>) = shown
            .into_iter()
            .filter(|(_, remarks)| !remarks.is_empty())
            .partition(|(_, remarks)| *remarks == ["frontier"]);
        shown = thinned(frontier, ROWS_SHORT.saturating_sub(named.len()));
        shown.extend(named);
    }
    shown.sort_by(|(one, _), (other, _)| {
        let order = one.ratio.total_cmp(&other.ratio);
        order.then(one.memory_bytes.cmp(&other.memory_bytes))
    });
    let left_out = match there - shown.len() {
        0 => String::new(),
        more => format!(
            " {} of the {} points are left out here.",
            count(more as u64),
            count(there as u64)
        ),
    };
    let exact = tuning
        .points
        .iter()
        .any(|point| point.direction == stream.direction && !point.exact);
    let sampled = match stream.sampled_bytes.filter(|_| exact) {
        Some(bytes) => format!(
            " The intervals are 95 % confidence intervals, from a sample of {}.",
            quantity(bytes as f64, "B")
        ),
        None => String::new(),
    };
    let note = format!(
        "permessage-deflate by zlib {}. A setting is on the frontier if no other is as good in ratio, memory and CPU time and better in one.{sampled}{left_out}",
        tuning.zlib
    );
    let mut grid = Grid::new("Settings", note)
        .word_columns(["setting", "what it is"])
        .figure_columns(["compressed", "ratio", "against default", "memory", "CPU time"]);
    for (point, remarks) in shown {
        let tone = if remarks.contains(&"to use") {
            RowEmphasis::Good
        } else {
            RowEmphasis::Plain
        };
        let cells = vec![
            point.deflate().setting(),
            remarks.join(", "),
            quantity(point.compressed_bytes as f64, "B"),
            ratio(point.ratio, point.ratio_ci95),
            against(point.ratio, default),
            memory(point.memory_bytes),
            computing(point.cpu_seconds.as_ref()),
        ];
        grid.row(cells, tone, &[]);
    }
    (!grid.rows.is_empty()).then_some(Block::Grid(grid))
}

/// At most `room` of `all`, evenly spaced in the order of their memory, including both ends.
fn thinned<'a>(mut all: Vec<(&'a Point, Vec<&'static str>)>, room: usize) -> Vec<(&'a Point, Vec<&'static str>)> {
    all.sort_by_key(|(point, _)| point.memory_bytes);
    if all.len() <= room {
        return all;
    }
    let last = all.len() - 1;
    let wanted: BTreeSet<usize> = (0..room)
        .map(|nth| nth * last / room.max(2).saturating_sub(1))
        .collect();
    let kept = all.into_iter().enumerate().filter(|(at, _)| wanted.contains(at));
    kept.map(|(_, point)| point).collect()
}

/// Other codecs, dictionaries and policies, in a table for each part of the messages that they were measured on.
pub(crate) fn beyond(tuning: &Tuning, direction: Direction, detail: Detail) -> Vec<Block> {
    let of_direction: Vec<&CodecPoint> = tuning
        .codecs
        .iter()
        .filter(|point| point.direction == direction)
        .collect();
    let mut parts: Vec<&str> = Vec::new();
    for point in &of_direction {
        if !parts.contains(&point.measured_on.as_str()) {
            parts.push(&point.measured_on);
        }
    }
    let blocks = parts.into_iter().map(|part| {
        let mut points: Vec<&CodecPoint> = of_direction
            .iter()
            .copied()
            .filter(|point| point.measured_on == part)
            .collect();
        points.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
        let there = points.len();
        if detail != Detail::All {
            points.truncate(ROWS_SHORT);
        }
        let left_out = match there - points.len() {
            0 => String::new(),
            more => format!(
                " Rows with larger ratios that are left out here: {}.",
                count(more as u64)
            ),
        };
        Block::Grid(beyond_grid(part, &points, &left_out))
    });
    blocks.collect()
}

fn beyond_grid(part: &str, points: &[&CodecPoint], left_out: &str) -> Grid {
    let (messages, bytes) = points.first().map_or((0, 0), |point| (point.messages, point.bytes));
    let brotli = if points.iter().any(|point| point.codec.starts_with("brotli")) {
        " Sizes and CPU time of brotli are those of rust-brotli, its memory that which the encoder in C requests."
    } else {
        ""
    };
    let note = format!(
        "Measured on {part}: {}, {}. Memory does not include the dictionary, which all connections share.{brotli}{left_out}",
        counted(messages, "message"),
        quantity(bytes as f64, "B"),
    );
    let title = match part {
        "all" => "Other codecs and policies".to_owned(),
        part => format!("Other codecs and dictionaries, on {part}"),
    };
    let row = |point: &&CodecPoint| {
        vec![
            point.codec.clone(),
            point.dictionary.clone().unwrap_or_default(),
            point.policy.clone().unwrap_or_default(),
            quantity(point.compressed_bytes as f64, "B"),
            ratio(point.ratio, point.ratio_ci95),
            memory(point.memory_bytes),
            computing(point.cpu_seconds.as_ref()),
            if point.frontier { "yes" } else { "" }.to_owned(),
        ]
    };
    Grid::new(title, note)
        .word_columns(["codec", "dictionary", "policy"])
        .figure_columns(["compressed", "ratio", "memory", "CPU time"])
        .word_columns(["frontier"])
        .plain_rows(points.iter().map(row))
        .without_empty_columns()
}

/// How much larger the ratio is than with zlib's default; empty if that is not known or the same.
fn against(ratio: f64, default: Option<f64>) -> String {
    match default {
        Some(default) if default > 0.0 && ratio != default => signed_percent(ratio / default - 1.0),
        _ => String::new(),
    }
}
