//! When requests and connections were under way, one by one: for the judgement of an emulated world, and for figures that depend on their order.

use lastmile_load::measurement::Measurement;
use lastmile_statistics::{epoch_folding, periodogram};
use lastmile_study::figure;
use lastmile_study::observation::Observation;
use lastmile_units::Instant;
use std::collections::BTreeMap;
use std::ops::Range;

/// Says when each response and each connection was measured, so that the world can judge what programs waited for a CPU.
pub(super) fn note_times(clients: &[Measurement], observation: &mut Observation) {
    let of = |pick: fn(&Measurement) -> &Vec<Range<Instant>>| clients.iter().flat_map(pick).cloned().collect();
    let responses: Vec<_> = of(|client| &client.response_times);
    let connections: Vec<_> = of(|client| &client.connection_times);
    observation
        .times
        .insert(figure::RESPONSE_TIME.name.to_owned(), responses);
    observation
        .times
        .insert(figure::CONNECTION_DURATION.name.to_owned(), connections);
}

/// Periods that are known beforehand, in seconds: 100 time units, which cards leave between beacons, and waves of the mains, in whose time a
/// microwave oven sends.
const KNOWN_PERIODS: [f64; 3] = [0.1024, 1.0 / 60.0, 1.0 / 50.0];

/// Adds the periodicity of connection durations, in the order in which the connections were opened: none (0, by chance 1) where there are
/// too few, or all are equal.
pub(super) fn observe_periodicity(clients: &[Measurement], observation: &mut Observation) {
    let mut connections: Vec<&Range<Instant>> = clients.iter().flat_map(|client| &client.connection_times).collect();
    connections.sort_by_key(|times| (times.start, times.end));
    let durations: Vec<f64> = connections.iter().map(|times| seconds(times)).collect();
    let peak = periodogram::greatest_peak(&durations);
    let interval = match (connections.first(), connections.last()) {
        (Some(first), Some(last)) if durations.len() > 1 => {
            seconds(&(first.start..last.start)) / (durations.len() as f64 - 1.0)
        }
        _ => 0.0,
    };
    observation.sample(figure::PERIODICITY, peak.map_or(0.0, |peak| peak.share));
    observation.sample(figure::PERIODICITY_CHANCE, peak.map_or(1.0, |peak| peak.chance));
    observation.sample(figure::PERIOD, peak.map_or(0.0, |peak| peak.period * interval));
    observe_phase(&connections, &durations, observation);
}

/// Adds the known period on whose phase durations depend most, with the chance of that among so many periods: none (0, by chance 1) where
/// connections begin at too few phases of each.
fn observe_phase(connections: &[&Range<Instant>], durations: &[f64], observation: &mut Observation) {
    let begin = connections.first().map_or(Instant::START, |first| first.start);
    let times: Vec<f64> = connections.iter().map(|times| seconds(&(begin..times.start))).collect();
    let chances = KNOWN_PERIODS
        .iter()
        .filter_map(|period| Some((epoch_folding::chance(&times, durations, *period)?, *period)));
    let least = chances.min_by(|(one, _), (other, _)| one.total_cmp(other));
    let (chance, period) = least.unwrap_or((1.0, 0.0));
    let tried = KNOWN_PERIODS.len() as f64;
    observation.sample(figure::PHASE_CHANCE, (chance * tried).min(1.0));
    observation.sample(figure::PHASE_PERIOD, period);
}

/// Adds the time of each page, all of whose requests are intended to start at once: from then to the end of the last response. A page that
/// lacks one has no time.
pub(super) fn observe_pages(clients: &[Measurement], requests_per_page: u32, observation: &mut Observation) {
    for client in clients {
        let mut pages: BTreeMap<Instant, (u32, Instant)> = BTreeMap::new();
        for response in &client.response_times {
            let page = pages.entry(response.start).or_insert((0, response.end));
            *page = (page.0 + 1, page.1.max(response.end));
        }
        for (start, (responses, end)) in pages {
            if responses == requests_per_page {
                observation.sample_time(figure::PAGE_TIME, start..end);
            }
        }
    }
}

fn seconds(times: &Range<Instant>) -> f64 {
    times.end.saturating_since(times.start).as_secs_f64()
}
