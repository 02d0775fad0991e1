//! The extra table of the study `permessage-deflate`.

use super::reference_values::{Row, rows};
use crate::record_lookup::{mean, table};
use lastmile_report::number::quantity;
use lastmile_report::record::{Run, Table};

/// The tables for which the run has rows.
pub(crate) fn exhibits(run: &Run) -> Vec<Table> {
    let whose = if has_messages_of_2013(run) {
        "ratios of his transcript, and of one with as many messages and bytes"
    } else {
        "ratios of his transcript, and of ours, which is a different one"
    };
    let columns = [
        "Setting",
        "Ratio, printed",
        "here",
        "Memory, printed",
        "formula",
        "here",
        "Time of a pass, printed",
        "here",
        "Remark",
    ];
    let note = format!(
        "Peter Thorson, hybi list, 15 October 2013; {whose}. The formula is 2^(window bits + 2) + 2^(mem level + 9) bytes. The times \
         are from processors at least eleven years apart."
    );
    table(
        "Every printed figure, and ours",
        &note,
        &columns,
        rows(run).iter().map(cells).collect(),
    )
    .into_iter()
    .collect()
}

/// Whether the messages that all parts have in common are those of 2013, judging by their number and total size.
fn has_messages_of_2013(run: &Run) -> bool {
    let of = |figure| mean(run, "context-takeover", &[("context_takeover", "on")], figure);
    of("messages") == Some(666.0) && of("message_bytes") == Some(87_904.0)
}

fn cells(row: &Row<'_>) -> Vec<String> {
    let or_blank = |text: Option<String>| text.unwrap_or_default();
    let printed_kib = row.printed_kib();
    let time = |seconds: f64| quantity(seconds, "s");
    vec![
        format!("{} {}", row.key.replace('_', " "), row.level),
        or_blank(row.printed("compression_ratio").map(|ratio| ratio.to_string())),
        or_blank(row.measured("compression_ratio").map(|ratio| format!("{ratio:.3}"))),
        or_blank(printed_kib.map(|kib| format!("{kib} KiB"))),
        or_blank(printed_kib.map(|_| format!("{} KiB", row.formula_kib()))),
        or_blank(row.measured("memory_bytes").map(kib)),
        row.printed("pass_time")
            .map_or_else(|| row.time_in_words().to_owned(), |seconds| time(as_printed(seconds))),
        or_blank(row.measured("pass_time").map(time)),
        remark(row),
    ]
}

/// Seconds that were printed as milliseconds, so that they are rounded as those are.
fn as_printed(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e3 / 1e3
}

/// Bytes in KiB, as memory was printed.
fn kib(bytes: f64) -> String {
    let kib = bytes / 1024.0;
    if kib.fract() == 0.0 {
        format!("{kib} KiB")
    } else {
        format!("{kib:.1} KiB")
    }
}

fn remark(row: &Row<'_>) -> String {
    let mut remarks = Vec::new();
    if row.printed_kib().is_some_and(|kib| kib != row.formula_kib()) {
        remarks.push("printed memory differs from the formula");
    }
    if row.settings().0 == 8 {
        remarks.push("8 bits run as 9");
    }
    remarks.join("; ")
}
