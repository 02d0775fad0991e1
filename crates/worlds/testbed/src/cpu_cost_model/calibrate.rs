//! Measures the cost table of this machine, in about twenty seconds.
//!
//! The measurement runs on one thread; anything else that runs meanwhile makes the table worse. `examples/calibrate.rs` prints the
//! table that ships.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a calibration is a measurement of time"
)]

mod corpus;
mod http;
mod messages;
mod tls;

use super::cost_table::{Costs, Samples, SamplesAtSize};
use super::{Operation, this_machine};
use lastmile_codec::content::{CodecSpec, decode, encode};
use lastmile_units::{ByteCount, Seed};
use lastmile_workload::WorkloadSpec;
use lastmile_workload::test_executions::{self, Case, TestExecution, TestExecutions};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The sizes at which codecs are measured: a short response and a long one. Like the numbers below, our own choice.
const SMALL: ByteCount = ByteCount::new(2_000);
const LARGE: ByteCount = ByteCount::new(200_000);

/// The number of samples, if they fit into the time, and the least number in any case.
const SAMPLES: usize = 15;
const SAMPLES_MIN: usize = 3;
const TIME_FOR_SAMPLES: Duration = Duration::from_millis(25);

/// Calls shorter than this are timed several at a time, so that reading the clock (some 25 ns) stays below a quarter of a per cent.
const TIMED_MIN: Duration = Duration::from_micros(10);

/// A sample above this multiple of the median counts as interrupted by another program, and is discarded.
const INTERRUPTED: f64 = 2.0;

/// Measures every operation.
pub fn calibrate() -> Costs {
    let small = corpus::text(Seed::new(1), SMALL);
    let large = corpus::text(Seed::new(1), LARGE);
    let mut operations = BTreeMap::new();
    for codec in CodecSpec::all().filter(|codec| !codec.is_identity()) {
        let encoding = |plain: &[u8]| at_size(plain.len(), || drop(black_box(encode(codec, black_box(plain)))));
        let decoding = |plain: &[u8]| {
            let coded = encode(codec, plain);
            let limit = ByteCount::from(plain.len());
            at_size(plain.len(), || {
                drop(black_box(decode(codec.coding(), black_box(&coded), limit)));
            })
        };
        let both = |measure: &dyn Fn(&[u8]) -> SamplesAtSize| Samples::of_sizes(measure(&small), measure(&large));
        operations.insert(Operation::Encode(codec).to_string(), both(&encoding));
        operations.insert(Operation::Decode(codec).to_string(), both(&decoding));
    }
    operations.insert(
        Operation::WriteObject.to_string(),
        object_samples(|execution, _| {
            drop(black_box(test_executions::stream(black_box(std::slice::from_ref(
                execution,
            )))));
        }),
    );
    operations.insert(
        Operation::ReadObject.to_string(),
        object_samples(|_, written| {
            let decoder = WorkloadSpec::TestExecutions(TestExecutions::of_case(Case::F)).decoder();
            let mut decoder = decoder.expect("executions are objects");
            black_box(decoder.feed(black_box(written)).expect("what was written can be read"));
        }),
    );
    operations.insert(Operation::ServeRequest.to_string(), http::serve());
    operations.insert(Operation::FetchRequest.to_string(), http::fetch());
    let peers = tls::TlsPair::new();
    operations.insert(Operation::AcceptTls.to_string(), peers.accept());
    operations.insert(Operation::ConnectTls.to_string(), peers.connect());
    let records = Samples::of_sizes(peers.seal(&small), peers.seal(&large));
    operations.insert(Operation::ProtectRecords.to_string(), records);
    let on_messages = messages::samples().into_iter();
    operations.extend(on_messages.map(|(operation, samples)| (operation.to_string(), samples)));
    Costs {
        machine: this_machine(),
        operations,
    }
}

/// Times `call` on the smallest and the largest object of the GZIPFilter report; `call` gets the object and its serialised bytes.
fn object_samples(call: impl Fn(&TestExecution, &[u8])) -> Samples {
    let at = |case| {
        let executions = TestExecutions::of_case(case)
            .generate(Seed::new(1))
            .expect("the report's cases can be made");
        let written = test_executions::stream(&executions[..1]).concat();
        at_size(written.len(), || call(&executions[0], &written))
    };
    Samples::of_sizes(at(Case::F), at(Case::E))
}

/// Times `call`, which works on `bytes` bytes.
fn at_size(bytes: usize, mut call: impl FnMut()) -> SamplesAtSize {
    // The first call fills caches and takes page faults; the second determines how many calls take long enough to time.
    call();
    let once = timed(1, &mut call);
    let calls = (TIMED_MIN.as_secs_f64() / once.max(1e-9)).ceil().clamp(1.0, 1e4) as u32;
    SamplesAtSize {
        bytes: ByteCount::from(bytes),
        seconds: seconds_of(|| timed(calls, &mut call)),
    }
}

/// Samples that `sample` measures, in seconds: as many as fit into the time.
fn seconds_of(mut sample: impl FnMut() -> f64) -> Vec<f64> {
    let started = Instant::now();
    let mut samples = Vec::new();
    while samples.len() < SAMPLES_MIN || (samples.len() < SAMPLES && started.elapsed() < TIME_FOR_SAMPLES) {
        samples.push(sample());
    }
    without_interrupted(samples)
}

/// Seconds per call, over `calls` calls.
fn timed(calls: u32, call: &mut impl FnMut()) -> f64 {
    let started = Instant::now();
    for _ in 0..calls {
        call();
    }
    started.elapsed().as_secs_f64() / f64::from(calls)
}

/// The samples without interrupted ones, in ascending order, rounded to a nanosecond.
fn without_interrupted(mut samples: Vec<f64>) -> Vec<f64> {
    samples.sort_by(f64::total_cmp);
    let median = samples[samples.len() / 2];
    samples.retain(|seconds| *seconds <= INTERRUPTED * median);
    samples.iter().map(|seconds| (seconds * 1e9).round() / 1e9).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_sample_is_thrown_away_and_the_rest_is_sorted() {
        assert_eq!(
            without_interrupted(vec![0.003, 0.001, 0.002, 0.9]),
            [0.001, 0.002, 0.003]
        );
        assert_eq!(without_interrupted(vec![0.001]), [0.001]);
    }

    #[test]
    fn a_slow_call_is_measured_the_least_number_of_times_and_a_fast_one_the_greatest() {
        let mut calls = 0;
        let slow = at_size(1, || {
            calls += 1;
            std::thread::sleep(TIME_FOR_SAMPLES);
        });
        assert_eq!(calls, 2 + SAMPLES_MIN);
        assert!((1..=SAMPLES_MIN).contains(&slow.seconds.len()));
    }
}
