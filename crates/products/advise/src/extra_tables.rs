//! The extra tables and charts of an advice: sizes and CPU times of every setting, and the break-even curves.

use super::PreparedReplay;
use super::candidates::Candidate;
use super::link_measurement::LinkMeasurement;
use super::response_classes::Group;
use crate::record::ReplayedHost;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Axis, Chart, Point, Scale, Series, Source, Table};

/// The protocol of each host where they differ, and one table per kind, of every setting considered, replayed or not.
pub(super) fn tables(prepared: &PreparedReplay<'_>, hosts: &[ReplayedHost]) -> Vec<Table> {
    let kinds = prepared.groups.iter().zip(&prepared.candidates);
    let levels = kinds.map(|(group, candidates)| levels(prepared, group, candidates));
    protocols(hosts).into_iter().chain(levels).collect()
}

/// The protocol of each host; none where all have the one that they were recorded with.
fn protocols(hosts: &[ReplayedHost]) -> Option<Table> {
    let first = hosts.first()?;
    let differs = |host: &ReplayedHost| {
        let replayed = host.protocol.name();
        host.protocol != first.protocol || host.recorded.as_deref().is_some_and(|recorded| recorded != replayed)
    };
    let row = |host: &ReplayedHost| {
        vec![
            host.host.clone(),
            host.responses.to_string(),
            host.recorded.clone().unwrap_or_default(),
            host.protocol.name().to_owned(),
            host.connections.to_string(),
        ]
    };
    hosts.iter().any(differs).then(|| Table {
        title: "The protocol of each host".to_owned(),
        note: "The recorded version is the one of most of a host's responses; none where the traffic does not say."
            .to_owned(),
        columns: ["Host", "Responses", "Recorded", "Replayed", "Connections at most"]
            .map(str::to_owned)
            .to_vec(),
        rows: hosts.iter().map(row).collect(),
    })
}

fn levels(prepared: &PreparedReplay<'_>, group: &Group, candidates: &[Candidate]) -> Table {
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
            if prepared.settings.contains(&candidate.codec) && !group.already_compressed {
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
            "Sums over {} responses. CPU times are medians of the cost table's samples, on a server {} and a client {} times slower. \
             Settings that another one beats in size and CPU time are not replayed, unless they are common defaults; nor is one whose size \
             is only estimated (about).",
            group.items.len(),
            prepared.options.load.server.slow_down,
            prepared.options.load.slow_client
        ),
        columns: [
            "Setting",
            "Size",
            "Ratio",
            "Server CPU time",
            "Client CPU time",
            "Replayed",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: sorted.into_iter().map(row).collect(),
    }
}

/// One chart per link: the transfer time of a response against bandwidth, for the dynamic kind with the most bytes.
pub(super) fn charts(prepared: &PreparedReplay<'_>, measured: &[LinkMeasurement]) -> Vec<Chart> {
    let of_link = |(index, measured): (usize, &LinkMeasurement)| {
        let dynamic = |group: &usize| super::candidates::compressed_per_request(prepared.groups[*group].origin);
        let group = (0..prepared.groups.len())
            .filter(dynamic)
            .find(|group| measured.break_even[*group].is_some())?;
        let search = measured.break_even[group]
            .as_ref()
            .filter(|search| !search.times.is_empty())?;
        let codec = measured.chosen[group].codec()?;
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
                prepared.groups[group].name(),
                prepared.options.links[index].0
            ),
            note: "One response of the median size, from its request to its last byte decompressed; lower is better."
                .to_owned(),
            x: axis("Bandwidth towards the client", "bit/s"),
            y: axis("Transfer time", "s"),
            series: vec![series("identity".to_owned(), 0), series(codec.to_string(), 1)],
            ..Chart::default()
        })
    };
    measured.iter().enumerate().filter_map(of_link).collect()
}
