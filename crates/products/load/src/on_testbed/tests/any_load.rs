//! Properties of every load: whatever the demand, the server and the link are, the figures stay within what was due and what could be carried.

use super::*;
use crate::self_check::check;
use lastmile_link::{Capacity, Loss};
use lastmile_units::{BitRate, ByteCount, Probability};
use proptest::prelude::*;

fn any_link() -> impl Strategy<Value = LinkSpec> {
    let rate = prop_oneof![Just(100_000), Just(1_000_000), Just(50_000_000_u64)];
    let delay = prop_oneof![Just(0), Just(20), Just(300)];
    let loss = prop_oneof![4 => Just(0.0), 1 => 0.0..0.1];
    (rate, delay, loss).prop_map(|(rate, delay, loss)| {
        let direction = DirectionSpec {
            capacity: Capacity::Rate(BitRate::new(rate).unwrap()),
            one_way_delay: delay * MILLISECOND,
            loss: Loss::Bernoulli(Probability::new(loss).unwrap()),
            ..DirectionSpec::IDEAL
        };
        LinkSpec::new("any", direction.clone(), direction).unwrap()
    })
}

/// Servers that are fast, slow, stalled for a while, that drop connections, and that close them.
fn any_model() -> impl Strategy<Value = ServerModel> {
    let service = prop_oneof![Just(0), 1..50_u32, 300..700_u32, Just(9_999)];
    let body = prop_oneof![Just(10), 1_000..300_000_u64];
    let stall = proptest::option::of((0..2_000_u32, 1..3_000_u32));
    let backlog = proptest::option::weighted(0.2, 0..4_u32);
    (service, 1..5_u32, body, stall, backlog, any::<bool>()).prop_map(
        |(service, workers, body, stall, backlog, keep_alive)| ServerModel {
            workers: count(workers),
            service_time: ServiceTime::Constant(service * MILLISECOND),
            body: ByteCount::new(body),
            stall: stall.map(|(from, time)| from * MILLISECOND..(from + time) * MILLISECOND),
            backlog,
            keep_alive,
            ..ServerModel::default()
        },
    )
}

/// Open and closed loops, and sessions.
fn any_demand() -> impl Strategy<Value = Demand> {
    let rates = prop_oneof![Just(1.0), Just(5.0), Just(40.0), Just(200.0)];
    let arrivals = (rates, any::<bool>()).prop_map(|(per_second, is_constant)| {
        if is_constant {
            Arrivals::Constant(rate(per_second))
        } else {
            Arrivals::Poisson(rate(per_second))
        }
    });
    let session = (1..4_u32, 0..200_u32, 0..400_u32).prop_map(|(requests, think, expected)| Session {
        requests: count(requests),
        think_time: think * MILLISECOND,
        expected_response_time: expected * MILLISECOND,
    });
    let closed = (1..20_u32, 0..500_u32).prop_map(|(users, think)| Demand::Closed {
        users: count(users),
        think_time: think * MILLISECOND,
    });
    prop_oneof![
        2 => arrivals.clone().prop_map(Demand::open),
        1 => (arrivals, session).prop_map(|(arrivals, session)| Demand::Open { arrivals, session }),
        1 => closed,
    ]
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let http = prop_oneof![
        3 => Just(HttpVersion::Http11),
        1 => (1..20_u32).prop_map(|streams| HttpVersion::Http2 { streams: count(streams) }),
    ];
    let connections = prop_oneof![Just(1), Just(5), Just(10_000)];
    let per_connection = proptest::option::of(1..4_u32);
    let times = (300..5_000_u32, 0.0..0.9, 100..6_000_u32, 100..3_000_u32);
    (any_demand(), http, connections, per_connection, 1..4_u32, times).prop_map(
        |(demand, http, connections, per_connection, clients, (duration, warm_up, timeout, connect_timeout))| Plan {
            warm_up: (duration * MILLISECOND).mul_f64(warm_up),
            clients: count(clients),
            connections_per_client: count(connections),
            http,
            requests_per_connection: per_connection.map(count),
            timeout: timeout * MILLISECOND,
            connect_timeout: connect_timeout * MILLISECOND,
            ..Plan::new(demand, duration * MILLISECOND, Request::get("server", "/"))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_run_completes_more_than_was_due_or_than_server_and_link_carry_and_each_keeps_littles_law(
        link in any_link(),
        model in any_model(),
        plan in any_plan(),
        seed in any::<u64>(),
    ) {
        let server = SimulatedServer { link, model };
        let measured = server.run(&plan, Seed::new(seed), &Arc::default()).unwrap();
        let (rate, goodput) = (measured.transaction_rate(), measured.goodput());
        prop_assert!(rate <= measured.offered_rate(), "{rate}/s of {}/s", measured.offered_rate());
        prop_assert_eq!(measured.completed + measured.failed(), measured.intended);
        if let ServiceTime::Constant(service) = server.model.service_time && !service.is_zero() {
            let carried = f64::from(server.model.workers.get()) / service.as_secs_f64();
            prop_assert!(rate <= carried, "{rate}/s of {carried}/s");
        }
        let link_rate = server.link.down.rate_mean().unwrap().bits_per_second() as f64;
        prop_assert!(goodput <= link_rate, "{goodput} of {link_rate} bit/s");
        prop_assert_eq!(check(&measured), Ok(()));
        let used = measured.link.unwrap();
        if server.link.down.loss == Loss::NONE {
            prop_assert!(used.utilisation() <= Some(1.0), "{used:?}");
        }
    }
}
