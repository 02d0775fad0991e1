//! Replays one repeat of each link again, as it is and as recommended, and keeps the times of every request.

use super::link_measurement::LinkMeasurement;
use super::mix::Mix;
use super::{AdviseError, Phase, PreparedReplay, Progress, prose};
use crate::record::waterfall::{RecordedLoad, SimulatedLoad, Waterfall};
use lastmile_codec::content::CodecSpec;
use lastmile_page::Page;
use lastmile_page::replay::{PageLoad, ReplayContext, replay};
use lastmile_page::request_timing::{RequestTiming, all_decoded, critical_path};
use lastmile_page::scripted_response::EncodedResponse;
use lastmile_traffic::responses::{Response, Traffic};
use lastmile_units::workers::Workers;
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest path that a record holds whole: our own choice.
const PATH_LENGTH_MAX: usize = 100;

/// The waterfall of each link.
pub(super) fn replay_all(
    prepared: &PreparedReplay<'_>,
    links: &[LinkMeasurement],
    workers: &Workers<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Waterfall>, AdviseError> {
    let (today, setting) = match prepared.as_recorded() {
        Some(recorded) => (recorded, prose::TODAY),
        None => (prepared.uniform(CodecSpec::IDENTITY), prose::IDENTITY),
    };
    let mixes = |link: &'_ LinkMeasurement| [today.clone(), link.recommended().0.clone()];
    let jobs: Vec<(usize, u64, Mix)> = links
        .iter()
        .enumerate()
        .flat_map(|(index, link)| mixes(link).map(|mix| (index, link.median_repeat, mix)))
        .collect();
    let scene = ReplayContext {
        page: &prepared.page,
        options: &prepared.options.load,
        costs: prepared.costs,
    };
    let one = |(link, repeat, mix): &(usize, u64, Mix)| {
        let (name, spec) = &prepared.options.links[*link];
        let sent = prepared.deliveries(mix);
        let seed = prepared.options.root().derive_index(*repeat);
        let replayed = replay(&scene, spec, &sent, seed).map_err(|error| AdviseError::Link {
            link: name.clone(),
            why: error.to_string(),
        });
        replayed.map(|load| (load, sent))
    };
    let mut on_done = Progress::counter(Phase::Checking, jobs.len(), progress);
    let mut loads = workers.run(&jobs, one, &mut on_done)?.into_iter();
    let mut waterfalls = Vec::new();
    while let (Some(before), Some(after)) = (loads.next(), loads.next()) {
        let repeat = jobs[2 * waterfalls.len()].1;
        let (before, after) = (
            simulated_load(&prepared.page, setting, before?),
            simulated_load(&prepared.page, prose::RECOMMENDED, after?),
        );
        waterfalls.push(prepared.waterfall(repeat, before, after));
    }
    Ok(waterfalls)
}

impl PreparedReplay<'_> {
    fn waterfall(&self, repeat: u64, today: SimulatedLoad, recommended: SimulatedLoad) -> Waterfall {
        let items = &self.page.items;
        let responses = || items.iter().map(|item| &self.traffic.responses[item.response]);
        Waterfall {
            repeat,
            entry: responses().map(|response| response.index as u64).collect(),
            host: items.iter().map(|item| item.host as u64).collect(),
            path: responses().map(|response| path(&response.url)).collect(),
            priority: items.iter().map(|item| item.priority.into()).collect(),
            identity_bytes: items.iter().map(|item| item.plain.get()).collect(),
            today,
            recommended,
        }
    }
}

/// The load that was recorded; none where the traffic states no phase of any request.
pub(super) fn recorded_load(page: &Page, traffic: &Traffic) -> Option<RecordedLoad> {
    let us = |time: Duration| time.as_micros() as u64;
    let responses = || page.items.iter().map(|item| &traffic.responses[item.response]);
    let phases = |response: &Response| response.phases.map(|phases| phases.map(us));
    let starts: Vec<Option<u64>> = responses()
        .map(|response| response.phases.map(|_| us(response.started)))
        .collect();
    let phases_us: Vec<[u64; 7]> = responses()
        .map(|response| phases(response).unwrap_or_default())
        .collect();
    let ends = starts.iter().zip(&phases_us);
    let page_time_us = ends
        .filter_map(|(start, phases)| Some((*start)? + phases.iter().sum::<u64>()))
        .max()?;
    let mut numbers: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let connection = responses().map(|response| {
        let next = numbers.len() as u64;
        Some(
            *numbers
                .entry((&response.host, response.connection.as_deref()?))
                .or_insert(next),
        )
    });
    Some(RecordedLoad {
        page_time_us,
        dom_content_loaded_us: traffic.dom_content_loaded.map(us),
        load_event_us: traffic.load_event.map(us),
        connection: connection.collect(),
        start_us: starts,
        phases_us,
    })
}

fn simulated_load(page: &Page, setting: &str, (load, sent): (PageLoad, Vec<EncodedResponse>)) -> SimulatedLoad {
    let requests = &load.requests;
    let us = |time: Duration| time.as_micros() as u64;
    let column = |of: &dyn Fn(&RequestTiming) -> u64| requests.iter().map(of).collect();
    // Differences of whole microseconds add up, as rounded differences would not.
    let phase = |ends: &dyn Fn(&RequestTiming) -> [Duration; 2]| {
        let of = |request: &RequestTiming| {
            let [from, to] = ends(request);
            us(to) - us(from)
        };
        requests.iter().map(of).collect()
    };
    SimulatedLoad {
        setting: setting.to_owned(),
        page_time_us: us(load.page_time),
        dom_content_loaded_us: all_decoded(requests, &page.dom_content_loaded).map(us),
        load_event_us: all_decoded(requests, &page.load_event).map(us),
        critical_path: critical_path(requests)
            .into_iter()
            .map(|request| request as u64)
            .collect(),
        start_us: column(&|request| us(request.start)),
        blocked_us: phase(&|request| [request.start, request.unblocked]),
        connect_us: phase(&|request| [request.unblocked, request.established]),
        tls_us: phase(&|request| [request.established, request.connected]),
        send_us: phase(&|request| [request.connected, request.sent]),
        wait_us: phase(&|request| [request.sent, request.first_byte]),
        receive_us: phase(&|request| [request.first_byte, request.last_byte]),
        decode_us: phase(&|request| [request.last_byte, request.decoded]),
        connection: column(&|request| request.connection as u64),
        opens_connection: requests.iter().map(|request| request.opens_connection).collect(),
        waited_for: requests
            .iter()
            .map(|request| request.waited_for.map(|other| other as u64))
            .collect(),
        coding: sent.iter().map(|sent| sent.coding.token().to_owned()).collect(),
        body_bytes: sent.iter().map(|sent| sent.size.get()).collect(),
    }
}

/// The path of a URL without its query, cut in the middle where it is long.
fn path(url: &str) -> String {
    let after_scheme = url.split_once("://").map_or(url, |(_, after)| after);
    let path = after_scheme.find(['/', '?']).map_or("/", |at| &after_scheme[at..]);
    let path = match path.split_once('?') {
        Some((path, _)) => format!("{path}?"),
        None => path.to_owned(),
    };
    let length = path.chars().count();
    if length <= PATH_LENGTH_MAX {
        return path;
    }
    let half = PATH_LENGTH_MAX / 2;
    let begin = path.chars().take(half);
    begin.chain(['…']).chain(path.chars().skip(length - half)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::record::LinkAdvice;
    use crate::tests::{advised, options, small_page};
    use std::num::NonZeroU64;

    fn link_advice(repeats: u64) -> LinkAdvice {
        let options = Options {
            repeats: NonZeroU64::new(repeats).unwrap(),
            repeats_max: NonZeroU64::new(repeats).unwrap(),
            ..options(&["wpt/3g"])
        };
        advised(&small_page(), &options).links.remove(0)
    }

    #[test]
    fn both_loads_are_those_of_the_table_and_end_with_their_last_request() {
        let link = link_advice(1);
        let waterfall = link.waterfall.as_ref().unwrap();
        for load in [&waterfall.today, &waterfall.recommended] {
            let row = link.page.iter().find(|row| row.setting == load.setting).unwrap();
            assert_eq!((row.page_time.mean * 1e6) as u64, load.page_time_us, "{}", load.setting);
            let end = |request: usize| load.start_us[request] + load.phases_us(request).unwrap().iter().sum::<u64>();
            let last = *load.critical_path.last().unwrap() as usize;
            assert_eq!(end(last), load.page_time_us);
            assert_eq!((0..3).map(end).max(), Some(load.page_time_us));
        }
        assert_eq!(waterfall.today.coding, ["gzip", "gzip", "gzip"]);
        assert_eq!(waterfall.path, ["/", "/app.js", "/data"]);
    }

    #[test]
    fn the_repeat_is_the_one_with_the_median_page_time() {
        let link = link_advice(5);
        let median = link.page[0].page_time.quantiles["0.5"];
        assert_eq!((median * 1e6) as u64, link.waterfall.unwrap().recommended.page_time_us);
    }

    #[test]
    fn the_recorded_load_has_the_phases_of_the_traffic_and_numbers_its_connections() {
        let mut traffic = small_page();
        assert_eq!(recorded_load(&Page::from_traffic(&traffic), &traffic), None);
        let ms = Duration::from_millis;
        traffic.load_event = Some(ms(90));
        for (response, (wait, connection)) in traffic.responses.iter_mut().zip([(20, "b"), (30, "a"), (40, "b")]) {
            let mut phases = [Duration::ZERO; 7];
            (phases[5], phases[6]) = (ms(wait), ms(10));
            (response.phases, response.connection) = (Some(phases), Some(connection.to_owned()));
        }
        traffic.responses[1].phases = None;
        let started = traffic.responses[2].started;
        let load = recorded_load(&Page::from_traffic(&traffic), &traffic).unwrap();
        let third = started.as_micros() as u64;
        assert_eq!(load.start_us, [Some(0), None, Some(third)]);
        assert_eq!(load.phases_us[2], [0, 0, 0, 0, 0, 40_000, 10_000]);
        assert_eq!(load.connection, [0, 1, 0].map(Some));
        assert_eq!((load.page_time_us, load.load_event_us), (third + 50_000, Some(90_000)));
    }

    #[test]
    fn a_path_has_no_query_and_is_cut_in_the_middle() {
        assert_eq!(path("https://a.example"), "/");
        assert_eq!(path("https://a.example/b?token=secret/"), "/b?");
        assert_eq!(path("https://a.example?token=secret"), "?");
        let long = path(&format!("https://a.example/{}/app.js", "x".repeat(200)));
        assert!(long.starts_with("/xx") && long.ends_with("xx/app.js") && long.contains('…'));
        assert_eq!(long.chars().count(), PATH_LENGTH_MAX + 1);
    }
}
