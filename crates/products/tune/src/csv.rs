//! Renders a tuning as CSV.

use crate::record::{Choice, CodecPoint, Deflate, DeliveryOutcome, LinkDelivery, Tuning};
use lastmile_report::csv::{Rows, interval_ends, number};

const COLUMNS: [&str; 36] = [
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
    "cpu_seconds_population_sd",
    "cpu_seconds_ci95_low",
    "cpu_seconds_ci95_high",
    "frontier",
    "recommended",
    "link",
    "world",
    "delivery_seconds_n",
    "delivery_seconds_mean",
    "delivery_seconds_p50",
    "delivery_seconds_p95",
    "link_bytes_mean",
    "saved_share",
];

/// A tuning: one row per point of the grid (scope `grid`), and one per codec, dictionary or policy beyond it (scope `beyond`), without the
/// grid's parameters. `measured_on`, `messages` and `bytes` say on which messages a row was measured. Delivery over a
/// link has one row per setting, link and world (scope `delivery`), with only the last columns filled.
pub(crate) fn tuning(tuning: &Tuning) -> Rows {
    let mut rows = Rows::default();
    rows.row(COLUMNS);
    for point in &tuning.points {
        let Deflate {
            takeover,
            window_bits,
            level,
            mem_level,
            strategy,
        } = point.deflate();
        let parameters = [
            takeover.to_string(),
            window_bits.to_string(),
            point.runs_as_window_bits.to_string(),
            level.to_string(),
            mem_level.to_string(),
            strategy.name().to_owned(),
        ];
        rows.row(setting(tuning, "grid", &tuning.as_codec_point(point), parameters));
    }
    for point in &tuning.codecs {
        rows.row(setting(tuning, "beyond", point, Default::default()));
    }
    for link in &tuning.links {
        link.outcomes
            .iter()
            .for_each(|outcome| rows.row(delivery(link, outcome)));
    }
    rows
}

/// A setting: of the grid, with its parameters, or beyond it, without.
fn setting(tuning: &Tuning, scope: &str, point: &CodecPoint, parameters: [String; 6]) -> Vec<String> {
    let mut row = vec![point.direction.name().to_owned(), scope.to_owned(), point.codec.clone()];
    row.extend(parameters);
    row.extend([
        point.dictionary.clone().unwrap_or_default(),
        point.policy.clone().unwrap_or_default(),
        point.measured_on.clone(),
        point.messages.to_string(),
        point.bytes.to_string(),
        point.compressed_bytes.to_string(),
        point.ratio.to_string(),
    ]);
    row.extend(interval_ends(point.ratio_ci95));
    row.extend([
        point.exact.to_string(),
        point.memory_bytes.to_string(),
        point.decompressor_memory_bytes.to_string(),
    ]);
    row.extend(cpu_columns(point.cpu_seconds.as_ref()));
    let is_recommended = |choice: &Choice| {
        choice.direction == point.direction
            && choice.setting == point.codec
            && choice.dictionary == point.dictionary
            && choice.policy == point.policy
    };
    row.push(point.frontier.to_string());
    row.push(tuning.answer.choices.iter().any(is_recommended).to_string());
    row.resize(COLUMNS.len(), String::new());
    row
}

/// The columns that a delivery leaves empty: everything between its setting and its link.
const DELIVERY_EMPTY_COLUMNS: usize = 25;

fn delivery(link: &LinkDelivery, outcome: &DeliveryOutcome) -> Vec<String> {
    let time = &outcome.delivery_time;
    let quantile = |p: &str| number(time.quantiles.get(p).copied());
    let mut row = vec![
        outcome.direction.name().to_owned(),
        "delivery".to_owned(),
        outcome.setting.clone(),
    ];
    row.extend(std::iter::repeat_n(String::new(), DELIVERY_EMPTY_COLUMNS));
    row.extend([
        link.name.clone(),
        link.world.clone(),
        time.n.to_string(),
        number(Some(time.mean)),
        quantile("0.5"),
        quantile("0.95"),
        number(Some(outcome.link_bytes.mean)),
        number(outcome.saving_against_identity.as_ref().map(|saving| saving.share)),
    ]);
    row
}

fn cpu_columns(figure: Option<&lastmile_report::record::Figure>) -> [String; 5] {
    let Some(figure) = figure else {
        return Default::default();
    };
    let [low, high] = interval_ends(figure.ci95);
    [
        figure.n.to_string(),
        number(Some(figure.mean)),
        number(Some(figure.population_sd)),
        low,
        high,
    ]
}

#[cfg(test)]
mod tests {
    use lastmile_report::csv::render;

    #[test]
    fn every_row_is_as_wide_as_the_head_and_a_delivery_names_its_link_and_world() {
        let record = crate::tests::fixtures::tuning();
        let text = render(&record);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        let plain = rows.iter().filter(|row| !row.join(",").contains('"'));
        plain.for_each(|row| assert_eq!(row.len(), rows[0].len(), "{row:?}"));
        let at = |row: &[&str], name: &str| {
            let index = rows[0].iter().position(|head| *head == name).unwrap();
            row[index].to_owned()
        };
        let deliveries: Vec<_> = rows.iter().filter(|row| row[1] == "delivery").collect();
        let outcomes: usize = record.links.iter().map(|link| link.outcomes.len()).sum();
        assert_eq!(deliveries.len(), outcomes);
        for delivery in deliveries {
            assert_eq!(at(delivery, "link"), record.links[0].name);
            assert_eq!(at(delivery, "world"), "sim");
            assert_eq!(at(delivery, "saved_share").is_empty(), delivery[2] == "identity");
            assert!(at(delivery, "delivery_seconds_p95").parse::<f64>().unwrap() > 0.0);
        }
    }
}
