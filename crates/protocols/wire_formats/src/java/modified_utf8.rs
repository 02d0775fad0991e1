//! Modified UTF-8, Java's encoding of text (`java.io.DataInput`): U+0000 is two bytes, and each half of a surrogate pair three.

/// Appends `text` in modified UTF-8.
pub(super) fn encode(text: &str, to: &mut Vec<u8>) {
    for unit in text.encode_utf16() {
        match unit {
            0x0001..=0x007f => to.push(unit as u8),
            0 | 0x0080..=0x07ff => to.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
            _ => to.extend([
                0xe0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3f) as u8,
                0x80 | (unit & 0x3f) as u8,
            ]),
        }
    }
}

/// How many bytes [`encode`] would append.
pub(super) fn encoded_len(text: &str) -> usize {
    text.encode_utf16()
        .map(|unit| match unit {
            0x0001..=0x007f => 1,
            0 | 0x0080..=0x07ff => 2,
            _ => 3,
        })
        .sum()
}

/// The text in `bytes`; or the index of the first wrong byte, and what was expected there.
pub(super) fn decode(bytes: &[u8]) -> Result<String, (usize, &'static str)> {
    if bytes.is_ascii() {
        return Ok(bytes.iter().map(|&byte| char::from(byte)).collect());
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let continuation = |ahead: usize| match bytes.get(at + ahead) {
            Some(byte) if byte & 0xc0 == 0x80 => Ok(u16::from(byte & 0x3f)),
            Some(_) => Err((at + ahead, "a continuation byte of modified UTF-8 (0x80 to 0xbf)")),
            None => Err((at, "a character that ends within its string")),
        };
        let first = u16::from(bytes[at]);
        let (unit, length) = match first {
            0x00..=0x7f => (first, 1),
            0xc0..=0xdf => ((first & 0x1f) << 6 | continuation(1)?, 2),
            0xe0..=0xef => ((first & 0x0f) << 12 | continuation(1)? << 6 | continuation(2)?, 3),
            _ => return Err((at, "the first byte of a character in modified UTF-8")),
        };
        units.push(unit);
        at += length;
    }
    String::from_utf16(&units).map_err(|_| (0, "text whose surrogates are paired"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_takes_two_bytes_and_a_supplementary_character_six() {
        let mut bytes = Vec::new();
        encode("\0é€😀", &mut bytes);
        assert_eq!(bytes, b"\xc0\x80\xc3\xa9\xe2\x82\xac\xed\xa0\xbd\xed\xb8\x80");
        assert_eq!(encoded_len("\0é€😀"), bytes.len());
        assert_eq!(decode(&bytes).as_deref(), Ok("\0é€😀"));
    }

    #[test]
    fn cut_off_and_unpaired_characters_are_refused_where_they_are() {
        assert_eq!(decode(b"ab\xe2\x82").unwrap_err().0, 2);
        assert_eq!(decode(b"a\xc3A").unwrap_err().0, 2);
        assert_eq!(decode(b"a\xff").unwrap_err().0, 1);
        assert!(decode(b"\xed\xa0\xbd").unwrap_err().1.contains("surrogates"));
    }
}
