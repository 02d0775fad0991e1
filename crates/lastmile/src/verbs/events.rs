//! The verbs of events, each in a file of its own, and what they share: tokens, clients and sources.

pub(super) mod audit;
mod csv;
pub(super) mod emit;
mod lines;
pub(super) mod monitor;
pub(super) mod query;
pub(super) mod salvage;
pub(super) mod sensor;
pub(super) mod subscribe;

use crate::cli::monitor::{MonitorArg, TokenArg};
use anyhow::{Context as _, bail};
use lastmile_events::{Source, Timestamp};
use lastmile_monitor::client::Client;
use std::net::SocketAddr;
use std::path::Path;

fn client(monitor: &MonitorArg) -> anyhow::Result<Client> {
    Ok(Client::new(monitor.monitor.clone(), read_token(&monitor.token)?))
}

/// Refuses an address that other machines reach, where there is no token.
///
/// # Errors
/// When a token is missing.
pub(crate) fn allow_address(option: &str, address: &SocketAddr, token: Option<&str>) -> anyhow::Result<()> {
    if token.is_none() && !address.ip().is_loopback() {
        bail!(
            "{option} {address}: others than this machine's programs could reach it; give --token-file FILE, with a token that you choose"
        );
    }
    Ok(())
}

/// The token of a file, where one is given.
///
/// # Errors
/// When the file cannot be read, or its token is too short.
pub(crate) fn read_token(token: &TokenArg) -> anyhow::Result<Option<String>> {
    let Some(path) = &token.token_file else { return Ok(None) };
    let named = || format!("--token-file {}", path.display());
    check_owner_alone(path).with_context(named)?;
    let text = std::fs::read_to_string(path).with_context(named)?;
    let token = text.trim().to_owned();
    if token.len() < TOKEN_LENGTH_MIN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!(
            "--token-file {}: a token has at least {TOKEN_LENGTH_MIN} visible ASCII characters; make one with: openssl rand -hex 16",
            path.display()
        );
    }
    Ok(Some(token))
}

/// Refuses a secret of this user that others may read, as ssh does with its keys.
#[cfg(unix)]
fn check_owner_alone(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let file = std::fs::metadata(path)?;
    if file.uid() == nix::unistd::getuid().as_raw() && file.is_file() && file.mode() & 0o077 != 0 {
        let path = path.display();
        bail!(
            "others can read this file (mode {:04o}); take it for yourself: chmod 600 {path}",
            file.mode() & 0o7777
        );
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner_alone(_: &Path) -> anyhow::Result<()> {
    Ok(())
}

/// The fewest characters of a token: our own choice.
const TOKEN_LENGTH_MIN: usize = 16;

/// The source of this name in this process's life.
fn new_source(name: &str) -> anyhow::Result<Source> {
    Ok(Source::new(name, Timestamp::now().unix_nanoseconds() as u64)?)
}
