//! Cuts long messages into fragments, as omniORB does.

use super::header::{HEADER_LENGTH, Header, MessageType, finish, set_more};
use lastmile_units::ByteCount;

/// The length at which omniORB 4.2 cuts messages: the size of its buffer (`giopStream::bufferSize`).
pub const OMNIORB_MESSAGE_MAX: ByteCount = ByteCount::new(8192);

/// A fragment has the id of its request after the header.
const FRAGMENT_HEAD: usize = HEADER_LENGTH + 4;

/// Cuts an encoded request, reply or locate message into pieces of at most `longest` bytes, each with its headers.
///
/// # Panics
/// Where `longest` is not a multiple of 8, or has no room for content: fragments but the last end at a multiple of 8.
pub fn fragment(message: Vec<u8>, longest: ByteCount) -> Vec<u8> {
    let longest = usize::try_from(longest.get()).unwrap_or(usize::MAX & !7);
    assert!(
        longest.is_multiple_of(8) && longest > FRAGMENT_HEAD,
        "pieces of {longest} B"
    );
    if message.len() <= longest {
        return message;
    }
    let (first, mut rest) = message.split_at(longest);
    let id = first[HEADER_LENGTH..FRAGMENT_HEAD].to_vec();
    let mut out = first.to_vec();
    set_more(&mut out);
    finish(&mut out);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(longest - FRAGMENT_HEAD));
        rest = after;
        let mut fragment = Vec::new();
        Header::begin(MessageType::Fragment, &mut fragment);
        fragment.extend(&id);
        fragment.extend(piece);
        if !rest.is_empty() {
            set_more(&mut fragment);
        }
        finish(&mut fragment);
        out.extend(fragment);
    }
    out
}
