//! What is drawn: sizes by encoding, and bytes against delay on each link.

use crate::codecs::Compression;
use crate::findings::encodings;
use crate::record::{EncodingDelivery, EncodingOutcome};
use crate::sizes::SettingSize;
use lastmile_document_formats::Encoding;
use lastmile_report::record::{Axis, Chart, Point, Scale, Series, Source};

/// The codecs whose sizes are drawn.
const DRAWN: [(Compression, bool); 4] = [
    (Compression::None, false),
    (Compression::Alone("zstd:3"), false),
    (Compression::Stream("zstd:3"), false),
    (Compression::Alone("zstd:3"), true),
];

pub(crate) fn charts(settings: &[SettingSize], links: &[EncodingDelivery]) -> Vec<Chart> {
    let mut charts: Vec<Chart> = sizes(settings).into_iter().collect();
    charts.extend(links.iter().map(trade));
    charts
}

fn sizes(settings: &[SettingSize]) -> Option<Chart> {
    let largest = settings.iter().map(|setting| setting.batch).max()?;
    let smallest = settings.iter().map(|setting| setting.batch).min()?;
    let plain = |encoding: &Encoding| {
        let is_it = |setting: &&SettingSize| {
            setting.encoding == *encoding && setting.compression == Compression::None && setting.batch == smallest
        };
        settings
            .iter()
            .find(is_it)
            .map_or(f64::INFINITY, SettingSize::bytes_per_message)
    };
    let mut encodings = encodings(settings);
    encodings.sort_by(|one, other| plain(one).total_cmp(&plain(other)));
    let series = DRAWN.iter().map(|(compression, batched)| {
        let batch = if *batched { largest } else { smallest };
        let point = |(at, encoding): (usize, &Encoding)| {
            let is_it = |setting: &&SettingSize| {
                setting.encoding == *encoding && setting.compression == *compression && setting.batch == batch
            };
            let setting = settings.iter().find(is_it)?;
            Some(Point::new(at as f64, setting.bytes_per_message()))
        };
        let alone = if batch == 1 {
            "one by one".to_owned()
        } else {
            format!("batches of {batch}")
        };
        Series {
            name: format!("{compression}, {alone}"),
            source: Source::Measured,
            joined: false,
            points: encodings.iter().enumerate().filter_map(point).collect(),
        }
    });
    Some(Chart {
        title: "Size of a message".to_owned(),
        note: "Without framing, the smallest first; less is better.".to_owned(),
        x: Axis::new(
            "Encoding",
            "",
            Scale::Named(encodings.iter().map(|encoding| encoding.label().to_owned()).collect()),
        ),
        y: Axis::new("Bytes a message", "B", Scale::Log),
        series: series.filter(|series| !series.points.is_empty()).collect(),
        ..Chart::default()
    })
}

fn trade(link: &EncodingDelivery) -> Chart {
    let series = |name: &str, joined: bool, wanted: &dyn Fn(&EncodingOutcome) -> bool, labelled: bool| {
        let mut points: Vec<Point> = link
            .outcomes
            .iter()
            .filter(|outcome| outcome.framing == "length-prefix" && wanted(outcome))
            .filter_map(|outcome| {
                Some(Point {
                    label: labelled.then(|| format!("{}, {}, {}", outcome.encoding, outcome.codec, outcome.batch)),
                    ..Point::new(outcome.link_bytes_per_message, outcome.delay_s()?)
                })
            })
            .collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Series {
            name: name.to_owned(),
            source: Source::Measured,
            joined,
            points,
        }
    };
    let all = [
        series("to use", false, &|outcome| outcome.to_use, true),
        series("plain JSON", false, &EncodingOutcome::is_plain_json, true),
        series("frontier", true, &|outcome| outcome.frontier, false),
        series("others", false, &|outcome| !outcome.frontier && !outcome.to_use, false),
    ];
    Chart {
        title: format!("Bytes against delay on {}", link.name),
        note: "The delay is that of a message from arising to arrival, with the wait for its batch; what does not fit the link is left out. Left and low is better.".to_owned(),
        x: Axis::new("Bytes of the link for each message", "B", Scale::Log),
        y: Axis::new("Delay", "s", Scale::Log),
        series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
        ..Chart::default()
    }
}
