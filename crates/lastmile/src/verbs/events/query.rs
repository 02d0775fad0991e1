//! `lastmile query`: prints events that are there.

use super::csv;
use super::lines::{parameters, print_lines, write_line};
use crate::cli::monitor::QueryArgs;
use crate::exit::Exit;
use lastmile_monitor::event_json::EventLine;
use std::io;

/// Prints events that are there.
///
/// # Errors
/// When the monitor does not answer, or refuses.
pub(crate) fn query(args: &QueryArgs) -> anyhow::Result<Exit> {
    let path = format!("/v1/events?{}", parameters(&args.filter));
    let mut printed = false;
    let end = print_lines(&args.monitor, args.filter.compress, &path, |line, out| {
        let Some(fields) = &args.csv else {
            return write_line(out, line);
        };
        if !std::mem::replace(&mut printed, true) {
            write_line(out, &csv::head(fields))?;
        }
        let not_json = |error| io::Error::other(format!("the monitor sent a line that is not JSON: {error}"));
        match EventLine::parse(line).map_err(not_json)? {
            Some(event) => write_line(out, &csv::row(&event, fields)),
            None => Ok(()),
        }
    })?;
    Ok(Exit::of_check(end.is_some_and(|end| end.complete)))
}
