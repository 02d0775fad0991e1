//! Producers: they submit batches of events, and keep what was acknowledged.

use crate::events::Events;
use crate::plan::{Submission, Way};
use crate::programs::{HANGS, Workspace};
use serde_json::{Value, json};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::os::unix::net::UnixStream;

/// What became of a batch, as its producer was told.
#[derive(Debug, Clone)]
pub(crate) struct Receipt {
    pub(crate) way: Way,
    pub(crate) numbers: Range<u64>,
    pub(crate) acknowledged: u64,
    /// How many the sensor said that it dropped.
    pub(crate) dropped: u64,
}

impl Receipt {
    /// The name of the source that the events of the batch have; of a sensor's own, how it begins.
    pub(crate) fn source(&self) -> String {
        match self.way {
            Way::EmitToMonitor | Way::EmitToSensor => emit_source(&self.numbers),
            Way::Lines | Way::Otlp => SENSOR.to_owned(),
        }
    }
}

/// How the names of a sensor's own sources begin.
pub(crate) const SENSOR: &str = "sensor";

fn emit_source(numbers: &Range<u64>) -> String {
    format!("batch-{}", numbers.start)
}

/// Submits batches, until too many failed.
///
/// # Errors
/// When an answer is none, or a program hangs.
pub(crate) fn submit(
    workspace: &Workspace,
    events: Events,
    submission: &Submission,
    patience: &str,
) -> io::Result<Vec<Receipt>> {
    let way = submission.way;
    let (mut receipts, mut failures) = (Vec::new(), 0);
    for numbers in submission.batches.iter().cloned() {
        let (acknowledged, dropped) = match way {
            Way::EmitToMonitor | Way::EmitToSensor => (emit(workspace, events, way, &numbers, patience)?, 0),
            // A sensor that is killed answers nothing: nothing is acknowledged.
            Way::Lines => lines(workspace, events, numbers.clone()).unwrap_or_default(),
            Way::Otlp => records(workspace, events, numbers.clone()).unwrap_or_default(),
        };
        failures += u32::from(acknowledged < numbers.end - numbers.start);
        receipts.push(Receipt {
            way,
            numbers,
            acknowledged,
            dropped,
        });
        if failures == FAILURES_MAX {
            break;
        }
    }
    Ok(receipts)
}

/// A producer ends after so many batches of which something was not acknowledged.
const FAILURES_MAX: u32 = 5;

/// How many `lastmile emit` says are acknowledged.
fn emit(workspace: &Workspace, events: Events, way: Way, numbers: &Range<u64>, patience: &str) -> io::Result<u64> {
    let source = emit_source(numbers);
    let (url, socket) = (workspace.url(), workspace.socket().display().to_string());
    let receiver = if way == Way::EmitToMonitor {
        ["--monitor", &url]
    } else {
        ["--socket", &socket]
    };
    let words = [
        "emit",
        "--source",
        &source,
        "--patience",
        patience,
        receiver[0],
        receiver[1],
    ];
    let output = workspace.run(
        &words,
        &numbers.clone().map(|number| events.line(number)).collect::<String>(),
    )?;
    let said = String::from_utf8_lossy(&output.stderr);
    let kept = said
        .lines()
        .find_map(|line| line.strip_suffix(" events acknowledged")?.split_once(" of "));
    let kept = kept.and_then(|(kept, _)| kept.parse().ok()).unwrap_or(0);
    let all = numbers.end - numbers.start;
    if output.status.success() && kept != all {
        return Err(io::Error::other(format!("emit exited with 0 and said: {said}")));
    }
    Ok(kept)
}

/// How many lines a sensor says that it kept and dropped.
pub(crate) fn lines(workspace: &Workspace, events: Events, numbers: Range<u64>) -> io::Result<(u64, u64)> {
    let mut stream = UnixStream::connect(workspace.socket())?;
    stream.set_read_timeout(Some(HANGS))?;
    let lines: String = numbers.map(|number| events.line(number)).collect();
    stream.write_all(lines.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let words: Vec<&str> = answer.split_whitespace().collect();
    match words[..] {
        ["kept", kept, "refused", "0", "dropped", dropped] => Ok((
            kept.parse().map_err(io::Error::other)?,
            dropped.parse().map_err(io::Error::other)?,
        )),
        _ => Err(io::Error::other(answer)),
    }
}

/// How many log records a sensor says that it kept and dropped. Of a request that it refuses, it drops none: they are to be sent again.
fn records(workspace: &Workspace, events: Events, numbers: Range<u64>) -> io::Result<(u64, u64)> {
    let all = numbers.end - numbers.start;
    let records: Vec<Value> = numbers.map(|number| events.record(number)).collect();
    let body = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).to_string();
    let mut stream = TcpStream::connect(workspace.otlp)?;
    stream.set_read_timeout(Some(HANGS))?;
    let head = format!(
        "POST /v1/logs HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        workspace.otlp,
        body.len()
    );
    stream.write_all((head + &body).as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    if !head.starts_with("HTTP/1.1 200") {
        return Ok((0, 0));
    }
    let body: Value = serde_json::from_str(body)?;
    let rejected = &body["partialSuccess"]["rejectedLogRecords"];
    let rejected = rejected
        .as_str()
        .map_or(rejected.as_u64(), |text| text.parse().ok())
        .unwrap_or(0);
    Ok((all - rejected, rejected))
}
