//! Reads a cell's settings into the objects to deliver, and how the server sends them.

use lastmile_codec::content::CodecSpec;
use lastmile_study::settings::{Filter, ServerName, Settings, Writes};
use lastmile_workload::WorkloadSpec;
use std::time::Duration;

/// Objects, and how the server sends them.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) workload: WorkloadSpec,
    pub(crate) codec: CodecSpec,
    /// Whether the response is complete before its first byte is sent.
    pub(crate) whole: bool,
    pub(crate) object_time: Duration,
    pub(crate) server: ServerName,
}

impl Plan {
    /// Reads `settings` for the objects of `workload`.
    pub(super) fn of(workload: &WorkloadSpec, settings: &Settings) -> Self {
        let codec = settings.codec.unwrap_or(CodecSpec::IDENTITY);
        let whole = if codec.is_identity() {
            settings.writes == Some(Writes::Buffered)
        } else {
            settings.filter != Some(Filter::Stream)
        };
        let object_time = settings.object_time.map_or(Duration::ZERO, |time| time.0);
        Self {
            workload: workload.clone(),
            codec,
            whole,
            object_time,
            server: settings.server.clone().unwrap_or_default(),
        }
    }
}
