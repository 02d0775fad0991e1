mod any_load;

use super::*;
use crate::error_cause::ErrorCause;
use crate::plan::{Demand, HttpVersion, STREAMS};
use crate::queueing_theory;
use crate::rate::RequestRate;
use crate::request::Request;
use crate::schedule::Arrivals;
use crate::search::{LimitCheck, SearchOptions, VOTES, highest_rate, is_within};
use crate::server_model::ServiceTime;
use crate::session::Session;
use crate::slo::Limit;
use lastmile_link::DirectionSpec;
use std::num::NonZeroU32;

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn ideal() -> LinkSpec {
    LinkSpec::new("ideal", DirectionSpec::IDEAL, DirectionSpec::IDEAL).unwrap()
}

fn rate(per_second: f64) -> RequestRate {
    RequestRate::new(per_second).unwrap()
}

fn count(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn constant(per_second: f64, duration: Duration) -> Plan {
    let demand = Demand::open(Arrivals::Constant(rate(per_second)));
    Plan::new(demand, duration, Request::get("server", "/"))
}

fn run(model: ServerModel, plan: &Plan) -> Measurement {
    let server = SimulatedServer { link: ideal(), model };
    server.run(plan, Seed::new(1), &Arc::default()).unwrap()
}

#[test]
fn an_idle_server_answers_each_request_after_its_service_time() {
    let model = ServerModel {
        workers: count(4),
        service_time: ServiceTime::Constant(20 * MILLISECOND),
        ..ServerModel::default()
    };
    for requests_per_connection in [None, Some(count(1)), Some(count(3))] {
        let plan = Plan {
            requests_per_connection,
            ..constant(100.0, SECOND)
        };
        let measured = run(model.clone(), &plan);
        assert_eq!(
            (measured.intended, measured.sent, measured.completed, measured.failed()),
            (100, 100, 100, 0)
        );
        for times in [&measured.response, &measured.service, &measured.first_byte] {
            assert_eq!(times.mean(), Some(20 * MILLISECOND));
            assert!(times.are_equivalent(times.max().unwrap(), 20 * MILLISECOND));
        }
        assert_eq!(measured.lateness.max(), Some(Duration::ZERO));
        assert_eq!((measured.sends.sent_max(), measured.sends.due_max()), (1, 1));
        assert_eq!(measured.body_bytes, 100_000);
        let connections = match requests_per_connection.map(NonZeroU32::get) {
            // Two requests overlap for 10 ms; the third comes at the moment when the first is answered.
            None => 2..=3,
            Some(1) => 100..=100,
            _ => 34..=36,
        };
        assert!(connections.contains(&measured.connections), "{}", measured.connections);
    }
}

/// The server does nothing for one second of ten. A generator that waits for it would send less, and see little of it.
#[test]
fn a_stall_of_a_second_is_measured_in_full() {
    let service = MILLISECOND / 2;
    let stall = 4 * SECOND..5 * SECOND;
    let model = ServerModel {
        workers: count(100_000),
        service_time: ServiceTime::Constant(service),
        stall: Some(stall.clone()),
        ..ServerModel::default()
    };
    for requests_per_connection in [None, Some(count(1))] {
        let plan = Plan {
            requests_per_connection,
            ..constant(1_000.0, 10 * SECOND)
        };
        let measured = run(model.clone(), &plan);
        // The server's clock began with the world, the load 20 ms later. A request's work goes on when the stall ends.
        let mut truth: Vec<Duration> = (0..10_000_u32)
            .map(|number| LEAD_TIME + number * MILLISECOND)
            .map(|arrival| {
                let is_stalled = arrival < stall.end && arrival + service > stall.start;
                let stopped = if is_stalled {
                    stall.end - arrival.max(stall.start)
                } else {
                    Duration::ZERO
                };
                service + stopped
            })
            .collect();
        truth.sort_unstable();
        let mean = truth.iter().sum::<Duration>() / 10_000;
        assert_eq!(measured.completed, 10_000);
        assert_eq!(measured.response.mean(), Some(mean));
        for (probability, rank) in [(0.5, 5_000), (0.95, 9_500), (0.99, 9_900), (1.0, 10_000)] {
            let found = measured.response.quantile(probability).unwrap();
            assert!(
                measured.response.are_equivalent(found, truth[rank - 1]),
                "{probability}: {found:?}"
            );
        }
        assert_eq!(measured.lateness.max(), Some(Duration::ZERO), "and sending went on");
    }
}

#[test]
fn a_closed_loop_waits_for_the_stall_and_sends_less() {
    let model = ServerModel {
        service_time: ServiceTime::Constant(10 * MILLISECOND),
        stall: Some(4 * SECOND..5 * SECOND),
        ..ServerModel::default()
    };
    let demand = Demand::Closed {
        users: NonZeroU32::MIN,
        think_time: 10 * MILLISECOND,
    };
    let measured = run(model, &Plan::new(demand, 10 * SECOND, Request::get("server", "/")));
    // A request every 20 ms, except in the second of the stall.
    assert!((449..=451).contains(&measured.completed), "{}", measured.completed);
    assert!(measured.response.quantile(0.99).unwrap() < 11 * MILLISECOND);
}

#[test]
fn a_dependent_request_is_measured_from_when_the_user_expected_to_send_it() {
    let model = ServerModel {
        service_time: ServiceTime::Constant(50 * MILLISECOND),
        workers: count(10),
        ..ServerModel::default()
    };
    let demand = Demand::Open {
        arrivals: Arrivals::Constant(rate(1.0)),
        session: Session {
            requests: count(3),
            think_time: 20 * MILLISECOND,
            expected_response_time: 10 * MILLISECOND,
        },
    };
    let measured = run(model, &Plan::new(demand, SECOND, Request::get("server", "/")));
    // Intended at 0, 30 and 60 ms; sent when the one before is answered, at 0, 50 and 100 ms.
    let sum = measured.response.mean().unwrap() * 3;
    assert_eq!(measured.completed, 3);
    assert!(
        sum.abs_diff((50 + 70 + 90) * MILLISECOND) < Duration::from_nanos(3),
        "{sum:?}"
    );
    assert_eq!(measured.service.mean(), Some(50 * MILLISECOND));
    assert_eq!(
        measured.lateness.max(),
        Some(Duration::ZERO),
        "the generator was in time"
    );
}

#[test]
fn requests_that_find_no_free_connection_wait_and_the_wait_counts() {
    let model = ServerModel {
        service_time: ServiceTime::Constant(100 * MILLISECOND),
        workers: count(10),
        ..ServerModel::default()
    };
    let plan = Plan {
        connections_per_client: count(1),
        timeout: 250 * MILLISECOND,
        ..constant(20.0, SECOND)
    };
    let measured = run(model, &plan);
    // One connection serves 10 per second of the 20 that come; each waits longer, until the timeout.
    assert_eq!(measured.completed + measured.failed(), 20);
    assert!(measured.errors[&ErrorCause::LocalQueue] >= 5, "{:?}", measured.errors);
    assert_eq!(measured.connections_max, 1);
    assert!(measured.queued > 5 && measured.local_queue.max().unwrap() <= 250 * MILLISECOND);
    assert!(measured.response.max().unwrap() <= 251 * MILLISECOND);
}

/// The server has one worker of 100 ms and a backlog of 2, which holds three connections; 10 requests come within 10 ms.
#[test]
fn a_full_backlog_drops_syns_which_are_sent_again() {
    let model = ServerModel {
        service_time: ServiceTime::Constant(100 * MILLISECOND),
        backlog: Some(2),
        ..ServerModel::default()
    };
    let recorded = Arrivals::Recorded((0..10).map(|number| number * MILLISECOND).collect());
    let plan = Plan {
        requests_per_connection: Some(count(1)),
        connect_timeout: 20 * SECOND,
        timeout: 20 * SECOND,
        ..Plan::new(Demand::open(recorded), SECOND, Request::get("server", "/"))
    };
    let measured = run(model.clone(), &plan);
    assert_eq!((measured.completed, measured.failed()), (10, 0));
    // One is served and three wait; the SYNs of the other six come again after 1 s, when two find no room, and after 2 s, as
    // Linux has repeated SYNs since 6.5.
    assert_eq!(measured.listen_drops, Some(6 + 2));
    let connect = &measured.connect;
    for (probability, expected) in [(0.4, Duration::ZERO), (0.8, SECOND), (1.0, 2 * SECOND)] {
        let found = connect.quantile(probability).unwrap();
        // Timers have the granularity of a kernel's.
        assert!(
            found >= expected && found < expected + 100 * MILLISECOND,
            "{probability}: {found:?}"
        );
    }
    // A client that is less patient counts them as lost.
    let plan = Plan {
        connect_timeout: 2 * SECOND,
        ..plan
    };
    let measured = run(model, &plan);
    assert_eq!(measured.errors, [(ErrorCause::SynLost, 2)].into());
}

#[test]
fn an_overloaded_server_is_not_said_to_keep_up() {
    let model = ServerModel {
        service_time: ServiceTime::Constant(20 * MILLISECOND),
        ..ServerModel::default()
    };
    let measured = run(model, &constant(100.0, 4 * SECOND));
    // All are completed in the end, since each may wait for 10 s.
    assert_eq!(measured.completed, 400);
    assert!(
        (measured.transaction_rate() - 50.0).abs() < 0.3,
        "{}",
        measured.transaction_rate()
    );
    assert_eq!(measured.offered_rate(), 100.0);
}

#[test]
fn clients_share_the_arrivals_and_each_has_its_connections() {
    let plan = Plan {
        clients: count(4),
        connections_per_client: count(1),
        ..constant(400.0, SECOND)
    };
    let measured = run(ServerModel::default(), &plan);
    assert_eq!(
        measured
            .clients
            .iter()
            .map(|client| client.completed)
            .collect::<Vec<_>>(),
        [100; 4]
    );
    assert_eq!((measured.fairness(), measured.connections), (Some(1.0), 4));
}

#[test]
fn warm_up_is_sent_and_not_measured() {
    let plan = Plan {
        warm_up: SECOND,
        ..constant(100.0, 3 * SECOND)
    };
    let measured = run(ServerModel::default(), &plan);
    assert_eq!(
        (measured.intended, measured.completed, measured.span),
        (200, 200, 2 * SECOND)
    );
    assert!((measured.transaction_rate() - 100.0).abs() < 0.5);
}

#[test]
fn a_link_adds_its_handshake_and_its_round_trip() {
    let direction = DirectionSpec {
        one_way_delay: 50 * MILLISECOND,
        ..DirectionSpec::IDEAL
    };
    let server = SimulatedServer {
        link: LinkSpec::new("slow", direction.clone(), direction).unwrap(),
        model: ServerModel::default(),
    };
    let plan = Plan {
        requests_per_connection: Some(count(1)),
        ..constant(10.0, SECOND)
    };
    let measured = server.run(&plan, Seed::new(1), &Arc::default()).unwrap();
    assert_eq!(measured.connect.mean(), Some(100 * MILLISECOND));
    assert_eq!(measured.response.mean(), Some(200 * MILLISECOND));
    let again = server.run(&plan, Seed::new(1), &Arc::default()).unwrap();
    assert_eq!(
        format!("{measured:?}"),
        format!("{again:?}"),
        "equal seeds give equal figures"
    );
}

#[test]
fn tls_takes_a_round_trip_more_and_is_measured_by_itself() {
    let direction = DirectionSpec {
        one_way_delay: 50 * MILLISECOND,
        ..DirectionSpec::IDEAL
    };
    let server = SimulatedServer {
        link: LinkSpec::new("slow", direction.clone(), direction).unwrap(),
        model: ServerModel::default(),
    };
    let plan = Plan {
        requests_per_connection: Some(count(1)),
        tls: true,
        ..constant(10.0, SECOND)
    };
    let measured = server.run(&plan, Seed::new(1), &Arc::default()).unwrap();
    assert_eq!((measured.completed, measured.failed()), (10, 0));
    assert_eq!(measured.connect.mean(), Some(100 * MILLISECOND));
    assert_eq!(measured.tls.mean(), Some(100 * MILLISECOND));
    assert_eq!(measured.response.mean(), Some(300 * MILLISECOND));
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let interrupt = Arc::new(AtomicBool::new(true));
    let server = SimulatedServer {
        link: ideal(),
        model: ServerModel::default(),
    };
    let measured = server.run(&constant(100.0, SECOND), Seed::new(1), &interrupt).unwrap();
    assert!(crate::summary::is_interrupted(&measured));
    assert_eq!(measured.completed, 0);
}

#[test]
fn the_highest_rate_of_four_workers_is_that_of_a_scan_and_of_theory() {
    const DURATION: Duration = Duration::from_secs(300);
    let server = SimulatedServer {
        link: ideal(),
        model: ServerModel {
            workers: count(4),
            service_time: ServiceTime::Constant(20 * MILLISECOND),
            ..ServerModel::default()
        },
    };
    let limit: Limit = "p99<50ms,errors<0.1%".parse().unwrap();
    let mut judge = |rate: RequestRate, seed: Seed| -> Result<LimitCheck, Failure> {
        let demand = Demand::open(Arrivals::Poisson(rate));
        let measured = server.run(
            &Plan::new(demand, DURATION, Request::get("server", "/")),
            seed,
            &Arc::default(),
        )?;
        Ok(limit.broken_rule(&measured).map_or(Ok(()), |rule| Err(rule.to_owned())))
    };
    let options = SearchOptions {
        start: rate(10.0),
        highest: rate(1_000.0),
        resolution: 0.01,
        repeats: 2,
        votes: VOTES,
    };
    let seed = Seed::new(1);
    let found = highest_rate(&options, seed, &mut judge).unwrap();
    let theory = queueing_theory::highest_rate(4, 20 * MILLISECOND, 0.99, 50 * MILLISECOND)
        .unwrap()
        .per_second();
    let mean = found.median().unwrap();
    assert!((mean / theory - 1.0).abs() < 0.05, "{mean} against {theory}");
    assert_eq!(found.broken_by.as_deref(), Some("p99<50ms"));

    // A scan upwards by 1 % with the arrivals of the first repeat.
    let mut scanned = theory * 0.9;
    while is_within(rate(scanned * 1.01), VOTES, seed.derive_index(0), &mut judge).unwrap() {
        scanned *= 1.01;
    }
    assert!(
        (found.repeats[0] / scanned - 1.0).abs() < 0.05,
        "{} against {scanned}",
        found.repeats[0]
    );
}

#[test]
fn over_http_2_the_same_requests_share_a_connection_and_queue_for_the_workers() {
    let model = || ServerModel {
        workers: NonZeroU32::new(4).unwrap(),
        service_time: ServiceTime::Constant(20 * MILLISECOND),
        ..ServerModel::default()
    };
    let measure = |http, is_secure| {
        let plan = Plan {
            http,
            tls: is_secure,
            ..Plan::new(
                Demand::open(Arrivals::Poisson(rate(150.0))),
                10 * SECOND,
                Request::get("server", "/"),
            )
        };
        run(model(), &plan)
    };
    let one = measure(HttpVersion::Http11, false);
    for is_secure in [false, true] {
        let two = measure(HttpVersion::Http2 { streams: STREAMS }, is_secure);
        assert_eq!((two.completed, two.failed()), (one.completed, 0), "{:?}", two.errors);
        assert_eq!((two.connections, two.tls.count()), (1, u64::from(is_secure)));
        assert_eq!(two.body_bytes, one.body_bytes);
        // The queue of the workers decides, and not the connection.
        let [one, two] = [&one, &two].map(|measured| measured.response.mean().unwrap().as_secs_f64());
        assert!((two / one - 1.0).abs() < 0.02, "{one} {two}");
    }
}
