//! The findings and tables of the study `fidelity-pages`.

use crate::fidelity::pages::{PageAgreement, agreements, summary};
use lastmile_report::number::percent;
use lastmile_report::record::{Finding, Run, Table};
use std::collections::BTreeMap;

pub(crate) fn findings(run: &Run) -> Vec<Finding> {
    let (pages, disturbed) = agreements(run);
    let Some((median, worst)) = summary(&pages.iter().collect::<Vec<_>>()) else {
        return Vec::new();
    };
    let left_out = match disturbed {
        0 => String::new(),
        count => format!(" {count} are left out, whose figures are invalid or missing."),
    };
    let text = format!(
        "Over {} page loads, the median difference between simulated page times and Chromium's is {}, the largest {} ({}).{left_out}",
        pages.len(),
        percent(median),
        percent(worst.difference()),
        worst.describe()
    );
    vec![Finding {
        title: "Simulated page times against Chromium's".to_owned(),
        text,
        inferred: false,
    }]
}

/// The level of a page load that a table groups by.
type Level = fn(&PageAgreement) -> &str;

pub(crate) fn exhibits(run: &Run) -> Vec<Table> {
    let (pages, _) = agreements(run);
    if pages.is_empty() {
        return Vec::new();
    }
    let groupings: [(Level, &str); 4] = [
        (|load| &load.page, "By page"),
        (|load| &load.link, "By link"),
        (|load| &load.delivery, "By version of HTTP"),
        (|load| &load.codec, "By content coding"),
    ];
    groupings.map(|(level, title)| table(&pages, level, title)).to_vec()
}

fn table(pages: &[PageAgreement], level: Level, title: &str) -> Table {
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
    Table {
        title: format!("Simulated page times against Chromium's: {}", title.to_lowercase()),
        note: "The mean simulated page time divided by Chromium's, where both are valid.".to_owned(),
        columns: [title, "Cells", "Median difference", "Largest", "In"]
            .map(str::to_owned)
            .to_vec(),
        rows: groups.iter().filter_map(row).collect(),
    }
}
