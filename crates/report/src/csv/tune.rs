//! How does a tuning become rows?

use super::{Rows, ends, number};
use crate::tune::{CodecPoint, Deflate, Direction, Point, Tuning};

/// A tuning: one row a point of the grid (scope `grid`), and one a codec, dictionary or policy beyond it (scope `beyond`), which has none of the
/// grid's parameters. What was measured on other messages than all is told by `measured_on`, `messages` and `bytes`.
pub fn tuning(tuning: &Tuning) -> String {
    let mut rows = Rows::default();
    rows.row([
        "direction",
        "scope",
        "setting",
        "takeover",
        "window_bits",
        "runs_as_window_bits",
        "level",
        "mem_level",
        "strategy",
        "dictionary",
        "policy",
        "measured_on",
        "messages",
        "bytes",
        "compressed_bytes",
        "ratio",
        "ratio_ci95_low",
        "ratio_ci95_high",
        "exact",
        "memory_bytes",
        "decompressor_memory_bytes",
        "cpu_seconds_n",
        "cpu_seconds_mean",
        "cpu_seconds_rms",
        "cpu_seconds_ci95_low",
        "cpu_seconds_ci95_high",
        "frontier",
        "recommended",
    ]);
    for one in &tuning.points {
        rows.row(point(tuning, one));
    }
    for one in &tuning.codecs {
        rows.row(codec(tuning, one));
    }
    rows.text
}

fn point(tuning: &Tuning, point: &Point) -> Vec<String> {
    let (messages, bytes) = tuning.stream(point.direction).map_or_else(Default::default, |stream| {
        (stream.messages.to_string(), stream.bytes.to_string())
    });
    let Deflate {
        takeover,
        window_bits,
        level,
        mem_level,
        strategy,
    } = point.deflate();
    let mut row = vec![
        point.direction.name().to_owned(),
        "grid".to_owned(),
        point.deflate().setting(),
    ];
    row.extend([
        takeover.to_string(),
        window_bits.to_string(),
        point.runs_as_window_bits.to_string(),
        level.to_string(),
        mem_level.to_string(),
        strategy.name().to_owned(),
        String::new(),
        String::new(),
        "all".to_owned(),
        messages,
        bytes,
        point.compressed_bytes.to_string(),
        point.ratio.to_string(),
    ]);
    row.extend(ends(point.ratio_ci95));
    row.extend([
        point.exact.to_string(),
        point.memory_bytes.to_string(),
        point.decompressor_memory_bytes.to_string(),
    ]);
    row.extend(computing(point.cpu_seconds.as_ref()));
    row.push(point.frontier.to_string());
    row.push(recommended(
        tuning,
        point.direction,
        &point.deflate().setting(),
        None,
        None,
    ));
    row
}

fn codec(tuning: &Tuning, point: &CodecPoint) -> Vec<String> {
    let mut row = vec![
        point.direction.name().to_owned(),
        "beyond".to_owned(),
        point.codec.clone(),
    ];
    row.extend(std::array::from_fn::<_, 6, _>(|_| String::new()));
    row.extend([
        point.dictionary.clone().unwrap_or_default(),
        point.policy.clone().unwrap_or_default(),
        point.measured_on.clone(),
        point.messages.to_string(),
        point.bytes.to_string(),
        point.compressed_bytes.to_string(),
        point.ratio.to_string(),
    ]);
    row.extend(ends(point.ratio_ci95));
    row.extend([
        point.exact.to_string(),
        point.memory_bytes.to_string(),
        point.decompressor_memory_bytes.to_string(),
    ]);
    row.extend(computing(point.cpu_seconds.as_ref()));
    row.push(point.frontier.to_string());
    let (dictionary, policy) = (point.dictionary.as_deref(), point.policy.as_deref());
    row.push(recommended(tuning, point.direction, &point.codec, dictionary, policy));
    row
}

fn computing(figure: Option<&crate::record::Figure>) -> [String; 5] {
    let Some(figure) = figure else {
        return Default::default();
    };
    let [low, high] = ends(figure.ci95);
    [
        figure.n.to_string(),
        number(Some(figure.mean)),
        number(Some(figure.rms)),
        low,
        high,
    ]
}

/// Whether the answer names it.
fn recommended(
    tuning: &Tuning,
    direction: Direction,
    setting: &str,
    dictionary: Option<&str>,
    policy: Option<&str>,
) -> String {
    let named = tuning.answer.choices.iter().any(|choice| {
        choice.direction == direction
            && choice.setting == setting
            && choice.dictionary.as_deref() == dictionary
            && choice.policy.as_deref() == policy
    });
    named.to_string()
}
