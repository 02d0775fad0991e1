//! What of a document's text a JSON value does not hold: numbers of more digits than 64 bits have, and keys that an object has twice.

use std::collections::HashSet;

/// What a value read from the text of a document has lost; `None` where decoding it again gives what the text says. The text is valid JSON.
pub(crate) fn loss(text: &str) -> Option<String> {
    let mut scanner = Scanner {
        rest: text,
        levels: Vec::new(),
    };
    scanner.run()
}

struct Scanner<'a> {
    rest: &'a str,
    levels: Vec<Level>,
}

/// An object or an array that is open.
#[derive(Default)]
struct Level {
    keys: HashSet<String>,
    /// The last key of an object; none in an array.
    key: Option<String>,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) -> Option<String> {
        while let Some(byte) = self.rest.bytes().next() {
            match byte {
                b'"' => {
                    let length = string_length(self.rest);
                    let string = self.take(length);
                    if self.rest.trim_start().starts_with(':') {
                        let key: String = serde_json::from_str(string).ok()?;
                        let level = self.levels.last_mut()?;
                        let is_new = level.keys.insert(key.clone());
                        level.key = Some(key);
                        if !is_new {
                            return Some(format!("{} stands there twice", self.location()));
                        }
                    }
                }
                b'{' | b'[' => {
                    self.levels.push(Level::default());
                    self.take(1);
                }
                b'}' | b']' => {
                    self.levels.pop();
                    self.take(1);
                }
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                    let length = self.rest.bytes().take_while(|byte| is_part(byte)).count();
                    let number = self.take(length);
                    if !is_exact(number) {
                        let shown = if number.len() > SHOWN_MAX {
                            &number[..SHOWN_MAX]
                        } else {
                            number
                        };
                        let more = if shown.len() < number.len() { "..." } else { "" };
                        return Some(format!(
                            "{}, value {shown}{more}: 64 bits do not hold all of its digits; write it as a string",
                            self.location()
                        ));
                    }
                }
                _ => {
                    let length = self.rest.chars().next().map_or(1, char::len_utf8);
                    self.take(length);
                }
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// The field that was read last.
    fn location(&self) -> String {
        let keys: Vec<&str> = self.levels.iter().filter_map(|level| level.key.as_deref()).collect();
        if keys.is_empty() {
            "the document".to_owned()
        } else {
            format!("field {}", keys.join("."))
        }
    }
}

/// How many digits of a number a message shows.
const SHOWN_MAX: usize = 60;

/// The bytes of the string that the text begins with, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Whether an integer or a float of 64 bits holds the number. A float's own notations are the shortest that tells it from others, and that of 17 digits.
fn is_exact(number: &str) -> bool {
    if !number.contains(['.', 'e', 'E']) {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    let Ok(float) = number.parse::<f64>() else { return false };
    let own = decimal(number);
    own.is_some() && (own == decimal(&format!("{float:e}")) || own == decimal(&format!("{float:.16e}")))
}

/// The digits of a number without zeros at their ends, and the exponent of a point before them; none where the exponent is out of reach.
fn decimal(number: &str) -> Option<(String, i64)> {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let digits = digits.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return Some((String::new(), 0));
    }
    let leading = (all.len() - significant.len()) as i64;
    let exponent = exponent
        .parse::<i64>()
        .ok()?
        .checked_add(whole.len() as i64 - leading)?;
    Some((significant.trim_end_matches('0').to_owned(), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sixty_four_bits_hold_is_exact() {
        let texts = [
            "18446744073709551615",
            "-9223372036854775808",
            r#"{"a":0.1,"b":[1e3,-0,0.0,1.10,2.5E-7],"c":{"a":1}}"#,
            r#"[{"a":1},{"a":2}]"#,
            r#"{"a":"b\"c\\","d":"12345678901234567890123"}"#,
            "0.10000000000000001",
            "1.7976931348623157e308",
        ];
        for text in texts {
            assert_eq!(loss(text), None, "{text}");
        }
    }

    #[test]
    fn lost_digits_and_keys_are_named() {
        let cases = [
            ("18446744073709551616", "the document, value 18446744073709551616"),
            (
                r#"{"a":{"trace id":[1,107260880497441314860971833778156290045]}}"#,
                "field a.trace id, value 1072",
            ),
            (
                r#"{"x":12345678901234567890123.45}"#,
                "field x, value 12345678901234567890123.45",
            ),
            ("12345678901234567.0", "the document, value 12345678901234567.0"),
            ("1e-400", "the document, value 1e-400"),
            (r#"{"a":1, "a" :2}"#, "field a stands there twice"),
            (r#"{"a":1,"\u0061":2}"#, "field a stands there twice"),
        ];
        for (text, wanted) in cases {
            let found = loss(text).unwrap_or_default();
            assert!(found.starts_with(wanted), "{text}: {found}");
        }
    }
}
