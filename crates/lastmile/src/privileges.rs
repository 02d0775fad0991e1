//! Acquires the right to make the emulated world on this machine.

use crate::exit::UnavailableError;

/// Acquires the right to make network namespaces, for `what`; to be called before any thread is started. The error names `remedy`.
///
/// # Errors
/// When the machine refuses it, which is exit code 3.
pub(crate) fn acquire(what: &str, remedy: &str) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    match lastmile_world::emu::acquire() {
        Ok(_) => Ok(()),
        Err(error) => Err(UnavailableError(format!(
            "{what} needs the emulated world, which this machine does not allow: {error}; or {remedy}"
        ))
        .into()),
    }
    #[cfg(not(target_os = "linux"))]
    Err(UnavailableError(format!(
        "{what} needs the emulated world, which runs on Linux only; {remedy}"
    ))
    .into())
}
