//! The arguments of the verbs of events: `monitor`, `sensor`, `emit`, `query`, `subscribe` and `audit`.

use super::one_of;
use clap::Args;
use lastmile_events::uplink::Durability;
use lastmile_monitor::client::MonitorUrl;
use lastmile_monitor::log::StoreUrl;
use lastmile_units::{BitRate, ByteCount, duration};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const DURABILITIES: &[(&str, &str, Durability)] = &[
    (
        "memory",
        "Nothing but the monitor's present process",
        Durability::Memory,
    ),
    (
        "process",
        "The end of the monitor's process, also by kill -9",
        Durability::Process,
    ),
    ("power", "A power failure", Durability::Power),
];

const DURABILITIES_OF_SENSORS: &[(&str, &str, Durability)] = &[
    (
        "process",
        "The end of the sensor's process, also by kill -9",
        Durability::Process,
    ),
    (
        "power",
        "A power failure; the monitor must promise the same",
        Durability::Power,
    ),
];

/// Keep events, and answer queries and subscriptions
///
/// Events come from emitters, from sensors and from `lastmile emit`. They are kept in DIR, in an SQLite database. Each acknowledgement
/// names what the events survive. The interface is HTTP: POST /v1/chunks, GET /v1/events, /v1/subscribe, /v1/audit and /metrics.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile monitor events                     on 127.0.0.1:7878
  lastmile monitor events --listen 0.0.0.0:7878 --token-file key
  lastmile monitor events --keep 30d --keep-bytes 10GB
  lastmile monitor events --store nats://hub --durability process")]
pub(crate) struct MonitorArgs {
    /// The folder of the events; it is made where there is none
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The address to listen at; another than loopback needs a token
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7878")]
    pub(crate) listen: SocketAddr,

    /// What an acknowledged event survives at least
    #[arg(long, value_name = "WHAT", default_value = "power", value_parser = one_of(DURABILITIES))]
    pub(crate) durability: Durability,

    /// The most bytes on the disk; a full monitor acknowledges nothing
    #[arg(long, value_name = "BYTES", default_value = "16GB")]
    pub(crate) most: ByteCount,

    /// Keep the events with a NATS server that has JetStream (2.10 or later), as nats://HOST:PORT/STREAM; DIR then holds how far was acknowledged
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,

    /// With --store and --durability power: the server's monitoring address, which must say that it syncs always
    #[arg(long, value_name = "URL", requires = "store")]
    pub(crate) store_status: Option<MonitorUrl>,

    /// Delete events that are older; `audit` says how many were
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) keep: Option<Duration>,

    /// Delete the oldest events where there are more bytes of them; `audit` says how many were
    #[arg(long, value_name = "BYTES")]
    pub(crate) keep_bytes: Option<ByteCount>,

    #[command(flatten)]
    pub(crate) token: TokenArg,
}

/// Take events of this host's programs, and pass them on to a monitor
///
/// Programs write lines to the socket, or chunks by the emitter. Both are kept in DIR until the monitor has them, so an uplink that is down
/// loses nothing. When DIR is full, emitters are told to wait, and lines are dropped and counted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile sensor spool --monitor http://127.0.0.1:7878 --socket events.sock
  lastmile sensor spool --monitor http://hub:7878 --socket s --budget 64kbit/s")]
pub(crate) struct SensorArgs {
    /// The folder of the events that wait
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The monitor to pass them on to
    #[arg(long, value_name = "URL")]
    pub(crate) monitor: MonitorUrl,

    /// The Unix socket to listen at
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: PathBuf,

    /// Also take the logs of OpenTelemetry's SDKs (OTLP over HTTP) at this address; their own default is port 4318
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) otlp: Option<SocketAddr>,

    /// The name of the source that lines belong to
    #[arg(long, value_name = "NAME", default_value = "sensor")]
    pub(crate) name: String,

    /// What an event survives that a program was told is kept
    #[arg(long, value_name = "WHAT", default_value = "process", value_parser = one_of(DURABILITIES_OF_SENSORS))]
    pub(crate) durability: Durability,

    /// The most bytes on the disk
    #[arg(long, value_name = "BYTES", default_value = "1GB")]
    pub(crate) most: ByteCount,

    /// The most that is sent to the monitor in any 10 seconds, compressed and with all headers; what is dropped is counted by subject
    #[arg(long, value_name = "RATE")]
    pub(crate) budget: Option<BitRate>,

    /// With a budget: drop events that would wait longer than this
    #[arg(long, value_name = "TIME", default_value = "1min", requires = "budget", value_parser = duration::parse)]
    pub(crate) budget_delay: Duration,

    #[command(flatten)]
    pub(crate) token: TokenArg,
}

/// Emit an event, or those of stdin's lines
///
/// A line is `[@NANOSECONDS ]SUBJECT[ NAME=VALUE]...`, for example: `run.done cell=3 rate=2.5 ok=true text="two words"`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile emit build.done seconds=12.5 ok=true
  tail -f app.events | lastmile emit --socket events.sock")]
pub(crate) struct EmitArgs {
    /// The subject, and the fields as NAME=VALUE; without any, lines are read from stdin
    #[arg(value_name = "SUBJECT")]
    pub(crate) event: Vec<String>,

    /// The sensor's socket
    #[arg(long, value_name = "PATH", env = "LASTMILE_SENSOR", conflicts_with = "monitor")]
    pub(crate) socket: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) monitor: MonitorArg,

    /// The source's name
    #[arg(long, value_name = "NAME", default_value = "emit")]
    pub(crate) source: String,

    /// What the events must survive before the command ends
    #[arg(long, value_name = "WHAT", default_value = "process", value_parser = one_of(DURABILITIES))]
    pub(crate) durability: Durability,

    /// How long to wait for acknowledgements: from the last one on while lines come, and in all once they have ended
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub(crate) patience: Duration,
}

/// Print the events that a monitor has
///
/// Each line is one event as JSON; the last line says where and whether the answer ended whole.
#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 99 where the answer is not whole: events are damaged, deleted, or lost since the cursor was given; with 3 where the monitor goes away.

Examples:
  lastmile query 'run.*' --where 'seconds > 2' --since 5m
  lastmile query --limit 10
  lastmile query run.done --csv cell,seconds >runs.csv
  lastmile query 'run.>' >runs.ndjson           which DuckDB, pandas and jq read"
)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Print a table of comma-separated values with these fields, after the time in nanoseconds, the source, the number and the subject
    #[arg(long, value_name = "FIELD,FIELD", value_delimiter = ',')]
    pub(crate) csv: Option<Vec<String>>,

    #[command(flatten)]
    pub(crate) monitor: MonitorArg,
}

/// Print the events that a monitor has, then those that come
///
/// Each line has a cursor: with --from CURSOR a later subscription goes on after that line, without a gap or a duplicate.
#[derive(Debug, Args)]
#[command(after_help = "Exits with 3 where the monitor does not answer, or goes away.

Examples:
  lastmile subscribe 'run.>'                          from the first event on
  lastmile subscribe 'run.>' --from now --latest      skips what it cannot take")]
pub(crate) struct SubscribeArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Skip to the newest events when this reader is too slow; a line says how many were skipped
    #[arg(long)]
    pub(crate) latest: bool,

    #[command(flatten)]
    pub(crate) monitor: MonitorArg,
}

/// Show what became of every event: stored, lost where and why, or missing
#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 99 where events are missing or damaged.\n\nExamples:\n  lastmile audit --monitor http://127.0.0.1:7878"
)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) monitor: MonitorArg,

    /// The format of stdout
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: super::link::SummaryFormat,
}

/// Make a new folder of what is whole in a damaged one, of a monitor or a sensor
///
/// The old folder is only read; no monitor or sensor may use it meanwhile.
#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 99 where something could not be taken over.\n\nExamples:\n  lastmile salvage events events-2     then: lastmile monitor events-2"
)]
pub(crate) struct SalvageArgs {
    /// The damaged folder
    #[arg(value_name = "DIR")]
    pub(crate) from: PathBuf,

    /// The new folder
    #[arg(value_name = "NEW")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// The subjects, where * stands for one token and > for the rest [default: all]
    #[arg(value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,

    /// A condition on a field; all must hold
    #[arg(long = "where", value_name = "NAME OP VALUE")]
    pub(crate) conditions: Vec<String>,

    /// Only events of so long ago or later
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) since: Option<Duration>,

    /// Only events of longer ago
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) until: Option<Duration>,

    /// Stop after so many events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Where to begin: start, now, or a cursor
    #[arg(long, value_name = "PLACE", default_value = "start")]
    pub(crate) from: String,

    /// Ask for a compressed answer: for links that are slower than computing
    #[arg(long)]
    pub(crate) compress: bool,

    /// The name under which the monitor counts what it delivers [default: the address]
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MonitorArg {
    /// The monitor
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7878")]
    pub(crate) monitor: MonitorUrl,

    #[command(flatten)]
    pub(crate) token: TokenArg,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArg {
    /// The file that holds the monitor's token; nobody but its owner may read it
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}
