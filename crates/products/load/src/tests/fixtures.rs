//! A load at two rates, the second of which the server does not carry.

use crate::record::{
    CapturedSchedule, DirectionUse, Knee, LinkUse, Load, LoadPlan, LoadRun, RateLimit, RunPurpose, SelfCheck,
    TimeDistribution,
};
use lastmile_report::record::{Doubt, DoubtKind};
use std::collections::BTreeMap;

/// A load with a knee, a limit and an invalid run.
pub(crate) fn load() -> Load {
    let fast = run(50.0, 0.009, BTreeMap::new());
    let slow = LoadRun {
        valid: false,
        why_invalid: Some("the run was stopped before its end".to_owned()),
        ..run(
            150.0,
            2.1,
            BTreeMap::from([
                ("refused".to_owned(), 40),
                ("syn-lost".to_owned(), 10),
                ("tls".to_owned(), 5),
            ]),
        )
    };
    Load {
        schema: Load::SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        seed: 1,
        target: "http://127.0.0.1:8000/".to_owned(),
        link: Some("wpt/3g".to_owned()),
        model: None,
        plan: LoadPlan {
            arrivals: "constant".to_owned(),
            duration_s: 10.0,
            warm_up_s: 0.0,
            clients: 2,
            connections_per_client: 1_000,
            http_version: "HTTP/1.1".to_owned(),
            max_concurrent_streams: None,
            users: None,
            requests_per_connection: Some(1),
            requests_per_session: 1,
            think_time_s: 0.0,
            expected_response_time_s: 0.0,
            timeout_s: 10.0,
            connect_timeout_s: 5.0,
        },
        runs: vec![fast, slow],
        knees: vec![Knee {
            world: "emu".to_owned(),
            rate: 50.0,
            response_time_mean: 0.01,
            carried_rate_max: Some(50.0),
        }],
        limits: vec![RateLimit {
            world: "emu".to_owned(),
            limit: "p99<300ms,errors<0.1%".to_owned(),
            rate: Some(84.0),
            ci95: Some([82.5, 85.5]),
            repeats: vec![83.0, 84.0, 85.0],
            resolution: 0.02,
            broken_by: Some("p99".to_owned()),
            is_lower_bound: false,
            unsettled: 0,
        }],
        charts: Vec::new(),
        doubts: vec![Doubt::new(
            DoubtKind::Interrupted,
            "the run at 150/s was stopped before its end",
        )],
    }
}

fn direction(utilisation: f64) -> DirectionUse {
    DirectionUse {
        rate_bit_per_s: Some(1.6e6),
        utilisation: Some(utilisation),
        dropped_by_queue: 0,
        lost: 0,
    }
}

fn run(rate: f64, response: f64, errors: BTreeMap<String, u64>) -> LoadRun {
    let intended = (10.0 * rate) as u64;
    let failed: u64 = errors.values().sum();
    let times = |centre: f64| TimeDistribution {
        n: intended - failed,
        mean: centre * 1.1,
        population_sd: centre / 4.0,
        p50: centre,
        p90: centre * 1.5,
        p95: centre * 1.7,
        p99: centre * 2.0,
        p99_9: centre * 2.5,
        max: centre * 3.0,
    };
    let names = [
        ("response", response),
        ("service", response),
        ("lateness", 12e-6),
        ("connect", response / 3.0),
    ];
    LoadRun {
        world: "emu".to_owned(),
        rate: Some(rate),
        size: None,
        seed: 7,
        purpose: RunPurpose::Measurement,
        valid: true,
        why_invalid: None,
        span_s: 10.0,
        intended,
        sent: intended,
        completed: intended - failed,
        failed,
        error_rate: Some(failed as f64 / intended as f64),
        error_reasons: if errors.is_empty() {
            BTreeMap::new()
        } else {
            BTreeMap::from([(
                "tls".to_owned(),
                BTreeMap::from([
                    ("the certificate has expired".to_owned(), 4),
                    ("the certificate is for another name".to_owned(), 1),
                ]),
            )])
        },
        errors,
        retries: 0,
        unfinished: 0,
        skipped: 0,
        queued: 0,
        offered_rate: rate,
        transaction_rate: (intended - failed) as f64 / 10.0,
        goodput_bit_per_s: 8e3 * rate,
        fairness: Some(0.99),
        times: names.map(|(name, centre)| (name.to_owned(), times(centre))).into(),
        response_cumulative: vec![[response, 0.5], [response * 3.0, 1.0]],
        connections: intended,
        connections_max: 12,
        bytes_received: 1_300 * intended,
        retransmissions: Some(3),
        listen_drops: None,
        link: Some(LinkUse {
            down: direction(0.3),
            up: direction(0.05),
        }),
        self_check: SelfCheck {
            sent_per_ms_max: 2,
            due_per_ms_max: 1,
            cpu_s: Some(0.05),
            cpu_share: Some(0.005),
            cpu_per_request_s: Some(1e-4),
            threads: 1,
            in_flight_mean: Some(rate * response),
            in_flight_by_law: Some(rate * response),
            capture: Some(CapturedSchedule {
                requests: intended,
                late_p50: 14e-6,
                late_p99: 45e-6,
                late_max: 0.2e-3,
                sent_per_ms_max: 2,
            }),
        },
    }
}
