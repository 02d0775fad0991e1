//! Which mechanisms let one of two or three clients gain where four share equally: experiment 3's open question.

use super::curves::mean;
use super::listed;
use crate::record_lookup;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Cell, Run, Table};

/// Shares count as unequal where Jain's index is below this: 2 clients of which one has 1.6 times as much as the other.
const UNEQUAL: f64 = 0.95;

/// The parts with one mechanism each, and what it is.
const MECHANISMS: [(&str, &str); 13] = [
    ("fairness-as-it-is", "none: all clients alike"),
    (
        "fairness-near-client",
        "a nearer client, whose frames survive collisions",
    ),
    ("fairness-fallback", "rate fallback"),
    ("fairness-far-client", "a client at 100 m, behind fading"),
    (
        "fairness-far-client-fallback",
        "a client at 100 m, behind fading, with rate fallback",
    ),
    ("fairness-syn-timeout", "SYNs repeated after 3, 6 and 12 s"),
    ("fairness-no-timeout", "such SYNs, and clients that wait for a minute"),
    ("fairness-short", "an interval of 3 s"),
    ("fairness-locked-phases", "clients that send at the same moments"),
    ("fairness-even-phases", "clients that send in a fixed order"),
    ("fairness-poisson", "requests at random times"),
    ("fairness-stagger", "clients that begin one after the other"),
    ("fairness-each", "a rate that is each client's"),
];

/// The mechanisms that make clients unlike each other.
const UNLIKE: [&str; 3] = [
    "fairness-near-client",
    "fairness-far-client",
    "fairness-far-client-fallback",
];

/// The least fairness of a mechanism over the rates, with 2, 3 and 4 clients, each the mean of its repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Least {
    part: &'static str,
    pub(super) mechanism: &'static str,
    pub(super) by_clients: [f64; 3],
}

impl Least {
    /// Whether it makes what the slides describe.
    pub(super) fn explains(&self) -> bool {
        let [two, three, four] = self.by_clients;
        two.min(three) < UNEQUAL && four > UNEQUAL
    }
}

/// The cells of a part with that many clients.
fn cells<'a>(run: &'a Run, part: &'a str, clients: &'a str) -> impl Iterator<Item = &'a Cell> {
    run.cells.iter().filter(move |cell| {
        cell.valid
            && cell.part.as_deref() == Some(part)
            && cell.levels.get("clients").is_some_and(|level| level == clients)
            && cell.figures.contains_key("fairness")
    })
}

pub(super) fn least(run: &Run) -> Vec<Least> {
    let of = |(part, mechanism): &(&'static str, &'static str)| {
        let least = |clients| {
            cells(run, part, clients)
                .map(|cell| mean(cell, "fairness"))
                .min_by(f64::total_cmp)
        };
        Some(Least {
            part,
            mechanism,
            by_clients: [least("2")?, least("3")?, least("4")?],
        })
    };
    MECHANISMS.iter().filter_map(of).collect()
}

/// The share of dropped packets that clients' own queues drop.
fn dropped_by_clients(run: &Run, part: &str, clients: &str) -> f64 {
    let sum = |figure: &str| cells(run, part, clients).map(|cell| mean(cell, figure)).sum::<f64>();
    let (own, server) = (sum("client_queue_drops"), sum("server_queue_drops"));
    if own + server > 0.0 { own / (own + server) } else { 0.0 }
}

pub(super) fn table(run: &Run) -> Option<Table> {
    let row = |least: &Least| {
        let mut row = vec![least.mechanism.to_owned()];
        row.extend(least.by_clients.map(|fairness| quantity(fairness, "1")));
        row
    };
    record_lookup::table(
        "Least fairness (Jain) by mechanism",
        "The least over the rates of a mechanism's part, each the mean of its repeats. The slides call 2 and 3 clients unfair at high load, and 4 equal.",
        &["Mechanism", "2 clients", "3 clients", "4 clients"],
        least(run).iter().map(row).collect(),
    )
}

pub(super) fn finding(run: &Run) -> Option<String> {
    let all = least(run);
    let (explaining, others): (Vec<_>, Vec<_>) = all.iter().partition(|least| least.explains());
    let of_others = others.iter().flat_map(|least: &&Least| least.by_clients);
    let (lowest, highest) = of_others.fold((1.0_f64, 0.0_f64), |(low, high), one| (low.min(one), high.max(one)));
    let range = format!("{} to {}", quantity(lowest, "1"), quantity(highest, "1"));
    let count = all.len();
    (count > 0).then_some(())?;
    let Some(first) = explaining.first() else {
        let text = format!(
            "None of {count} mechanisms gives a Jain's index below {UNEQUAL} with 2 or 3 clients and above it with 4: it is {range}."
        );
        return Some(text);
    };
    let named: Vec<String> = explaining.iter().map(|least| least.mechanism.to_owned()).collect();
    let mut text = format!(
        "Of {count} mechanisms, what gives a Jain's index below {UNEQUAL} with 2 or 3 clients and above it with 4 is {}; with the others it is {range}. With {}, clients' own queues drop {} of the dropped packets where there are 2 clients and {} where there are 4: the rest is dropped by the server's queue, which treats all alike.",
        listed(&named),
        first.mechanism,
        percent(dropped_by_clients(run, first.part, "2")),
        percent(dropped_by_clients(run, first.part, "4")),
    );
    if explaining.iter().all(|least| UNLIKE.contains(&least.part)) {
        text += " So the notebooks of the slides were probably not alike in place or radio: clients that are alike share equally here, whatever their number.";
    }
    Some(text)
}
