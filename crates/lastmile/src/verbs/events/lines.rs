//! Asks a monitor for events, and prints the lines of the answer.

use super::client;
use crate::cli::monitor::{FilterArgs, MonitorArg};
use lastmile_events::Timestamp;
use lastmile_monitor::block_on;
use lastmile_monitor::client::encode_parameter;
use lastmile_monitor::event_json::AnswerEnd;
use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::time::Duration;

/// Gives each line of the answer to `print`, until that fails; the end that the answer states.
pub(super) fn print_lines(
    monitor: &MonitorArg,
    compress: bool,
    path: &str,
    mut print: impl FnMut(&str, &mut io::StdoutLock<'_>) -> io::Result<()>,
) -> anyhow::Result<Option<AnswerEnd>> {
    let mut client = client(monitor)?;
    if compress {
        client = client.compressing();
    }
    let mut written = Ok(());
    let mut out = io::stdout().lock();
    let lines = client.lines(path, |line| {
        written = print(line, &mut out);
        if written.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let end = block_on(lines)??;
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(end),
    }
}

/// Writes a line. On a terminal, control characters are escaped as in JSON, since it would obey them; a file or a program gets them as they are.
pub(super) fn write_line(out: &mut io::StdoutLock<'_>, line: &str) -> io::Result<()> {
    if out.is_terminal() {
        writeln!(out, "{}", escape_controls(line))
    } else {
        writeln!(out, "{line}")
    }
}

fn escape_controls(line: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !line.contains(is_obeyed) {
        return line.into();
    }
    let escaped = line.chars().map(|c| {
        if is_obeyed(c) {
            format!("\\u{:04x}", u32::from(c))
        } else {
            c.to_string()
        }
    });
    escaped.collect()
}

pub(super) fn parameters(filter: &FilterArgs) -> String {
    let now = Timestamp::now();
    let time = |ago: Duration| now.saturating_sub(ago).unix_nanoseconds().to_string();
    let mut pairs = vec![("from", filter.from.clone())];
    pairs.extend(filter.subject.clone().map(|subject| ("subject", subject)));
    pairs.extend(filter.conditions.iter().map(|condition| ("where", condition.clone())));
    pairs.extend(filter.since.map(|ago| ("since", time(ago))));
    pairs.extend(filter.until.map(|ago| ("until", time(ago))));
    pairs.extend(filter.client.clone().map(|client| ("client", client)));
    pairs.extend(filter.limit.map(|limit| ("limit", limit.to_string())));
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", encode_parameter(value)));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_character_that_it_would_obey() {
        assert_eq!(
            escape_controls("a\tb \u{1b}[31mred\u{9b}0m\r"),
            "a\tb \\u001b[31mred\\u009b0m\\u000d"
        );
        assert_eq!(escape_controls("größer"), "größer");
    }
}
