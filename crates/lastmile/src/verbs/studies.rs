//! `lastmile studies`: lists the built-in studies, or prints one.

use crate::cli::studies::{StudiesArgs, StudiesVerb};
use crate::exit::Exit;
use crate::output::{self, TableRecord};
use crate::registry::{CATALOGUE, did_you_mean};
use anyhow::bail;
use lastmile_report::document::Grid;
use lastmile_report::record::Table;
use lastmile_report::screen::Screen;
use lastmile_study::catalogue::Builtin;
use lastmile_study::cell;
use lastmile_study::file::Study;

/// Lists them, or prints one.
///
/// # Errors
/// When there is none of that name.
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
