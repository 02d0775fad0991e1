//! Tests that a link delivers what was sent.

use super::{FAST, User, echo, nobodys_port, pattern, send_pattern, service};
use crate::sandbox::parsed;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::mpsc::channel;
use std::time::Duration;

/// 100 MB, in a pattern that shows any wrong or missing byte.
const LARGE: usize = 100_000_000;

#[test]
fn a_large_download_is_the_same_at_the_other_end() {
    let port = service(|stream| send_pattern(stream, LARGE));
    for user in User::all() {
        let ended = user.client(
            &["unlimited+rate=unlimited+one_way_delay=0s"],
            &["receive", &port.to_string(), &LARGE.to_string()],
        );
        assert_eq!(
            ended.code,
            Some(0),
            "uid {}: {}{}",
            user.uid,
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn a_large_upload_is_the_same_at_the_other_end() {
    let (sender, hears) = channel();
    let port = service(move |mut stream| {
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        sender.send(received == pattern(LARGE)).unwrap();
    });
    for user in User::all() {
        let ended = user.client(
            &["unlimited+rate=unlimited+one_way_delay=0s"],
            &["send", &port.to_string(), &LARGE.to_string()],
        );
        assert_eq!(
            ended.code,
            Some(0),
            "uid {}: {}{}",
            user.uid,
            ended.stdout,
            ended.stderr
        );
        assert!(hears.recv().unwrap(), "uid {}", user.uid);
    }
}

/// 100 kB are still in the kernel when the client ends: at 1 Mbit/s they take 0.8 s.
#[test]
fn what_a_command_wrote_before_it_ended_is_delivered() {
    let (sender, hears) = channel();
    let port = service(move |mut stream| {
        let mut received = Vec::new();
        let whole = stream.read_to_end(&mut received).is_ok() && received == pattern(100_000);
        sender.send(whole).unwrap();
    });
    for user in User::all() {
        let ended = user.client(
            &["slow+rate=1Mbit/s+one_way_delay=10ms"],
            &["send-and-leave", &port.to_string(), "100000"],
        );
        assert_eq!(
            ended.code,
            Some(0),
            "uid {}: {}{}",
            user.uid,
            ended.stdout,
            ended.stderr
        );
        assert!(hears.recv_timeout(Duration::from_secs(10)).unwrap(), "uid {}", user.uid);
    }
}

#[test]
fn each_direction_of_a_connection_ends_by_itself() {
    let port = service(|mut stream| {
        let mut question = Vec::new();
        stream.read_to_end(&mut question).unwrap();
        stream
            .write_all(format!("{} bytes", question.len()).as_bytes())
            .unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    });
    for user in User::all() {
        let ended = user.client(&[FAST], &["half-close", &port.to_string()]);
        assert_eq!(
            ended.code,
            Some(0),
            "uid {}: {}{}",
            user.uid,
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn fifty_connections_at_once_are_kept_apart() {
    let port = service(echo);
    for user in User::all() {
        let ended = user.client(&["wpt/cable"], &["in-parallel", &port.to_string(), "50"]);
        assert_eq!(
            ended.code,
            Some(0),
            "uid {}: {}{}",
            user.uid,
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn where_nobody_listens_a_connection_is_refused_and_one_that_is_broken_off_is_reset() {
    let port = service(|stream| {
        // The socket is dropped with unread data, which resets the connection (RFC 9293 section 3.6.1).
        let _ = stream.peek(&mut [0]);
    });
    for user in User::all() {
        let refused = user.client(&[FAST], &["be-refused", &nobodys_port().to_string()]);
        refused.succeeded();
        let unreachable = user.client(&[FAST], &["reach-no-network"]);
        unreachable.succeeded();
        let reset = user.client(&[FAST], &["be-reset", &port.to_string()]);
        reset.succeeded();
    }
}

#[test]
fn the_summary_counts_what_crossed_and_has_the_shape_of_its_schema() {
    let port = service(|stream| send_pattern(stream, 100_000));
    for user in User::all() {
        let link = "lossy+rate=10Mbit/s+one_way_delay=5ms+queue=5packets";
        let (port, length) = (port.to_string(), "100000");
        let ended = user.client(&[link, "--format", "json", "--seed", "7"], &["receive", &port, length]);
        let summary = parsed(ended.stderr.lines().last().unwrap());
        assert_eq!((&summary["exit_code"], &summary["seed"]), (&0.into(), &7.into()));
        assert_eq!(summary["link"], link);
        let down = &summary["down"];
        let of = |name: &str| down[name].as_u64().unwrap();
        // Ten segments arrive at once: one is being sent, five wait, and the others are dropped.
        assert_eq!(of("longest_queue"), 5);
        assert!(of("dropped_by_full_queue") > 0 && of("dropped_by_random_loss") == 0);
        assert!(of("bytes_delivered") > 100_000 + of("packets_delivered") * 40);
        assert!(of("packets_offered") >= of("packets_delivered") + of("dropped_by_full_queue"));

        let said = user.client(&[FAST], &["receive", &port, length]);
        let line = said.stderr.lines().last().unwrap();
        assert!(
            line.starts_with("lastmile: published/local-host: took ")
                && line.contains(" down; down 1")
                && line.contains("; cubic, no offloads; "),
            "{line}"
        );
        let quiet = user.client(&[FAST, "--quiet"], &["receive", &port, length]);
        assert_eq!(quiet.stderr, "");
    }
}

#[test]
fn both_ends_and_what_was_dropped_between_are_captured() {
    let port = service(|stream| send_pattern(stream, 100_000));
    for user in User::all() {
        let link = "lossy+rate=10Mbit/s+one_way_delay=5ms+queue=5packets";
        let (port, length) = (port.to_string(), "100000");
        let ended = user.client(&[link, "--capture", "caps"], &["receive", &port, length]);
        ended.succeeded();
        for name in ["near", "far", "drops"] {
            let file = user.file(&format!("caps/{name}.pcapng")).display().to_string();
            let inspected = user.run(&["inspect", &file, "--format", "json"]);
            assert_eq!(inspected.code, Some(0), "{name}: {}", inspected.stderr);
            assert!(inspected.stdout.contains("10.0.0.2"), "{name}: {}", inspected.stdout);
        }
    }
}
