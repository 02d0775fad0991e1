//! What `load` says of servers that are late, that let only so much through, and that fail, and of full links: never more than was due, and what failed first.

use super::{response, serve};
use crate::sandbox::{Ended, Sandbox, parsed};
use serde_json::Value;
use std::net::TcpListener;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// A table's text without the ends of its lines.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first run of a load, whose rate and goodput must not be above what was due.
fn run_within_what_was_due(record: &Value) -> Value {
    let run = record["runs"][0].clone();
    let figure = |name: &str| run[name].as_f64().unwrap();
    assert!(figure("transaction_rate") <= figure("offered_rate"), "{run}");
    run
}

#[test]
fn a_server_whose_first_answer_is_late_completes_no_more_than_was_due() {
    let begin = OnceLock::new();
    let body = vec![b'x'; 100_000];
    let url = serve(move |_| {
        let ready = *begin.get_or_init(Instant::now) + Duration::from_millis(900);
        thread::sleep(ready.saturating_duration_since(Instant::now()));
        response("200 OK", &body)
    });
    let sandbox = Sandbox::new();
    let ended = sandbox.run(&["load", &url, "--rate", "30", "--duration", "1s", "--format", "json"]);
    let run = run_within_what_was_due(&parsed(&ended.stdout));
    assert!(run["goodput_bit_per_s"].as_f64() <= Some(30.0 * 8e5), "{run}");
}

#[test]
fn a_modelled_server_completes_no_more_than_it_can_and_few_completions_are_a_doubt() {
    let words =
        "load http://server/ --world sim --workers 1 --service-time 9.999s --rate 5 --duration 10s --timeout 60s";
    let mut words: Vec<&str> = words.split(' ').collect();
    let sandbox = Sandbox::new();
    let text = unwrapped(&sandbox.data(&words));
    assert!(
        text.contains("few-completions") && text.contains("too few were completed for a rate"),
        "{text}"
    );
    words.extend(["--format", "json"]);
    let record = sandbox.json(&words);
    let run = run_within_what_was_due(&record);
    assert_eq!(run["transaction_rate"], 0.1, "one in ten seconds");
    assert_eq!(record["doubts"][0]["kind"], "few-completions");
    let in_flight = &run["self_check"];
    assert!(in_flight["in_flight_mean"].as_f64() > Some(20.0), "{in_flight}");
}

#[test]
fn a_slow_link_completes_no_more_than_was_due() {
    let words = "load http://server/ --world sim --link wpt/3g --rate 10 --body 10kB --duration 4s --format json";
    let words: Vec<&str> = words.split(' ').collect();
    run_within_what_was_due(&Sandbox::new().json(&words));
}

#[test]
fn clients_of_a_radio_get_no_more_together_than_it_carries() {
    let sandbox = Sandbox::new();
    // Clients that share a rate, and clients of which each begins when the one before it ends.
    for demand in ["rate = 1", "rate = 0.5\nrate_of = 'each'\nstagger = '10 s'"] {
        let study = format!(
            "name = 'saturated'\nquestion = 'How much does a radio carry?'\nrepeats = 8\n[fixed]\ndelivery = 'load'\nradio = '802.11b'\n\
             transfer_size = '1 MB'\npersistent = 'on'\nload_time = '10 s'\nclients = 5\n{demand}\n"
        );
        let study = sandbox.file("saturated.toml", study);
        let run = sandbox.json(&["run", study, "--format", "json", "--no-report"]);
        let goodput = &run["cells"][0]["figures"]["goodput"];
        let repeats: Vec<f64> = serde_json::from_value(goodput["run_means"].clone()).unwrap_or_default();
        let all = repeats.into_iter().chain(goodput["mean"].as_f64());
        assert!(
            all.clone().all(|rate| rate > 0.0 && rate <= 11e6),
            "{demand}: {:?}",
            all.collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_rate_at_which_requests_fail_is_no_knee() {
    // Up to 300 /s, there are 120 requests, all of which are answered after 20 ms. Of the rest, two of five fail, and at once.
    let url = serve(|number| {
        if number < 120 {
            thread::sleep(Duration::from_millis(20));
        }
        let is_refused = number >= 120 && number % 5 < 2;
        response(
            if is_refused {
                "503 Service Unavailable"
            } else {
                "200 OK"
            },
            b"ok",
        )
    });
    let sandbox = Sandbox::new();
    let words = ["--sweep", "100..500/100", "--duration", "200ms", "--format", "json"];
    let record = parsed(&sandbox.run(&[&["load", &url], &words[..]].concat()).stdout);
    assert!(record["runs"][4]["error_rate"].as_f64() > Some(0.3), "{record}");
    for knee in record["knees"].as_array().unwrap() {
        assert!(knee["rate"].as_f64() <= Some(300.0), "{knee}");
    }
}

#[test]
fn a_curve_that_still_rises_has_no_knee() {
    let words = "load http://server/ --world sim --workers 4 --sweep 100..500/100 --duration 2s";
    let words: Vec<&str> = words.split(' ').collect();
    let text = unwrapped(&Sandbox::new().data(&words));
    assert!(text.contains("no knee up to 500 /s"), "{text}");
}

/// Asserts that a load says in the first words of its answer that all failed, and what helps.
#[track_caller]
fn assert_failed(ended: &Ended, cause: &str, remedy: &str) {
    assert_eq!(ended.code, Some(4), "{}{}", ended.stdout, ended.stderr);
    let answer = ended.stdout.lines().find(|line| line.starts_with("FAILED"));
    let said = format!("FAILED: every request failed: {cause}");
    assert!(answer.is_some_and(|line| line.starts_with(&said)), "{}", ended.stdout);
    assert!(unwrapped(&ended.stdout).contains(remedy), "{}", ended.stdout);
}

#[test]
fn a_load_of_which_every_request_fails_says_so_first_with_the_remedy() {
    let sandbox = Sandbox::new();
    let load = |url: &str, more: &[&str]| sandbox.run(&[&["load", url, "--duration", "200ms"], more].concat());
    let closed_port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = format!("http://{closed_port}/");
    let nobody = load(&refused, &["--rate", "20"]);
    assert_failed(&nobody, "refused", "start the server, or correct its port");
    assert!(nobody.stdout.contains("no response"), "{}", nobody.stdout);
    let missing = serve(|_| response("404 Not Found", b"none"));
    assert_failed(&load(&missing, &["--closed", "2"]), "status (404)", "correct the path");
    let failing = serve(|_| response("503 Service Unavailable", b""));
    assert_failed(
        &load(&failing, &["--rate", "20"]),
        "status (503)",
        "see what it answers curl",
    );
    let old = serve(|_| response("400 Bad Request", b""));
    assert_failed(&load(&old, &["--rate", "20", "--http2"]), "", "leave out --http2");
}

#[test]
fn a_real_server_is_called_measured_and_a_modelled_one_simulated() {
    let sandbox = Sandbox::new();
    let url = serve(|_| response("200 OK", b"ok"));
    let screen = |url: &str, more: &[&str]| {
        let words = [&["load", url, "--rate", "20", "--duration", "200ms"], more].concat();
        sandbox.run(&words).stdout
    };
    let real = screen(&url, &[]);
    assert!(
        real.contains("\nmeasured ") && !real.to_lowercase().contains("simulated"),
        "{real}"
    );
    let modelled = screen("http://server/", &["--world", "sim"]);
    assert!(
        modelled.contains("\nsimulated ") && !modelled.contains("measured"),
        "{modelled}"
    );
}

#[test]
fn a_search_tells_what_it_takes_and_each_run_and_ends_where_no_rate_would_do() {
    let sandbox = Sandbox::new();
    let url = super::server();
    let words = "--slo p99<9s --highest 20 --repeats 1 --runs-per-rate 1 --duration 200ms --warm-up 0s";
    let words: Vec<&str> = ["load", &url].into_iter().chain(words.split(' ')).collect();
    let found = sandbox.run(&words);
    assert!(
        found
            .stderr
            .starts_with("searching for the highest rate within p99<9s: some "),
        "{}",
        found.stderr
    );
    assert!(
        found
            .stderr
            .contains("\n10 /s: within the limit\n20 /s: within the limit\n"),
        "{}",
        found.stderr
    );
    let closed_port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = format!("http://{closed_port}/");
    let ended = sandbox.run(&["load", &refused, "--slo", "p99<9s", "--duration", "200ms"]);
    assert_failed(&ended, "refused", "start the server, or correct its port");
    assert!(
        unwrapped(&ended.stdout).contains("every request failed (refused)"),
        "{}",
        ended.stdout
    );
}

#[test]
fn errors_are_named_where_they_broke_the_limit() {
    // Above 100 /s the backlog is full, and connections are given up after 2 s.
    let words = "load http://server/ --world sim --service-time 10ms --requests-per-connection 1 --backlog 3 --connect-timeout 500ms \
                 --slo p99<5s,errors<1% --duration 2s --repeats 1 --format json";
    let words: Vec<&str> = words.split_whitespace().collect();
    let record = Sandbox::new().json(&words);
    assert_eq!(record["limits"][0]["broken_by"], "errors<1%", "{record}");
}

#[test]
fn a_full_link_is_said_to_be_full() {
    let sandbox = Sandbox::new();
    let load = |rate: &str| {
        let words = "load http://server/ --world sim --details --link wpt/3g --body 100kB --rate";
        unwrapped(&sandbox.data(&[&words.split(' ').collect::<Vec<_>>()[..], &[rate]].concat()))
    };
    let full = load("4");
    let said = "The link is full: 3.20 Mbit/s of responses are due, and it carries 1.60 Mbit/s; it dropped ";
    assert!(full.contains(said) && full.contains("link used"), "{full}");
    assert!(!load("1").contains("The link is full"));
}
