//! `lastmile audit`: shows what became of every event.

use super::client;
use crate::cli::link::SummaryFormat;
use crate::cli::monitor::AuditArgs;
use crate::exit::Exit;
use crate::output;
use anyhow::Context as _;
use lastmile_monitor::block_on;
use lastmile_monitor::client::ClientError;
use lastmile_report::document::Grid;
use lastmile_report::number::{count, counted};
use lastmile_report::screen::{self, Screen};
use serde_json::Value;

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
    output::print_data(&match args.format {
        SummaryFormat::Json => format!("{}\n", serde_json::to_string_pretty(&audit)?),
        SummaryFormat::Text => screen::render(&audit_screen(&audit), output::terminal_style()),
    })?;
    let is_whole = audit["problems"].as_array().is_some_and(Vec::is_empty);
    Ok(Exit::of_check(is_whole))
}

/// The sources that lost something first, and the sum: `2 sources: 3 numbered = 3 stored + 0 released + 0 lost`.
fn audit_screen(audit: &Value) -> Screen {
    let list = |name: &str| audit[name].as_array().map_or(&[][..], Vec::as_slice);
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let lost = |source: &Value| -> u64 {
        let losses = source["lost"].as_array().into_iter().flatten();
        losses.map(|loss| number(&loss["count"])).sum()
    };
    let mut sources: Vec<&Value> = list("sources").iter().collect();
    sources.sort_by_key(|source| {
        (
            source["adds_up"] == true,
            std::cmp::Reverse(lost(source)),
            std::cmp::Reverse(number(&source["numbered"])),
        )
    });
    let row = |source: &&Value| {
        let causes = source["lost"].as_array().into_iter().flatten();
        let causes: Vec<String> = causes
            .map(|loss| {
                format!(
                    "{} {}: {}",
                    count(number(&loss["count"])),
                    loss["place"].as_str().unwrap_or_default(),
                    loss["cause"].as_str().unwrap_or_default()
                )
            })
            .collect();
        vec![
            source["source"].as_str().unwrap_or_default().to_owned(),
            count(number(&source["numbered"])),
            count(number(&source["stored"])),
            count(number(&source["released"])),
            count(lost(source)),
            if source["ended"] == true { "ended" } else { "goes on" }.to_owned(),
            causes.join(", "),
        ]
    };
    let sum = |field: &str| -> u64 { list("sources").iter().map(|source| number(&source[field])).sum() };
    let deleted: u64 = list("deleted").iter().map(|deletion| number(&deletion["events"])).sum();
    let problems = list("problems");
    let lost_in_all: u64 = list("sources").iter().map(lost).sum();
    let verdict = match problems.len() {
        0 if lost_in_all == 0 => "Nothing is lost or missing.".to_owned(),
        0 => format!("LOST: {}, all accounted for.", counted(lost_in_all, "event")),
        many => format!(
            "MISSING OR DAMAGED, {}: {}.",
            counted(many as u64, "problem"),
            problems[0].as_str().unwrap_or_default().trim_end_matches('.')
        ),
    };
    let deleted = if deleted == 0 {
        String::new()
    } else {
        format!(
            " Of those stored, {} were deleted since, by age or for room.",
            count(deleted)
        )
    };
    Screen {
        question: format!(
            "The log from {} to {}.",
            audit["first"].as_str().unwrap_or_default(),
            audit["end"].as_str().unwrap_or_default()
        ),
        table: (!sources.is_empty()).then(|| {
            Grid::new("", "")
                .word_columns(["source"])
                .figure_columns(["numbered", "stored", "released", "lost"])
                .word_columns(["", "where and why"])
                .plain_rows(sources.iter().map(row))
        }),
        spare_columns: vec!["released", ""],
        answer: format!(
            "{verdict} {}: {} numbered = {} stored + {} released + {} lost.{deleted}",
            counted(sources.len() as u64, "source"),
            count(sum("numbered")),
            count(sum("stored")),
            count(sum("released")),
            count(lost_in_all),
        ),
        ..Screen::default()
    }
}
