//! Tests that a command is timed behind several links.

use super::{User, pattern, send_pattern, service};
use crate::sandbox::{Ended, parsed};

/// 64 kB take a second at 512 kbit/s.
const LENGTH: usize = 64_000;
const SLOW: &str = "512kbps,20ms";

fn timed(user: &User, options: &[&str], orders: &str) -> Ended {
    let mut words = vec!["time", "--repeats", "2"];
    words.extend(options);
    words.extend(["--", "./client", "--exact", super::client::TEST, "--nocapture"]);
    let mut command = user.command(&words);
    command.env(super::client::ORDERS, orders).env("RUST_BACKTRACE", "0");
    Ended::of(command.output().unwrap())
}

#[test]
fn a_slow_link_is_found_to_be_slower_and_a_rule_on_its_time_breaks() {
    let port = service(|stream| send_pattern(stream, LENGTH));
    for user in User::all() {
        let links = format!("none,{SLOW}");
        let options = ["--link", &links, "--fail-on", "mean(time)>1s", "--format", "json"];
        let ended = timed(&user, &options, &format!("receive {port} {LENGTH}"));
        assert_eq!(ended.code, Some(99), "{}", ended.stderr);
        let record = parsed(&ended.stdout);
        let figure = |cell: usize, name: &str| record["cells"][cell]["figures"][name]["mean"].as_f64().unwrap();
        assert!(figure(1, "time") >= LENGTH as f64 * 8.0 / 512e3, "{record}");
        assert!(figure(0, "bytes_down") > pattern(LENGTH).len() as f64, "{record}");
        assert!(record["ratios"][0]["mean"].as_f64().unwrap() > 1.0, "{record}");
        let broken = "in link 512kbps-20ms";
        assert!(ended.stderr.contains(broken), "{}", ended.stderr);
    }
}

#[test]
fn a_command_that_fails_is_named_with_what_it_wrote_unless_failures_count() {
    for user in User::all() {
        let refused = timed(&user, &["--link", "none"], "nonsense");
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(
            [
                "ended with exit code 101",
                "are no orders",
                "no packet crossed the link: "
            ]
            .iter()
            .all(|part| refused.stderr.contains(part)),
            "{}",
            refused.stderr
        );
        let counted = timed(
            &user,
            &["--link", "none", "--ignore-failure", "--format", "json"],
            "nonsense",
        );
        assert_eq!(parsed(&counted.stdout)["cells"][0]["repeats"], 2, "{}", counted.stderr);
    }
}

#[test]
fn the_answer_is_one_screen_and_its_last_sentence_compares() {
    let port = service(|stream| send_pattern(stream, LENGTH));
    for user in User::all() {
        let links = format!("none,{SLOW}");
        let ended = timed(&user, &["--link", &links], &format!("receive {port} {LENGTH}"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let last = ended.stdout.lines().last().unwrap();
        assert!(last.contains("times as long as none."), "{}", ended.stdout);
        assert!(ended.stdout.lines().count() <= 24, "{}", ended.stdout);
    }
}

#[test]
fn a_command_knows_its_link() {
    for user in User::all() {
        let ended = user.run(&["link", "512kbps,20ms", "--", "sh", "-c", "echo $LASTMILE_LINK"]);
        assert_eq!(
            ended.stdout, "512kbps-20ms+rate=512kbit/s+one_way_delay=10ms\n",
            "{}",
            ended.stderr
        );
        assert!(
            ended
                .stderr
                .contains("512 kbit/s down and up, round trip 20 ms (10 ms down, 10 ms up), no loss"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains(": took "), "{}", ended.stderr);
    }
}
