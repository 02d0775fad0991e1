//! May the emulated world be made on this machine, by this user?

use crate::exit::Unable;

/// Gets the right to make network namespaces, for `what`; to be called before any thread is started. `remedy` is what to do where
/// it is refused.
///
/// # Errors
/// When the machine refuses it, which is exit code 3.
pub(crate) fn acquire(what: &str, remedy: &str) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    match lastmile_world::emu::acquire() {
        Ok(_) => Ok(()),
        Err(error) => Err(Unable(format!(
            "{what} is to run in the emulated world, which this machine does not allow: {error}; or {remedy}"
        ))
        .into()),
    }
    #[cfg(not(target_os = "linux"))]
    Err(Unable(format!(
        "{what} is to run in the emulated world, which is made of what Linux alone has; {remedy}"
    ))
    .into())
}
