//! `lastmile audit`: shows what became of every event.

use super::client;
use crate::cli::monitor::AuditArgs;
use crate::exit::Exit;
use crate::output;
use anyhow::Context as _;
use lastmile_monitor::block_on;
use lastmile_monitor::client::ClientError;

/// Shows what became of every event.
///
/// # Errors
/// When the monitor does not answer.
pub(crate) fn audit(args: &AuditArgs) -> anyhow::Result<Exit> {
    let mut client = client(&args.monitor)?;
    let text = match block_on(client.get("/v1/audit"))? {
        Err(ClientError::Refused { status, message, .. }) if status.is_server_error() => {
            output::note(&format!("the log cannot be read: {message}"));
            return Ok(Exit::Broken);
        }
        answer => answer?,
    };
    let audit: serde_json::Value = serde_json::from_slice(&text).context("the monitor's answer is no JSON")?;
    output::print_data(&format!("{}\n", serde_json::to_string_pretty(&audit)?))?;
    let is_whole = audit["problems"].as_array().is_some_and(Vec::is_empty);
    Ok(Exit::of_check(is_whole))
}
