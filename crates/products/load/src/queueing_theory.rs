//! The waiting time of the queue M/D/c: Poisson arrivals, constant service time, c servers.
//!
//! Franx, "A simple solution for the M/D/c waiting time distribution", Operations Research Letters 29 (2001): with D the service time,
//! lambda the arrival rate and Q(m) the probability that at most m customers wait, for (k - 1) D <= x < k D
//!
//! P(W <= x) = exp(-lambda (k D - x)) sum over j from 0 to k c - 1 of Q(k c - 1 - j) (lambda (k D - x))^j / j!.

use crate::rate::RequestRate;
use std::time::Duration;

/// The number of states that are computed: enough where the load is below 0.95.
const STATES: usize = 300;

/// The rate at which a share `probability` of the responses takes at most `bound`, by bisection; none where the bound is below the service time.
///
/// Up to 95 % of what the servers carry, and to a tenth of a per cent.
pub fn highest_rate(servers: usize, service: Duration, probability: f64, bound: Duration) -> Option<RequestRate> {
    let wait = bound.checked_sub(service)?.as_secs_f64();
    let service = service.as_secs_f64();
    let (mut low, mut high) = (0.01 / service, 0.95 * servers as f64 / service);
    while high / low > 1.001 {
        let rate = f64::midpoint(low, high);
        if waits_at_most(servers, service, rate, wait) >= probability {
            low = rate;
        } else {
            high = rate;
        }
    }
    RequestRate::new(low)
}

/// P(W <= x).
fn waits_at_most(servers: usize, service: f64, rate: f64, time: f64) -> f64 {
    let states = state_probabilities(servers, service * rate);
    let waiting_at_most = |count: usize| states[..=servers + count].iter().sum::<f64>();
    let periods = (time / service).floor() as usize + 1;
    let mean = rate * (periods as f64 * service - time);
    let last = periods * servers - 1;
    (0..=last)
        .map(|count| poisson(mean, count) * waiting_at_most(last - count))
        .sum()
}

/// The probabilities of 0, 1, 2 ... customers in the system, in the steady state: who is here a service time later are those who wait now, and
/// the Poisson arrivals.
fn state_probabilities(servers: usize, arrivals: f64) -> Vec<f64> {
    let arriving: Vec<f64> = (0..STATES).map(|count| poisson(arrivals, count)).collect();
    // From an empty system, until nothing changes.
    let mut states = vec![0.0; STATES];
    states[0] = 1.0;
    loop {
        let mut next = vec![0.0; STATES];
        for (now, probability) in states.iter().enumerate() {
            let left = now.saturating_sub(servers);
            for (arrived, share) in arriving.iter().enumerate().take((STATES - left).min(60)) {
                next[left + arrived] += probability * share;
            }
        }
        let change: f64 = states
            .iter()
            .zip(&next)
            .map(|(before, after)| (before - after).abs())
            .sum();
        states = next;
        if change < 1e-12 {
            break;
        }
    }
    let sum: f64 = states.iter().sum();
    states.iter().map(|probability| probability / sum).collect()
}

fn poisson(mean: f64, count: usize) -> f64 {
    let factors = (1..=count).map(|factor| mean / factor as f64);
    factors.fold(libm::exp(-mean), |product, factor| product * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_is_that_of_erlang() {
        // P(W <= x) = (1 - rho) exp(lambda x) for x < D (Erlang 1909).
        for (rate, time) in [(0.5_f64, 0.0), (0.5, 0.9), (0.8, 0.5)] {
            let erlang = (1.0 - rate) * libm::exp(rate * time);
            assert!(
                (waits_at_most(1, 1.0, rate, time) - erlang).abs() < 1e-6,
                "{rate} {time}"
            );
        }
    }
}
