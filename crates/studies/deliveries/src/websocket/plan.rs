//! Reads a cell's settings into the messages to deliver over WebSocket, and how.

use crate::messages::Messages;
use lastmile_codec::message::{MessageCodec, Strategy};
use lastmile_study::settings::{Pace, ServerName, Settings};
use lastmile_testbed::messaging::CompressionMode;
use lastmile_units::ByteCount;

/// Messages, and how they are delivered.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) messages: Messages,
    /// Whether WebSocket or the application compresses them.
    pub(crate) compression: CompressionMode,
    pub(crate) pace: Pace,
    pub(crate) server: ServerName,
}

impl Plan {
    /// Reads `settings`; the error is a message for the author of the study.
    pub(super) fn of(settings: &Settings) -> Result<Self, String> {
        let messages = Messages::of(settings)?;
        let policy = &messages.policy;
        let coding = CompressionMode::from_codec(messages.codec);
        let signalled_by_rsv1 = [
            ("uncompressed", policy.skip.is_some()),
            ("compression_threshold", policy.threshold > ByteCount::ZERO),
            ("reset_after_idle", policy.reset_after_idle.is_some()),
        ];
        if let Some((key, _)) = signalled_by_rsv1.iter().find(|(_, is_set)| *is_set)
            && coding.is_application_layer()
        {
            return Err(format!(
                "message_codec is {}, with which the application compresses every message, but {key} makes exceptions, which \
                 only a permessage-deflate receiver handles by itself; leave it out, or use deflate",
                messages.codec
            ));
        }
        let server = settings.server();
        let pace = settings.message_interval();
        let other_codec = format!("message_codec = \"{}\"", messages.codec);
        let only_ours = [
            ("fragment", policy.fragment.is_some()),
            ("uncompressed", policy.skip.is_some()),
            ("compression_threshold", policy.threshold > ByteCount::ZERO),
            ("reset_after_idle", policy.reset_after_idle.is_some()),
            (
                "strategy",
                coding
                    .extension()
                    .is_some_and(|(deflate, _)| deflate.strategy != Strategy::Default),
            ),
            (
                other_codec.as_str(),
                !matches!(messages.codec, MessageCodec::Identity | MessageCodec::Deflate(_)),
            ),
            ("message_interval = \"one-by-one\"", pace == Pace::OneByOne),
        ];
        match only_ours.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) if !server.is_ours() => Err(format!(
                "server {server} has no setting for {key}; leave it out for this part, or set server = \"lastmile\""
            )),
            _ => Ok(Self {
                messages,
                compression: coding,
                pace,
                server,
            }),
        }
    }
}
