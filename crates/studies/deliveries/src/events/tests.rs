use crate::tests::DELIVERIES;
use lastmile_study::cell::{Cell, expand};
use lastmile_study::file::Study;
use lastmile_study::observation::Observation;
use lastmile_study::runner::{Experiment, RunContext};
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_units::Seed;
use std::time::Duration;

const SLOW: &str = "link = { name = '56k', rate = '56 kbit/s', one_way_delay = '50 ms', queue = '1000 packets' }\n";

fn cell(settings: &str) -> Cell {
    let toml = format!("name = 't'\nquestion = ''\n[fixed]\ndelivery = 'events'\n{settings}");
    expand(&Study::parse("t.toml", &toml).unwrap()).unwrap().cells.remove(0)
}

/// The first repeats of a cell.
fn repeats(settings: &str, repeats: u64) -> Vec<Observation> {
    let context = RunContext {
        seed: Seed::new(1),
        repeats: 0..repeats,
        interval: Duration::ZERO,
        costs: &CostTable::free(),
        captures: None,
        observer: None,
    };
    let outcomes = DELIVERIES.run(&cell(settings), &context);
    outcomes.into_iter().map(Result::unwrap).collect()
}

fn observed(settings: &str) -> Observation {
    repeats(settings, 1).remove(0)
}

fn only(observation: &Observation, name: &str) -> f64 {
    let samples = &observation.figures[name];
    assert_eq!(samples.len(), 1, "{name}");
    samples[0]
}

fn mean(observation: &Observation, name: &str) -> f64 {
    let samples = &observation.figures[name];
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Over a wire of 20 ms, an exchange takes at least a round trip.
#[test]
fn an_event_that_waits_for_its_acknowledgement_takes_a_round_trip_and_gathered_ones_share_it() {
    let link = "link = { name = 'far', rate = 'unlimited', one_way_delay = '10 ms' }\nchannel = 'application-sensor'\nevents = 100\ntest = 'sustained'\n";
    let single = observed(&format!("{link}create_cpu_time = '1 ms'\nwrite_time = '2 ms'"));
    assert!((only(&single, "create_time") - 0.1).abs() < 1e-9);
    let send = only(&single, "send_time");
    assert!((2.2..2.21).contains(&send), "{send}");
    assert!((only(&single, "submission_time") - send - 0.1).abs() < 1e-9);
    let gathered = observed(&format!("{link}call = 'pipelined'"));
    let send = only(&gathered, "send_time");
    assert!((send - 0.02).abs() < 1e-3, "{send}");
    assert_eq!(only(&gathered, "events_lost"), 0.0);
    assert!(only(&gathered, "link_bytes_up") < 0.3 * only(&single, "link_bytes_up"));
}

#[test]
fn pauses_are_those_of_the_control_run_and_what_is_left_is_the_cost_of_submission() {
    let delayed = observed(
        "test = 'delayed'\nevents = 200\nmessage_interval = '500 ms'\nlink = { name = 'far', rate = 'unlimited', one_way_delay = '9 ms' }",
    );
    // 50 groups of four events with three pauses each.
    assert_eq!(only(&delayed, "control_time"), 75.0);
    let cost = only(&delayed, "submission_time");
    assert!((cost - 200.0 * 0.018).abs() < 1e-6, "{cost}");
    let slowdown = only(&delayed, "slowdown_ratio");
    assert!((slowdown - cost / 75.0).abs() < 1e-9);
}

#[test]
fn every_subscriber_gets_every_event_and_a_slow_link_delays_them() {
    let test = "test = 'subscription'\nevents = 200\nclients = 3\ncall = 'pipelined'\nmessage_interval = '20 ms'\n";
    let near = observed(test);
    assert_eq!(near.figures["delivery_time"].len(), 600);
    assert_eq!(near.figures["subscription_time"].len(), 3);
    assert_eq!(only(&near, "events_lost"), 0.0);
    // An event lingers for 5 ms.
    assert!((mean(&near, "delivery_time") - 0.005).abs() < 0.001);
    let slow = observed(&format!("{test}{SLOW}"));
    assert_eq!(only(&slow, "events_lost"), 0.0);
    assert!(mean(&slow, "delivery_time") > 0.5);
    let compressed = observed(&format!("{test}{SLOW}codec = 'zstd:1'"));
    assert!(only(&compressed, "link_bytes_down") < 0.6 * only(&slow, "link_bytes_down"));
    assert!(mean(&compressed, "delivery_time") < mean(&slow, "delivery_time"));
}

#[test]
fn equal_seeds_deliver_events_to_many_subscribers_at_equal_times() {
    let test = "test = 'subscription'\nevents = 100\nclients = 30\ncall = 'pipelined'\nmessage_interval = '10 ms'\nhosts = 'two'\nmonitor_cpu_time = '20 us'";
    assert_eq!(observed(test), observed(test));
}

#[test]
fn a_full_buffer_drops_events_and_all_of_them_are_stated_as_lost() {
    let test = "test = 'subscription'\nchannel = 'application-sensor'\nevents = 2000\ncall = 'pipelined'\nmessage_interval = '1 ms'\nevent_buffer = 100\n";
    let dropped = observed(&format!("{test}{SLOW}full_buffer = 'drop'"));
    assert!(only(&dropped, "events_lost") > 100.0);
    assert_eq!(only(&dropped, "losses_unexplained"), 0.0);
    let blocked = observed(&format!("{test}{SLOW}"));
    assert_eq!(only(&blocked, "events_lost"), 0.0);
    assert!(only(&blocked, "application_time") > 1.5 * only(&dropped, "application_time"));
}

#[test]
fn a_query_gets_what_is_stored_and_a_kept_connection_saves_a_round_trip() {
    let test = "test = 'query'\nevents = 1000\nlink = { name = 'far', rate = 'unlimited', one_way_delay = '10 ms' }\n";
    let times = |settings: &str| {
        let observed = repeats(&format!("{test}{settings}"), 3);
        assert!(observed.iter().all(|one| only(one, "events_lost") == 0.0));
        observed.iter().map(|one| only(one, "query_time")).collect::<Vec<_>>()
    };
    let (new, kept) = (times(""), times("persistent = 'on'"));
    assert!(new[0] > 0.04 && (new[2] - new[0]).abs() < 1e-6, "{new:?}");
    assert!((new[1] - kept[1]) > 0.0199, "{kept:?}");
    let many = observed("test = 'query'\nclients = 20\nsensors = 3\napplications = 2\nevents = 50");
    assert_eq!(many.figures["query_time"].len(), 20);
}

#[test]
fn an_acknowledgement_costs_what_its_durability_does_to_those_who_wait_for_it() {
    let rate = |durability: &str| {
        let test = "test = 'sustained'\nevents = 2000\ncall = 'pipelined'\nwrite_time = '1 ms'\nsync_time = '20 ms'\n";
        only(&observed(&format!("{test}durability = '{durability}'")), "event_rate")
    };
    let (memory, process, power) = (rate("memory"), rate("process"), rate("power"));
    assert!(memory > process && process > 1.5 * power, "{memory} {process} {power}");
}

#[test]
fn work_is_mixed_with_events_by_chance_and_equal_seeds_mix_alike() {
    let test =
        "test = 'sustained'\nevents = 1000\nwork_time = '1 ms'\ncreate_cpu_time = '0.1 ms'\nevent_ratio = '20 %'";
    let (one, other) = (observed(test), observed(test));
    assert_eq!(one, other);
    let events = only(&one, "create_time") / 0.0001;
    assert!((150.0..250.0).contains(&events), "{events}");
    let work = only(&one, "control_time");
    assert!((work - (1000.0 - events) * 0.001).abs() < 1e-6, "{work}");
    assert!(only(&one, "slowdown_ratio") > 0.02);
}

#[test]
fn what_is_missing_or_has_no_effect_is_refused() {
    let refusal = |settings: &str| super::Plan::read(&cell(settings).settings).unwrap_err().to_string();
    assert!(refusal("events = 5").contains("no test is set"));
    assert!(refusal("test = 'delayed'").contains("message_interval"));
    assert!(refusal("test = 'sustained'\nbatch = 5").contains("call = \"pipelined\""));
    assert!(refusal("test = 'sustained'\nclients = 5").contains("no clients"));
    assert!(refusal("test = 'sustained'\nsensors = 500").contains("at most 100"));
    assert!(refusal("test = 'sustained'\ncodec = 'br:5'").contains("gzip:1"));
    assert!(refusal("test = 'sustained'\npayload = 'text'").contains("payload has no effect"));
    assert!(refusal("world = 'emu'\ntest = 'sustained'\nsync_time = '1 ms'").contains("only in the simulated world"));
    let real = |settings: &str| refusal(&format!("server = 'redis-events'\n{settings}"));
    assert!(real("test = 'sustained'").contains("only in the emulated world"));
    let real = |settings: &str| real(&format!("world = 'emu'\n{settings}"));
    assert!(real("test = 'delayed'\nmessage_interval = '1 s'").contains("has no test delayed"));
    assert!(real("test = 'subscription'\nclients = 2").contains("leave clients out"));
    assert!(real("test = 'sustained'\ncall = 'pipelined'").contains("leave call out"));
}

/// A post of the whole backlog takes 200 s here; a sensor that gave it up after 30 s would send it for ever.
#[test]
fn a_backlog_crosses_a_slow_link_once() {
    let link = "link = { name = '9.6k', rate = '9.6 kbit/s', one_way_delay = '50 ms', queue = '1000 packets' }";
    let test = "test = 'sustained'\nchannel = 'sensor-monitor'\nevents = 5000\ncall = 'pipelined'\n";
    let observation = observed(&format!("{test}{link}"));
    assert_eq!(only(&observation, "events_lost"), 0.0);
    let bytes = only(&observation, "link_bytes_up");
    assert!((5_000.0 * 25.0..5_000.0 * 35.0).contains(&bytes), "{bytes}");
}
