//! The findings and tables of the study `fidelity-pages`.

use crate::fidelity::pages::{PageAgreement, agreements, summary};
use crate::record_lookup;
use lastmile_report::number::percent;
use lastmile_report::record::{Run, Table};
use lastmile_study::catalogue::ComputedFinding;
use std::collections::BTreeMap;

pub(crate) const FINDINGS: &[ComputedFinding] = &[("Simulated page times against Chromium's", differences)];

fn differences(run: &Run) -> Option<String> {
    let (pages, disturbed) = agreements(run);
    let (median, worst) = summary(&pages.iter().collect::<Vec<_>>())?;
    let left_out = match disturbed {
        0 => String::new(),
        count => format!(" {count} are left out, whose figures are invalid or missing."),
    };
    Some(format!(
        "Over {} page loads, the median difference between simulated page times and Chromium's is {}, the largest {} ({}).{left_out}",
        pages.len(),
        percent(median),
        percent(worst.difference()),
        worst.describe()
    ))
}

/// The level of a page load that a table groups by.
type Level = fn(&PageAgreement) -> &str;

pub(crate) fn exhibits(run: &Run) -> Vec<Table> {
    let (pages, _) = agreements(run);
    let groupings: [(Level, &str); 4] = [
        (|load| &load.page, "By page"),
        (|load| &load.link, "By link"),
        (|load| &load.delivery, "By version of HTTP"),
        (|load| &load.codec, "By content coding"),
    ];
    groupings
        .into_iter()
        .filter_map(|(level, title)| table(&pages, level, title))
        .collect()
}

fn table(pages: &[PageAgreement], level: Level, title: &str) -> Option<Table> {
    let mut groups: BTreeMap<&str, Vec<&PageAgreement>> = BTreeMap::new();
    for load in pages {
        groups.entry(level(load)).or_default().push(load);
    }
    let row = |(level, of): (&&str, &Vec<&PageAgreement>)| {
        let (median, worst) = summary(of)?;
        Some(vec![
            (*level).to_owned(),
            of.len().to_string(),
            percent(median),
            percent(worst.difference()),
            worst.describe(),
        ])
    };
    record_lookup::table(
        &format!("Simulated page times against Chromium's: {}", title.to_lowercase()),
        "The mean simulated page time divided by Chromium's, where both are valid.",
        &[title, "Cells", "Median difference", "Largest", "In"],
        groups.iter().filter_map(row).collect(),
    )
}
