//! How much is carried, what drops first, and what of it is airtime: experiments 1, 3 and 4.

use super::curves::{self, CARRIED_SHARE, carried, curve, mean, peak};
use crate::record_lookup::levels_of;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Cell, Run};

pub(super) fn knee(run: &Run) -> Option<String> {
    let curve = curve(run, "request-rate", &[]);
    let (rate, highest) = peak(&curve, "transaction_rate")?;
    let (last, cell) = curve.last()?;
    Some(format!(
        "{}. The most that are completed is {} (at {rate} per second). At {last} per second {} are completed, the mean response time is {}, and {} fail. The slides print a knee at 85 per second and response times of over 2 s beyond it.",
        curves::knee(&curve).map_or_else(
            || format!("There is no knee up to {last} per second"),
            |knee| format!("The knee, the rate with the greatest ratio of transactions to mean response time, is at {knee} per second")
        ),
        quantity(highest, "1/s"),
        quantity(mean(cell, "transaction_rate"), "1/s"),
        quantity(mean(cell, "response_time"), "s"),
        percent(mean(cell, "error_rate")),
    ))
}

/// Why two clients with persistent connections carry less than one.
pub(super) fn persistence(run: &Run) -> Option<String> {
    let [one, two] = ["1", "2"].map(|clients| curve(run, "persistent", &[("clients", clients)]));
    let ((rate_one, most_one), (rate_two, most_two)) = (peak(&one, "goodput")?, peak(&two, "goodput")?);
    let mut text = format!(
        "Persistent connections carry {} with one client (at {rate_one} requests per second) and {} with two (at {rate_two}); the slides print 3.22 Mbit/s.",
        quantity(most_one, "bit/s"),
        quantity(most_two, "bit/s"),
    );
    // At a rate that both carry, they send the same data.
    let rate = carried(&one)?.min(carried(&two)?);
    let at = |curve: &[(f64, &Cell)], name: &str| {
        let cell = curve.iter().find(|(other, _)| *other == rate)?.1;
        Some(mean(cell, name))
    };
    let retries = [at(&one, "mac_retries")?, at(&two, "mac_retries")?];
    let airtime = [at(&one, "airtime_share")?, at(&two, "airtime_share")?];
    text += &format!(
        " At {rate} per second, which both carry, {} frames are sent again with one client and {} with two, while the air is in use for {} and {} of the time.",
        quantity(retries[0], "1"),
        quantity(retries[1], "1"),
        percent(airtime[0]),
        percent(airtime[1])
    );
    if retries[1] > 1.5 * retries[0] {
        text += if (airtime[1] / airtime[0] - 1.0).abs() < 0.02 {
            " So what two clients lose is lost in collisions, and in the longer back-off after them: a third station contends. It is not in more acknowledgements, which would take more airtime."
        } else {
            " So what two clients lose is lost in collisions, and the airtime that they and further frames take."
        };
    }
    Some(text)
}

/// What of the plateau is airtime, and what could be the server.
pub(super) fn airtime_or_server(run: &Run) -> Option<String> {
    const PART: &str = "server-unstated";
    let times = levels_of(run, PART, "service_time");
    let of = |time: &str| {
        let curve = curve(run, PART, &[("service_time", time)]);
        let (rate, most) = peak(&curve, "transaction_rate")?;
        let busy = curve
            .iter()
            .find(|(at, _)| *at == rate)
            .map(|(_, cell)| mean(cell, "airtime_share"))?;
        let low = curve.first().map(|(_, cell)| mean(cell, "response_time"))?;
        Some((most, carried(&curve)?, busy, low))
    };
    let all: Vec<_> = times.iter().filter_map(|time| Some((*time, of(time)?))).collect();
    let (_, (most, _, busy, low)) = all.first()?;
    let each: Vec<String> = all
        .iter()
        .map(|(time, (most, carried, busy, low))| {
            format!(
                "{time}: at most {}, carried up to {carried}/s, {} in use, {} at low load",
                quantity(*most, "1/s"),
                percent(*busy),
                quantity(*low, "s")
            )
        })
        .collect();
    // A server limits the rate once it loses more than the repeats differ by.
    let limits = all.iter().find(|(_, (with, ..))| *with < 0.95 * most);
    let limit = limits.map_or_else(
        || "No service time that was tried lowers the most by 5 %".to_owned(),
        |(time, (with, ..))| {
            format!(
                "The most falls by 5 % or more from {time} per request on (to {}), where the server could do no more by itself",
                quantity(*with, "1/s")
            )
        },
    );
    Some(format!(
        "By the server's time per request (a rate is carried where {} of its requests are completed): {}. {limit}; up to there the plateau is airtime, of which {} is frames at the most, and the rest the back-off and the spaces that the medium access demands. The printed response time at low load is 9 ms: it leaves at most {} for a server, drivers and kernels of 2003.",
        percent(CARRIED_SHARE),
        each.join("; "),
        percent(*busy),
        quantity((0.009 - low).max(0.0), "s"),
    ))
}
