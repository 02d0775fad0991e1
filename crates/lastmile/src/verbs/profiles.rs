//! `lastmile profiles`: lists the link profiles, shows a link, or compares two.

use crate::cli::profiles::ProfilesVerb;
use crate::exit::Exit;
use crate::links;
use crate::output::{self, TableRecord};
use anyhow::bail;
use lastmile_link::{LinkSpec, all_profiles, describe, diff};
use lastmile_report::record::Table;
use std::collections::BTreeSet;

/// Lists, shows or compares links.
///
/// # Errors
/// When a link or a set is unknown.
pub(crate) fn profiles(verb: ProfilesVerb) -> anyhow::Result<Exit> {
    let mut spare: &[&str] = &[];
    let (table, format) = match verb {
        ProfilesVerb::List { words, format } => {
            spare = &["certainty", "loss down", "rate up"];
            (list(&words)?, format)
        }
        ProfilesVerb::Show { link, format } => (show(&links::link(&link)?), format),
        ProfilesVerb::Diff { a, b, format } => (differences(&links::link(&a)?, &links::link(&b)?), format),
    };
    let record = TableRecord {
        spare,
        ..TableRecord::from(table)
    };
    output::print_record(&record, format.format())?;
    Ok(Exit::Done)
}

fn list(words: &[String]) -> anyhow::Result<Table> {
    let has = |profile: &&lastmile_link::Profile, word: &String| {
        let word = word.to_lowercase();
        [&profile.id, &profile.set_title]
            .iter()
            .any(|text| text.to_lowercase().contains(&word))
    };
    let profiles: Vec<_> = all_profiles()
        .filter(|profile| words.iter().all(|word| has(profile, word)))
        .collect();
    if profiles.is_empty() {
        let sets: BTreeSet<_> = all_profiles().map(|profile| profile.set.as_str()).collect();
        let sets = sets.into_iter().collect::<Vec<_>>().join(", ");
        bail!("no link profile is called {:?}; the sets are {sets}", words.join(" "));
    }
    let figure = |link: &LinkSpec, what: &str| {
        let row = describe(link).into_iter().find(|row| row.what == what);
        row.map_or_else(String::new, |row| row.value)
    };
    let row = |profile: &lastmile_link::Profile| {
        let link = &profile.spec;
        let mut row = vec![profile.id.clone()];
        row.extend([figure(link, "rate, down"), figure(link, "rate, up")]);
        row.push(lastmile_units::duration::print(link.round_trip()));
        row.push(figure(link, "loss, down"));
        row.push(profile.certainty.label().to_owned());
        row
    };
    Ok(Table {
        title: "Link profiles".to_owned(),
        note:
            "`lastmile profiles show NAME` shows one in full, with its source; `NAME+loss=1%+jitter=20ms` changes one."
                .to_owned(),
        columns: ["name", "rate down", "rate up", "round trip", "loss down", "certainty"]
            .map(str::to_owned)
            .to_vec(),
        rows: profiles.into_iter().map(row).collect(),
    })
}

fn show(link: &LinkSpec) -> Table {
    Table {
        title: link.name(),
        note: String::new(),
        columns: ["what", "value"].map(str::to_owned).to_vec(),
        rows: describe(link)
            .into_iter()
            .map(|row| vec![row.what, row.value])
            .collect(),
    }
}

fn differences(a: &LinkSpec, b: &LinkSpec) -> Table {
    // Where figures are from makes no difference to a packet.
    let rows = diff(a, b)
        .into_iter()
        .filter(|row| !["link", "set", "source", "note"].contains(&row.what.as_str()));
    let rows: Vec<_> = rows.map(|row| vec![row.what, row.a, row.b]).collect();
    let note = if rows.is_empty() {
        "They treat packets the same."
    } else {
        "`lastmile profiles show NAME` shows one in full, with its source."
    };
    Table {
        title: format!("{} and {}", a.name(), b.name()),
        note: note.to_owned(),
        columns: vec!["what".to_owned(), a.name(), b.name()],
        rows,
    }
}
