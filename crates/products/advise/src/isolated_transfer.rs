//! The time of each response on an idle link: one after the other, each over its own connection.
//!
//! Replays of a page include coincidences: which response finds the link idle, and which waits behind a large one. The time of each
//! response in isolation is free of them, so it tells the search which settings are worth trying on the page. Costs are medians of the table's
//! samples, connections are cold, and encryption and random impairments of the link, which add the same to every setting, are left out.

use super::candidates::{compressed_per_request, median_cost};
use super::{AdviseError, Phase, PreparedReplay, Progress};
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_page::ServedHost;
use lastmile_page::dependencies::{Extent, Prerequisite, Priority};
use lastmile_page::page::{REQUEST_HEAD, RESPONSE_HEAD};
use lastmile_page::scripted_response::{ExchangeCost, ScriptedResponse};
use lastmile_page::{LoadOptions, replay};
use lastmile_report::connections::Connections;
use lastmile_testbed::cpu_cost_model::Operation;
use lastmile_units::ByteCount;
use lastmile_units::workers::Workers;
use std::collections::BTreeMap;
use std::time::Duration;

/// For each link, setting and item that can be compressed: its time in seconds.
pub(super) struct IsolatedTransferTimes(Vec<BTreeMap<CodecSpec, BTreeMap<usize, f64>>>);

impl IsolatedTransferTimes {
    /// The mean time of a response among `items`, over a link under a setting.
    pub(super) fn mean(&self, link: usize, codec: CodecSpec, items: &[usize]) -> Option<f64> {
        let times = self.0[link].get(&codec)?;
        let sum: Option<f64> = items.iter().map(|item| times.get(item).copied()).sum();
        Some(sum? / items.len() as f64)
    }

    /// Measures every setting that is replayed.
    pub(super) fn measure(
        prepared: &PreparedReplay<'_>,
        workers: &Workers<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, AdviseError> {
        let items: Vec<usize> = prepared
            .groups
            .iter()
            .flat_map(|group| group.items.iter().copied())
            .collect();
        let links = 0..prepared.options.links.len();
        let jobs: Vec<(usize, CodecSpec)> = links
            .clone()
            .flat_map(|link| prepared.settings.iter().map(move |codec| (link, *codec)))
            .collect();
        let options = prepared.options;
        let hosts: Vec<ServedHost> = items
            .iter()
            .map(|item| ServedHost {
                is_encrypted: false,
                ..prepared.served_host(*item)
            })
            .collect();
        let load = LoadOptions {
            connections: Connections::Cold,
            ..options.load.clone()
        };
        let mut on_done = Progress::counter(Phase::Choosing, jobs.len(), progress);
        let one = |&(link, codec): &(usize, CodecSpec)| {
            let responses = items.iter().enumerate();
            let responses = responses.map(|(index, item)| prepared.isolated(index, *item, codec));
            let chained = chained(responses.collect());
            replay::run(
                &load,
                &options.links[link].1.clone().without_impairments(),
                &hosts,
                chained.into(),
                replay::HandshakeCost::default(),
                options.root(),
            )
            .map_err(|error| AdviseError::Link {
                link: options.links[link].0.clone(),
                why: error.to_string(),
            })
        };
        let mut measured = workers.run(&jobs, one, &mut on_done)?.into_iter();
        let mut of_links = Vec::new();
        for _ in links {
            let mut of_settings = BTreeMap::new();
            for (codec, replayed) in prepared.settings.iter().zip(measured.by_ref()) {
                let requests = replayed?.requests;
                let seconds = requests.iter().map(|request| request.transfer_time().as_secs_f64());
                of_settings.insert(*codec, items.iter().copied().zip(seconds).collect());
            }
            of_links.push(of_settings);
        }
        Ok(Self(of_links))
    }
}

/// Makes each response wait for the one before.
fn chained(mut responses: Vec<ScriptedResponse>) -> Vec<ScriptedResponse> {
    for (index, response) in responses.iter_mut().enumerate().skip(1) {
        response.prerequisites = vec![Prerequisite {
            item: index - 1,
            extent: Extent::Whole,
        }];
    }
    responses
}

impl PreparedReplay<'_> {
    /// How an item's host is replayed.
    pub(super) fn served_host(&self, item: usize) -> ServedHost {
        self.page.served_hosts(&self.options.load)[self.page.items[item].host]
    }

    /// An item in isolation, from its own host.
    fn isolated(&self, host: usize, item: usize, codec: CodecSpec) -> ScriptedResponse {
        let (delivery, known) = (self.delivery(item, codec), &self.page.items[item]);
        let cost = |operation: fn(CodecSpec) -> Operation| {
            delivery.codec.map_or(Duration::ZERO, |codec| {
                median_cost(self.costs, operation(codec), known.plain)
            })
        };
        ScriptedResponse {
            host,
            request_head: known.request_head,
            response_head: known.response_head,
            size: delivery.size,
            coding: delivery.coding,
            encoding: if compressed_per_request(known.origin) {
                cost(Operation::Encode)
            } else {
                Duration::ZERO
            },
            decoding: cost(Operation::Decode),
            ..isolated_response(known.plain)
        }
    }
}

/// An uncompressed response that depends on nothing and costs no CPU time, with heads of a typical size.
pub(super) fn isolated_response(plain: ByteCount) -> ScriptedResponse {
    ScriptedResponse {
        host: 0,
        is_anonymous: false,
        gap: Duration::ZERO,
        server_think_time: Duration::ZERO,
        request_head: REQUEST_HEAD,
        response_head: RESPONSE_HEAD,
        size: plain,
        plain,
        coding: Coding::Identity,
        encoding: Duration::ZERO,
        decoding: Duration::ZERO,
        exchange: ExchangeCost::FREE,
        prerequisites: Vec::new(),
        priority: Priority::High,
        is_throttled: false,
        commit: Duration::ZERO,
    }
}
