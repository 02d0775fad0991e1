//! Whether page loads begin with open connections.

#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether connections are open before the first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// Each is opened when first needed: handshakes and slow start are paid.
    Cold,
    /// They are open, and their congestion windows are grown.
    Warm,
}
