//! Detects whether a file that begins with JSON is a transcript in JSON, or text whose messages are JSON.
//!
//! Messages of chat and GraphQL may have a `payload` too, so that this key alone is not enough where it is not the first:
//!
//! | the first object | is read as |
//! | --- | --- |
//! | its first key is `log` | a HAR |
//! | its first key is one of [`KEYS`] | JSON Lines |
//! | its `payload` or `payload_base64` is a text, and it has another of [`KEYS`] | JSON Lines |
//! | a list over several lines, or an object over several | nothing: one JSON value is refused |
//! | anything else | text, with a note where it has a payload and no other of [`KEYS`] |
//!
//! JSON Lines are read strictly, so that an error names any key that is not a transcript's. Whether text is that of a log is decided line by
//! line, elsewhere.

use super::Format;
use super::json_walker::{Fault, Scanner};
use super::keys::{KEYS, PAYLOADS};
use crate::reading::note::Plural;

/// The file is one JSON value, and its lines are no messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OneValue {
    List,
    Object,
}

/// The format of a file with this head, as far as the head shows it, and a note where it is ambiguous.
pub(super) fn detect(first_key: Option<&[u8]>, head: &[u8]) -> Result<(Format, Option<Plural>), OneValue> {
    match first_key {
        Some(b"log") => return Ok((Format::Har, None)),
        Some(key) if is_known(key) => return Ok((Format::JsonLines, None)),
        _ => {}
    }
    let head = head.trim_ascii_start();
    let members = members(head);
    if has_payload(&members) {
        return Ok(match members.iter().filter(|member| is_known(&member.key)).count() {
            1 => (Format::Text, Some(ONLY_A_PAYLOAD.into())),
            _ => (Format::JsonLines, None),
        });
    }
    let listed = head.strip_prefix(b"[").map(self::members).unwrap_or_default();
    match head.first() {
        Some(b'[') if has_payload(&listed) || is_spread(head) => Err(OneValue::List),
        Some(b'{') if is_spread(head) => Err(OneValue::Object),
        _ => Ok((Format::Text, None)),
    }
}

const ONLY_A_PAYLOAD: &str = "file has a payload in its first object but, as far as its start shows, no other key of a transcript, so \
                              each line as it stands is a message";

/// A member of an object.
struct Member {
    /// The key; a long one is cut.
    key: Vec<u8>,
    is_text: bool,
}

fn is_known(key: &[u8]) -> bool {
    KEYS.iter().any(|known| known.as_bytes() == key)
}

fn has_payload(members: &[Member]) -> bool {
    let is_payload = |key: &[u8]| PAYLOADS.iter().any(|payload| payload.as_bytes() == key);
    members.iter().any(|member| member.is_text && is_payload(&member.key))
}

/// The members of the object that `head` starts with, as far as it is there; none where there is no object.
fn members(head: &[u8]) -> Vec<Member> {
    let mut found = Vec::new();
    match walk(&mut Scanner::new(head), &mut found) {
        Ok(()) | Err(_) => found,
    }
}

fn walk(scanner: &mut Scanner<&[u8]>, found: &mut Vec<Member>) -> Result<(), Fault> {
    scanner.consume(b'{')?;
    while scanner.has_another(b'}')? {
        let key = scanner.key()?;
        let is_text = scanner.peek()? == b'"';
        found.push(Member { key, is_text });
        scanner.value(0, &mut Vec::new())?;
    }
    Ok(())
}

/// Whether the first line opens a list or an object that continues on the next line, as indented JSON does.
fn is_spread(head: &[u8]) -> bool {
    let mut lines = head.splitn(2, |byte| *byte == b'\n');
    let (first, rest) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let opens = matches!(first.trim_ascii_end(), b"{" | b"[" | b"[{");
    opens && matches!(rest.trim_ascii_start().first(), Some(b'"' | b'{'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::sniff::OpenedFile;

    fn detected(head: &str) -> Result<(Format, bool), OneValue> {
        let opened = OpenedFile::new(head.as_bytes(), "talk").unwrap();
        let (format, words) = detect(opened.first_key(), opened.head())?;
        Ok((format, words.is_some()))
    }

    fn of(head: &str) -> (Format, bool) {
        detected(head).unwrap()
    }

    #[test]
    fn lines_of_a_log_are_json_lines_wherever_their_keys_stand() {
        for head in [
            r#"{"direction":"sent","ts":1,"payload":"hello"}"#,
            r#"{"ts":1,"direction":"sent","payload":"hello"}"#,
            r#"{"ts":1,"payload":"hello","direction":"sent"}"#,
            r#"{"ts":[1,{"a":"}]"}],"note":"\"}{","opcode":2,"payload_base64":"AAA="}"#,
            "{\n \"ts\" : 1,\n \"connection\" : 4,\n \"payload\" : \"hello\"\n}",
        ] {
            assert_eq!(of(head), (Format::JsonLines, false), "{head}");
        }
        let cut = format!(r#"{{"ts":1,"direction":"sent","payload":"{}"#, "x".repeat(10_000));
        assert_eq!(of(&cut), (Format::JsonLines, false));
    }

    #[test]
    fn messages_that_are_json_are_text() {
        for head in [
            r#"{"type":"msg","text":"hello"}"#,
            r#"{"id":"1","type":"next","payload":{"data":{"direction":"sent","payload":"x"}}}"#,
            r#"{"type":"next","payload":{"data":1},"connection":"c"}"#,
            r#"["3","4","room:1","new_msg",{"payload":"x"}]"#,
            r#"{"text":"\"direction\":1,\"payload\":\"x\""}"#,
            "{ no JSON",
            "{\nno JSON",
            "[",
        ] {
            assert_eq!(of(head), (Format::Text, false), "{head}");
        }
    }

    #[test]
    fn what_may_be_meant_as_a_transcript_and_is_read_as_text_is_remarked_on() {
        let cut = format!(r#"{{"ts":1,"payload":"{}","direction":"sent"}}"#, "x".repeat(10_000));
        for head in [r#"{"ts":1,"payload":"hello"}"#, &cut] {
            assert_eq!(of(head), (Format::Text, true), "{head}");
        }
    }

    #[test]
    fn one_json_value_is_no_lines_of_messages() {
        for (head, value) in [
            (
                "[\n {\n  \"direction\": \"sent\",\n  \"payload\": \"x\"\n }\n]",
                OneValue::List,
            ),
            (r#"[{"direction":"sent","payload":"x"}]"#, OneValue::List),
            ("{\r\n  \"type\": \"msg\"\r\n}", OneValue::Object),
        ] {
            assert_eq!(detected(head), Err(value), "{head}");
        }
    }
}
