//! The extra tables of the study `gzip-filter`.

use super::figures::{GZIP, PLAIN, Split, levels_of, mean, part_of_link, reproductions, time};
use super::reference_values::{BANDWIDTHS, CASES};
use crate::record_lookup::table;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Run, Table};
use lastmile_units::ByteCount;
use lastmile_workload::faulty_meter;

/// The tables for which the run has rows.
pub(crate) fn exhibits(run: &Run) -> Vec<Table> {
    let tables = [
        times(run),
        bandwidths(run),
        mechanisms(run),
        settings(run),
        meter(run),
        contents(run),
    ];
    tables.into_iter().flatten().collect()
}

fn seconds(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| quantity(value, "s"))
}

/// Published times beside the simulated ones, and those of the closest setting.
fn times(run: &Run) -> Option<Table> {
    let ranked = reproductions(run);
    let nearest = |case: &str, codec| {
        let best = ranked.first()?;
        let setting = [
            ("receive_window", best.receive_window),
            ("object_time", best.object_time),
        ];
        time(
            run,
            "reproductions",
            &[[("case", case), ("codec", codec)], setting].concat(),
        )
    };
    let ours = |case: &str, codec| time(run, "cases", &[("case", case), ("codec", codec)]);
    let row = |case: &super::reference_values::Case| {
        let (plain, gzip) = (ours(case.name, PLAIN), ours(case.name, GZIP));
        plain.or(gzip)?;
        Some(vec![
            case.name.to_owned(),
            seconds(Some(case.plain_time)),
            seconds(plain),
            seconds(nearest(case.name, PLAIN)),
            seconds(Some(case.gzip_time)),
            seconds(gzip),
            seconds(nearest(case.name, GZIP)),
        ])
    };
    table(
        "Extracting times, published and simulated",
        "The simulated times are those of today's TCP and processors over the inferred round trip. The closest setting is the one that \
         meets the printed times best: it interprets the report, and predicts nothing.",
        &[
            "Case",
            "Plain, printed",
            "simulated",
            "closest setting",
            "Filtered, printed",
            "simulated",
            "closest setting",
        ],
        CASES.iter().filter_map(row).collect(),
    )
}

fn bandwidths(run: &Run) -> Option<Table> {
    let row = |(link, plain, gzip): (&str, f64, Option<f64>)| {
        let ours = |codec| time(run, part_of_link(link), &[("link", link), ("codec", codec)]);
        ours(PLAIN)?;
        Some(vec![
            link.to_owned(),
            seconds(Some(plain)),
            seconds(ours(PLAIN)),
            gzip.map_or_else(|| "cut off".to_owned(), |value| seconds(Some(value))),
            seconds(ours(GZIP)),
        ])
    };
    table(
        "Case I: extracting times over other links, published and simulated",
        "",
        &["Link", "Plain, printed", "simulated", "Filtered, printed", "simulated"],
        BANDWIDTHS.into_iter().filter_map(row).collect(),
    )
}

fn mechanisms(run: &Run) -> Option<Table> {
    let mut rows = Vec::new();
    for case in levels_of(run, "mechanisms", "case") {
        for round_trip in levels_of(run, "mechanisms", "round_trip") {
            for nagle in levels_of(run, "mechanisms", "nagle") {
                let Some(split) = Split::from_run(run, case, round_trip, nagle) else {
                    continue;
                };
                rows.push(vec![
                    case.to_owned(),
                    round_trip.to_owned(),
                    nagle.to_owned(),
                    seconds(Some(split.per_object)),
                    seconds(Some(split.buffered)),
                    seconds(Some(split.filtered)),
                    percent(split.etdr()),
                    split.share_of_buffering().map_or_else(|| "-".to_owned(), percent),
                ]);
            }
        }
    }
    table(
        "Effect of the way of writing, Nagle's algorithm and the round trip",
        "Buffering's share is the part of the filter's saving that buffering alone gives. It is negative where buffering alone costs \
         time, since nothing is sent before everything is made. Nagle \"on\" is Linux's variant, \"classic\" is RFC 896.",
        &[
            "Case",
            "Round trip",
            "Nagle",
            "Per object",
            "Buffered",
            "Filtered",
            "ETDR",
            "Buffering's share",
        ],
        rows,
    )
}

fn settings(run: &Run) -> Option<Table> {
    let factor = |value: f64| quantity(value, "");
    let rows = reproductions(run).into_iter().map(|setting| {
        vec![
            setting.receive_window.to_owned(),
            setting.object_time.to_owned(),
            factor(setting.plain),
            factor(setting.gzip),
            factor(setting.both),
        ]
    });
    table(
        "Distance of each setting from the printed times",
        "Geometric standard distance over cases A to H: 1 is equal, 2 is a factor of two up or down. The closest setting is first.",
        &[
            "Receive window",
            "Time per object",
            "Without filter",
            "With filter",
            "Both",
        ],
        rows.collect(),
    )
}

/// The true sizes, and the sizes that the report's meter gives for them.
fn meter(run: &Run) -> Option<Table> {
    let row = |case: &super::reference_values::Case| {
        let size = |codec| mean(run, "cases", &[("case", case.name), ("codec", codec)], "response_bytes");
        let (plain, gzip) = (size(PLAIN)?, size(GZIP)?);
        let metered = |size: f64| faulty_meter(ByteCount::new(size as u64)).get().to_string();
        Some(vec![
            case.name.to_owned(),
            format!("{plain}"),
            metered(plain),
            case.plain_bytes.to_string(),
            format!("{gzip}"),
            metered(gzip),
            case.gzip_bytes.to_string(),
        ])
    };
    table(
        "True sizes, and those that the report's size meter prints",
        "In bytes. The meter of appendix A calls read() twice per turn, once to look for the end and once to keep a byte, so it keeps \
         every second byte: N bytes are printed as N / 2, rounded up. Doubled, the printed sizes of cases B, F and G are exactly \
         538 + 550 n for n objects.",
        &[
            "Case",
            "Plain, true",
            "metered",
            "printed",
            "Filtered, true",
            "metered",
            "printed",
        ],
        CASES.iter().filter_map(row).collect(),
    )
}

/// The influence of the generators' parameters on RSSDR.
fn contents(run: &Run) -> Option<Table> {
    let part = "contents";
    let rows = levels_of(run, part, "case").into_iter().filter_map(|case| {
        let size = |codec| mean(run, part, &[("case", case), ("codec", codec)], "response_bytes");
        let (plain, gzip) = (size(PLAIN)?, size(GZIP)?);
        Some(vec![
            case.to_owned(),
            format!("{plain}"),
            format!("{gzip}"),
            percent(1.0 - gzip / plain),
        ])
    });
    table(
        "How RSSDR depends on the assumed contents of the objects",
        "The report gives the sizes of the objects, not their contents. Each row changes one parameter of the generators.",
        &["Objects", "Plain, B", "Filtered, B", "RSSDR"],
        rows.collect(),
    )
}
