//! Is a file that begins with JSON a transcript in JSON, or are its lines messages that are JSON themselves?
//!
//! Chat and GraphQL send objects that have a `payload`, too, so that one key is not enough where it does not stand first:
//!
//! | the first object | is taken as |
//! | --- | --- |
//! | its first key is `log` | a HAR |
//! | its first key is one of [`KEYS`] | JSON Lines |
//! | a text is its `payload` or `payload_base64`, and another of [`KEYS`] is there | JSON Lines |
//! | anything else | text, with a remark where it may be meant otherwise |
//!
//! As JSON Lines it is read strictly, so that a key that is none of a transcript's is named.

use super::Format;
use super::jsonl::{KEYS, PAYLOADS};
use super::scanner::{Fault, Scanner};
use crate::source::remark::Words;

/// How a file is written whose head this is, as far as that can be seen, and what is to be said of it.
pub(super) fn format(first_key: Option<&[u8]>, head: &[u8]) -> (Format, Option<Words>) {
    match first_key {
        Some(b"log") => return (Format::Har, None),
        Some(key) if is_known(key) => return (Format::JsonLines, None),
        _ => {}
    }
    let head = head.trim_ascii_start();
    let members = members(head);
    if has_payload(&members) {
        return match members.iter().filter(|member| is_known(&member.key)).count() {
            1 => (Format::Text, Some(ONLY_A_PAYLOAD.into())),
            _ => (Format::JsonLines, None),
        };
    }
    let listed = head.strip_prefix(b"[").map(self::members).unwrap_or_default();
    let is_one_value = has_payload(&listed) || is_spread(head);
    (Format::Text, is_one_value.then(|| ONE_VALUE.into()))
}

const ONLY_A_PAYLOAD: &str = "file whose first object has a payload and, as far as its start shows, no other key of a transcript, so that \
                              each line as it stands is a message";

const ONE_VALUE: &str = "file that begins as a list of JSON or with an object over several lines, and not with an object a line, so that \
                         each line as it stands is a message";

/// A member of an object.
struct Member {
    /// Of a key that is long, a part.
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

/// The members of the object that stands here: those that are seen, where it is cut off; none where there is no object.
fn members(head: &[u8]) -> Vec<Member> {
    let mut found = Vec::new();
    match walk(&mut Scanner::new(head), &mut found) {
        Ok(()) | Err(_) => found,
    }
}

fn walk(scanner: &mut Scanner<&[u8]>, found: &mut Vec<Member>) -> Result<(), Fault> {
    scanner.enter(b'{')?;
    while scanner.another(b'}')? {
        let key = scanner.key()?;
        let is_text = scanner.peek()? == b'"';
        found.push(Member { key, is_text });
        scanner.value(0, &mut Vec::new())?;
    }
    Ok(())
}

/// Whether the first line opens a list or an object that goes on in the next, as programs write that indent.
fn is_spread(head: &[u8]) -> bool {
    let mut lines = head.splitn(2, |octet| *octet == b'\n');
    let (first, rest) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let opens = matches!(first.trim_ascii_end(), b"{" | b"[" | b"[{");
    opens && matches!(rest.trim_ascii_start().first(), Some(b'"' | b'{'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::opening::Opened;

    fn of(head: &str) -> (Format, bool) {
        let opened = Opened::new(head.as_bytes(), "talk").unwrap();
        let (format, words) = format(opened.first_key(), opened.head());
        (format, words.is_some())
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
        for head in [
            r#"{"ts":1,"payload":"hello"}"#,
            &cut,
            "[\n {\n  \"direction\": \"sent\",\n  \"payload\": \"x\"\n }\n]",
            r#"[{"direction":"sent","payload":"x"}]"#,
            "{\r\n  \"type\": \"msg\"\r\n}",
        ] {
            assert_eq!(of(head), (Format::Text, true), "{head}");
        }
    }
}
