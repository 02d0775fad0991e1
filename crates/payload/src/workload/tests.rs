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
    let mut decoder = spec.decoder();
    for object in &stream.objects {
        let (last, others) = object.split_last().unwrap();
        assert_eq!(decoder.feed(others), Ok(0));
        assert!(decoder.finish().is_err());
        assert_eq!(decoder.feed(&[*last]), Ok(1));
        assert_eq!(decoder.finish(), Ok(()));
    }
    assert_eq!(decoder.completed(), 10);
}
