//! Shortens what error messages quote from a file.

use std::borrow::Cow;
use std::fmt;

/// How many characters of a file are quoted: our own choice, a line or two.
const SHOWN: usize = 120;

/// The longest number that is printed digit by digit, in characters: our own choice, more than a time in microseconds has.
const DIGITS: usize = 24;

/// The text, cut at [`SHOWN`] characters.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A number that is printed with an exponent where it would have more than [`DIGITS`] characters.
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number) = self;
        let digits = number.to_string();
        if digits.len() > DIGITS {
            write!(f, "{number:e}")
        } else {
            f.write_str(&digits)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut_between_characters_and_what_is_short_stands() {
        assert_eq!(shortened("é"), "é");
        assert_eq!(shortened(&"é".repeat(SHOWN)), "é".repeat(SHOWN));
        assert_eq!(shortened(&"é".repeat(1_000_000)), format!("{}…", "é".repeat(SHOWN)));
    }

    #[test]
    fn a_number_of_many_digits_has_an_exponent() {
        assert_eq!(Number(-1.5).to_string(), "-1.5");
        assert_eq!(Number(1e300).to_string(), "1e300");
        assert_eq!(Number(1_700_000_000_000.125).to_string(), "1700000000000.125");
    }
}
