//! Whole numbers in as few bytes as they need: seven bits a byte, the least significant first (LEB128), and signed ones by zigzag.

/// Appends a number: one byte below 128, ten at most.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number as u8) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front of `bytes`; `None` where they end within it, or it passes 64 bits.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// A signed number as an unsigned one that is small where it is near 0.
pub(crate) const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// The signed number that [`zigzag`] made this one of.
pub(crate) const fn unzigzag(number: u64) -> i64 {
    ((number >> 1) as i64) ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_is_read_as_it_was_written(number: i64) {
            let mut bytes = Vec::new();
            put(&mut bytes, zigzag(number));
            let mut rest = &bytes[..];
            prop_assert_eq!(take(&mut rest).map(unzigzag), Some(number));
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        assert_eq!(take(&mut &[0xff; 10][..]), None);
        assert_eq!(take(&mut &[0x80][..]), None);
    }
}
