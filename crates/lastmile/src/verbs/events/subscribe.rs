//! `lastmile subscribe`: prints events that are there, then those that come.

use super::lines::{parameters, print_lines, write_line};
use crate::cli::monitor::SubscribeArgs;
use crate::exit::Exit;
use std::io::Write as _;

/// Prints events that are there, then those that come.
///
/// # Errors
/// When the monitor does not answer, refuses, or goes away.
pub(crate) fn subscribe(args: &SubscribeArgs) -> anyhow::Result<Exit> {
    let mode = if args.latest { "latest" } else { "lossless" };
    let path = format!("/v1/subscribe?{}&mode={mode}", parameters(&args.filter));
    print_lines(&args.monitor, args.filter.compress, &path, |line, out| {
        write_line(out, line).and_then(|()| out.flush())
    })?;
    Ok(Exit::Done)
}
