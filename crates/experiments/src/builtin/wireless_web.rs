//! The findings and tables of the study `wireless-web`: what the slides print, beside what we measured.

use super::record_lookup::{cell, levels_of};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Cell, Figure, Finding, Run, Table};

/// A rate counts as carried where at least this share of its requests is completed in time: our own choice.
const CARRIED_SHARE: f64 = 0.98;

pub(super) fn findings(run: &Run) -> Vec<Finding> {
    [knee(run), first_drops(run)].into_iter().flatten().collect()
}

pub(super) fn exhibits(run: &Run) -> Vec<Table> {
    let rows: Vec<Vec<String>> = printed(run).into_iter().map(Printed::row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![
        Table {
            title: "What the slides print, beside our figures".to_owned(),
            note: "The slides print these in words or as peaks that belong to no single cell. A rate counts as carried where at least 98 % of its requests are completed while requests are sent."
                .to_owned(),
            columns: ["Experiment", "Figure", "Printed", "Measured"].map(str::to_owned).to_vec(),
            rows,
        },
        tails(run),
    ]
}

/// A figure of the slides.
struct Printed {
    experiment: &'static str,
    figure: String,
    printed: &'static str,
    measured: String,
}

impl Printed {
    fn row(self) -> Vec<String> {
        vec![
            self.experiment.to_owned(),
            self.figure,
            self.printed.to_owned(),
            self.measured,
        ]
    }
}

/// A curve over the rate: the cells of a part that have `levels`, in the order of their rates.
fn curve<'a>(run: &'a Run, part: &str, levels: &[(&str, &str)]) -> Vec<(f64, &'a Cell)> {
    let rates = levels_of(run, part, "rate");
    let at = |rate: &str| {
        let levels: Vec<_> = levels.iter().copied().chain([("rate", rate)]).collect();
        Some((rate.parse().ok()?, cell(run, part, &levels)?))
    };
    rates.into_iter().filter_map(at).collect()
}

fn figure<'a>(cell: &'a Cell, name: &str) -> Option<&'a Figure> {
    cell.figures.get(name)
}

fn mean(cell: &Cell, name: &str) -> f64 {
    figure(cell, name).map_or(0.0, |figure| figure.mean)
}

/// The rate with the greatest mean of a figure, and that mean.
fn peak(curve: &[(f64, &Cell)], name: &str) -> Option<(f64, f64)> {
    let means = curve.iter().map(|(rate, cell)| (*rate, mean(cell, name)));
    means.max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// The highest rate up to which every rate is carried.
fn carried(curve: &[(f64, &Cell)]) -> Option<f64> {
    let is_carried = |(rate, cell): &&(f64, &Cell)| mean(cell, "transaction_rate") >= CARRIED_SHARE * rate;
    curve.iter().take_while(is_carried).last().map(|(rate, _)| *rate)
}

/// The 99th percentile of connection durations in terms of the median.
fn tail(cell: &Cell) -> Option<f64> {
    let quantiles = &figure(cell, "connection_duration")?.quantiles;
    Some(quantiles.get("0.99")? / quantiles.get("0.5")?)
}

fn printed(run: &Run) -> Vec<Printed> {
    let mut all = Vec::new();
    let mut add = |experiment, figure: &str, printed, measured: Option<String>| {
        if let Some(measured) = measured {
            let figure = figure.to_owned();
            all.push(Printed {
                experiment,
                figure,
                printed,
                measured,
            });
        }
    };
    let rate = |rate: f64| format!("{}/s", quantity(rate, ""));
    let at = |(at, value): (f64, f64), unit| format!("{} at {at}/s", quantity(value, unit));
    let one = curve(run, "request-rate", &[]);
    add("1", "Highest rate carried", "85/s", carried(&one).map(rate));
    let response = |(rate, cell): &(f64, &Cell)| Some(at((*rate, figure(cell, "response_time")?.mean), "s"));
    add(
        "1",
        "Response time at low load",
        "about 9 ms",
        one.first().and_then(response),
    );
    add(
        "1",
        "Response time in overload",
        "over 2 s",
        one.last().and_then(response),
    );
    let goodput = peak(&one, "goodput");
    add("1", "Peak goodput", "0.9 Mbit/s", goodput.map(|peak| at(peak, "bit/s")));
    add(
        "1",
        "Peak of transactions",
        "100/s",
        peak(&one, "transaction_rate").map(|peak| at(peak, "1/s")),
    );
    for clients in ["2", "3", "4"] {
        let curve = curve(run, "clients", &[("clients", clients)]);
        let is_four = clients == "4";
        let name = format!("Peak of transactions, {clients} clients");
        let printed = if is_four { "110/s" } else { "" };
        add(
            "3",
            &name,
            printed,
            peak(&curve, "transaction_rate").map(|peak| at(peak, "1/s")),
        );
        let least = curve.iter().map(|(rate, cell)| (*rate, mean(cell, "fairness")));
        let least = least.min_by(|(_, one), (_, other)| one.total_cmp(other));
        let printed = if is_four { "equal" } else { "unfair in overload" };
        add(
            "3",
            &format!("Least fairness (Jain), {clients} clients"),
            printed,
            least.map(|least| at(least, "1")),
        );
    }
    for clients in ["1", "2"] {
        let curve = curve(run, "persistent", &[("clients", clients)]);
        let persistent = peak(&curve, "goodput");
        let name = format!("Peak goodput, persistent, {clients} clients");
        add("4", &name, "3.22 Mbit/s", persistent.map(|peak| at(peak, "bit/s")));
        let ratio = persistent
            .zip(goodput)
            .map(|((_, many), (_, single))| quantity(many / single, "1"));
        add(
            "4",
            &format!("Improvement by persistence, {clients} clients"),
            "3.5",
            ratio,
        );
    }
    let bulk = peak(&curve(run, "bulk", &[]), "goodput");
    add(
        "-",
        "Peak goodput of large transfers",
        "up to 4 Mbit/s",
        bulk.map(|peak| at(peak, "bit/s")),
    );
    all
}

/// How skewed connection durations are.
fn tails(run: &Run) -> Table {
    let skewed = ["transmit-power", "channel", "power-unstated", "distance-unstated"];
    let is_skewed = |cell: &&Cell| cell.part.as_deref().is_some_and(|part| skewed.contains(&part));
    let row = |cell: &Cell| {
        let level = |key: &str| cell.levels.get(key).cloned().unwrap_or_default();
        let durations = figure(cell, "connection_duration")?;
        let requests = figure(cell, "response_time")?.n as f64 / cell.repeats as f64;
        Some(vec![
            cell.part.clone()?,
            level("radio"),
            level("transmit_power"),
            level("distance"),
            level("rate"),
            quantity(*durations.quantiles.get("0.5")?, "s"),
            quantity(tail(cell)?, "1"),
            quantity(mean(cell, "mac_retries") / requests, "1"),
            percent(mean(cell, "error_rate")),
        ])
    };
    Table {
        title: "Connection durations by power, distance and what the slides do not state".to_owned(),
        note: "The slides call durations below 10 mW and at 100 m skewed to the right, and from 20 mW on acceptable."
            .to_owned(),
        columns: [
            "Part",
            "Radio",
            "Power",
            "Distance",
            "Rate",
            "p50",
            "p99/p50",
            "Retries per request",
            "Failed",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: run.cells.iter().filter(is_skewed).filter_map(row).collect(),
    }
}

fn knee(run: &Run) -> Option<Finding> {
    let curve = curve(run, "request-rate", &[]);
    let carried = carried(&curve)?;
    let (rate, highest) = peak(&curve, "transaction_rate")?;
    let (last, cell) = curve.last()?;
    let text = format!(
        "One client's requests are carried up to {carried} per second, and the most that are completed is {} (at {rate} per second). At {last} per second {} are completed, the mean response time is {}, and {} fail. The slides print a knee at 85 per second and response times of over 2 s beyond it.",
        quantity(highest, "1/s"),
        quantity(mean(cell, "transaction_rate"), "1/s"),
        quantity(mean(cell, "response_time"), "s"),
        percent(mean(cell, "error_rate")),
    );
    Some(Finding {
        title: "The knee".to_owned(),
        text,
        inferred: false,
    })
}

fn first_drops(run: &Run) -> Option<Finding> {
    let first = |part: &str, levels: &[(&str, &str)]| {
        let curve = curve(run, part, levels);
        let drops = |cell: &Cell| [mean(cell, "client_queue_drops"), mean(cell, "server_queue_drops")];
        let (rate, [client, server]) = curve
            .iter()
            .map(|(rate, cell)| (*rate, drops(cell)))
            .find(|(_, drops)| drops.iter().sum::<f64>() > 0.0)?;
        Some(format!(
            "at {rate} requests per second (mean of {} at clients, {} at the server)",
            quantity(client, "1"),
            quantity(server, "1")
        ))
    };
    let text = format!(
        "With one client, queues first drop packets {}. With four clients, they first do {}. The slides find them at the client and at the server.",
        first("request-rate", &[])?,
        first("clients", &[("clients", "4")])?
    );
    Some(Finding {
        title: "What drops first".to_owned(),
        text,
        inferred: false,
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::CATALOGUE;
    use lastmile_study::cell::expand;
    use std::collections::BTreeMap;

    #[test]
    fn the_six_experiments_have_the_levels_of_the_slides() {
        let study = CATALOGUE.find("wireless-web").unwrap().study();
        let cells = expand(&study).unwrap();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for cell in &cells {
            let experiment = &cell.levels["experiment"];
            assert_eq!(cell.part.as_ref(), Some(experiment));
            *counts.entry(experiment).or_default() += 1;
            for key in ["rate", "clients", "persistent", "transmit_power", "distance"] {
                assert!(cell.levels.contains_key(key), "{key}: {}", cell.describe());
            }
        }
        let expected = [
            ("request-rate", 16),
            ("transfer-size", 9),
            ("clients", 48),
            ("persistent", 24),
            ("bulk", 4),
            ("transmit-power", 4),
            ("channel", 6),
        ];
        for (experiment, count) in expected {
            assert_eq!(counts[experiment], count, "{experiment}");
        }
        let emulated = expand(&study.in_world(lastmile_lab::settings::World::Emulated, false)).unwrap();
        assert_eq!(
            emulated.len(),
            8 + 6,
            "four rates in both worlds, and three with two servers"
        );
    }
}
