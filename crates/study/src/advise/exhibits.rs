//! What is shown beside the answer? Every setting's sizes and computing, and what was left out.

use super::Study;
use super::candidates::Candidate;
use super::groups::Group;
use super::measure::Measured;
use crate::fidelity;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Axis, Chart, Point, Scale, Series, Source, Table};

/// One table a kind, of every setting considered, replayed or not; and what simulated times are worth.
pub(super) fn tables(study: &Study<'_>) -> Vec<Table> {
    let kinds = study.groups.iter().zip(&study.candidates);
    kinds
        .map(|(group, candidates)| levels(study, group, candidates))
        .chain([fidelity::exhibit()])
        .collect()
}

fn levels(study: &Study<'_>, group: &Group, candidates: &[Candidate]) -> Table {
    let mut sorted: Vec<&Candidate> = candidates.iter().collect();
    sorted.sort_by_key(|candidate| (candidate.size, candidate.codec));
    let row = |candidate: &Candidate| {
        let size = quantity(candidate.size.as_f64(), "B");
        vec![
            candidate.codec.to_string(),
            if candidate.estimated {
                format!("about {size}")
            } else {
                size
            },
            percent(candidate.size.as_f64() / group.plain.as_f64()),
            quantity(candidate.server.as_secs_f64(), "s"),
            quantity(candidate.client.as_secs_f64(), "s"),
            if study.settings.contains(&candidate.codec) && !group.left_as_is {
                "yes"
            } else {
                ""
            }
            .to_owned(),
        ]
    };
    Table {
        title: format!("Every setting on {}", group.name()),
        note: format!(
            "{} responses together. Computing is the middle of the cost table's samples, on a server {} and a client {} times slower. \
             Settings that others beat in size and computing are not replayed, unless they are usual defaults.",
            group.items.len(),
            study.options.server.slow_down,
            study.options.slow_client
        ),
        columns: [
            "Setting",
            "Size",
            "Of identity",
            "Server computing",
            "Client computing",
            "Replayed",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: sorted.into_iter().map(row).collect(),
    }
}

/// Of each link, the break-even search of the dynamic kind with the most bytes: a response's time against bandwidth.
pub(super) fn charts(study: &Study<'_>, measured: &[Measured]) -> Vec<Chart> {
    let of_link = |(place, measured): (usize, &Measured)| {
        let dynamic = |group: &usize| super::candidates::codes_on_request(study.groups[*group].origin);
        let group = (0..study.groups.len())
            .filter(dynamic)
            .find(|group| measured.break_even[*group].is_some())?;
        let search = measured.break_even[group]
            .as_ref()
            .filter(|search| !search.times.is_empty())?;
        let codec = measured.chosen[group].codec;
        let series = |name: String, which: usize| Series {
            name,
            source: Source::Measured,
            joined: true,
            points: search
                .times
                .iter()
                .map(|(rate, times)| Point {
                    x: *rate,
                    y: times[which],
                    spread: None,
                    label: None,
                })
                .collect(),
        };
        let axis = |label: &str, unit: &str| Axis {
            label: label.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Log,
        };
        Some(Chart {
            title: format!(
                "Where {codec} stops paying for {}, at the delays of {}",
                study.groups[group].name(),
                study.options.links[place].0
            ),
            note: "One response of the median size, from its request to its last octet decoded; lower is better."
                .to_owned(),
            x: axis("Bandwidth towards the client", "bit/s"),
            y: axis("Transfer time", "s"),
            series: vec![series("identity".to_owned(), 0), series(codec.to_string(), 1)],
        })
    };
    measured.iter().enumerate().filter_map(of_link).collect()
}
