//! Claims about logs: which lines are refused, and what is proposed for them.

use super::*;
use crate::messages::FieldMapping;

/// The mapping proposed for a line, as text.
fn proposed(line: &str) -> Option<String> {
    let (_, proposal) = propose(line)?;
    Some(match proposal.mapping {
        LogMapping::Fields(FieldMapping {
            payload,
            direction,
            connection,
            time,
        }) => {
            let part = |path: Option<String>| path.unwrap_or_else(|| "-".to_owned());
            format!("{payload} {} {} {}", part(direction), part(connection), part(time))
        }
        LogMapping::Pattern(pattern) => pattern.as_str().to_owned(),
    })
}

#[test]
fn a_message_within_a_line_of_json_is_found_with_its_other_parts() {
    for (line, fields) in [
        (
            r#"{"ts":1.5,"dir":"in","conn_id":"c-2","data":"{\"a\":1}"}"#,
            "data dir conn_id ts",
        ),
        (r#"{"data":"[1, 2]"}"#, "data - - -"),
        (
            r#"{"level":"info","time":1700000000123,"msg":"ws","ws":{"way":"out","frame":"{\"a\":[]}"}}"#,
            "ws.frame ws.way - time",
        ),
        (
            r#"{"ts":1,"ws":{"conn":7,"dir":"in","body":{"dir":"out"}}}"#,
            "ws.body ws.dir ws.conn ts",
        ),
        (r#"{"ts":1,"payload":"hello"}"#, "payload - - ts"),
        (
            r#"{"@timestamp":"2026-01-31T10:00:00Z","direction":"send","session":4,"data":{"type":"msg","text":"hello"}}"#,
            "data direction session @timestamp",
        ),
        (
            r#"{"level":"info","ts":1,"msg":"ws.send","conn":"c1","payload":{"type":"x"}}"#,
            "payload - conn ts",
        ),
        (
            r#"{"time":1,"level":30,"pid":7,"note":"a text that is longer than all the rest of this line together"}"#,
            "note - - time",
        ),
    ] {
        assert_eq!(proposed(line).as_deref(), Some(fields), "{line}");
    }
}

#[test]
fn a_message_that_is_json_is_no_line_of_a_log() {
    for line in [
        r#"{"type":"msg","timestamp":"00:01:26","sender":"bo18","msg":"a text longer than all the rest of this line"}"#,
        r#"{"from":"user1","room":"lobby","text":"message number 1"}"#,
        r#"{"type":"next","payload":{"data":1},"connection":"c"}"#,
        r#"{"id":"1","type":"next","payload":{"data":{"direction":"sent","payload":"x"}}}"#,
        r#"{"event":"update","time":17,"data":{"price":3}}"#,
        r#"{"type":"msg","text":"[hello] {world}"}"#,
        r#"["3","4","room:1","new_msg",{"payload":"x"}]"#,
        "10:00 is when we meet",
        "2026-11-20 10:00:00 a text in which no JSON stands {",
        "",
    ] {
        assert_eq!(proposed(line), None, "{line}");
    }
}

#[test]
fn a_pattern_is_proposed_that_captures_the_json_of_a_line() {
    for (line, pattern) in [
        (
            r#"2026-11-20 10:00:00 INFO ws.send payload={"a":1}"#,
            r"^(?<time>\S+ \S+).*?ws\.(?<direction>(?i:sending|send|sent|receiving|received|receive|recv))\b.*?payload=(?<payload>.*)$",
        ),
        (
            r#"[2026-11-20T10:00:00.123Z] conn=c-2 in: {"a":1}"#,
            r"^\[(?<time>[^\]\s]+).*?conn=(?<connection>[^\s,;\]]+).*?\b(?<direction>(?i:out|in))\b.*?\s(?<payload>[{\[].*)$",
        ),
        (r#"10:00:00 frame={"a":1}"#, "frame=(.*)$"),
        (
            r#"1700000000.5 frame 17 [1,2]"#,
            r"^(?<time>\S+).*?\s(?<payload>[{\[].*)$",
        ),
    ] {
        assert_eq!(proposed(line).as_deref(), Some(pattern), "{line}");
    }
}

fn refusal(lines: &[&str]) -> Option<String> {
    let mut detector = LogDetector::default();
    for line in lines {
        detector.push(line.as_bytes());
    }
    detector.refusal("talk").map(|refusal| refusal.error.to_string())
}

#[test]
fn a_log_is_refused_by_its_first_line_that_holds_a_message() {
    let line = r#"{"ts":1,"level":"info","data":"{\"a\":1}"}"#;
    let other = r#"{"ts":1,"level":"info","msg":"listening on port 8080"}"#;
    let said = refusal(&[other, other, line, line]).unwrap();
    assert!(
        said.starts_with(
            "talk: line 3, column 1: the line is that of a log, not a message: its field \"data\" holds JSON: {\"ts\""
        ),
        "{said}"
    );
    let chat = r#"{"text":"hello"}"#;
    let pasted = r#"{"text":"{\"a\":1}"}"#;
    assert_eq!(
        refusal(&[[chat; 20].as_slice(), &[pasted]].concat()),
        None,
        "one line in 21"
    );
    assert!(
        refusal(&[[chat; 19].as_slice(), &[pasted]].concat()).is_some(),
        "one line in 20"
    );
}

#[test]
fn a_head_of_csv_is_told_from_lines_with_commas() {
    assert!(
        refusal(&["ts,dir,conn,data", "1,in,4,x"])
            .unwrap()
            .contains("looks like CSV")
    );
    assert!(refusal(&["time;message", "1;\"a;b\""]).is_some());
    for lines in [
        ["hello,world", "a,b"],
        ["data, I think", "yes, no"],
        ["ts,data", "hello"],
    ] {
        assert_eq!(refusal(&lines), None, "{lines:?}");
    }
}
