//! Servers that are late, stall, cut their answers, fail or say nothing, at random: no run completes more than was due, and none loses a request.

use super::*;
use lastmile_units::random;
use std::sync::atomic::AtomicU64;

/// How a server treats a request.
#[derive(Clone, Copy)]
enum Conduct {
    Answer,
    AnswerLate,
    Fail,
    Cut,
    Close,
    Stall,
}

const CONDUCTS: [Conduct; 8] = [
    Conduct::Answer,
    Conduct::Answer,
    Conduct::AnswerLate,
    Conduct::AnswerLate,
    Conduct::Fail,
    Conduct::Cut,
    Conduct::Close,
    Conduct::Stall,
];
const PATIENCE: Duration = Duration::from_millis(150);

/// A server that does so with each request.
fn misbehaving(seed: Seed) -> SocketAddr {
    let requests = AtomicU64::new(0);
    serve(move |stream| {
        while read_request(stream) {
            let number = requests.fetch_add(1, Ordering::Relaxed);
            let mut rng = seed.derive_index(number).rng();
            let written = match random::pick(&mut rng, &CONDUCTS) {
                Conduct::Answer => stream.write_all(RESPONSE),
                Conduct::AnswerLate => {
                    thread::sleep(PATIENCE.mul_f64(1.2 * random::unit_fraction(&mut rng)));
                    stream.write_all(RESPONSE)
                }
                Conduct::Fail => stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"),
                Conduct::Cut => {
                    let _ = stream.write_all(&RESPONSE[..RESPONSE.len() - 1]);
                    return close(stream);
                }
                Conduct::Close => return close(stream),
                Conduct::Stall => return thread::sleep(2 * PATIENCE),
            };
            if written.is_err() {
                return;
            }
        }
    })
}

#[test]
fn no_run_against_any_server_completes_more_than_was_due_or_loses_a_request() {
    let open = Demand::open(Arrivals::Poisson(RequestRate::new(200.0).unwrap()));
    let closed = Demand::Closed {
        users: NonZeroU32::new(10).unwrap(),
        think_time: Duration::from_millis(5),
    };
    for case in 0..8 {
        let seed = Seed::new(case);
        let demand = if case % 2 == 0 { &open } else { &closed };
        let connections = if case < 4 { 4 } else { 10_000 };
        let plan = Plan {
            demand: demand.clone(),
            duration: 2 * PATIENCE,
            warm_up: PATIENCE / 3,
            timeout: PATIENCE,
            connections_per_client: NonZeroU32::new(connections).unwrap(),
            ..plan()
        };
        let generator = Generator::new(misbehaving(seed), NonZeroU32::new(2).unwrap(), Arc::default());
        let measured = generator.run(&plan, seed).unwrap().measurement;
        let (rate, due) = (measured.transaction_rate(), measured.offered_rate());
        assert!(rate <= due, "case {case}: {rate}/s of {due}/s");
        // A machine that stands still for a second ends a run.
        if measured.ending == Ending::Complete {
            assert_eq!(measured.completed + measured.failed(), measured.intended, "case {case}");
            let (counted, by_law) = (measured.window.in_flight_mean(), measured.in_flight_by_law());
            assert!(
                (counted - by_law).abs() < 1e-6 * counted,
                "case {case}: {counted} and {by_law}"
            );
        }
    }
}
