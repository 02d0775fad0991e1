use crate::DOUBTS;
use crate::messages::Messages;
use lastmile_codec::message::{Deflate, MessageCodec, Strategy, WindowBits};
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_study::catalogue::Catalogue;
use lastmile_study::cell::expand;
use lastmile_study::delivery::Deliveries;
use lastmile_study::file::Study;
use lastmile_study::observation::Observation;
use lastmile_study::runner::{Experiment, RunContext};
use lastmile_study::settings::Settings;
use lastmile_testbed::cpu_cost_model::{Choice, CostCoverage, CostTable, Costs, Operation};
use lastmile_units::ByteCount;
use std::time::Duration;

/// The registry of this crate's deliveries.
pub(crate) const DELIVERIES: Deliveries = Deliveries::new(&[super::DELIVERIES]);
/// The built-in studies.
pub(crate) const CATALOGUE: Catalogue = Catalogue::new(&[lastmile_builtin_studies::STUDIES]);

fn expected(settings: &str) -> Duration {
    let study = Study::parse(
        "t.toml",
        &format!("name = 't'\nquestion = ''\n[fixed]\nlink = 'wpt/3g'\n{settings}"),
    );
    let cells = expand(&study.unwrap()).unwrap().cells;
    DELIVERIES.expected_time(&cells[0])
}

#[test]
fn the_expected_time_grows_with_what_is_delivered() {
    let bulk = |bytes: &str| {
        expected(&format!(
            "workload = {{ kind = 'bulk', bytes = '{bytes}' }}\ndelivery = 'tcp'"
        ))
    };
    // 50 us, and 0.6 us for each of 10,000 full packets.
    assert_eq!(bulk("14480 kB"), Duration::from_micros(6050));
    let packets = |count: u32| expected(&format!("workload = {{ kind = 'tm-packets', packets = {count} }}"));
    let (few, many) = (packets(10), packets(1000));
    // A packet's object has about 400 B, and each byte costs 25 ns.
    assert!(
        few > Duration::from_micros(100) && few < Duration::from_micros(200),
        "{few:?}"
    );
    assert!(
        many > Duration::from_millis(8) && many < Duration::from_millis(12),
        "{many:?}"
    );
}

#[test]
fn a_delivery_measures_the_figures_that_it_names_and_no_others() {
    let context_costs = CostTable::load(&Choice::Reference).unwrap();
    let mixed = "{ kind = 'mix', parts = [{ kind = 'chat', messages = 20 }, { kind = 'telemetry', messages = 5 }] }";
    for fixed in [
        "workload = { kind = 'bulk', bytes = '10 kB' }\ndelivery = 'tcp'\nlink = 'wpt/3g'".to_owned(),
        "workload = { kind = 'request-response', requests = 3, request = '100 B', response = '1 kB' }\ndelivery = 'tcp'\nlink = 'wpt/3g'".to_owned(),
        "workload = { kind = 'tm-packets', packets = 10 }\ndelivery = 'http/1.1'\nlink = 'wpt/3g'".to_owned(),
        format!("workload = {mixed}\ndelivery = 'websocket'\nlink = 'wpt/3g'"),
        format!("workload = {mixed}\ndelivery = 'in-memory'"),
    ] {
        let study = Study::parse("t.toml", &format!("name = 't'\nquestion = ''\n[fixed]\n{fixed}")).unwrap();
        let cell = expand(&study).unwrap().cells.remove(0);
        let context = RunContext {
            seed: lastmile_units::Seed::new(1),
            repeats: 0..1,
            interval: Duration::ZERO,
            costs: &context_costs,
            captures: None,
            observer: None,
        };
        let observation = DELIVERIES.run(&cell, &context).remove(0).unwrap();
        let delivery = DELIVERIES.find(&cell.settings.delivery()).unwrap();
        let mut named: Vec<&str> = delivery.figures(&cell.settings).iter().map(|figure| figure.name).collect();
        named.sort_unstable();
        let measured: Vec<&str> = observation.figures.keys().map(String::as_str).collect();
        assert_eq!(measured, named, "{fixed}");
    }
}

/// The operations on messages that a cell charges for.
fn operations_on_messages(settings: &Settings) -> Vec<Operation> {
    let delivery = DELIVERIES.find(&settings.delivery()).unwrap();
    delivery.check(settings).unwrap();
    if delivery.carries() != "messages" {
        return Vec::new();
    }
    let codec = Messages::of(settings).unwrap().codec;
    vec![Operation::EncodeMessage(codec), Operation::DecodeMessage(codec)]
}

#[test]
fn the_reference_table_knows_every_operation_on_messages_of_the_built_in_studies() {
    let reference = CostTable::load(&Choice::Reference).unwrap();
    let cells = lastmile_builtin_studies::STUDIES
        .iter()
        .flat_map(|builtin| expand(&builtin.study()).unwrap().cells);
    let asked: Vec<_> = cells.flat_map(|cell| operations_on_messages(&cell.settings)).collect();
    assert!(!asked.is_empty());
    for operation in asked {
        assert_ne!(reference.coverage(operation), CostCoverage::None, "{operation}");
    }
}

#[test]
fn the_reference_table_knows_whatever_messages_over_websocket_can_be_set_to() {
    let reference = CostTable::load(&Choice::Reference).unwrap();
    let settings = WindowBits::all().flat_map(|window_bits| {
        let levels = (0..=9).flat_map(|level| (1..=9).map(move |mem_level| (level, mem_level)));
        let both = levels.flat_map(|of| [true, false].map(|takeover| (of, takeover)));
        both.flat_map(move |((level, mem_level), takeover)| {
            Strategy::ALL.map(|strategy| Deflate {
                takeover,
                window_bits,
                level,
                mem_level,
                strategy,
            })
        })
    });
    let mut known = 0;
    for codec in settings.map(MessageCodec::Deflate) {
        for operation in [Operation::EncodeMessage(codec), Operation::DecodeMessage(codec)] {
            assert_ne!(reference.coverage(operation), CostCoverage::None, "{operation}");
            let time = reference.at_rank(operation, ByteCount::new(132), 0.5);
            assert!(time > Duration::ZERO, "{operation}");
            known += 1;
        }
    }
    // The grid of 1,440 settings with level 0 besides, five strategies, both ways.
    assert_eq!(known, 8 * 10 * 9 * 2 * 5 * 2);
}

#[test]
fn every_operation_on_messages_that_is_measured_has_samples_in_the_reference_table() {
    let reference = CostTable::load(&Choice::Reference).unwrap();
    let lacking: Vec<_> = Operation::on_messages()
        .filter(|operation| !operation.is_free() && reference.coverage(*operation) != CostCoverage::Sampled)
        .map(|operation| operation.to_string())
        .collect();
    assert_eq!(lacking, [""; 0]);
}

/// The reference table as a file without the operations whose names contain `text`.
fn table_without(text: &str) -> CostTable {
    let reference = CostTable::load(&Choice::Reference).unwrap();
    let mut costs: Costs = toml::from_str(&reference.to_toml()).unwrap();
    let before = costs.operations.len();
    costs.operations.retain(|operation, _| !operation.contains(text));
    assert!(costs.operations.len() < before, "{text}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), toml::to_string(&costs).unwrap()).unwrap();
    CostTable::load(&Choice::File(file.path().to_owned())).unwrap()
}

/// The only repeat of the only cell with these settings.
fn observed(settings: &str, costs: &CostTable) -> Observation {
    let chat = "workload = { kind = 'chat', messages = 20 }";
    let study = Study::parse(
        "t.toml",
        &format!("name = 't'\nquestion = ''\n[fixed]\n{chat}\n{settings}"),
    );
    let cell = expand(&study.unwrap()).unwrap().cells.remove(0);
    let context = RunContext {
        seed: lastmile_units::Seed::new(1),
        repeats: 0..1,
        interval: Duration::ZERO,
        costs,
        captures: None,
        observer: None,
    };
    DELIVERIES.run(&cell, &context).remove(0).unwrap()
}

/// The kinds of an observation's doubts with their texts.
fn doubts(observation: &Observation) -> Vec<(&str, &str)> {
    let doubts = observation.doubts.iter();
    doubts.map(|doubt| (doubt.kind.name(), doubt.text.as_str())).collect()
}

const IN_MEMORY: &str = "delivery = 'in-memory'";
const OVER_WEBSOCKET: &str = "delivery = 'websocket'\nlink = 'wpt/3g'\nmessage_interval = '10 ms'";

#[test]
fn what_a_table_does_not_know_of_messages_is_doubted_and_left_out_and_no_zero() {
    let older = table_without(" message ");
    let in_memory = observed(IN_MEMORY, &older);
    for figure in ["compress_time", "pass_time", "decompress_time"] {
        assert!(!in_memory.figures.contains_key(figure), "{figure}");
    }
    assert!(
        in_memory.figures.contains_key("compressed_bytes"),
        "sizes need no table"
    );
    let over_websocket = observed(OVER_WEBSOCKET, &older);
    for observation in [&in_memory, &over_websocket] {
        let doubts = doubts(observation);
        let named = doubts.iter().filter(|(kind, text)| {
            *kind == "no-cost" && text.contains("has no samples of \"encode message deflate:6/w15/m8\"")
        });
        assert_eq!(named.count(), 1, "{doubts:?}");
        assert!(
            doubts[0].1.contains("times are left out; --cpu measured makes one"),
            "{doubts:?}"
        );
    }
}

#[test]
fn a_table_that_lacks_one_direction_leaves_out_that_one() {
    let without = table_without("decode message ");
    let observation = observed(IN_MEMORY, &without);
    assert!(observation.figures["compress_time"].iter().all(|time| *time > 0.0));
    assert!(!observation.figures.contains_key("decompress_time"));
    let [(kind, text)] = doubts(&observation)[..] else {
        panic!("{:?}", observation.doubts)
    };
    assert!(
        kind == "no-cost" && text.contains("\"decode message deflate:6/w15/m8\""),
        "{text}"
    );
}

#[test]
fn a_setting_that_was_not_measured_is_put_together_where_what_it_takes_is_there_and_said() {
    let asked = format!("{IN_MEMORY}\nwindow_bits = 12\nmem_level = 5");
    let reference = CostTable::load(&Choice::Reference).unwrap();
    let whole = observed(&asked, &reference);
    assert!(whole.figures["compress_time"].iter().all(|time| *time > 0.0));
    assert!(
        doubts(&whole).iter().all(|(kind, _)| *kind == "estimated-cost"),
        "{:?}",
        whole.doubts
    );
    // With one of the parts missing there is no estimate.
    let without = table_without("message deflate:6/w12/m8");
    let lacking = observed(&asked, &without);
    assert!(!lacking.figures.contains_key("compress_time"));
    assert!(
        doubts(&lacking).iter().all(|(kind, _)| *kind == "no-cost"),
        "{:?}",
        lacking.doubts
    );
}

/// The doubts of an experiment that raises one of this kind.
fn doubtful(kind: DoubtKind) -> Vec<Doubt> {
    let reference = CostTable::load(&Choice::Reference).unwrap();
    match kind {
        DoubtKind::NoCost => observed(IN_MEMORY, &table_without(" message ")).doubts,
        DoubtKind::EstimatedCost => {
            observed(&format!("{IN_MEMORY}\nwindow_bits = 12\nmem_level = 5"), &reference).doubts
        }
        DoubtKind::OneWay => vec![crate::websocket::tests::one_way().1],
        other => panic!("{other} has no row"),
    }
}

#[test]
fn every_kind_of_doubt_is_raised() {
    for kind in DOUBTS {
        let doubts = doubtful(*kind);
        assert!(doubts.iter().any(|doubt| doubt.kind == *kind), "{kind}: {doubts:?}");
    }
}
