//! Decodes base64 of any size in place, without a second buffer.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Base64 of RFC 4648 section 4, with or without its padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Characters decoded at a time: our own choice, a multiple of 4.
const PIECE: usize = 4096;

/// Decodes `text` within its own memory. White space is skipped, since line ends are common. None where it is not base64.
pub(crate) fn decode_in_place(mut text: Vec<u8>) -> Option<Vec<u8>> {
    if text.iter().any(u8::is_ascii_whitespace) {
        text.retain(|byte| !byte.is_ascii_whitespace());
    }
    let mut piece = [0; PIECE];
    let (mut read, mut written) = (0, 0);
    while read < text.len() {
        let end = text.len().min(read + PIECE);
        let coded = &mut piece[..end - read];
        coded.copy_from_slice(&text[read..end]);
        if end < text.len() && coded.ends_with(b"=") {
            // Padding is valid only at the very end.
            return None;
        }
        // Writing never overtakes reading: 4 characters give at most 3 bytes.
        let room = &mut text[written..end];
        written += LENIENT.decode_slice(&*coded, room).ok()?;
        read = end;
    }
    text.truncate(written);
    text.shrink_to_fit();
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_length_decodes_to_what_it_was_with_and_without_padding_and_line_ends() {
        let bytes: Vec<u8> = (0..20_000_u32).map(|index| (index * 7 % 251) as u8).collect();
        for length in (0..100).chain([3070, 3071, 3072, 3073, 3074, 12_288, 20_000]) {
            let bytes = &bytes[..length];
            let padded = base64::engine::general_purpose::STANDARD.encode(bytes);
            assert_eq!(
                decode_in_place(padded.clone().into_bytes()).as_deref(),
                Some(bytes),
                "{length}"
            );
            let bare = padded.trim_end_matches('=').to_owned();
            assert_eq!(
                decode_in_place(bare.into_bytes()).as_deref(),
                Some(bytes),
                "{length} unpadded"
            );
            let lines = padded
                .as_bytes()
                .chunks(76)
                .collect::<Vec<_>>()
                .join(b"\r\n".as_slice());
            assert_eq!(decode_in_place(lines).as_deref(), Some(bytes), "{length} in lines");
        }
    }

    #[test]
    fn what_is_no_base64_is_none() {
        let mut padded_within = b"AAAA".repeat(PIECE / 4);
        padded_within[PIECE - 1] = b'=';
        padded_within.extend_from_slice(b"AAAA");
        for text in [
            b"A".to_vec(),
            b"AA=A".to_vec(),
            b"<html>".to_vec(),
            b"AA==AA==".to_vec(),
            padded_within,
        ] {
            assert_eq!(decode_in_place(text), None);
        }
    }
}
