//! `lastmile emit`: an event, or those of stdin's lines.

use super::{client, new_source};
use crate::cli::monitor::EmitArgs;
use crate::exit::{Exit, UnavailableError};
use crate::output;
use anyhow::{Context as _, bail};
use lastmile_events::line::Line;
use lastmile_events::uplink::{SensorAddress, SocketUplink, Uplink};
use lastmile_events::{Emitter, EmitterSettings, FullRing, Timestamp, Value};
use lastmile_monitor::client::MonitorUplink;
use lastmile_report::number::counted;
use std::io::{self, BufRead as _};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Emits an event, or stdin's.
///
/// # Errors
/// When an event is refused, or nobody acknowledges it in time.
pub(crate) fn emit(args: &EmitArgs) -> anyhow::Result<Exit> {
    let uplink: Box<dyn Uplink> = match &args.socket {
        Some(path) => Box::new(SocketUplink::new(SensorAddress::Path(path.clone()), args.patience)),
        None => Box::new(MonitorUplink::new(client(&args.monitor)?, args.durability)?.with_timeout(args.patience)),
    };
    let settings = EmitterSettings {
        full_ring: FullRing::Block,
        patience: Some(args.patience),
        ..EmitterSettings::default()
    };
    let first = if args.event.is_empty() {
        None
    } else {
        Some(Line::parse(&event_line(&args.event)).context("the event on the command line")?)
    };
    let emitter = Emitter::start(new_source(&args.source)?, settings, uplink)?;
    let (lines, read) = match first {
        Some(line) => {
            put(&emitter, &line);
            (LineCounts { emitted: 1, refused: 0 }, Ok(()))
        }
        None => emit_stdin(&emitter),
    };
    let LineCounts { emitted, refused } = lines;
    // A source without an event needs no end.
    let account = if emitted == 0 {
        emitter.account()
    } else {
        emitter.close()
    };
    let lost = account.lost + account.dropped_large;
    let kept = account.acknowledged.min(emitted).saturating_sub(lost);
    output::note(&format!("{kept} of {} acknowledged", counted(emitted, "event")));
    if account.acknowledged < emitted {
        let whom = args.socket.as_ref().map_or_else(
            || "the monitor".to_owned(),
            |path| format!("the sensor at {}", path.display()),
        );
        let unread = if args.event.is_empty() && emitter.has_given_up() {
            "; further lines were not read"
        } else {
            ""
        };
        let events = counted(emitted - kept, "event");
        let error = format!("{whom} did not acknowledge {events} in time{unread}");
        return Err(UnavailableError(error).into());
    }
    read.context("stdin: no further line can be read; the events of those before are kept")?;
    if lost > 0 {
        bail!("{lost} events were refused, or are larger than an event may be, and are lost; the others are kept");
    }
    if refused > 0 {
        bail!("{refused} lines are no events; the others are kept");
    }
    Ok(Exit::Done)
}

/// The lines of stdin that were read until now.
#[derive(Debug, Default, Clone, Copy)]
struct LineCounts {
    emitted: u64,
    refused: u64,
}

/// Emits stdin's lines until they end, or the emitter gives up: it then waits for no further line.
fn emit_stdin(emitter: &Emitter) -> (LineCounts, io::Result<()>) {
    let counts = Arc::new(Mutex::new(LineCounts::default()));
    let reader = {
        let (emitter, counts) = (emitter.clone(), Arc::clone(&counts));
        thread::Builder::new().spawn(move || read_stdin(&emitter, &counts))
    };
    let read = reader.and_then(|reader| {
        while !reader.is_finished() && !emitter.has_given_up() {
            thread::sleep(STDIN_POLL);
        }
        if reader.is_finished() {
            reader.join().expect("the reader does not panic")
        } else {
            Ok(())
        }
    });
    let counts = *counts.lock().expect("no thread panics with it");
    (counts, read)
}

fn read_stdin(emitter: &Emitter, counts: &Mutex<LineCounts>) -> io::Result<()> {
    for (at, line) in io::stdin().lock().split(b'\n').enumerate() {
        let line = line?;
        if emitter.has_given_up() {
            break;
        }
        let line = line.trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        let line = Line::from_bytes(line);
        match &line {
            Ok(line) => put(emitter, line),
            Err(error) => output::note(&format!("line {} of stdin: {error}", at + 1)),
        }
        let mut counts = counts.lock().expect("no thread panics with it");
        counts.emitted += u64::from(line.is_ok());
        counts.refused += u64::from(line.is_err());
    }
    Ok(())
}

/// How often it is looked whether stdin has ended: our own choice.
const STDIN_POLL: Duration = Duration::from_millis(5);

fn put(emitter: &Emitter, line: &Line) {
    let fields: Vec<(&str, Value<&str>)> = line
        .fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.borrowed()))
        .collect();
    emitter.emit_at(line.time.unwrap_or_else(Timestamp::now), &line.subject, &fields);
}

/// The words of a command line as a line; a value with spaces needs no further quotes.
fn event_line(words: &[String]) -> String {
    let quote = |word: &String| match word.split_once('=') {
        Some((name, value)) if value.contains(char::is_whitespace) && !value.starts_with('"') => {
            format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
        }
        _ => word.clone(),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
