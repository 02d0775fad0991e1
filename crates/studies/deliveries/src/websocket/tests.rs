use super::*;
use crate::tests::DELIVERIES;
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_study::cell::expand;
use lastmile_study::file::Study;
use lastmile_study::runner::{Experiment as _, RunContext};
use std::io::Write as _;
use tempfile::NamedTempFile;

/// 10 bytes per millisecond, 50 ms each way.
const LINK: &str = "link = { name = 'slow', rate = '80 kbit/s', one_way_delay = '50 ms', queue = '1000 packets' }";

/// A transcript with these messages, one per line.
fn transcript(messages: &[&str]) -> NamedTempFile {
    let mut file = NamedTempFile::with_suffix(".txt").unwrap();
    file.write_all(messages.join("\n").as_bytes()).unwrap();
    file
}

fn cell(settings: &str) -> lastmile_study::cell::Cell {
    let study = Study::parse("t.toml", &format!("name = 't'\nquestion = ''\n[fixed]\n{settings}")).unwrap();
    expand(&study).unwrap().cells.remove(0)
}

/// The only repeat of a cell, with no CPU costs.
fn run(settings: &str) -> Observation {
    let context = RunContext {
        seed: Seed::new(1),
        repeats: 0..1,
        interval: Duration::ZERO,
        costs: &CostTable::free(),
        captures: None,
        observer: None,
    };
    DELIVERIES.run(&cell(settings), &context).remove(0).unwrap()
}

fn over_websocket(settings: &str) -> Observation {
    run(&format!("delivery = 'websocket'\n{settings}"))
}

fn only(observation: &Observation, figure: &str) -> f64 {
    let samples = &observation.figures[figure];
    assert_eq!(samples.len(), 1, "{figure}");
    samples[0]
}

/// What a cell of `websocket` with these settings asks for.
fn plan(settings: &str) -> Result<Plan, Refusal> {
    WebSocket.plan(&cell(&format!("delivery = 'websocket'\n{LINK}\n{settings}")).settings)
}

fn refusal(settings: &str) -> String {
    plan(settings).unwrap_err().to_string()
}

fn asked(settings: &str) -> Plan {
    plan(settings).unwrap()
}

#[test]
fn a_message_that_nothing_holds_up_takes_its_serialisation_and_the_delay() {
    let hundred = "a".repeat(100);
    let file = transcript(&[&hundred, &hundred, &hundred]);
    let settings = format!(
        "{LINK}\nmessage_codec = 'identity'\nmessage_interval = '1 s'\nworkload = {{ kind = 'transcript', path = '{}' }}",
        file.path().display()
    );
    let observation = over_websocket(&settings);
    // 100 bytes, 2 of the frame's header, 20 of IPv4's and 32 of TCP's, at 10 per millisecond.
    let expected = Duration::from_micros(15_400 + 50_000).as_secs_f64();
    assert_eq!(observation.figures["delivery_time"][1..], [expected, expected]);
    assert_eq!(only(&observation, "compressed_bytes"), 300.0);
}

#[test]
fn messages_that_are_due_at_once_wait_for_those_before() {
    let settings = format!("{LINK}\nworkload = {{ kind = 'chat', messages = 20 }}\nmessage_interval = '0 s'");
    let times = &over_websocket(&settings).figures["delivery_time"];
    assert_eq!(times.len(), 20);
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn the_recorded_times_are_kept() {
    let chat = format!("{LINK}\nworkload = {{ kind = 'chat', messages = 20 }}");
    let recorded = only(&over_websocket(&chat), "transfer_time");
    let at_once = only(
        &over_websocket(&format!("{chat}\nmessage_interval = '0 s'")),
        "transfer_time",
    );
    // People take seconds to say something.
    assert!(recorded > at_once + 20.0, "{recorded} {at_once}");
}

#[test]
fn what_is_carried_is_what_the_codec_makes_of_the_messages() {
    for policy in [
        "",
        "message_codec = 'identity'",
        "context_takeover = 'off'\nwindow_bits = 9",
        "compression_level = 1\nmem_level = 1",
        "fragment = '40 B'",
        "compression_threshold = '120 B'",
        "uncompressed = 'text'",
        "message_codec = 'zlib-rs:6'",
        "message_codec = 'zstd:3/w17'",
        "message_codec = 'brotli:5'\ncontext_takeover = 'off'",
        "message_codec = 'lz4:1'",
    ] {
        let chat = format!("workload = {{ kind = 'chat', messages = 60 }}\n{policy}");
        let carried = over_websocket(&format!("{LINK}\nmessage_interval = '10 ms'\n{chat}"));
        let made = run(&format!("delivery = 'in-memory'\n{chat}"));
        for figure in ["messages", "message_bytes", "compressed_bytes"] {
            assert_eq!(only(&carried, figure), only(&made, figure), "{figure} with {policy:?}");
        }
    }
}

#[test]
fn who_forgets_while_idle_carries_what_it_would_make_in_memory() {
    let chat = "workload = { kind = 'chat', messages = 60 }\nreset_after_idle = ";
    let carried = |idle: &str| only(&over_websocket(&format!("{LINK}\n{chat}'{idle}'")), "compressed_bytes");
    let made = only(
        &run(&format!("delivery = 'in-memory'\n{chat}'5 s'")),
        "compressed_bytes",
    );
    assert_eq!(carried("5 s"), made);
    assert!(carried("never") < made, "somebody is idle for 5 s");
}

#[test]
fn what_the_application_codes_is_parted_as_coded() {
    let chat = |more: &str| {
        format!("{LINK}\nworkload = {{ kind = 'chat', messages = 20 }}\nmessage_codec = 'zstd:3/w17'\n{more}")
    };
    let (whole, parted) = (over_websocket(&chat("")), over_websocket(&chat("fragment = '20 B'")));
    assert_eq!(only(&whole, "compressed_bytes"), only(&parted, "compressed_bytes"));
    assert!(
        only(&whole, "link_bytes") < only(&parted, "link_bytes"),
        "frames have headers"
    );
}

#[test]
fn one_by_one_messages_wait_for_each_other_and_for_nothing_else() {
    let hundred = "a".repeat(100);
    let file = transcript(&[&hundred, &hundred, &hundred]);
    let settings = format!(
        "{LINK}\nmessage_codec = 'identity'\nmessage_interval = 'one-by-one'\nworkload = {{ kind = 'transcript', path = '{}' }}",
        file.path().display()
    );
    let expected = Duration::from_micros(15_400 + 50_000).as_secs_f64();
    assert_eq!(
        over_websocket(&settings).figures["delivery_time"][1..],
        [expected, expected]
    );
}

#[test]
fn each_connection_carries_its_own_messages_both_ways_over_a_link_that_loses() {
    let settings = "link = 'wpt/3g+loss=5%'\nworkload = { kind = 'chat', messages = 60, speakers = 4 }\nmessage_interval = '20 ms'";
    let observation = over_websocket(settings);
    assert_eq!(
        observation.figures["delivery_time"].len() as f64,
        only(&observation, "messages")
    );
    assert!(only(&observation, "messages") > 4.0 * 60.0, "users talk too");
    assert!(only(&observation, "retransmissions") > 0.0);
}

#[test]
fn computing_delays_messages_by_what_it_costs() {
    let with_slow_client = |slowdown: u32| {
        let settings = format!(
            "{LINK}\nworkload = {{ kind = 'chat', messages = 20 }}\nmessage_interval = '1 s'\ncpu_slowdown_client = {slowdown}"
        );
        let context = RunContext {
            seed: Seed::new(1),
            repeats: 0..1,
            interval: Duration::ZERO,
            costs: &CostTable::load(&lastmile_testbed::cpu_cost_model::Choice::Reference).unwrap(),
            captures: None,
            observer: None,
        };
        let cell = cell(&format!("delivery = 'websocket'\n{settings}"));
        DELIVERIES.run(&cell, &context).remove(0).unwrap()
    };
    let (fast, slow) = (with_slow_client(1), with_slow_client(1000));
    let computed = only(&slow, "client_cpu_time") - only(&fast, "client_cpu_time");
    let waited: f64 =
        (slow.figures["delivery_time"].iter().sum::<f64>()) - fast.figures["delivery_time"].iter().sum::<f64>();
    assert!(computed > 1e-3);
    assert!((waited - computed).abs() < 1e-6, "{waited} {computed}");
}

#[test]
fn what_cannot_be_had_is_refused_with_the_remedy() {
    let chat = "workload = { kind = 'chat', messages = 5 }";
    let zstd = format!("{chat}\nmessage_codec = 'zstd:3'");
    for policy in [
        "uncompressed = 'binary'",
        "compression_threshold = '100 B'",
        "reset_after_idle = '1 s'",
    ] {
        let remedy = refusal(&format!("{zstd}\n{policy}"));
        assert!(
            remedy.contains("only a permessage-deflate receiver handles by itself"),
            "{remedy}"
        );
    }
    assert!(refusal("workload = { kind = 'bulk', bytes = '1 kB' }").contains("does not carry this workload"));
    if cfg!(target_os = "linux") {
        let real = format!("{chat}\nworld = 'emu'\nserver = 'node-ws'");
        assert!(refusal(&format!("{real}\nfragment = '10 B'")).contains("server node-ws has no setting for fragment"));
        for (setting, remedy) in [
            (
                "message_codec = 'zstd:3'",
                "has no setting for message_codec = \"zstd:3",
            ),
            (
                "message_codec = 'zlib-rs'",
                "has no setting for message_codec = \"zlib-rs:6",
            ),
            ("message_interval = 'one-by-one'", "has no setting for message_interval"),
        ] {
            assert!(refusal(&format!("{real}\n{setting}")).contains(remedy), "{setting}");
        }
        let talkative =
            asked("workload = { kind = 'chat', messages = 5, speakers = 2 }\nworld = 'emu'\nserver = 'node-ws'");
        let error = Schedule::from_workload(&talkative, Seed::new(1)).err().unwrap();
        assert!(
            error
                .to_string()
                .contains("node-ws delivers the same messages over each"),
            "{error}"
        );
    }
}

/// The messages that a real server delivers of a chat in which the client speaks, too, and the doubt that the client's are left out.
pub(crate) fn one_way() -> (usize, Doubt) {
    let plan = asked("workload = { kind = 'chat', messages = 60, speakers = 1 }\nworld = 'emu'\nserver = 'node-ws'");
    let schedule = Schedule::from_workload(&plan, Seed::new(1)).unwrap();
    (schedule.conversation.messages(), schedule.doubt(&plan.server).unwrap())
}

#[test]
fn what_a_client_says_is_left_out_where_a_real_server_delivers() {
    let (messages, doubt) = one_way();
    assert_eq!(messages, 60);
    assert_eq!(doubt.kind, DoubtKind::OneWay);
    assert!(doubt.text.contains("node-ws only sends messages"), "{}", doubt.text);
}
