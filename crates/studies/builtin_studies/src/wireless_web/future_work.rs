//! What the slides leave to future work: a classroom, pages, 802.11a.

use super::curves::{CARRIED_SHARE, clients, curve, mean, peak};
use crate::record_lookup::{cell, levels_of};
use lastmile_report::number::quantity;
use lastmile_report::record::{Cell, Run};

pub(super) fn finding(run: &Run) -> Option<String> {
    let sentences: Vec<String> = [classroom(run), pages(run), faster(run)]
        .into_iter()
        .flatten()
        .collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// How many clients with a rate of their own are carried.
fn classroom(run: &Run) -> Option<String> {
    let of = |rate: &&str| {
        let each: f64 = rate.parse().ok()?;
        let numbers = levels_of(run, "classroom", "clients");
        let is_carried = |number: &&&str| {
            let offered = each * number.parse::<f64>().unwrap_or(f64::INFINITY);
            let found = cell(run, "classroom", &[("rate", rate), ("clients", number)]);
            found.is_some_and(|cell| mean(cell, "transaction_rate") >= CARRIED_SHARE * offered)
        };
        let most = numbers.iter().take_while(is_carried).last()?;
        let (last, least) = (
            numbers.last()?,
            cell(run, "classroom", &[("rate", rate), ("clients", numbers.last()?)])?,
        );
        Some(format!(
            "{} with {rate}/s each (with {last}, {} are completed, with a fairness of {})",
            clients(most),
            quantity(mean(least, "transaction_rate"), "1/s"),
            quantity(mean(least, "fairness"), "1")
        ))
    };
    let all: Vec<String> = levels_of(run, "classroom", "rate").iter().filter_map(of).collect();
    (!all.is_empty()).then(|| format!("A classroom: the medium carries {}.", all.join(", and ")))
}

fn pages(run: &Run) -> Option<String> {
    let of = |persistent: &str| {
        let curve = curve(run, "page", &[("persistent", persistent)]);
        // Response times count from the start of the page, and one in eleven is of the last request: its median is near the 95th percentile.
        let page_time = |cell: &Cell| cell.figures.get("response_time")?.quantiles.get("0.95").copied();
        let time = page_time(curve.first()?.1)?;
        // A page that is carried takes less than a second more than an unloaded one: our own choice.
        let is_fast = |(_, cell): &&(f64, &Cell)| page_time(cell).is_some_and(|of| of < time + 1.0);
        let fast = curve.iter().take_while(is_fast);
        Some((fast.last()?.0, time))
    };
    let ((rate_off, time_off), (rate_on, time_on)) = (of("off")?, of("on")?);
    Some(format!(
        "Pages of a document and ten objects take {} with a connection for each request and {} over persistent ones; up to {rate_off} and {rate_on} of them per second take less than a second more than that.",
        quantity(time_off, "s"),
        quantity(time_on, "s")
    ))
}

fn faster(run: &Run) -> Option<String> {
    let (_, slow) = peak(&curve(run, "request-rate", &[]), "transaction_rate")?;
    let (_, fast) = peak(&curve(run, "802-11a", &[("clients", "1")]), "transaction_rate")?;
    Some(format!(
        "802.11a at 54 Mbit/s carries {} of experiment 1's requests, {} times as many as 802.11b at 11 Mbit/s.",
        quantity(fast, "1/s"),
        quantity(fast / slow, "1")
    ))
}
