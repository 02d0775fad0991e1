//! Reads a cell's settings into the objects to deliver, and how the server sends them.

use lastmile_codec::content::CodecSpec;
use lastmile_study::settings::{Codec, Filter, ServerName, Settings, Writes};
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
    /// Reads `settings` for the objects of `workload`; the error is a message for the author of the study.
    pub(super) fn of(workload: &WorkloadSpec, settings: &Settings) -> Result<Self, String> {
        let codec = settings.codec.map_or(Ok(CodecSpec::IDENTITY), Codec::content)?;
        let whole = if codec.is_identity() {
            settings.writes() == Writes::Buffered
        } else {
            settings.filter() == Filter::Whole
        };
        Ok(Self {
            workload: workload.clone(),
            codec,
            whole,
            object_time: settings.object_time().0,
            server: settings.server(),
        })
    }
}
