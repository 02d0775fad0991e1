//! Tests of `lastmile inspect`: captures of our own in every format, cut off, damaged, and through a pipe.

use crate::sandbox::{Sandbox, parsed};

/// Makes a capture of a lossy download, at the server; returns its name.
pub(crate) fn captured(sandbox: &Sandbox) -> String {
    let study = "name = 'mine'\nquestion = ''\nrepeats = 1\nseed = 3\n[fixed]\nworkload = { kind = 'bulk', bytes = '300 kB' }\n\
                 delivery = 'tcp'\n[factors]\nlink = [{ name = 'own', rate = '2 Mbit/s', one_way_delay = '30 ms', loss = '2 %' }]";
    sandbox.data(&["run", sandbox.file("mine.toml", study), "--out", "run", "--capture"]);
    let captures = std::fs::read_dir(sandbox.path().join("run/captures")).unwrap();
    let names = captures.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut servers = names.filter(|name| name.contains("server"));
    format!("run/captures/{}", servers.next().unwrap())
}

#[test]
fn a_capture_is_told_in_every_form_with_the_same_figures() {
    let sandbox = Sandbox::new();
    let file = captured(&sandbox);
    let record = sandbox.json(&["inspect", &file, "--format", "json"]);
    let connection = &record["connections"][0];
    assert_eq!(connection["down"]["payload_once_bytes"], 300_000);
    assert_eq!(connection["opening"], "handshake");
    let retransmissions = connection["down"]["retransmissions"].as_u64().unwrap();
    assert!(retransmissions > 0 && connection["down"]["out_of_order"] == 0);
    let table = sandbox.data(&["inspect", &file]);
    assert!(table.contains(&format!("{retransmissions} retransmissions")), "{table}");
    let csv = sandbox.data(&["inspect", &file, "--format", "csv"]);
    assert_eq!(csv.lines().count(), 3, "a head, and a row per direction");
    assert!(
        sandbox
            .data(&["inspect", &file, "--format", "md"])
            .contains("### TCP connections")
    );
}

#[test]
fn the_page_is_written_whole_and_draws_time_and_sequence() {
    let sandbox = Sandbox::new();
    let file = captured(&sandbox);
    let ended = sandbox.run(&["inspect", &file, "--html", "page/p.html"]);
    assert_eq!((ended.code, ended.stderr.trim()), (Some(0), "report: page/p.html"));
    let page = sandbox.read("page/p.html");
    assert!(page.contains("<svg") && page.contains("retransmitted") && page.ends_with("</html>\n"));
    sandbox
        .run(&["inspect", &file, "--html", "page"])
        .refused(2, &["--html page", "names no file"]);
}

#[test]
fn every_segment_is_told_as_text_and_as_json() {
    let sandbox = Sandbox::new();
    let file = captured(&sandbox);
    let text = sandbox.data(&["inspect", &file, "--segments"]);
    let objects = sandbox.data(&["inspect", &file, "--segments", "--format", "json"]);
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let segments: Vec<_> = objects.lines().map(parsed).collect();
    let record = sandbox.json(&["inspect", &file, "--format", "json"]);
    assert_eq!(record["capture"]["packets"].as_u64(), Some(segments.len() as u64));
    assert_eq!(lines.len(), segments.len());
    assert!(
        text.starts_with("# ") && lines[0].starts_with("1 0.000000000 up   S 0 0 - "),
        "{}",
        lines[0]
    );
    assert_eq!(segments[0]["server"], record["connections"][0]["server"]);
    let resent = segments.iter().filter(|segment| segment["resent"] == true).count() as u64;
    assert_eq!(
        record["connections"][0]["down"]["retransmissions"].as_u64(),
        Some(resent)
    );
    assert_eq!(
        lines.iter().filter(|line| line.ends_with(" resent")).count() as u64,
        resent
    );
    let refused = sandbox.run(&["inspect", &file, "--segments", "--format", "csv"]);
    refused.refused(2, &["--segments", "--format json"]);
}

#[test]
fn standard_input_is_read_as_a_file_is() {
    let sandbox = Sandbox::new();
    let file = captured(&sandbox);
    let bytes = std::fs::read(sandbox.path().join(&file)).unwrap();
    let mut piped = parsed(&sandbox.piped(&["inspect", "-", "--format", "json"], &bytes).stdout);
    assert_eq!(piped["capture"]["source"], "standard input");
    piped["capture"]["source"] = file.clone().into();
    let screen = sandbox.piped(&["inspect", "-"], &bytes).stdout;
    assert!(!screen.contains("next:"), "{screen}");
    assert_eq!(piped, sandbox.json(&["inspect", &file, "--format", "json"]));
}

#[test]
fn a_capture_whose_end_is_cut_off_is_read_as_far_as_it_goes_and_says_so() {
    let sandbox = Sandbox::new();
    let whole = std::fs::read(sandbox.path().join(captured(&sandbox))).unwrap();
    let cut = sandbox.file("cut.pcapng", &whole[..whole.len() - 30]);
    let record = sandbox.json(&["inspect", cut, "--format", "json"]);
    assert_eq!(record["doubts"][0]["kind"], "cut-off");
    let at = format!("byte {}", whole.len() - 30);
    assert!(record["doubts"][0]["text"].as_str().unwrap().contains(&at));
    assert!(sandbox.data(&["inspect", cut]).contains(&at));
}

#[test]
fn what_is_no_capture_is_refused_with_the_place_and_the_remedy() {
    let sandbox = Sandbox::new();
    let whole = std::fs::read(sandbox.path().join(captured(&sandbox))).unwrap();
    let inspect = |content: &[u8]| sandbox.run(&["inspect", sandbox.file("mine.pcapng", content)]);
    inspect(b"").refused(2, &["mine.pcapng", "is empty"]);
    inspect(b"\x1f\x8b\x08").refused(2, &["mine.pcapng", "gunzip -c"]);
    inspect(&whole[..48]).refused(2, &["mine.pcapng", "cut off at byte 48"]);
    let mut damaged = whole;
    damaged[64] = 3;
    inspect(&damaged).refused(2, &["mine.pcapng", "damaged at byte 60", "head -c 60"]);
    sandbox
        .run(&["inspect", "nowhere.pcap"])
        .refused(2, &["nowhere.pcap", "cannot be read"]);
    sandbox.run(&["inspect", "."]).refused(2, &["cannot be read"]);
}
