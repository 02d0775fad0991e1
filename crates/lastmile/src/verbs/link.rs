//! `lastmile link`: puts a command, or connections to a port, behind a link.

#[cfg(target_os = "linux")]
mod run_behind_link;

use crate::cli::link::{LinkArgs, Remote};
use crate::exit::Exit;
use crate::links;
use std::net::SocketAddr;

/// The traffic that crosses the link.
pub(crate) enum Traffic<'a> {
    /// That of a command.
    Command,
    /// Connections to an address of this machine, for a host beyond the link.
    Connections { listen: SocketAddr, to: &'a Remote },
}

/// Runs a command behind a link, or relays connections over one.
///
/// # Errors
/// When the link is not known, or this machine has no network namespaces for this user.
pub(crate) fn link(args: &LinkArgs) -> anyhow::Result<Exit> {
    let link = links::link(&args.link)?;
    let traffic = match (&args.listen, &args.to) {
        (Some(listen), Some(to)) => Traffic::Connections { listen: listen.0, to },
        _ => Traffic::Command,
    };
    #[cfg(target_os = "linux")]
    return run_behind_link::run_behind_link(args, &link, &traffic);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (link, traffic);
        Err(
            crate::exit::UnavailableError("`lastmile link` needs network namespaces, which only Linux has".to_owned())
                .into(),
        )
    }
}
