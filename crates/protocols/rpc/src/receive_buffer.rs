//! The bytes of a connection that have arrived and are not read yet.

#[derive(Debug, Default)]
pub(crate) struct ReceiveBuffer {
    bytes: Vec<u8>,
    /// How much of `bytes` was read.
    read: usize,
}

impl ReceiveBuffer {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..std::mem::take(&mut self.read));
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.read..]
    }

    pub(crate) fn skip(&mut self, bytes: usize) {
        self.read += bytes;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.unread().is_empty()
    }
}
