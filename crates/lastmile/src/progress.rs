//! Progress on stderr: bars where it is a terminal, and a line now and then elsewhere.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};
use lastmile_units::duration;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// How often a line is written where there is no terminal: our own choice.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// An estimate is not worth telling before this share is done.
const SHARE_MIN: f64 = 0.05;
/// So many characters of what goes on are shown.
const WHAT_MAX: usize = 50;
/// Without a terminal, a variable of this name with the value 0 turns the lines off.
const VARIABLE: &str = "LASTMILE_PROGRESS";

/// A bar that counts `unit`, a plural: `repeats`.
pub(crate) fn bar(unit: &str) -> ProgressBar {
    styled(&format!(
        "{{bar:30}} {{pos}}/{{len}} {unit}, {{eta}} to go   {{wide_msg}}"
    ))
}

/// A bar that counts bytes read.
pub(crate) fn bytes() -> ProgressBar {
    styled("{bar:30} {decimal_bytes}/{decimal_total_bytes}, {eta} to go")
}

fn styled(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template)
        .expect("the template is well-formed whatever the unit: every run parses it");
    if std::io::stderr().is_terminal() {
        return ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style);
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
    if std::env::var_os(VARIABLE).is_none_or(|value| value != "0") {
        let weak = bar.downgrade();
        std::thread::spawn(move || write_lines(&weak));
    }
    bar
}

/// Writes how far the bar is, for as long as there is one that goes on.
fn write_lines(bar: &WeakProgressBar) {
    let began = Instant::now();
    loop {
        std::thread::sleep(LINE_INTERVAL);
        let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) else {
            return;
        };
        let (done, all) = (bar.position(), bar.length().unwrap_or_default());
        output::note(&line(done, all, began.elapsed(), &bar.message()));
    }
}

/// `12 % done, 40 s to go: compressing`.
fn line(done: u64, all: u64, took: Duration, what: &str) -> String {
    let share = if all == 0 {
        0.0
    } else {
        (done as f64 / all as f64).min(1.0)
    };
    let left = if share < SHARE_MIN {
        String::new()
    } else {
        let seconds = took.as_secs_f64() * (1.0 - share) / share;
        format!(
            ", {} to go",
            duration::print(Duration::from_secs(seconds.ceil() as u64))
        )
    };
    let what = match what.char_indices().nth(WHAT_MAX) {
        _ if what.is_empty() => String::new(),
        Some((end, _)) => format!(": {} …", what[..end].trim_end()),
        None => format!(": {what}"),
    };
    format!("{:.0} % done{left}{what}", (share * 100.0).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_once_some_is_done() {
        let ten = Duration::from_secs(10);
        assert_eq!(line(0, 0, ten, ""), "0 % done");
        assert_eq!(line(4, 100, ten, "loading"), "4 % done: loading");
        assert_eq!(line(25, 100, ten, "loading"), "25 % done, 30 s to go: loading");
        assert_eq!(line(100, 100, ten, ""), "100 % done, 0 s to go");
    }
}
