use super::*;
use crate::cpu_cost_model::cost_table::SamplesAtSize;
use lastmile_codec::content::CodecSpec;
use lastmile_units::Seed;
use std::collections::BTreeMap;

/// A table in which every operation takes 1 or 2 ms at 1 kB, and 10 or 20 ms at 10 kB.
fn table() -> CostTable {
    let samples = Samples {
        small: SamplesAtSize {
            bytes: ByteCount::new(1000),
            seconds: vec![0.001, 0.002],
        },
        large: Some(SamplesAtSize {
            bytes: ByteCount::new(10_000),
            seconds: vec![0.010, 0.020],
        }),
    };
    let operations: BTreeMap<_, _> = Operation::all()
        .map(|name| (name.to_string(), samples.clone()))
        .collect();
    CostTable {
        name: "test".to_owned(),
        costs: Some(Costs {
            machine: "a machine".to_owned(),
            operations,
        }),
    }
}

fn gzip() -> Operation {
    Operation::Encode("gzip:6".parse().unwrap())
}

#[test]
fn a_draw_is_one_of_the_samples_and_both_come_as_often_as_chance_has_it() {
    let mut rng = Seed::new(1).rng();
    let draws: Vec<_> = (0..10_000)
        .map(|_| table().draw(&mut rng, gzip(), ByteCount::new(1000)))
        .collect();
    let slow = draws.iter().filter(|time| **time == Duration::from_millis(2)).count();
    let fast = draws.iter().filter(|time| **time == Duration::from_millis(1)).count();
    assert_eq!(slow + fast, draws.len());
    // A binomial of 10,000 halves has a deviation of 50; four of them.
    assert!(slow.abs_diff(5000) < 200, "{slow}");
}

#[test]
fn a_size_between_and_beyond_the_measured_ones_lies_on_their_line() {
    let Costs { operations, .. } = table().costs.unwrap();
    let samples = &operations["encode gzip:6"];
    assert_eq!(samples.at(ByteCount::new(5500), 0.0), Duration::from_micros(5500));
    assert_eq!(samples.at(ByteCount::new(100_000), 0.9), Duration::from_millis(200));
    assert_eq!(samples.at(ByteCount::ZERO, 0.0), Duration::ZERO);
}

#[test]
fn a_fixed_part_is_charged_however_few_the_bytes_and_never_a_negative_time() {
    let at = |bytes, seconds: f64| SamplesAtSize {
        bytes: ByteCount::new(bytes),
        seconds: vec![seconds],
    };
    let fixed = Samples {
        small: at(1000, 0.005),
        large: Some(at(2000, 0.006)),
    };
    assert_eq!(fixed.at(ByteCount::ZERO, 0.5), Duration::from_millis(4));
    let steep = Samples {
        small: at(1000, 0.001),
        large: Some(at(2000, 0.009)),
    };
    assert_eq!(steep.at(ByteCount::new(500), 0.5), Duration::from_micros(500));
    let flat = Samples {
        small: at(0, 0.002),
        large: None,
    };
    assert_eq!(flat.at(ByteCount::new(1_000_000), 0.5), Duration::from_millis(2));
}

#[test]
fn a_replay_draws_the_same_and_another_codec_does_not_move_what_follows() {
    let after = |operation| {
        let mut rng = Seed::new(5).rng();
        table().draw(&mut rng, operation, ByteCount::new(1000));
        (0..20)
            .map(|_| table().draw(&mut rng, gzip(), ByteCount::new(1000)))
            .collect::<Vec<_>>()
    };
    assert_eq!(after(gzip()), after(gzip()));
    assert_eq!(after(gzip()), after(Operation::Encode(CodecSpec::IDENTITY)));
}

#[test]
fn identity_and_the_free_table_cost_nothing() {
    let mut rng = Seed::new(1).rng();
    let identity = Operation::Decode(CodecSpec::IDENTITY);
    assert_eq!(table().draw(&mut rng, identity, ByteCount::new(1000)), Duration::ZERO);
    assert_eq!(
        CostTable::free().draw(&mut rng, gzip(), ByteCount::new(1000)),
        Duration::ZERO
    );
}

#[test]
fn a_table_reads_back_as_it_was_written() {
    assert_eq!(CostTable::parse("test", &table().to_toml()).unwrap(), table());
}

#[test]
fn a_table_that_lacks_an_operation_or_has_bad_samples_is_refused() {
    let refusal = |toml: &str| CostTable::parse("my.toml", toml).unwrap_err().to_string();
    assert!(refusal("machine = 'x'\n[operations]").starts_with("cost table my.toml: no samples of \"encode gzip:1\""));
    let whole = table().to_toml();
    for bad in ["[]", "[-1.0]", "[2.0, 1.0]", "[inf]", "[nan]"] {
        let problem = refusal(&whole.replacen("[0.001, 0.002]", bad, 1));
        assert!(
            problem.contains("at 1 kB: `seconds` must be one or more times"),
            "{problem}"
        );
    }
    assert!(refusal(&whole.replacen("10 kB", "1 kB", 1)).contains("`large` must have more bytes"));
    assert!(
        CostTable::load(&Choice::File("no/such.toml".into()))
            .unwrap_err()
            .to_string()
            .contains("--cpu accepts")
    );
}

#[test]
fn the_reference_table_has_every_operation_and_the_machine_it_came_from() {
    let reference = CostTable::load(&Choice::Reference).unwrap();
    assert_eq!(reference.name(), "reference");
    assert!(!reference.machine().is_empty());
}
