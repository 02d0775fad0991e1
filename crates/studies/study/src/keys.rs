//! What a study file can name, as tables for those who write one: settings, figures, deliveries and workloads.
//!
//! Each row comes from the table of code that reads the file: the list of settings, the catalogue of figures, the registry of deliveries, the
//! kinds of workloads.

use crate::delivery::Deliveries;
use crate::{figure, settings};
use lastmile_report::record::Table;

/// A list of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyList {
    /// What can be fixed or varied.
    Factors,
    /// What can be measured.
    Figures,
    /// How a workload is carried.
    Deliveries,
    /// What is carried.
    Workloads,
}

/// Each list, with its name and what it is for.
pub const LISTS: &[(&str, &str, KeyList)] = &[
    ("factors", "What [fixed] sets and [factors] varies", KeyList::Factors),
    (
        "figures",
        "What [measure], charts, ratios and rules can ask for",
        KeyList::Figures,
    ),
    ("deliveries", "How a cell carries its workload", KeyList::Deliveries),
    ("workloads", "What a cell delivers", KeyList::Workloads),
];

impl KeyList {
    /// The keys, each with its values or unit, and its meaning in a sentence.
    pub fn table(self, deliveries: Deliveries) -> Table {
        let table = |title: &str, note: &str, columns: &[&str], rows: Vec<Vec<String>>| Table {
            title: title.to_owned(),
            note: note.to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows,
        };
        match self {
            Self::Factors => table(
                "Keys of [fixed] and [factors]",
                "[fixed] gives a key one value, [factors] a list of them. Words and texts stand in quotes.",
                &["key", "values", "meaning"],
                settings::descriptions().iter().map(factor).collect(),
            ),
            Self::Figures => table(
                "Figures",
                "[measure] names them: figures = [\"transfer_time\", \"link_bytes\"].",
                &["figure", "unit", "sample", "meaning"],
                figure::ALL.iter().copied().map(row_of_figure).collect(),
            ),
            Self::Deliveries => table(
                "Deliveries",
                "The key delivery names one.",
                &["delivery", "carries", "meaning"],
                deliveries
                    .all()
                    .map(|delivery| {
                        [delivery.name(), delivery.carries(), delivery.about()]
                            .map(str::to_owned)
                            .to_vec()
                    })
                    .collect(),
            ),
            Self::Workloads => table(
                "Kinds of workloads",
                "The key workload has such a table; each example states all keys of its kind.",
                &["kind", "example", "meaning"],
                lastmile_workload::KINDS
                    .iter()
                    .map(|kind| [kind.name, kind.example, kind.about].map(str::to_owned).to_vec())
                    .collect(),
            ),
        }
    }
}

fn factor(setting: &settings::Description) -> Vec<String> {
    let mut meaning = first_sentence(setting.about).to_owned();
    if let Some(default) = &setting.default {
        meaning += &format!(" Default: {default}.");
    }
    vec![setting.key.to_owned(), setting.domain.to_string(), meaning]
}

fn row_of_figure(figure: &figure::Figure) -> Vec<String> {
    let meaning = first_sentence(figure.about);
    [figure.name, figure.unit, figure.per, meaning]
        .map(str::to_owned)
        .to_vec()
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_of_each_kind_can_be_read_and_states_every_key() {
        for kind in lastmile_workload::KINDS {
            let text = format!("workload = {}", kind.example);
            let written: toml::Table = text.parse().unwrap();
            let read: lastmile_workload::WorkloadSpec = written["workload"].clone().try_into().unwrap();
            assert_eq!(read.kind(), kind.name);
            let keys = |value: &toml::Value| value.as_table().unwrap().keys().cloned().collect::<Vec<_>>();
            let again = toml::Value::try_from(&read).unwrap();
            assert_eq!(keys(&again), keys(&written["workload"]), "{}", kind.name);
        }
    }
}
