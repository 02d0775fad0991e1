//! Tests of `lastmile encode`: what it reads, and what it answers.

use crate::sandbox::Sandbox;
use serde_json::{Value, json};

/// Documents that resemble each other as those of services do, with keys in the order of a program.
fn orders(count: usize) -> Vec<String> {
    let mut state = 1_u64;
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let order = |id| {
        format!(
            r#"{{"order":{id},"status":"{}","customer":{{"name":"customer {}","country":"DE"}},"total":{}.{:02}}}"#,
            ["new", "paid", "shipped"][below(3) as usize],
            below(300),
            below(500),
            below(100)
        )
    };
    (0..count).map(order).collect()
}

/// Options for a short comparison.
const SHORT: [&str; 5] = ["--no-timing", "--encodings", "json,msgpack", "--batches", "1,10"];

fn words<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["encode", file][..], &SHORT, more].concat()
}

fn json(sandbox: &Sandbox, file: &str, more: &[&str]) -> Value {
    sandbox.json(&words(
        file,
        &[&["--link", "wpt/3g", "--format", "json"], more].concat(),
    ))
}

#[test]
fn the_messages_of_a_recording_a_log_and_a_list_are_the_documents_that_their_lines_would_be() {
    let sandbox = Sandbox::new();
    let orders = orders(40);
    sandbox.file("orders.jsonl", orders.join("\n"));
    sandbox.file("marked.jsonl", format!("\u{feff}{}\r\n", orders.join("\r\n")));
    sandbox.file("list.json", format!("[{}]", orders.join(",")));
    sandbox.file("lines.json", format!("[\n{}\n]\n", orders.join(",\n")));
    let message = |(at, text): (usize, &String)| json!({"type": if at % 4 == 0 { "send" } else { "receive" }, "time": at, "opcode": 1, "data": text});
    let messages: Vec<Value> = orders.iter().enumerate().map(message).collect();
    let har =
        json!({"log": {"entries": [{"request": {"url": "wss://shop.example/"}, "_webSocketMessages": messages}]}});
    sandbox.file("shop.har", har.to_string());
    let logged = |text: &String| json!({"ts": 1, "dir": "out", "data": text}).to_string() + "\n";
    sandbox.file("app.jsonl", orders.iter().map(logged).collect::<String>());
    let own = |text: &String| json!({"direction": "received", "payload": text}).to_string() + "\n";
    sandbox.file("own.jsonl", orders.iter().map(own).collect::<String>());
    let figures = |file: &str, more: &[&str]| {
        let comparison = json(&sandbox, file, more);
        assert_eq!(comparison["documents"], 40, "{file}");
        (comparison["json_bytes"].clone(), comparison["settings"].clone())
    };
    let plain = figures("orders.jsonl", &[]);
    for file in ["marked.jsonl", "list.json", "lines.json", "shop.har", "own.jsonl"] {
        assert_eq!(figures(file, &[]), plain, "{file}");
    }
    assert_eq!(figures("app.jsonl", &["--field", "data"]), plain);
    assert_eq!(
        json(&sandbox, "list.json", &[])["notes"],
        json!(["1 file is a JSON list, and each of its elements is read as a line (first: list.json)"])
    );
}

#[test]
fn files_that_are_no_documents_are_refused_with_the_remedy() {
    let sandbox = Sandbox::new();
    let logged = |text: String| json!({"ts": 1, "dir": "out", "data": text}).to_string() + "\n";
    sandbox.file("app.jsonl", orders(40).into_iter().map(logged).collect::<String>());
    sandbox.run(&["encode", "app.jsonl", "--no-timing"]).refused(
        2,
        &[
            "app.jsonl: line 1, column 1: the line is that of a log, not a message: its field \"data\" holds JSON",
            "\n  lastmile encode app.jsonl --no-timing --field data\n",
            "\n  lastmile encode app.jsonl --no-timing --input text",
        ],
    );
    sandbox.file("one.json", "{\n  \"a\": 1\n}\n");
    sandbox
        .run(&["encode", "one.json"])
        .refused(2, &["one.json: ", "`jq -c .`"]);
    sandbox.file("half.jsonl", "{\"a\":1}\n{\"a\":\n");
    sandbox.run(&["encode", "half.jsonl"]).refused(
        2,
        &["half.jsonl: line 2, column 5: EOF while parsing a value; each line must be one JSON document"],
    );
    sandbox.file("table.csv", "ts,dir,data\n1,in,hello\n");
    sandbox
        .run(&["encode", "table.csv"])
        .refused(2, &["table.csv: line 1", "looks like CSV"]);
    sandbox.file("page.har", json!({"log": {"entries": []}}).to_string());
    sandbox
        .run(&["encode", "page.har"])
        .refused(2, &["page.har: the file contains no message"]);
}

fn bytes(comparison: &Value, encoding: &str, batch: u64, codec: &str) -> u64 {
    let settings = comparison["settings"].as_array().unwrap();
    let is_it =
        |setting: &&Value| setting["encoding"] == encoding && setting["batch"] == batch && setting["codec"] == codec;
    settings.iter().find(is_it).unwrap()["bytes"].as_u64().unwrap()
}

/// Python 3.11 with zlib 1.2.13 (`compressobj(6, DEFLATED, 31)`, and `-15` with a flush for each batch, less its 4 bytes), zstandard 0.25
/// (`ZstdCompressor(level=3)`), msgpack 1.2.4 (`packb(json.loads(line))`) and cbor2 6.3.0 (`dumps`) gave these sizes for the same lines, with a
/// newline after each, or the varint of its length before it.
#[test]
fn sizes_are_those_of_pythons_libraries_for_keys_in_the_order_of_the_program() {
    let sandbox = Sandbox::new();
    sandbox.file("orders.jsonl", orders(100).join("\n"));
    let more = [
        "--no-timing",
        "--encodings",
        "json,msgpack,cbor",
        "--batches",
        "1,10",
        "--link",
        "wpt/3g",
        "--format",
        "json",
    ];
    let comparison = sandbox.json(&[&["encode", "orders.jsonl"][..], &more].concat());
    for (encoding, batch, expected) in [
        ("json", 1, [9304, 9986, 9057, 1732]),
        ("json", 10, [9404, 2237, 2210, 1293]),
        ("msgpack", 1, [7441, 8899, 8341, 1663]),
        ("msgpack", 10, [7541, 2566, 2540, 1450]),
        ("cbor", 1, [7517, 8878, 8417, 1662]),
        ("cbor", 10, [7617, 2564, 2567, 1468]),
    ] {
        let ours =
            ["none", "gzip:6", "zstd:3", "stream deflate:6"].map(|codec| bytes(&comparison, encoding, batch, codec));
        assert_eq!(ours, expected, "{encoding}, batches of {batch}");
    }
}

#[test]
fn white_space_and_repeated_keys_count_as_they_stand() {
    let sandbox = Sandbox::new();
    let text = "{ \"b\": 1,  \"a\": 1e3}\n{\"a\":1,\"a\":2}\n";
    sandbox.file("own.jsonl", text);
    let comparison = json(&sandbox, "own.jsonl", &[]);
    assert_eq!(comparison["json_bytes"], text.len() - 2);
    assert_eq!(bytes(&comparison, "json", 1, "none"), text.len() as u64 - 2);
    assert_eq!(
        comparison["refusals"],
        json!([{"encoding": "msgpack", "location": "line 2", "problem": "field a stands there twice", "documents": 1}])
    );
}

#[test]
fn numbers_beyond_64_bits_are_named_and_no_encoding_that_rounds_them_is_recommended() {
    let sandbox = Sandbox::new();
    let id = |n: u64| format!("{{\"trace_id\":10726088049744131486097183377815{n:07},\"name\":\"span\"}}\n");
    sandbox.file("ids.jsonl", (0..100).map(id).collect::<String>());
    let comparison = json(&sandbox, "ids.jsonl", &[]);
    let refusal = &comparison["refusals"][0];
    assert_eq!(
        (&refusal["encoding"], &refusal["documents"]),
        (&"msgpack".into(), &100.into())
    );
    let problem = refusal["problem"].as_str().unwrap();
    assert!(
        problem.starts_with("field trace_id, value 107260880497441314860971833778150000000: "),
        "{problem}"
    );
    assert!(
        comparison["settings"]
            .as_array()
            .unwrap()
            .iter()
            .all(|setting| setting["encoding"] == "json")
    );
}

#[test]
fn no_setting_within_the_wait_has_fewer_bytes_than_the_recommended_one_unless_it_is_named() {
    let sandbox = Sandbox::new();
    // Digits that no encoding and no codec makes much smaller.
    let reference = |n: usize| (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let order = |(n, order): (usize, String)| {
        let (begin, r) = (order.trim_end_matches('}'), reference);
        format!("{begin},\"reference\":\"{:039}{:039}\"}}", r(n), r(n + 1000))
    };
    let orders: Vec<String> = orders(200).into_iter().enumerate().map(order).collect();
    sandbox.file("orders.jsonl", orders.join("\n"));
    let more = [
        "--no-timing",
        "--encodings",
        "json,msgpack,ice",
        "--batches",
        "1,10",
        "--link",
        "wpt/3g",
        "--format",
        "json",
    ];
    let link = &sandbox.json(&[&["encode", "orders.jsonl"][..], &more].concat())["links"][0];
    let outcomes = || {
        link["outcomes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["framing"] == "length-prefix")
    };
    let bytes = |row: &Value| row["link_bytes_per_message"].as_f64().unwrap();
    let used = outcomes().find(|row| row["to_use"] == true).unwrap();
    let least = outcomes()
        .min_by(|one, other| bytes(one).total_cmp(&bytes(other)))
        .unwrap();
    assert!(
        used["encoding"] == "json" && bytes(least) < bytes(used) && bytes(used) <= 1.03 * bytes(least),
        "{used} {least}"
    );
    let saved = 100.0 * (1.0 - bytes(least) / bytes(used));
    let named = format!(
        "{}, in batches of 10 saves {saved:.1} % more: not worth it.",
        least["codec"].as_str().unwrap()
    );
    let summary = link["summary"].as_str().unwrap();
    assert!(summary.contains(&named), "{named}: {summary}");
}

#[test]
fn a_rate_that_the_link_cannot_carry_gets_no_time_and_no_setting() {
    let sandbox = Sandbox::new();
    sandbox.file("orders.jsonl", orders(100).join("\n"));
    let modem = ["--link", "published/dialup-56k", "--format", "json"];
    let at = |rate: &str| sandbox.json(&words("orders.jsonl", &[&modem[..], &["--rate", rate]].concat()));
    let plain = |comparison: &Value| comparison["links"][0]["outcomes"][0].clone();
    let [slow, busy, full] = ["1", "40", "1000"].map(at);
    assert_eq!(
        (&plain(&full)["codec"], &plain(&full)["batch"]),
        (&"none".into(), &1.into())
    );
    assert!(plain(&full)["link_load"].as_f64().unwrap() > 1.0 && plain(&full)["delivery_time"].is_null());
    let summary = full["links"][0]["summary"].as_str().unwrap();
    assert!(
        summary.contains("does not fit: 1000 /s need ") && summary.contains("Nothing that was tried fits"),
        "{summary}"
    );
    let mean = |comparison: &Value| plain(comparison)["delivery_time"]["mean"].as_f64().unwrap();
    assert!(mean(&busy) > 1.3 * mean(&slow), "{} {}", mean(&busy), mean(&slow));
    let table = sandbox.data(&words(
        "orders.jsonl",
        &["--link", "published/dialup-56k", "--rate", "1000", "--all"],
    ));
    assert!(table.contains("does not fit"));
}

#[test]
fn a_link_on_which_nothing_is_gained_is_told_with_the_rate_at_which_it_would_be() {
    let sandbox = Sandbox::new();
    sandbox.file("orders.jsonl", orders(100).join("\n"));
    let answer = sandbox.data(&words("orders.jsonl", &["--link", "wpt/cable", "--details"]));
    assert!(
        answer.starts_with("On wpt/cable: Nothing is gained below about "),
        "{answer}"
    );
    let rate = answer.split_whitespace().nth(7).unwrap();
    let screen = sandbox.data(&words("orders.jsonl", &["--link", "wpt/cable"]));
    let sentence = format!("Below so many messages per second nothing arrives sooner: about {rate} on wpt/cable.");
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains(&sentence), "{sentence}: {screen}");
    sandbox.file("one.jsonl", &orders(1)[0]);
    let one = sandbox.data(&words("one.jsonl", &["--link", "wpt/cable", "--details"]));
    assert!(
        one.contains("Encoded 1 document, ") && !one.contains("1 documents"),
        "{one}"
    );
}
