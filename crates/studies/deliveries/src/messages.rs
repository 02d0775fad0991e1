//! Reads which messages a cell has and how they are compressed, for every delivery that carries messages.

use crate::over_link::CPU_PER_REPEAT;
use lastmile_codec::message::{MessageCodec, Policy};
use lastmile_study::settings::Settings;
use lastmile_units::Seed;
use lastmile_workload::WorkloadSpec;
use std::time::Duration;

/// Messages, and how they are compressed.
#[derive(Debug, Clone)]
pub(crate) struct Messages {
    pub(crate) workload: WorkloadSpec,
    pub(crate) codec: MessageCodec,
    /// Which messages are compressed, in how many fragments, and how long a context is kept while idle.
    pub(crate) policy: Policy,
    /// The factor by which compression and decompression take longer than in the cost table.
    pub(crate) slow_down: f64,
}

impl Messages {
    /// Reads how messages are compressed, for any delivery; the error is a message for the author of the study.
    pub(crate) fn of(settings: &Settings) -> Result<Self, String> {
        let workload = settings
            .delivered()
            .ok_or("no workload is set; add workload = { kind = \"chat\", messages = 666 } to [fixed] or [factors]")?;
        Ok(Self {
            workload: workload.content().clone(),
            codec: settings.resolve_message_codec()?,
            policy: settings.sender_policy(),
            slow_down: settings.cpu_slowdown().get(),
        })
    }

    /// The approximate CPU time of one repeat.
    pub(crate) fn expected_time(&self) -> Duration {
        // Any seed will do: sizes depend little on it.
        let bytes = self
            .workload
            .messages(Seed::new(0))
            .map_or(0, |messages| messages.iter().map(|message| message.payload.len()).sum());
        CPU_PER_REPEAT + Duration::from_secs_f64(bytes as f64 * SECONDS_PER_MESSAGE_BYTE)
    }

    /// Whether the messages do not depend on the seed.
    pub(crate) const fn is_recorded(&self) -> bool {
        matches!(self.workload, WorkloadSpec::Transcript(_))
    }
}

/// The CPU time per byte of messages, which are made, compressed and decompressed: measured on short messages of a chat, for which
/// deflate takes longest.
const SECONDS_PER_MESSAGE_BYTE: f64 = 80e-9;
