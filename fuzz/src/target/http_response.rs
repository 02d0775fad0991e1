//! The fuzz target of the load generator's client: what a server, or something else behind its port, may send.

use super::portions;
use lastmile_load::http1::{HEAD_MAX, ResponseError, ResponseReader};
use lastmile_load::request::Request;

/// What was read: the bytes that belong to the response, and how it stands; or the error.
type Outcome = Result<(usize, bool, u16, bool, u64), ResponseError>;

/// Reads a response, and its end. Reading in portions gives the same as reading the whole; a response has no more body than bytes; a head is
/// bounded; what was complete stays so.
pub fn http_response(input: &[u8]) {
    let request = Request::get("localhost", "/");
    let whole = read(request.response_reader(), [input].into_iter());
    let in_portions = read(request.response_reader(), portions::of(input));
    assert_eq!(whole, in_portions, "portions change nothing");
    if let Ok((read, is_complete, status, _, body)) = whole {
        assert!(read <= input.len() && body <= read as u64);
        assert!(!is_complete || (200..600).contains(&status));
        assert!(
            is_complete || read == input.len(),
            "a response that goes on takes every byte"
        );
        assert!(body == 0 || status != 204);
    }
}

fn read<'a>(mut reader: ResponseReader, portions: impl Iterator<Item = &'a [u8]>) -> Outcome {
    let mut total = 0;
    for portion in portions {
        let read = reader.read(portion)?;
        total += read;
        assert!(reader.has_head() || total <= HEAD_MAX);
        if reader.is_complete() {
            assert_eq!(reader.read(b"more"), Ok(0));
            assert_eq!(reader.end(), Ok(()));
            break;
        }
        assert_eq!(read, portion.len());
    }
    Ok((
        total,
        reader.is_complete(),
        reader.status(),
        reader.keeps_alive(),
        reader.body_bytes(),
    ))
}
