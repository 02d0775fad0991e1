mod shop_example;

use super::test_executions::{Case, TestExecutions, Variation};
use super::*;
use std::io::Write as _;

fn gzip(bytes: &[u8]) -> usize {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap().len()
}

fn of_case(case: Case, variation: Variation) -> WorkloadSpec {
    WorkloadSpec::TestExecutions(TestExecutions {
        variation,
        ..TestExecutions::of_case(case)
    })
}

/// The report's response stream size decrease ratio, 1 - after / before.
fn rssdr(spec: &WorkloadSpec, seed: u64) -> f64 {
    let bytes = spec.generate(Seed::new(seed)).unwrap().concat();
    1.0 - gzip(&bytes) as f64 / bytes.len() as f64
}

#[test]
fn n_executions_of_growth_g_take_exactly_538_and_n_g_bytes() {
    for (growth, counts) in [
        (550, vec![1, 2, 3, 10, 53, 100]),
        (1_526, vec![1, 53]),
        (16_619, vec![1, 6]),
        (300, vec![7]),
    ] {
        for objects in counts {
            for variation in [
                Variation::Nothing,
                Variation::Id,
                Variation::IdAndTimes,
                Variation::FreshText,
            ] {
                let growth = ByteCount::new(growth);
                let plan = TestExecutions {
                    case: None,
                    objects: Some(objects),
                    growth: Some(growth),
                    ..TestExecutions::of_case(Case::B)
                };
                let stream = WorkloadSpec::TestExecutions(TestExecutions { variation, ..plan })
                    .generate(Seed::new(7))
                    .unwrap();
                assert_eq!(stream.objects.len(), objects);
                assert_eq!(stream.total(), ByteCount::new(538) + growth * objects as u64);
            }
        }
    }
}

#[test]
fn every_case_has_the_reports_true_size_which_the_faulty_meter_halves() {
    for (case, objects, printed) in [
        (Case::A, 372, 337_745),
        (Case::B, 100, 27_769),
        (Case::C, 53, 40_708),
        (Case::D, 23, 48_240),
        (Case::E, 6, 50_126),
        (Case::F, 1, 544),
        (Case::G, 10, 3_019),
    ] {
        let stream = of_case(case, Variation::default()).generate(Seed::new(1)).unwrap();
        assert_eq!(stream.objects.len(), objects, "case {case:?}");
        assert_eq!(faulty_meter(stream.total()), ByteCount::new(printed), "case {case:?}");
    }
}

#[test]
fn gzip_saves_what_the_report_printed_to_within_three_hundredths() {
    for (case, published) in [
        (Case::A, 0.93),
        (Case::B, 0.98),
        (Case::C, 0.98),
        (Case::D, 0.97),
        (Case::E, 0.94),
        (Case::F, 0.38),
        (Case::G, 0.88),
    ] {
        for seed in 1..=20 {
            let found = rssdr(&of_case(case, Variation::default()), seed);
            assert!(
                (found - published).abs() <= 0.03,
                "case {case:?}, seed {seed}: {found:.4} where {published} was printed"
            );
        }
    }
}

#[test]
fn the_decoder_counts_each_object_when_its_last_byte_arrives() {
    let spec = of_case(Case::G, Variation::FreshText);
    let stream = spec.generate(Seed::new(3)).unwrap();
    let mut decoder = spec.decoder().unwrap();
    for object in &stream.objects {
        let (last, others) = object.split_last().unwrap();
        assert_eq!(decoder.feed(others), Ok(0));
        assert!(decoder.finish().is_err());
        assert_eq!(decoder.feed(&[*last]), Ok(1));
        assert_eq!(decoder.finish(), Ok(()));
    }
    assert_eq!(decoder.completed(), 10);
}

#[test]
fn a_hundred_packets_have_the_reports_true_size_and_ratio() {
    let spec = WorkloadSpec::TmPackets(TmPackets::of_report());
    for seed in 1..=20 {
        let stream = spec.generate(Seed::new(seed)).unwrap();
        assert_eq!(stream.objects.len(), 100);
        assert_eq!(stream.total(), ByteCount::new(39_748));
        let found = rssdr(&spec, seed);
        assert!(
            (found - 0.84).abs() <= 0.03,
            "seed {seed}: {found:.4} where 0.84 was printed"
        );
    }
}

#[test]
fn the_more_varies_the_less_gzip_saves() {
    let saved: Vec<_> = TestExecutions::sensitivity(Case::B)
        .into_iter()
        .map(|(_, plan)| rssdr(&WorkloadSpec::TestExecutions(plan), 1))
        .collect();
    assert_eq!(saved.len(), 9);
    assert!(
        saved[..4].is_sorted_by(|less_varies, more_varies| less_varies > more_varies),
        "{saved:?}"
    );
    let packets: Vec<_> = TmPackets::sensitivity()
        .into_iter()
        .map(|(_, plan)| rssdr(&WorkloadSpec::TmPackets(plan), 1))
        .collect();
    assert!(
        packets.is_sorted_by(|fewer_walk, more_walk| fewer_walk > more_walk),
        "{packets:?}"
    );
}

#[test]
fn what_is_generated_is_decoded_the_same() {
    let seed = Seed::new(5);
    let plan = TestExecutions {
        variation: Variation::FreshText,
        ..TestExecutions::of_case(Case::G)
    };
    let executions = plan.generate(seed).unwrap();
    let values = values(&test_executions::stream(&executions).concat());
    let decoded: Result<Vec<_>, _> = values.iter().map(TestExecution::from_value).collect();
    assert_eq!(decoded, Ok(executions));

    let packets = TmPackets::of_report().generate(seed).unwrap();
    let values = self::values(&tm_packets::stream(&packets).concat());
    let decoded: Result<Vec<_>, _> = values.iter().map(TmPacket::from_value).collect();
    assert_eq!(decoded, Ok(packets));
}

fn values(bytes: &[u8]) -> Vec<Value> {
    let mut reader = ObjectStreamReader::new();
    reader.feed(bytes);
    std::iter::from_fn(|| reader.next_value().unwrap()).collect()
}

#[test]
fn the_sizes_of_mixed_objects_add_up_span_the_range_and_differ_by_seed_in_order_only() {
    let sizes = |seed| -> Vec<usize> {
        let stream = of_case(Case::A, Variation::default())
            .generate(Seed::new(seed))
            .unwrap();
        stream.objects.iter().skip(1).map(bytes::Bytes::len).collect()
    };
    let (first, second) = (sizes(1), sizes(2));
    assert_ne!(first, second);
    assert!(first.iter().all(|size| (550..=17_000).contains(size)));
    assert!(
        first.iter().filter(|&&size| size < 1_816).count() > 200,
        "heavy tails: most are below the mean"
    );
    assert!(first.iter().any(|&size| size > 10_000));
}

#[test]
fn missing_packets_and_objects_of_another_workload_are_named() {
    let spec = WorkloadSpec::TmPackets(TmPackets::of_report());
    let mut packets = TmPackets::of_report().generate(Seed::new(1)).unwrap();
    packets.remove(7);
    let error = spec
        .decoder()
        .unwrap()
        .feed(&tm_packets::stream(&packets).concat())
        .unwrap_err();
    assert!(
        matches!(
            error,
            WorkloadError::Object {
                index: 7,
                error: ObjectError::Gap(_)
            }
        ),
        "{error}"
    );
    let other = of_case(Case::F, Variation::default()).generate(Seed::new(1)).unwrap();
    let error = spec.decoder().unwrap().feed(&other.concat()).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "object 0: a value: expected observatory.test.TmPackets, found observatory.test.TestExecution"
        )
    );
}

#[test]
fn bulk_bytes_are_counted_to_the_last_and_do_not_compress() {
    let spec: WorkloadSpec = serde_json::from_str(r#"{"kind": "bulk", "bytes": "100 kB"}"#).unwrap();
    let stream = spec.generate(Seed::new(1)).unwrap();
    assert_eq!(stream.total(), ByteCount::new(100_000));
    assert!(gzip(&stream.concat()) > 100_000);
    let mut decoder = spec.decoder().unwrap();
    assert_eq!(decoder.feed(&stream.objects[0][1..]), Ok(0));
    assert_eq!(decoder.finish(), Err(WorkloadError::Missing { bytes: 1 }));
    assert_eq!(decoder.feed(&[0]), Ok(1));
    assert_eq!(decoder.finish(), Ok(()));
    assert_eq!(decoder.feed(&[0]), Err(WorkloadError::Surplus { bytes: 1 }));
}

#[test]
fn a_description_is_read_strictly_and_a_contradiction_is_said() {
    let parse = |text: &str| serde_json::from_str::<WorkloadSpec>(text);
    let problem = |text: &str| parse(text).unwrap().generate(Seed::new(1)).unwrap_err().to_string();
    assert!(parse(r#"{"kind": "bulk", "bytes": "1 MB", "byts": 1}"#).is_err());
    assert!(parse(r#"{"kind": "test-executions", "case": "H"}"#).is_err());
    let own = r#"{"kind": "test-executions", "objects": 2, "growth": "600 B", "variation": "id-and-times"}"#;
    assert_eq!(
        parse(own).unwrap().generate(Seed::new(1)).unwrap().total(),
        ByteCount::new(538 + 1200)
    );
    assert!(problem(r#"{"kind": "test-executions", "case": "B", "objects": 2}"#).contains("not both"));
    assert!(problem(r#"{"kind": "test-executions", "objects": 2}"#).contains("give a case"));
    assert!(problem(r#"{"kind": "test-executions", "objects": 2, "growth": "100 B"}"#).contains("minimum is 239 B"));
    assert!(problem(r#"{"kind": "test-executions", "objects": 2, "growth": "70 kB"}"#).contains("65 kB"));
    assert!(problem(r#"{"kind": "test-executions", "objects": 2, "total": "500 B"}"#).contains("538 B"));
    assert!(
        problem(r#"{"kind": "test-executions", "objects": 2, "total": "1 MB", "mixed": true}"#).contains("cannot add")
    );
    assert!(problem(r#"{"kind": "tm-packets", "packets": 0}"#).contains("from 1 to"));
    assert!(problem(r#"{"kind": "tm-packets", "packets": 1000000000000}"#).contains("from 1 to 1000000"));
    assert!(problem(r#"{"kind": "test-executions", "objects": 1000000000000, "growth": "1 kB"}"#).contains("at most"));
    assert!(problem(r#"{"kind": "bulk", "bytes": "1000000 GB"}"#).contains("from 1 B to 1 GB"));
    assert!(problem(r#"{"kind": "bulk", "bytes": "0 B"}"#).contains("from 1 B to 1 GB"));
}
