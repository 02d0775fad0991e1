//! What may both ends of a connection know before its first message?

use std::sync::Arc;

/// Octets that a codec treats as if they had gone before the first message; without takeover, before every message.
///
/// Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dictionary {
    content: Arc<[u8]>,
}

impl Dictionary {
    /// Messages as they are, one after the other; those most like what is to come had best be last, as the nearest.
    pub fn raw(history: impl Into<Arc<[u8]>>) -> Self {
        Self {
            content: history.into(),
        }
    }

    /// The octets.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    pub(super) fn shared(&self) -> Arc<[u8]> {
        Arc::clone(&self.content)
    }
}
