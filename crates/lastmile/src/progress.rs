//! Progress bars on stderr, where it is a terminal; nothing elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;

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
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template(template)
        .expect("the template is well-formed whatever the unit: every run parses it");
    ProgressBar::with_draw_target(Some(0), target).with_style(style)
}
