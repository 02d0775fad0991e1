//! Tests the printed formula of the memory of a connection.

use super::reference_values::{rows, zlib_state_bytes};
use lastmile_report::record::Run;

pub(super) fn finding(run: &Run) -> Option<String> {
    let mut misprints = Vec::new();
    let (mut count, mut as_formula) = (0, 0);
    for row in rows(run) {
        let Some(printed) = row.printed_kib() else {
            continue;
        };
        count += 1;
        as_formula +=
            usize::from(row.measured("memory_bytes")? - 1024.0 * row.formula_kib_as_run() == zlib_state_bytes());
        let by_formula = row.formula_kib();
        if printed != by_formula {
            let (key, level) = (row.key, row.level);
            misprints.push(format!(
                "{key} {level}: {printed} KiB printed, {by_formula} by the formula"
            ));
        }
    }
    if count == 0 {
        return None;
    }
    let verdict = match (as_formula == count, zlib_state_bytes() == 0.0 && misprints.is_empty()) {
        (true, true) => "Held",
        (false, false) => "Did not hold",
        _ => "Held in part",
    };
    let misprints = if misprints.is_empty() {
        "none".to_owned()
    } else {
        misprints.join("; ")
    };
    Some(format!(
        "{verdict}. In {as_formula} of {count} rows zlib allocates exactly that, plus its state of {:.0} B, which the formula leaves out: \
         that is little compared with 256 KiB, and much compared with the smallest settings. With 8 window bits zlib allocates as much as \
         with 9. The formula covers the compressor only: a decompressor comes on top. Misprints: {misprints}.",
        zlib_state_bytes(),
    ))
}
