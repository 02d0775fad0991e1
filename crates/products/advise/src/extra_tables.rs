//! The extra tables and charts of an advice: sizes and CPU times of every setting, and the savings over the link's rate.

use super::PreparedReplay;
use super::break_even::BreakEvenResult;
use super::candidates::Candidate;
use super::link_measurement::LinkMeasurement;
use super::response_classes::Group;
use crate::record::ReplayedHost;
use lastmile_report::number::{interval, percent, quantity};
use lastmile_report::record::{Axis, Chart, Mark, Point, Scale, Series, Source, Table};

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

/// The most curves in a chart: kinds of response, those with the most bytes first. Our own choice.
const CURVES_MAX: usize = 6;

/// One chart per link: the share of a response's transfer time that its setting saves, against bandwidth, for each kind; where that falls
/// below zero, the crossing is marked.
pub(super) fn charts(prepared: &PreparedReplay<'_>, measured: &[LinkMeasurement]) -> Vec<Chart> {
    let of_link = |(index, measured): (usize, &LinkMeasurement)| {
        let searched = (0..prepared.groups.len()).filter_map(|group| {
            let search = measured.break_even[group].as_ref()?;
            let name = format!("{}, {}", prepared.groups[group].name(), measured.chosen[group].codec()?);
            Some((name, search)).filter(|_| !search.times.is_empty())
        });
        let searched: Vec<_> = searched.take(CURVES_MAX).collect();
        savings_chart(&prepared.options.links[index].0, &searched)
    };
    measured.iter().enumerate().filter_map(of_link).collect()
}

/// None where nothing was searched.
fn savings_chart(link: &str, searched: &[(String, &BreakEvenResult)]) -> Option<Chart> {
    let curves = searched.len();
    let curve = |(at, (name, search)): (usize, &(String, &BreakEvenResult))| {
        let times = search.times.iter().filter(|(_, [plain, _])| *plain > 0.0);
        let saved = times.map(|(rate, [plain, coded])| Point::new(*rate, (plain - coded) / plain));
        let mut points: Vec<Point> = saved.collect();
        // Each curve has its name on it, each at another rate.
        let labelled = points.len() * (at + 1) / (curves + 1);
        if let Some(point) = points.get_mut(labelled) {
            point.label = Some(name.clone());
        }
        Series {
            name: name.clone(),
            source: Source::Measured,
            joined: true,
            points,
        }
    };
    let crossing = |(name, search): &(String, &BreakEvenResult)| {
        let [low, high] = search.record.by_simulation.as_ref()?.between_bit_per_second?;
        Some(Mark {
            x: (low * high).sqrt(),
            y: 0.0,
            label: format!("{name}: {}", interval([low, high], "bit/s")),
        })
    };
    (curves > 0).then(|| Chart {
        title: format!("Savings over the link's rate, at the delays of {link}"),
        note: "One response of the median size of each kind, from its request to its last byte decompressed: the share of the time that the \
               recommended setting saves against no compression. Below zero, it makes the response slower; where a curve gets there, the rate is marked."
            .to_owned(),
        x: Axis::new("Bandwidth towards the client", "bit/s", Scale::Log),
        y: Axis::new("Time saved", "1", Scale::Linear),
        series: searched.iter().enumerate().map(curve).collect(),
        marks: searched.iter().filter_map(crossing).collect(),
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BreakEven, BreakEvenSearch};

    #[test]
    fn a_curve_of_savings_crosses_zero_where_it_is_marked() {
        let record = |between_bit_per_second| BreakEven {
            by_formula_bit_per_second: None,
            formula: String::new(),
            by_simulation: Some(BreakEvenSearch {
                searched_bit_per_second: [1e6, 1e8],
                between_bit_per_second,
            }),
        };
        let times = vec![
            (1e6, [8.0, 2.0]),
            (1e7, [1.0, 0.75]),
            (1e8, [0.1, 0.15]),
            (1e9, [0.0, 0.1]),
        ];
        let json = BreakEvenResult {
            record: record(Some([4e7, 9e7])),
            times: times.clone(),
        };
        let css = BreakEvenResult {
            record: record(None),
            times,
        };
        let chart = savings_chart(
            "wpt/3g",
            &[("json, zstd:5".to_owned(), &json), ("css, br:11".to_owned(), &css)],
        )
        .unwrap();
        let saved: Vec<f64> = chart.series[0].points.iter().map(|point| point.y).collect();
        assert_eq!(saved[..2], [0.75, 0.25]);
        assert!(
            (saved[2] + 0.5).abs() < 1e-9 && saved.len() == 3,
            "a response in no time saves no share: {saved:?}"
        );
        let [mark] = &chart.marks[..] else {
            panic!("{:?}", chart.marks)
        };
        assert_eq!((mark.x, mark.y), (6e7, 0.0));
        assert_eq!(mark.label, "json, zstd:5: 40 to 90 Mbit/s");
        for series in &chart.series {
            let labels: Vec<_> = series.points.iter().filter_map(|point| point.label.as_ref()).collect();
            assert_eq!(labels, [&series.name]);
        }
        assert_eq!(savings_chart("wpt/3g", &[]), None);
    }
}
