//! `lastmile studies`: lists the built-in studies, prints one, or lists what others may name.

use crate::cli::studies::{StudiesArgs, StudiesVerb};
use crate::exit::Exit;
use crate::output::{self, TableRecord};
use crate::registry::{CATALOGUE, DELIVERIES, did_you_mean};
use anyhow::bail;
use lastmile_report::document::Grid;
use lastmile_report::record::Table;
use lastmile_report::screen::Screen;
use lastmile_study::catalogue::Builtin;
use lastmile_study::cell;
use lastmile_study::file::Study;
use lastmile_study::keys::{KeyList, LISTS};

/// Lists them, prints one, or lists keys.
///
/// # Errors
/// When there is none of that name, or no key with such words.
pub(crate) fn studies(args: &StudiesArgs) -> anyhow::Result<Exit> {
    match &args.verb {
        None => {
            let table = list()?;
            let screen = Some(screen(&table));
            let record = TableRecord {
                screen,
                ..TableRecord::from(table)
            };
            output::print_record(&record, args.format.format())?;
        }
        Some(StudiesVerb::Show { name }) => {
            let Some(builtin) = CATALOGUE.find(name) else {
                let meant = did_you_mean(name);
                bail!("there is no built-in study {name:?}{meant} (`lastmile studies` lists them)");
            };
            output::print_data(builtin.toml)?;
        }
        Some(StudiesVerb::Keys { list, words, format }) => {
            let table = list.map_or_else(|| Ok(key_lists()), |list| keys(list, words))?;
            output::print_record(&TableRecord::from(table), format.format())?;
        }
    }
    Ok(Exit::Done)
}

/// A line for each study.
fn screen(table: &Table) -> Screen {
    let rows = table.rows.iter().map(|row| row[..2].to_vec());
    Screen {
        question: format!("{}:", table.title),
        table: Some(Grid::new("", "").word_columns(["name", "question"]).plain_rows(rows)),
        answer: table.note.clone(),
        next: "lastmile run bulk".to_owned(),
        ..Screen::default()
    }
}

fn list() -> anyhow::Result<Table> {
    let row = |builtin: &Builtin| {
        let study = Study::parse(builtin.name, builtin.toml)?;
        let cells = cell::expand(&study)?.cells.len();
        anyhow::Ok(vec![
            study.name.clone(),
            study.question.clone(),
            cells.to_string(),
            study.repeats.to_string(),
        ])
    };
    Ok(Table {
        title: "Built-in studies".to_owned(),
        note: "Run one with `lastmile run NAME`; `lastmile studies show NAME` prints its file.".to_owned(),
        columns: ["name", "question", "cells", "repeats"].map(str::to_owned).to_vec(),
        rows: CATALOGUE.all().map(row).collect::<Result<_, _>>()?,
    })
}

/// The lists of keys.
fn key_lists() -> Table {
    let row = |&(name, about, list): &(&str, &str, KeyList)| {
        let keys = list.table(DELIVERIES).rows.len();
        vec![name.to_owned(), keys.to_string(), about.to_owned()]
    };
    Table {
        title: "What a study can name".to_owned(),
        note: "`lastmile studies keys LIST` prints one, and `lastmile studies keys LIST WORD` searches it.".to_owned(),
        columns: ["list", "keys", "meaning"].map(str::to_owned).to_vec(),
        rows: LISTS.iter().map(row).collect(),
    }
}

/// The keys of a list in whose rows all words occur.
fn keys(list: KeyList, words: &[String]) -> anyhow::Result<Table> {
    let mut table = list.table(DELIVERIES);
    let has = |row: &[String], word: &String| {
        let word = word.to_lowercase();
        row.iter().any(|cell| cell.to_lowercase().contains(&word))
    };
    table.rows.retain(|row| words.iter().all(|word| has(row, word)));
    if table.rows.is_empty() {
        bail!(
            "no key of this list says {:?}; leave the words out to see them all",
            words.join(" ")
        );
    }
    Ok(table)
}
