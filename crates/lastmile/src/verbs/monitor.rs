//! `lastmile monitor`, `sensor`, `emit`, `query`, `subscribe` and `audit`: events.

mod csv;
mod emit;

pub(crate) use emit::emit;

use crate::cli::monitor::{
    AuditArgs, FilterArgs, MonitorArg, MonitorArgs, QueryArgs, SalvageArgs, SensorArgs, SubscribeArgs, TokenArg,
};
use crate::exit::Exit;
use crate::{interrupt, output};
use anyhow::{Context as _, bail};
use lastmile_events::uplink::{Durability, SensorAddress};
use lastmile_events::{Source, Timestamp};
use lastmile_monitor::client::{Client, ClientError, encode_parameter};
use lastmile_monitor::log::{Log, LogSettings, Retention, StoreUrl, salvage as salvage_log};
use lastmile_monitor::sensor::{self, ByteBudget, SensorSettings, Spool};
use lastmile_monitor::service::Monitor;
use lastmile_monitor::{block_on, server};
use lastmile_units::ByteCount;
use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Keeps events until it is interrupted.
///
/// # Errors
/// When the folder or the address cannot be used, or a token is missing.
pub(crate) fn monitor(args: &MonitorArgs) -> anyhow::Result<Exit> {
    let token = read_token(&args.token)?;
    allow_address("--listen", &args.listen, token.as_deref())?;
    let settings = LogSettings {
        durability: args.durability,
        most_bytes: args.most.get(),
        retention: Retention {
            age: args.keep,
            bytes: args.keep_bytes.map(ByteCount::get),
        },
        reserves_room: true,
        ..LogSettings::default()
    };
    let log = match &args.store {
        None => Log::open(&args.folder, settings)?,
        Some(store) => {
            check_store(store, args)?;
            Log::open_store(&args.folder, store, settings)?
        }
    };
    let listener = TcpListener::bind(args.listen).with_context(|| format!("--listen {}", args.listen))?;
    let stop = interrupt::install_handler("stopping", "stopped at once".to_owned())?;
    output::note(&format!("the monitor listens at http://{}", listener.local_addr()?));
    let monitor = Arc::new(Monitor::new(Arc::new(log), token));
    block_on(server::serve(monitor, listener, &stop))??;
    Ok(Exit::Done)
}

/// A server in its default settings syncs every two minutes, so only one that says that it syncs always is trusted with power failures.
fn check_store(store: &StoreUrl, args: &MonitorArgs) -> anyhow::Result<()> {
    if args.durability != Durability::Power {
        return Ok(());
    }
    let Some(status) = &args.store_status else {
        bail!(
            "--store {store}: whether its files survive a power failure is up to the server; give its monitoring address with \
             --store-status, or --durability process"
        );
    };
    let mut client = Client::new(status.clone(), None);
    let variables = block_on(client.get("/varz"))?
        .context("--store-status: the monitoring address of the NATS server (http: in its settings)")?;
    let variables: serde_json::Value = serde_json::from_slice(&variables).unwrap_or_default();
    if variables["jetstream"]["config"]["sync_always"] != true {
        bail!(
            "--store {store}: the server syncs its files from time to time, so a power failure may cost acknowledged events; set \
             sync_interval: always in its section jetstream, or give --durability process"
        );
    }
    Ok(())
}

/// Takes events of this host until it is interrupted.
///
/// # Errors
/// When the folder or the socket cannot be used.
pub(crate) fn sensor(args: &SensorArgs) -> anyhow::Result<Exit> {
    let token = read_token(&args.token)?;
    let settings = LogSettings {
        durability: args.durability,
        most_bytes: args.most.get(),
        reserves_room: true,
        ..LogSettings::default()
    };
    let otlp = match args.otlp {
        None => None,
        Some(address) => {
            if !server::is_loopback(&address) {
                bail!(
                    "--otlp {address}: a sensor serves the programs of its own host; choose a port of 127.0.0.1 or [::1]"
                );
            }
            let listener = TcpListener::bind(address).with_context(|| format!("--otlp {address}"))?;
            Some((listener, new_source(&format!("{}-otlp", args.name))?))
        }
    };
    let otlp_address = otlp.as_ref().map(|(listener, _)| listener.local_addr()).transpose()?;
    let spool = block_on(Spool::open(&args.folder, settings, output::note))??;
    let settings = SensorSettings {
        address: SensorAddress::Path(args.socket.clone()),
        line_source: new_source(&args.name)?,
        otlp,
        durability: args.durability,
        budget: args.budget.map(|rate| ByteBudget {
            rate,
            delay: args.budget_delay,
        }),
        name: args.name.clone(),
        note: output::note,
    };
    let stop = interrupt::install_handler("stopping", "stopped at once".to_owned())?;
    if let Some(address) = otlp_address {
        output::note(&format!("OpenTelemetry's SDKs find it at http://{address}"));
    }
    let monitor = Client::new(args.monitor.clone(), token);
    block_on(sensor::run(spool, monitor, settings, &stop))?
        .with_context(|| format!("--socket {}", args.socket.display()))?;
    Ok(Exit::Done)
}

/// Prints events that are there.
///
/// # Errors
/// When the monitor does not answer, or refuses.
pub(crate) fn query(args: &QueryArgs) -> anyhow::Result<Exit> {
    let path = format!("/v1/events?{}", parameters(&args.filter));
    let mut complete = false;
    let mut printed = false;
    print_lines(&args.monitor, args.filter.compress, &path, |line, out| {
        complete |= line.starts_with("{\"end\":") && line.contains("\"complete\":true");
        let Some(fields) = &args.csv else {
            return write_line(out, line);
        };
        if !std::mem::replace(&mut printed, true) {
            write_line(out, &csv::head(fields))?;
        }
        match csv::row(line, fields) {
            Some(row) => write_line(out, &row),
            None => Ok(()),
        }
    })?;
    Ok(if complete { Exit::Done } else { Exit::Broken })
}

/// Prints events that are there, then those that come.
///
/// # Errors
/// When the monitor does not answer, refuses, or goes away.
pub(crate) fn subscribe(args: &SubscribeArgs) -> anyhow::Result<Exit> {
    let mode = if args.latest { "latest" } else { "lossless" };
    let path = format!("/v1/subscribe?{}&mode={mode}", parameters(&args.filter));
    print_lines(&args.monitor, args.filter.compress, &path, |line, out| {
        write_line(out, line).and_then(|()| out.flush())
    })?;
    Ok(Exit::Done)
}

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
    let whole = audit["problems"].as_array().is_some_and(Vec::is_empty);
    Ok(if whole { Exit::Done } else { Exit::Broken })
}

/// Takes what is whole out of a damaged folder.
///
/// # Errors
/// When the old folder cannot be read at all, or the new one cannot be used.
pub(crate) fn salvage(args: &SalvageArgs) -> anyhow::Result<Exit> {
    let settings = LogSettings {
        durability: Durability::Process,
        most_bytes: u64::MAX,
        ..LogSettings::default()
    };
    let found = block_on(salvage_log(&args.from, &args.to, settings))??;
    for damaged in &found.damaged {
        output::note(damaged);
    }
    output::note(&format!(
        "{} events of {} sources are in {}; {} numbers are stated as lost there, and {} places could not be read",
        found.events,
        found.sources,
        args.to.display(),
        found.lost,
        found.damaged.len()
    ));
    let is_whole = found.damaged.is_empty() && found.lost == 0;
    Ok(if is_whole { Exit::Done } else { Exit::Broken })
}

/// Gives each line of the answer to `print`, until that fails.
fn print_lines(
    monitor: &MonitorArg,
    compress: bool,
    path: &str,
    mut print: impl FnMut(&str, &mut io::StdoutLock<'_>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut client = client(monitor)?;
    if compress {
        client = client.compressing();
    }
    let mut written = Ok(());
    let mut out = io::stdout().lock();
    let lines = client.lines(path, |line| {
        written = print(line, &mut out);
        if written.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    block_on(lines)??;
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a line. On a terminal, control characters are escaped as in JSON, since it would obey them; a file or a program gets them as they are.
fn write_line(out: &mut io::StdoutLock<'_>, line: &str) -> io::Result<()> {
    if out.is_terminal() {
        writeln!(out, "{}", escape_controls(line))
    } else {
        writeln!(out, "{line}")
    }
}

fn escape_controls(line: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !line.contains(is_obeyed) {
        return line.into();
    }
    let escaped = line.chars().map(|c| {
        if is_obeyed(c) {
            format!("\\u{:04x}", u32::from(c))
        } else {
            c.to_string()
        }
    });
    escaped.collect()
}

fn parameters(filter: &FilterArgs) -> String {
    let now = Timestamp::now();
    let time = |ago: Duration| now.saturating_sub(ago).unix_nanoseconds().to_string();
    let mut pairs = vec![("from", filter.from.clone())];
    pairs.extend(filter.subject.clone().map(|subject| ("subject", subject)));
    pairs.extend(filter.conditions.iter().map(|condition| ("where", condition.clone())));
    pairs.extend(filter.since.map(|ago| ("since", time(ago))));
    pairs.extend(filter.until.map(|ago| ("until", time(ago))));
    pairs.extend(filter.client.clone().map(|client| ("client", client)));
    pairs.extend(filter.limit.map(|limit| ("limit", limit.to_string())));
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", encode_parameter(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn client(monitor: &MonitorArg) -> anyhow::Result<Client> {
    Ok(Client::new(monitor.monitor.clone(), read_token(&monitor.token)?))
}

/// Refuses an address that other machines reach, where there is no token.
///
/// # Errors
/// When a token is missing.
pub(crate) fn allow_address(option: &str, address: &SocketAddr, token: Option<&str>) -> anyhow::Result<()> {
    if token.is_none() && !server::is_loopback(address) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_character_that_it_would_obey() {
        assert_eq!(
            escape_controls("a\tb \u{1b}[31mred\u{9b}0m\r"),
            "a\tb \\u001b[31mred\\u009b0m\\u000d"
        );
        assert_eq!(escape_controls("größer"), "größer");
    }
}
