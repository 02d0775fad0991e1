//! Claims about transcripts: what each format gives, and the errors for files that cannot be read.

use super::*;
use std::path::PathBuf;

fn read_as(content: &[u8], name: &str, reading: Reading) -> Vec<Result<Message, String>> {
    match Transcript::read(content, name, reading) {
        Ok(messages) => messages.map(|read| read.map_err(|error| error.to_string())).collect(),
        Err(error) => vec![Err(error.to_string())],
    }
}

fn read(content: &[u8]) -> Vec<Result<Message, String>> {
    read_as(content, "talk", Reading::default())
}

fn payloads(content: &[u8]) -> Vec<Vec<u8>> {
    let messages = read(content).into_iter();
    messages.map(|read| read.unwrap().payload.to_vec()).collect()
}

fn corpus(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../fuzz/corpus")
        .join(kind)
}

fn from_corpus(kind: &str, name: &str) -> Vec<Result<Message, String>> {
    let content = std::fs::read(corpus(kind).join(name)).unwrap();
    read_as(&content, name, Reading::default())
}

fn shown(message: &Message) -> String {
    let Message {
        direction,
        at,
        kind,
        connection,
        payload,
    } = message;
    format!("{direction:?} {at:?} {kind:?} {connection} {}", payload.escape_ascii())
}

fn all_shown(messages: &[Result<Message, String>]) -> Vec<String> {
    let shown = |read: &Result<Message, String>| read.as_ref().map_or_else(Clone::clone, shown);
    messages.iter().map(shown).collect()
}

#[test]
fn a_line_is_a_message_however_it_ends() {
    assert_eq!(payloads(b"one\ntwo\n"), [b"one", b"two"]);
    assert_eq!(payloads(b"one\r\ntwo"), [b"one", b"two"]);
    assert_eq!(payloads(b"one\n\n"), [b"one".as_slice(), b""]);
    assert_eq!(payloads(b"\n"), [b""]);
    assert_eq!(payloads(b"o\rne\r\r\n"), [b"o\rne\r"]);
    assert_eq!(payloads(b"\xef\xbb\xbfone"), [b"one"]);
}

#[test]
fn the_elements_of_a_list_of_objects_are_messages_and_the_file_says_where_each_stands() {
    let list = b"\xef\xbb\xbf [{\"a\": 1} ,\n {\"b\":[2]}\n]\n";
    assert_eq!(payloads(list), [b"{\"a\": 1}".as_slice(), b"{\"b\":[2]}"]);
    let mut transcript = Transcript::read(&list[..], "talk", Reading::default()).unwrap();
    assert_eq!(transcript.by_ref().count(), 2);
    let notes: Vec<String> = transcript.notes().iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        ["1 file is a JSON list, and each of its elements is read as a line (first: talk)"]
    );
    let own = br#"[{"direction":"received","payload":"x"},{"direction":"sent","payload":"y"}]"#;
    assert_eq!(all_shown(&read(own)), ["Received None Text 0 x", "Sent None Text 0 y"]);
    for line in ["[[1],[2]]", "[{\"a\":1}]\n[{\"a\":2}]", "[{\"a\":1},2]", "[{\"a\":1}"] {
        assert_eq!(
            payloads(line.as_bytes()),
            line.split('\n').map(str::as_bytes).collect::<Vec<_>>(),
            "{line}"
        );
    }
    let stated = Reading {
        format: Some(Format::Text),
        ..Reading::default()
    };
    assert_eq!(read_as(br#"[{"a":1}]"#, "talk", stated).len(), 1);
    let mut second = Transcript::read(&b"[{\"a\":1},{\"b\":2}]"[..], "talk", Reading::default()).unwrap();
    second.nth(1).unwrap().unwrap();
    assert_eq!(second.location(), Location::Element(2));
}

#[test]
fn a_value_over_several_lines_is_refused_with_the_command_that_writes_it_on_one() {
    for (content, command) in [
        ("{\n \"a\": 1\n}\n", "`jq -c .`"),
        ("[\n {\n  \"a\": 1\n }\n]\n", "`jq -c '.[]'`"),
    ] {
        let error = read(content.as_bytes()).remove(0).unwrap_err();
        assert!(error.contains(command), "{error}");
    }
}

#[test]
fn a_line_that_is_not_utf_8_is_a_binary_message_and_is_counted() {
    let mut transcript = Transcript::read(b"caf\xc3\xa9\ncaf\xe9\n".as_slice(), "talk", Reading::default()).unwrap();
    let kinds: Vec<Kind> = transcript.by_ref().map(|read| read.unwrap().kind).collect();
    assert_eq!(kinds, [Kind::Text, Kind::Binary]);
    let remarks: Vec<String> = transcript.notes().iter().map(ToString::to_string).collect();
    assert_eq!(
        remarks,
        ["1 line is not UTF-8, and is read as a binary message (first: line 2)"]
    );
}

#[test]
fn a_message_that_is_too_large_is_refused_by_its_place_and_the_next_is_read() {
    let reading = Reading {
        largest_message: ByteCount::new(100_000),
        ..Reading::default()
    };
    let content = [vec![b'x'; 100_000], vec![b'y'; 100_001], b"z".to_vec()].join(b"\r\n".as_slice());
    let messages = read_as(&content, "talk", reading);
    let [Ok(first), Err(refused), Ok(last)] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    assert_eq!((first.payload.len(), last.payload.as_ref()), (100_000, b"z".as_slice()));
    assert_eq!(
        refused,
        "talk: line 2, column 1: the message has 100001 bytes, above the limit of 100000; leave it out, or \
         split it into several messages"
    );
    let small = Reading {
        largest_message: ByteCount::new(299),
        ..Reading::default()
    };
    for (kind, name, location) in [
        ("transcript", "valid-larger-than-the-limit.txt", "line 1, column 1"),
        ("transcript_lengths", "valid-larger-than-the-limit.bin", "byte 0"),
        ("transcript_har", "valid-larger-than-the-limit.har", "line 1, column 46"),
    ] {
        let content = std::fs::read(corpus(kind).join(name)).unwrap();
        let messages = read_as(&content, name, small);
        let [Err(refused), Ok(last)] = messages.as_slice() else {
            panic!("{name}: {messages:?}")
        };
        let start = format!("{name}: {location}: the message has 300 bytes");
        assert!(refused.starts_with(&start), "{refused}");
        assert_eq!(last.payload.as_ref(), b"y");
    }
}

#[test]
fn a_line_of_json_that_is_far_too_long_is_refused_before_it_is_parsed() {
    let reading = Reading {
        largest_message: ByteCount::new(1000),
        ..Reading::default()
    };
    let long = format!("{{\"payload\":\"{}\"}}\n{{\"payload\":\"next\"}}", "x".repeat(10_000));
    let messages = all_shown(&read_as(long.as_bytes(), "talk", reading));
    assert!(
        messages[0].starts_with("talk: line 1, column 1: the message has 10014 bytes"),
        "{messages:?}"
    );
    assert_eq!(messages[1], "Sent None Text 0 next");
}

#[test]
fn lines_of_json_say_all_there_is_to_say() {
    assert_eq!(
        all_shown(&from_corpus("transcript_jsonl", "valid-all-keys.jsonl")),
        [
            r"Sent Some(12.5ms) Text 3 caf\xc3\xa9 \xf0\x9f\x98\x80",
            r"Received Some(13ms) Binary 3 \x00\x01\x02",
            "Sent None Text 0 ",
            "Sent None Binary 0 text all the same",
            "Sent None Text 0 one",
        ]
    );
}

#[test]
fn a_wrong_line_of_json_is_named_with_its_number_and_the_next_is_read() {
    for (name, expected) in [
        (
            "no-payload",
            "column 1: one of \"payload\" or \"payload_base64\" is required",
        ),
        (
            "two-payloads",
            "column 1: only one of \"payload\" and \"payload_base64\" is allowed",
        ),
        (
            "unknown-key",
            "column 21: unknown key \"opcod\"; did you mean \"opcode\"?",
        ),
        ("twice", "column 27: the key \"payload\" occurs twice"),
        (
            "direction",
            "\"direction\" is \"up\", but must be \"sent\" or \"received\"",
        ),
        ("opcode", "\"opcode\" is 9, but must be \"text\", 1, \"binary\" or 2"),
        (
            "connection",
            "\"connection\" is -1, but must be a whole number from 0 to 4294967295",
        ),
        (
            "time",
            "\"time_ms\" is -1, but must be a number of milliseconds, from 0 to 126 years",
        ),
        ("base64", "column 1: \"payload_base64\" is not base64"),
        (
            "text-not-utf8",
            "column 1: a text message must be UTF-8, but this one is not from byte 0 on",
        ),
        ("cut-off", "column 14: the line is cut off"),
        (
            "list",
            "column 1: invalid type: sequence, expected an object, one message",
        ),
        ("half-surrogate", "invalid JSON"),
        ("utf8", "invalid JSON: invalid unicode code point"),
    ] {
        let name = format!("invalid-{name}.jsonl");
        let mut messages = from_corpus("transcript_jsonl", &name);
        assert_eq!(messages.len(), 2, "{name}: {messages:?}");
        let error = messages.remove(1).unwrap_err();
        assert!(error.starts_with(&format!("{name}: line 2, ")), "{error}");
        assert!(error.contains(expected), "{name}: {error}");
    }
}

/// The error for the second of two lines, the first of which is a message.
fn said_of(line: &str) -> String {
    let content = format!("{{\"payload\":\"one\"}}\n{line}\n");
    let mut messages = read(content.as_bytes());
    assert_eq!(messages.len(), 2, "{line}");
    messages.remove(1).unwrap_err()
}

#[test]
fn a_value_of_another_type_is_named_with_its_key_and_what_it_must_be() {
    for (line, expected) in [
        (
            r#"{"connection":"c1","payload":"x"}"#,
            r#""connection" is "c1", but must be a whole number from 0 to 4294967295"#,
        ),
        (
            r#"{"connection":4294967296,"payload":"x"}"#,
            r#""connection" is 4294967296, but must be a whole"#,
        ),
        (
            r#"{"time_ms":"2024-01-01T00:00:00Z","payload":"x"}"#,
            r#""time_ms" is "2024-01-01T00:00:00Z", but must be a number of milliseconds"#,
        ),
        (
            r#"{"direction":["sent"],"payload":"x"}"#,
            r#""direction" is a list, but must be "sent" or "received""#,
        ),
        (
            r#"{"payload":{"a":[1]}}"#,
            r#""payload" is an object, but must be a text"#,
        ),
        (
            r#"{"opcode":true,"payload":"x"}"#,
            r#""opcode" is true, but must be "text""#,
        ),
    ] {
        let error = said_of(line);
        assert!(error.starts_with("talk: line 2, column "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_key_that_is_null_is_as_one_that_is_not_there() {
    let nulls =
        br#"{"direction":null,"time_ms":null,"opcode":null,"connection":null,"payload":"x","payload_base64":null}"#;
    assert_eq!(all_shown(&read(nulls)), ["Sent None Text 0 x"]);
    assert!(said_of(r#"{"payload":null}"#).contains("one of \"payload\" or \"payload_base64\" is required"));
    assert!(said_of(r#"{"opcode":null,"opcode":1,"payload":"x"}"#).contains("the key \"opcode\" occurs twice"));
}

#[test]
fn what_is_said_of_a_line_is_short_however_long_the_line_is() {
    let long = "k".repeat(1_000_000);
    for (line, kept) in [
        (format!("{{\"connection\":\"{long}\",\"payload\":\"x\"}}"), "4294967295"),
        (format!("{{\"{long}\":1}}"), "(one of direction"),
        (
            r#"{"time_ms":1e300,"payload":"x"}"#.to_owned(),
            "\"time_ms\" is 1e300, but must be",
        ),
        (format!("\"{long}\""), "…, expected an object, one message"),
    ] {
        let error = said_of(&line);
        assert!(error.len() < 600, "{} bytes", error.len());
        assert!(error.contains(kept), "{error}");
    }
    let hint = said_of(r#"{"paylod":"x"}"#);
    assert!(hint.contains("did you mean \"payload\"?"), "{hint}");
}

#[test]
fn messages_with_their_lengths_are_read_to_the_last_byte() {
    assert_eq!(
        all_shown(&from_corpus("transcript_lengths", "valid-three.bin")),
        [
            "Sent None Text 0 one",
            "Sent None Text 0 ",
            r"Sent None Binary 0 \xff\x00"
        ]
    );
    let reading = Reading {
        format: Some(Format::LengthPrefixed),
        ..Reading::default()
    };
    for (name, found) in [
        (
            "invalid-cut-in-message.bin",
            "byte 7: the file is cut off: the message should have 6 bytes, but only 4 are there",
        ),
        (
            "invalid-cut-in-length.bin",
            "byte 7: the file is cut off: it ends after 2 of the 4 bytes of a length",
        ),
        (
            "invalid-lies.bin",
            "byte 0: the file is cut off: the message should have 16777215 bytes, but only 2 are there",
        ),
    ] {
        let content = std::fs::read(corpus("transcript_lengths").join(name)).unwrap();
        let messages = read_as(&content, name, reading);
        let error = messages.last().unwrap().as_ref().unwrap_err();
        assert!(error.starts_with(&format!("{name}: {found}; ")), "{error}");
    }
}

#[test]
fn a_har_gives_the_messages_of_each_web_socket_and_counts_what_is_none() {
    for name in ["valid-chrome.har", "valid-one-line.har"] {
        let content = std::fs::read(corpus("transcript_har").join(name)).unwrap();
        let mut transcript = Transcript::read(content.as_slice(), name, Reading::default()).unwrap();
        assert_eq!(transcript.format(), Format::Har);
        let messages: Vec<String> = transcript.by_ref().map(|read| shown(&read.unwrap())).collect();
        assert_eq!(
            messages,
            [
                r"Sent Some(1618317434.6357s) Text 0 caf\xc3\xa9",
                r"Received Some(1618317434.75s) Binary 0 \x00\x01\x02",
                "Received None Text 1 two",
            ]
        );
        let remarks: Vec<_> = transcript
            .notes()
            .iter()
            .map(|remark| (remark.what, remark.count))
            .collect();
        assert_eq!(
            remarks,
            [
                (
                    "entry of _webSocketMessages is a control frame, or has an unknown opcode",
                    1
                ),
                ("entry of _webSocketMessages is neither sent nor received", 1),
            ]
        );
    }
    assert_eq!(
        all_shown(&from_corpus("transcript_har", "valid-broken-base64.har")),
        [r"Sent None Binary 0 \x00"]
    );
}

#[test]
fn a_har_that_cannot_be_read_is_named_with_its_place() {
    for (name, expected) in [
        (
            "invalid-no-messages.har",
            "the file contains no message; open the network panel of Chrome before",
        ),
        ("invalid-no-log.har", "the file contains no message; "),
        (
            "invalid-list.har",
            "line 1, column 1: this is not a HAR: unexpected '[' in the file",
        ),
        (
            "invalid-entry.har",
            "line 1, column 20: this is not a HAR: unexpected '7' in log.entries",
        ),
        (
            "invalid-message.har",
            "line 2, column 39: this is not a HAR message: expected `,` or `}`",
        ),
        ("invalid-empty.har", "the file is empty; "),
    ] {
        let messages = from_corpus("transcript_har", name);
        let [Err(error)] = messages.as_slice() else {
            panic!("{name}: {messages:?}")
        };
        assert!(error.starts_with(&format!("{name}: {expected}")), "{error}");
    }
    let messages = from_corpus("transcript_har", "invalid-cut-off.har");
    let error = messages.last().unwrap().as_ref().unwrap_err();
    assert!(
        error.contains("line 1, column 421: the file is cut off here"),
        "{error}"
    );
}

/// The messages of a HAR of this text.
fn har_of(messages: &str) -> String {
    format!(r#"{{"log":{{"entries":[{{"_webSocketMessages":[{messages}]}}]}}}}"#)
}

fn remarks_on(content: &[u8], name: &str) -> Vec<String> {
    let mut transcript = Transcript::read(content, name, Reading::default()).unwrap();
    transcript.by_ref().for_each(|read| drop(read.unwrap()));
    transcript.notes().iter().map(ToString::to_string).collect()
}

#[test]
fn what_stands_behind_a_har_is_named_with_its_place_and_what_is_cut_off_there_is_not_missed() {
    let messages = from_corpus("transcript_har", "invalid-two.har");
    assert!(messages[0].is_ok());
    let error = messages[1].as_ref().unwrap_err();
    let expected = "invalid-two.har: line 2, column 1: the HAR ends before this, but '{' follows; remove what";
    assert!(error.starts_with(expected), "{error}");
    let one = har_of(r#"{"type":"send","opcode":1,"data":"x"}"#);
    for end in ["", " \r\n"] {
        assert_eq!(
            read_as(format!("{one}{end}").as_bytes(), "a.har", Reading::default()).len(),
            1
        );
    }
    assert_eq!(
        read_as(&one.as_bytes()[..one.len() - 1], "a.har", Reading::default()).len(),
        1
    );
}

#[test]
fn times_of_a_har_that_are_none_are_counted() {
    let message = |time: &str| format!(r#"{{"type":"send","time":{time},"opcode":1,"data":"x"}}"#);
    let times = [r#""2020-01-01T00:00:00Z""#, "-1", "null", "1.5", r#""1.5""#];
    let content = har_of(&times.map(message).join(","));
    assert_eq!(
        remarks_on(content.as_bytes(), "a.har"),
        [
            "2 messages of a HAR have times that are not numbers of seconds since 1970, and are read without them (first: line 1, column 43)"
        ]
    );
    let content = har_of(&message("null"));
    assert!(remarks_on(content.as_bytes(), "a.har").is_empty());
}

#[test]
fn times_that_run_backwards_are_remarked_on_where_messages_are_put_in_their_order() {
    let line =
        |connection: u32, time: &str| format!("{{\"time_ms\":{time},\"connection\":{connection},\"payload\":\"x\"}}\n");
    let backwards = [line(0, "3"), line(1, "9"), line(0, "2"), line(0, "1"), line(1, "9")].concat();
    assert_eq!(
        remarks_on(backwards.as_bytes(), "talk"),
        ["2 messages follow later ones of their connections, and are moved into time order (first: message 3)"]
    );
    let one_untimed = [line(0, "3"), line(0, "2"), line(0, "null")].concat();
    assert!(remarks_on(one_untimed.as_bytes(), "talk").is_empty());
    let content = har_of(
        r#"{"type":"send","time":2,"opcode":1,"data":"b"},{"type":"receive","time":1,"opcode":1,"data":"-"},{"type":"send","time":1,"opcode":1,"data":"a"}"#,
    );
    assert_eq!(
        remarks_on(content.as_bytes(), "a.har"),
        ["1 message follows a later one of its connection, and is moved into time order (first: message 3)"]
    );
    let gathered = Transcript::read(content.as_bytes(), "a.har", Reading::default())
        .unwrap()
        .gather()
        .unwrap();
    assert_eq!(gathered.sent.bytes(), b"ab");
}

#[test]
fn a_log_is_not_tuned_with_its_envelope_whatever_key_stands_first() {
    for line in [
        r#"{"ts":1,"direction":"sent","payload":"hello"}"#,
        r#"{"direction":"sent","ts":1,"payload":"hello"}"#,
    ] {
        let messages = read(line.as_bytes());
        let [Err(error)] = messages.as_slice() else {
            panic!("{messages:?}")
        };
        assert!(error.contains("unknown key \"ts\""), "{error}");
    }
    let said = read(br#"{"ts":1,"payload":"hello"}"#).pop().unwrap().unwrap_err();
    assert!(said.contains("the message is in its field \"payload\""), "{said}");
}

/// The messages of a log read by a mapping, and the notes.
fn read_log(content: &str, mapping: LogMapping) -> (Vec<String>, Vec<String>) {
    let mut log =
        Transcript::read_log(content.as_bytes(), "log", Reading::default(), mapping, Direction::Sent).unwrap();
    let messages = log.by_ref().map(|read| read.map_err(|error| error.to_string()));
    let messages = all_shown(&messages.collect::<Vec<_>>());
    (messages, log.notes().iter().map(ToString::to_string).collect())
}

#[test]
fn a_log_is_refused_and_read_by_the_mapping_that_is_proposed() {
    let log = [
        r#"{"ts":1.5,"level":"info","msg":"connected"}"#,
        r#"{"ts":2.5,"ws":{"dir":"in","conn":"c-2","data":"{\"a\":\"x\\ny\"}"}}"#,
        "",
        r#"{"ts":"1970-01-01T00:00:03Z","ws":{"dir":"OUT","conn":"c-1","data":{"a": [1]}}}"#,
        r#"{"ts":4,"ws":{"conn":"c-1","data":"hello"}}"#,
        r#"{"ts":"noon","ws":{"dir":"out","conn":"c-2","data":"hello"}}"#,
        "not JSON",
    ]
    .join("\n");
    let mut refused = Transcript::read(log.as_bytes(), "log", Reading::default()).unwrap();
    let error = refused.by_ref().find_map(Result::err).unwrap().to_string();
    let expected = "log: line 2, column 1: the line is that of a log, not a message: its field \"ws.data\" holds JSON: {\"ts\":2.5";
    assert!(error.starts_with(expected), "{error}");
    assert!(
        error.ends_with("or set the input format to text, if each line as it stands is a message"),
        "{error}"
    );
    let proposal = refused.proposal().unwrap().clone();
    assert_eq!(proposal.direction, Some(("in".to_owned(), Direction::Received)));
    let (messages, notes) = read_log(&log, proposal.mapping);
    assert_eq!(
        messages,
        [
            r#"Received Some(2.5s) Text 0 {\"a\":\"x\\ny\"}"#,
            r#"Sent Some(3s) Text 1 {\"a\": [1]}"#,
            "Sent None Text 0 hello",
        ]
    );
    assert_eq!(
        notes,
        [
            "1 line does not have the field of the payload, and is left out (first: line 1)",
            "1 line has a payload but no direction, and is left out (first: line 5)",
            "1 line is not a JSON object, and is left out (first: line 7)",
            "1 message has no time that is a number or a date, and is read without it (first: line 6)",
        ]
    );
}

#[test]
fn a_log_of_text_is_refused_and_read_by_the_pattern_that_is_proposed() {
    let log = "2026-11-20 10:00:00 INFO listening\n2026-11-20 10:00:01 INFO ws.send payload={\"a\":1}\n\
               2026-11-20 10:00:02 INFO ws.recv payload=[2]\n";
    let mut refused = Transcript::read(log.as_bytes(), "log", Reading::default()).unwrap();
    let error = refused.by_ref().find_map(Result::err).unwrap().to_string();
    assert!(error.starts_with("log: line 2, column 1: the line is that of a log, not a message: the message stands behind a time stamp: 2026"), "{error}");
    let (messages, notes) = read_log(log, refused.proposal().unwrap().mapping.clone());
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(
        messages[0].starts_with("Sent Some(") && messages[0].ends_with(r#"Text 0 {\"a\":1}"#),
        "{messages:?}"
    );
    assert!(
        messages[1].starts_with("Received Some(") && messages[1].ends_with("Text 0 [2]"),
        "{messages:?}"
    );
    assert_eq!(
        notes,
        ["1 line does not match the regular expression, and is left out (first: line 1)"]
    );
    let as_it_stands = Reading {
        format: Some(Format::Text),
        ..Reading::default()
    };
    assert_eq!(read_as(log.as_bytes(), "log", as_it_stands).len(), 3);
}

#[test]
fn a_log_that_holds_no_message_is_an_error_with_the_reason() {
    let fields = LogMapping::Fields(FieldMapping {
        payload: "dat".to_owned(),
        ..FieldMapping::default()
    });
    let (messages, _) = read_log("{\"data\":\"x\"}\n{\"data\":\"y\"}\n", fields);
    assert_eq!(
        messages,
        [
            "log: the file contains no usable message: 2 lines do not have the field of the payload, and are left out (first: line 1); \
          check the names of the fields against the first lines of the file"
        ]
    );
    let (messages, _) = read_log("one\n", LogMapping::Pattern("payload=(.*)".parse().unwrap()));
    assert!(
        messages[0].contains("1 line does not match the regular expression"),
        "{messages:?}"
    );
    let fields = LogMapping::Fields(FieldMapping {
        payload: "data".to_owned(),
        direction: Some("way".to_owned()),
        ..FieldMapping::default()
    });
    let (messages, _) = read_log("{\"way\":\"sideways\",\"data\":\"x\"}\n", fields);
    assert!(
        messages[0].starts_with("log: line 1, column 1: \"way\" is \"sideways\", which is not understood as a direction; write sent or received"),
        "{messages:?}"
    );
}

#[test]
fn lines_that_all_begin_with_a_time_are_remarked_on() {
    let said = remarks_on(b"10:00:00 one\n10:00:01 two\n", "talk");
    assert_eq!(
        said,
        ["1 file has a time stamp at the beginning of each line, which is compressed with it (first: talk)"]
    );
    assert!(remarks_on(b"10:00:00 one\ntwo\n", "talk").is_empty());
}

#[test]
fn what_is_taken_for_something_else_can_be_read_as_text_and_that_is_said() {
    for content in [b"%PDF sent\n".as_slice(), b"BZhello\n", b"one\0two\n"] {
        let error = read(content).remove(0).unwrap_err();
        assert!(
            error.ends_with("or set the input format to text, if each line as it stands is a message"),
            "{error}"
        );
        let reading = Reading {
            format: Some(Format::Text),
            ..Reading::default()
        };
        assert_eq!(
            read_as(content, "talk", reading)[0].as_ref().unwrap().payload.len(),
            content.len() - 1
        );
    }
}

#[test]
fn a_har_whose_messages_are_all_left_out_is_refused_with_why() {
    let content = br#"{"log":{"entries":[{"_webSocketMessages":[{"type":"send","time":1,"opcode":2,"data":"@"}]}]}}"#;
    let messages = read_as(content, "a.har", Reading::default());
    let [Err(error)] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    let why =
        "the file contains no usable message: 1 binary message of a HAR is not base64, and is left out (first: line 1";
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn a_har_cut_off_anywhere_within_its_entries_is_an_error() {
    let content = std::fs::read(corpus("transcript_har").join("valid-one-line.har")).unwrap();
    let whole = read_as(&content, "a.har", Reading::default());
    let end = content.len() - "]}}".len();
    for length in 1..end {
        let messages = read_as(&content[..length], "a.har", Reading::default());
        let (last, before) = messages.split_last().unwrap();
        assert!(last.is_err(), "{length} bytes: {messages:?}");
        assert_eq!(before, &whole[..before.len()], "{length} bytes");
    }
}

#[test]
fn a_file_is_what_its_start_says() {
    let format = |content: &[u8], name| Transcript::read(content, name, Reading::default()).unwrap().format();
    assert_eq!(format(b"one\n", "a"), Format::Text);
    assert_eq!(format(b"{\"type\":\"msg\"}\n", "a"), Format::Text);
    assert_eq!(format(b"\x0302colours\x03\n", "a"), Format::Text);
    assert_eq!(format(b" { \"payload\" : \"one\"}\n", "a"), Format::JsonLines);
    assert_eq!(format(b"{\"log\":{}}\n", "a"), Format::Har);
    assert_eq!(format(b"{\"other\":{}}\n", "a.har.gz"), Format::Har);
    assert_eq!(format(b"\0\0\0\x01x", "a"), Format::LengthPrefixed);
    for known in Format::ALL {
        assert_eq!(known.to_string().parse(), Ok(known));
        let json = format!("\"{known}\"");
        assert_eq!(serde_json::from_str::<Format>(&json).unwrap(), known);
    }
    let unknown = "jsonl".parse::<Format>().unwrap_err().to_string();
    assert!(
        Format::ALL.iter().all(|known| unknown.contains(known.name())),
        "{unknown}"
    );
}

#[test]
fn messages_of_json_in_a_file_of_json_lines_are_read_as_they_stand_and_remarked_on() {
    let content = std::fs::read(corpus("transcript").join("valid-json-messages.jsonl")).unwrap();
    let mut transcript = Transcript::read(content.as_slice(), "a.jsonl", Reading::default()).unwrap();
    assert_eq!(transcript.by_ref().count(), 2);
    assert!(
        transcript.notes()[0]
            .what
            .contains("each line as it stands is a message")
    );
}

#[test]
fn what_is_packed_is_unpacked_and_what_is_damaged_is_refused() {
    let shown = |name| all_shown(&from_corpus("transcript", name));
    assert_eq!(shown("valid-packed.gz").len(), 3);
    assert_eq!(shown("valid-packed.gz")[2], "Sent None Text 0 three");
    assert_eq!(shown("valid-packed.zst").len(), 2);
    for (name, expected) in [
        (
            "invalid-empty.txt",
            "the file is empty; give the path of a file of messages",
        ),
        ("invalid-empty.gz", "the file is empty; "),
        (
            "invalid-packed-twice.gz",
            "it looks like gzip data; it is compressed twice",
        ),
        ("invalid-zip.txt", "it looks like a zip archive; unpack it first"),
        (
            "invalid-capture.pcapng",
            "it looks like a packet capture (pcapng); read it as a capture",
        ),
        ("invalid-utf16.txt", "it looks like text in UTF-16; save it as UTF-8"),
        (
            "invalid-utf16-without-mark.txt",
            "it looks like text in UTF-16; save it as UTF-8, or set the input format",
        ),
        (
            "invalid-behind-packed.gz",
            "it cannot be read: the compressed data is damaged or cut off, or something else follows it",
        ),
        ("invalid-binary.bin", "the file is binary: byte 2 is 0"),
        ("invalid-cut-off.gz", "it cannot be read: "),
    ] {
        let messages = shown(name);
        assert_eq!(messages.len(), 1, "{name}: {messages:?}");
        assert!(messages[0].starts_with(&format!("{name}: {expected}")), "{messages:?}");
    }
    let error = Transcript::open("no/such/file", Reading::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("no/such/file: there is no such file or folder; "),
        "{error}"
    );
}

#[test]
fn the_corpus_is_read_or_refused_as_its_names_say() {
    for (kind, format) in [
        ("transcript", None),
        ("transcript_jsonl", Some(Format::JsonLines)),
        ("transcript_lengths", Some(Format::LengthPrefixed)),
        ("transcript_har", Some(Format::Har)),
    ] {
        for entry in std::fs::read_dir(corpus(kind)).unwrap() {
            let path = entry.unwrap().path();
            let reading = Reading {
                format,
                ..Reading::default()
            };
            let read = Transcript::open(&path, reading).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let name = path.file_name().unwrap().to_string_lossy();
            assert_eq!(read.is_ok(), name.starts_with("valid-"), "{name}: {read:?}");
        }
    }
}

mod round_trip;
