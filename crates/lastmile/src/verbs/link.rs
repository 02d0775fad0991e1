//! `lastmile link`: puts a command, or connections to a port, behind a link.

#[cfg(target_os = "linux")]
mod run_behind_link;

use crate::cli::link::LinkArgs;
use crate::exit::Exit;
use crate::links;

/// Runs a command behind a link, or relays connections over one.
///
/// # Errors
/// When the link is not known, or this machine has no network namespaces for this user.
pub(crate) fn link(args: &LinkArgs) -> anyhow::Result<Exit> {
    let link = links::link(&args.link)?;
    #[cfg(target_os = "linux")]
    return run_behind_link::run_behind_link(args, &link);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = link;
        Err(
            crate::exit::UnavailableError("`lastmile link` needs network namespaces, which only Linux has".to_owned())
                .into(),
        )
    }
}
