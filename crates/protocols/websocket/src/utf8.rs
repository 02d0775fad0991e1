//! Checks UTF-8 incrementally, in portions that may cut characters (RFC 6455 section 8.1).

/// Checks text as it arrives, so that an error is detected at the first invalid byte.
#[derive(Debug, Clone, Default)]
pub(super) struct Utf8Check {
    /// The bytes of an incomplete character: up to three.
    pending: [u8; 4],
    held: usize,
}

impl Utf8Check {
    /// Appends `bytes`; returns whether the text can still be UTF-8.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> bool {
        while self.held > 0 {
            let Some((first, rest)) = bytes.split_first() else {
                return true;
            };
            self.pending[self.held] = *first;
            self.held += 1;
            bytes = rest;
            match std::str::from_utf8(&self.pending[..self.held]) {
                Ok(_) => self.held = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                let tail = &bytes[error.valid_up_to()..];
                self.pending[..tail.len()].copy_from_slice(tail);
                self.held = tail.len();
                true
            }
        }
    }

    /// Whether no character is cut off.
    pub(super) fn is_complete(&self) -> bool {
        self.held == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(portions: &[&[u8]]) -> bool {
        let mut check = Utf8Check::default();
        portions.iter().all(|portion| check.push(portion)) && check.is_complete()
    }

    #[test]
    fn an_error_is_seen_with_the_byte_that_makes_it_one() {
        let mut check = Utf8Check::default();
        // F4 begins U+10xxxx, whose second byte is at most 8F.
        assert!(check.push(&[0xce, 0xba, 0xf4]));
        assert!(!check.push(&[0x90]));
    }

    #[test]
    fn a_character_that_is_cut_off_is_not_whole() {
        assert!(!check(&[b"k\xe1\xbd"]));
        assert!(check(&[b"k\xe1", b"\xbd", b"\xb9"]));
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_standard_library_however_the_text_is_cut(
            text in prop_oneof![
                any::<String>().prop_map(String::into_bytes),
                proptest::collection::vec(any::<u8>(), 0..12),
                proptest::collection::vec(proptest::sample::select(vec![0x41, 0x80, 0xbf, 0xc3, 0xe1, 0xed, 0xf0, 0xf4]), 0..6),
            ],
            cuts in proptest::collection::vec(0_usize..32, 0..4),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let portions: Vec<&[u8]> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(check(&portions), std::str::from_utf8(&text).is_ok());
        }
    }
}
