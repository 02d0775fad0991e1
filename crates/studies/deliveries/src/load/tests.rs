use crate::tests::DELIVERIES;
use lastmile_report::record::DoubtKind;
use lastmile_study::cell::{Cell, expand};
use lastmile_study::file::Study;
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::observer::Observer;
use lastmile_study::runner::{Experiment, RunContext};
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::testbed::{Reading, TestbedObserver};
use lastmile_units::{Instant, Seed};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const COMMON: &str = "delivery = 'load'\nradio = '802.11b'\ntransfer_size = '1 kB'\nload_time = '10 s'\n";

fn cell(settings: &str) -> Cell {
    let toml = format!("name = 't'\nquestion = ''\n[fixed]\n{COMMON}{settings}");
    expand(&Study::parse("t.toml", &toml).unwrap()).unwrap().cells.remove(0)
}

fn observed(settings: &str) -> Observation {
    observed_cell(&cell(settings))
}

fn observed_cell(cell: &Cell) -> Observation {
    let observation = run(cell, None);
    assert_eq!(observation.doubts, []);
    observation
}

fn run(cell: &Cell, observer: Option<&dyn Observer>) -> Observation {
    let context = RunContext {
        seed: Seed::new(1),
        repeats: 0..1,
        interval: Duration::ZERO,
        costs: &CostTable::free(),
        captures: None,
        observer,
    };
    DELIVERIES.run(cell, &context).remove(0).unwrap()
}

fn figure(observation: &Observation, name: &str) -> f64 {
    if let Some(kept) = observation.distributions.get(name) {
        return kept.mean();
    }
    let samples = &observation.figures[name];
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// A request without contention takes seven frames of at least 0.5 ms each from SYN to the end of the response.
#[test]
fn a_light_load_is_carried_without_an_error() {
    let observation = observed("rate = 20");
    assert_eq!(observation.distributions["response_time"].count(), 200);
    assert_eq!(observation.distributions["connection_duration"].count(), 200);
    let response = figure(&observation, "response_time");
    assert!((0.0035..0.015).contains(&response), "{response}");
    for none in ["error_rate", "client_queue_drops", "server_queue_drops"] {
        assert_eq!(figure(&observation, none), 0.0, "{none}");
    }
    let rate = figure(&observation, "transaction_rate");
    assert!((rate - 20.0).abs() < 0.2, "{rate}");
    assert!((figure(&observation, "goodput") / rate - 8000.0).abs() < 1.0);
    let share = figure(&observation, "airtime_share");
    assert!((0.05..0.3).contains(&share), "{share}");
    assert_eq!(figure(&observation, "fairness"), 1.0);
}

#[test]
fn in_overload_packets_are_dropped_at_the_client_before_they_are_on_the_air() {
    let observation = observed("rate = 160");
    assert!(figure(&observation, "client_queue_drops") > 0.0);
    assert!(figure(&observation, "transaction_rate") < 150.0);
    assert!(figure(&observation, "airtime_share") > 0.6);
}

#[test]
fn the_shares_of_airtime_add_up_and_the_queues_fill_over_time() {
    let observation = observed("rate = 160");
    let kinds = ["data", "ack", "reservation", "beacon", "collision", "idle"];
    let shares = kinds.map(|kind| figure(&observation, &format!("{kind}_airtime_share")));
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    assert!(
        shares[0] > shares[1] && shares[1] > 0.0,
        "data takes more time than ACKs: {shares:?}"
    );
    let line = |name: &str| &observation.timelines[name].values;
    let airtime = line("airtime_share");
    assert_eq!(airtime.len(), 100);
    let mean = airtime.iter().sum::<f64>() / 100.0;
    assert!(
        (mean / figure(&observation, "airtime_share") - 1.0).abs() < 0.01,
        "{mean}"
    );
    let queue = line("client_queue");
    assert!(
        queue[0] < 50.0 && queue[queue.len() / 2] > 50.0,
        "it fills in some seconds: {queue:?}"
    );
    assert!(figure(&observation, "client_queue") > figure(&observation, "server_queue"));
}

#[test]
fn equal_seeds_give_equal_figures_and_clients_share_the_rate() {
    let settings = "rate = 40\nclients = 4\npersistent = 'on'";
    let observation = observed(settings);
    assert_eq!(observation, observed(settings));
    assert_eq!(observation.distributions["response_time"].count(), 400);
    let opened = observation.distributions["connection_duration"].count();
    assert!((4..100).contains(&opened), "{opened} connections stay open");
    assert!(figure(&observation, "fairness") > 0.99);
}

#[test]
fn a_weak_signal_is_repeated_and_a_slow_server_waited_for() {
    let weak = observed("rate = 10\ndistance = '100 m'\ntransmit_power = '50 mW'");
    assert!(figure(&weak, "mac_retries") > 10.0);
    let near = observed("rate = 10");
    let slow = observed("rate = 10\nservice_time = '20 ms'");
    let added = figure(&slow, "response_time") - figure(&near, "response_time");
    assert!((added - 0.020).abs() < 0.002, "{added}");
}

#[test]
fn what_is_missing_or_has_no_effect_is_refused() {
    let refusal = |settings: &str, key: &str| {
        let mut cell = cell(settings);
        match key {
            "rate" => cell.settings.rate = None,
            "transfer_size" => cell.settings.transfer_size = None,
            "radio" => cell.settings.radio = None,
            _ => {}
        }
        let delivery = DELIVERIES.find(&cell.settings.delivery()).unwrap();
        delivery.check(&cell.settings).unwrap_err().to_string()
    };
    for key in ["rate", "transfer_size", "radio"] {
        let refused = refusal("rate = 10", key);
        assert!(
            refused.starts_with(&format!("no {key} is set; add {key} = ")),
            "{refused}"
        );
    }
    assert!(refusal("rate = 10\nlink = 'wpt/3g'", "").contains("link has no effect on a load"));
    assert!(refusal("rate = 10\nclients = 2000", "").contains("at most 1000"));
}

#[test]
fn a_page_is_a_document_and_its_objects_one_after_another() {
    let page = observed("rate = 2\npage_objects = 4");
    let count = |name: &str| {
        page.distributions.get(name).map_or_else(
            || page.figures[name].len() as u64,
            lastmile_statistics::Distribution::count,
        )
    };
    assert_eq!((count("page_time"), count("response_time")), (20, 100));
    let single = figure(&observed("rate = 2"), "response_time");
    let pages = figure(&page, "page_time");
    // A connection also waits for the end of the one before.
    assert!((5.0..10.0).contains(&(pages / single)), "{pages} {single}");
    let persistent = figure(&observed("rate = 2\npage_objects = 4\npersistent = 'on'"), "page_time");
    assert!(persistent < 0.7 * pages, "{persistent} {pages}");
}

#[test]
fn the_place_of_the_first_client_and_the_environment_change_the_radio() {
    let far = observed("rate = 20\nclients = 2\nfirst_distance = '100 m'\ntransmit_power = '50 mW'");
    assert!(figure(&far, "mac_retries") > 10.0);
    let near = observed("rate = 10\ndistance = '10 m'");
    let walls = cell("rate = 10\ndistance = '10 m'\nenvironment = { name = 'walls', obstruction_loss = '41 dB' }");
    let walls = run(&walls, None);
    let doubts: Vec<_> = walls.doubts.iter().map(|doubt| doubt.kind).collect();
    assert_eq!(doubts, [DoubtKind::FewCompletions], "hardly any response comes through");
    assert!(figure(&walls, "mac_retries") > 10.0 * figure(&near, "mac_retries").max(1.0));
}

#[test]
fn a_rate_can_be_that_of_each_client_and_clients_can_begin_one_after_the_other() {
    let each = observed("rate = 10\nrate_of = 'each'\nclients = 3");
    let rate = figure(&each, "transaction_rate");
    assert!((rate - 30.0).abs() < 0.5, "{rate}");
    let poisson = observed("rate = 30\narrivals = 'poisson'");
    assert!(figure(&poisson, "response_time") > 1.02 * figure(&observed("rate = 30"), "response_time"));
    let together = observed("rate = 30\nclients = 3\nphases = 'equal'");
    let apart = observed("rate = 30\nclients = 3\nphases = 'even'");
    assert!(figure(&together, "response_time") > 1.2 * figure(&apart, "response_time"));
}

/// Values by part and figure.
type Readings = BTreeMap<(String, &'static str), Vec<f64>>;

/// What an observer was told.
#[derive(Default)]
struct Notes(Arc<Mutex<Readings>>);

impl Observer for Notes {
    fn begin(&self, _: &Cell) {}

    fn observer_of_world(&self, _: &Cell) -> Option<Box<dyn TestbedObserver>> {
        Some(Box::new(Self(Arc::clone(&self.0))))
    }

    fn end(&self, _: &Cell, _: u64, _: &mut [Outcome]) {}
}

impl TestbedObserver for Notes {
    fn interval(&mut self, part: &str, _: &Range<Instant>, readings: &[Reading]) {
        let mut notes = self.0.lock().unwrap();
        for reading in readings {
            let key = (part.to_owned(), reading.name);
            notes.entry(key).or_default().push(reading.value);
        }
    }
}

#[test]
fn an_observer_is_told_of_radio_and_clients_while_they_run() {
    let notes = Notes::default();
    let cell = cell("rate = 20");
    let observation = run(&cell, Some(&notes));
    assert_eq!(observation, observed_cell(&cell), "observing moved a figure");
    let notes = notes.0.lock().unwrap();
    let of = |part: &str, figure| &notes[&(part.to_owned(), figure)];
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // 10 s in intervals of 0.1 s and a little, since a sample waits for a packet.
    let requests = of("clients", "requests");
    assert!((60..=101).contains(&requests.len()), "{}", requests.len());
    assert!((mean(requests) - 20.0).abs() < 2.0, "{}", mean(requests));
    let response = mean(of("clients", "response_time"));
    assert!((0.003..0.02).contains(&response), "{response}");
    // 1 kB and heads for each request.
    let rate = mean(of("radio", "rate"));
    assert!((160e3..400e3).contains(&rate), "{rate}");
}
