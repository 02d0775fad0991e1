//! The findings and tables of the study `fidelity-pages`.

use crate::fidelity::RATIO;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Finding, Ratio, Run, Table};
use lastmile_statistics::quantile;
use std::collections::BTreeMap;

/// How far a simulated page time is from Chromium's.
struct Difference<'a> {
    ratio: &'a Ratio,
}

impl Difference<'_> {
    fn level(&self, key: &str) -> &str {
        self.ratio.levels.get(key).map_or("", String::as_str)
    }

    fn size(&self) -> f64 {
        (self.ratio.mean - 1.0).abs()
    }

    fn describe(&self) -> String {
        let [page, link, delivery, codec] = ["workload", "link", "delivery", "codec"].map(|key| self.level(key));
        format!(
            "{page} over {link}, {delivery}, {codec}: ratio {}",
            quantity(self.ratio.mean, "1")
        )
    }
}

fn differences(run: &Run) -> Vec<Difference<'_>> {
    let ratios = run.ratios.iter().filter(|ratio| ratio.name == RATIO);
    ratios.map(|ratio| Difference { ratio }).collect()
}

/// The median and the greatest of some differences.
fn summary<'a>(of: &'a [&'a Difference<'a>]) -> Option<(f64, &'a Difference<'a>)> {
    let sizes: Vec<f64> = of.iter().map(|difference| difference.size()).collect();
    let worst = of.iter().max_by(|one, other| one.size().total_cmp(&other.size()))?;
    Some((quantile(&sizes, 0.5)?, worst))
}

pub(super) fn findings(run: &Run) -> Vec<Finding> {
    let all = differences(run);
    let of: Vec<&Difference<'_>> = all.iter().collect();
    let Some((median, worst)) = summary(&of) else {
        return Vec::new();
    };
    let text = format!(
        "Over {} page loads, the median difference between simulated page times and Chromium's is {}, the largest {} ({}).",
        of.len(),
        percent(median),
        percent(worst.size()),
        worst.describe()
    );
    vec![Finding {
        title: "Simulated page times against Chromium's".to_owned(),
        text,
        inferred: false,
    }]
}

pub(super) fn exhibits(run: &Run) -> Vec<Table> {
    let all = differences(run);
    if all.is_empty() {
        return Vec::new();
    }
    [
        ("workload", "By page"),
        ("link", "By link"),
        ("delivery", "By version of HTTP"),
        ("codec", "By content coding"),
    ]
    .into_iter()
    .map(|(key, title)| table(&all, key, title))
    .collect()
}

fn table(all: &[Difference<'_>], key: &str, title: &str) -> Table {
    let mut groups: BTreeMap<&str, Vec<&Difference<'_>>> = BTreeMap::new();
    for difference in all {
        groups.entry(difference.level(key)).or_default().push(difference);
    }
    let row = |(level, of): (&&str, &Vec<&Difference<'_>>)| {
        let (median, worst) = summary(of)?;
        Some(vec![
            (*level).to_owned(),
            of.len().to_string(),
            percent(median),
            percent(worst.size()),
            worst.describe(),
        ])
    };
    Table {
        title: format!("Simulated page times against Chromium's: {}", title.to_lowercase()),
        note: "The simulated page time divided by Chromium's, mean over pairs of loads.".to_owned(),
        columns: [title, "Cells", "Median difference", "Largest", "In"]
            .map(str::to_owned)
            .to_vec(),
        rows: groups.iter().filter_map(row).collect(),
    }
}
