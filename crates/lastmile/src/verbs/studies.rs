//! `lastmile studies`: which studies come with lastmile?

use crate::cli::studies::{StudiesArgs, StudiesVerb};
use crate::exit::Exit;
use crate::output::{self, Lookup};
use anyhow::bail;
use lastmile_report::record::Table;
use lastmile_study::file::Study;
use lastmile_study::{builtin, cell};

/// Lists them, or prints one.
///
/// # Errors
/// When there is none of that name.
pub(crate) fn studies(args: &StudiesArgs) -> anyhow::Result<Exit> {
    match &args.verb {
        None => output::record(&Lookup::from(list()?), args.format.format)?,
        Some(StudiesVerb::Show { name }) => {
            let Some(builtin) = builtin::find(name) else {
                let meant = builtin::nearest(name).map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
                bail!("{name:?} is no built-in study{meant} (`lastmile studies` lists them)");
            };
            output::data(builtin.toml)?;
        }
    }
    Ok(Exit::Done)
}

fn list() -> anyhow::Result<Table> {
    let row = |builtin: &builtin::Builtin| {
        let study = Study::parse(builtin.name, builtin.toml)?;
        let cells = cell::expand(&study)?.len();
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
        rows: builtin::ALL.iter().map(row).collect::<Result<_, _>>()?,
    })
}
