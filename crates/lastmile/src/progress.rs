//! How far is it? A bar on stderr where someone watches a terminal, and nothing anywhere else.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;

/// A bar that counts `unit`s, in plural: `repeats`.
pub(crate) fn bar(unit: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template(&format!(
        "{{bar:30}} {{pos}}/{{len}} {unit}, {{eta}} to go   {{wide_msg}}"
    ))
    .expect("the template is well-formed whatever the unit: every run reads it");
    ProgressBar::with_draw_target(Some(0), target).with_style(style)
}
