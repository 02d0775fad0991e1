//! The arguments of `lastmile perturb`.

use super::{FormatArg, parse_from_one};
use clap::Args;
use lastmile_load::rate::RequestRate;
use std::num::NonZeroU32;
use std::time::Duration;

/// Measure what a program's sensor costs the program: more CPU time, later responses
///
/// The program runs in pairs, with its sensor and without, in turns. It finds the sensor by LASTMILE_SENSOR (lastmile's emitter, and `lastmile
/// emit`), or by OTEL_EXPORTER_OTLP_ENDPOINT (OpenTelemetry's SDKs, which OTEL_SDK_DISABLED turns off). With --load the program is a server: it is
/// loaded in each run at the same times, and ended with SIGTERM.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lastmile perturb -- ./report --input data.csv           a program that ends
  lastmile perturb --load http://127.0.0.1:8000/ --rate 200 -- ./server")]
pub(crate) struct PerturbArgs {
    /// The program and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub(crate) command: Vec<String>,

    /// How many pairs of runs
    #[arg(long, value_name = "N", default_value = "10", value_parser = |text: &str| parse_from_one::<NonZeroU32>(text, Some(10_000)))]
    pub(crate) pairs: NonZeroU32,

    /// The server's URL: load it in each run
    #[arg(long, value_name = "URL")]
    pub(crate) load: Option<String>,

    /// Requests per second
    #[arg(long, value_name = "RATE", default_value = "100", requires = "load")]
    pub(crate) rate: RequestRate,

    /// How long each run loads the server
    #[arg(long, value_name = "TIME", default_value = "5s", requires = "load", value_parser = lastmile_units::duration::parse)]
    pub(crate) duration: Duration,

    #[command(flatten)]
    pub(crate) format: FormatArg,
}
