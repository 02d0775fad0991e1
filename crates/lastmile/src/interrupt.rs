//! Handles Ctrl-C and SIGTERM: the first stops in good order, the second at once.

use crate::exit::Exit;
use crate::output;
use anyhow::Context as _;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Listens from now on. The first Ctrl-C sets the returned flag and prints `first` on stderr; the second prints `second`
/// and ends the process.
///
/// # Errors
/// When the system refuses the handler.
pub(crate) fn install_handler(first: &'static str, second: String) -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&asked);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            output::note(&second);
            process::exit(Exit::Interrupted.code().into());
        }
        output::note(first);
    })
    .context("the handler of Ctrl-C cannot be installed")?;
    Ok(asked)
}
