//! Frames for cases to send, and the offer of compression that goes before them.

use lastmile_websocket::{FrameHeader, Opcode};

/// The line that offers compression.
pub(super) const DEFLATE: &[&str] = &["permessage-deflate"];

/// "Hello", compressed (RFC 7692 section 7.2.3.1).
pub(super) const HELLO: [u8; 7] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];

/// A frame to send: its header, and its payload.
pub(super) type Frame<'a> = (FrameHeader, &'a [u8]);

/// A final frame that keeps to every rule.
pub(super) const fn frame(opcode: Opcode, payload: &[u8]) -> Frame<'_> {
    (FrameHeader::new(opcode, payload.len() as u64), payload)
}

/// The frame with RSV1 set: it is compressed.
pub(super) const fn rsv1((header, payload): Frame<'_>) -> Frame<'_> {
    (FrameHeader { rsv1: true, ..header }, payload)
}

/// The frame with others to follow.
pub(super) const fn not_final((header, payload): Frame<'_>) -> Frame<'_> {
    let is_final = false;
    (FrameHeader { is_final, ..header }, payload)
}
