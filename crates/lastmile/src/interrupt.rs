//! Who asked to stop? Ctrl-C (or SIGTERM): once to stop in good order, twice to stop at once.

use crate::exit::Exit;
use crate::output;
use anyhow::Context as _;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Listens from now on; the flag that is given back is set by the first Ctrl-C, which says `first` on stderr. The second says `second`
/// and ends the process.
///
/// # Errors
/// When the system does not let itself be listened to.
pub(crate) fn listen(first: &'static str, second: String) -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&asked);
    ctrlc::set_handler(move || {
        if told.swap(true, Ordering::Relaxed) {
            output::remark(&second);
            process::exit(Exit::Interrupted.code().into());
        }
        output::remark(first);
    })
    .context("Ctrl-C cannot be listened for")?;
    Ok(asked)
}
