//! How long does each response take by itself? Over an idle link, one after the other, each over a connection of its own.
//!
//! Replays of a page show what a page meets, coincidences included: which response finds the link free, and which waits behind a
//! large one. A recommendation should not rest on those, so that settings are chosen by what they do to each response alone, and the
//! replays show what comes of it. Costs are the middle of the table's samples, connections are cold, and what adds the same to every
//! setting is left out: encryption, and the link's chance.

use super::candidates::{codes_on_request, typical};
use super::measure::calm;
use super::order::{Delivery, Exchange, Order};
use super::parallel::Workers;
use super::{AdviseError, Options, Phase, Progress, Study, candidates, replay};
use crate::cost::Operation;
use lastmile_payload::codec::CodecSpec;
use lastmile_report::advise::Connections;
use std::collections::BTreeMap;
use std::time::Duration;

/// Of each link, setting and item that can be coded: its time in seconds.
pub(super) struct Alone(Vec<BTreeMap<CodecSpec, BTreeMap<usize, f64>>>);

impl Alone {
    /// The mean time of a response among `items`, over a link under a setting.
    pub(super) fn mean(&self, link: usize, codec: CodecSpec, items: &[usize]) -> Option<f64> {
        let times = self.0[link].get(&codec)?;
        let sum: Option<f64> = items.iter().map(|item| times.get(item).copied()).sum();
        Some(sum? / items.len() as f64)
    }

    /// Measures every setting that is replayed.
    pub(super) fn measure(
        study: &Study<'_>,
        workers: &Workers<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, AdviseError> {
        let items: Vec<usize> = study
            .groups
            .iter()
            .flat_map(|group| group.items.iter().copied())
            .collect();
        let links = 0..study.options.links.len();
        let jobs: Vec<(usize, CodecSpec)> = links
            .clone()
            .flat_map(|link| study.settings.iter().map(move |codec| (link, *codec)))
            .collect();
        let options = Options {
            connections: Connections::Cold,
            tls: false,
            ..study.options.clone()
        };
        let mut on_done = |done| {
            progress(Progress {
                phase: Phase::Choosing,
                done,
                total: jobs.len(),
            });
        };
        let one = |&(link, codec): &(usize, CodecSpec)| {
            let orders: Vec<Order> = items
                .iter()
                .enumerate()
                .map(|(place, item)| study.order(place, *item, codec))
                .collect();
            let chained = chained(orders);
            replay::run(
                &options,
                &calm(&options.links[link].1),
                items.len(),
                chained.into(),
                replay::Handshakes::default(),
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
            for (codec, replayed) in study.settings.iter().zip(measured.by_ref()) {
                let times = replayed?.transfer_times;
                of_settings.insert(
                    *codec,
                    items
                        .iter()
                        .copied()
                        .zip(times.iter().map(Duration::as_secs_f64))
                        .collect(),
                );
            }
            of_links.push(of_settings);
        }
        Ok(Self(of_links))
    }
}

/// Each waits for the one before.
fn chained(mut orders: Vec<Order>) -> Vec<Order> {
    let count = orders.len();
    for (place, order) in orders.iter_mut().enumerate().filter(|(place, _)| place + 1 < count) {
        order.dependents = vec![place + 1];
    }
    orders
}

impl Study<'_> {
    /// An item by itself, from a host of its own.
    fn order(&self, host: usize, item: usize, codec: CodecSpec) -> Order {
        let (delivery, known): (Delivery, _) = (
            candidates::delivery(item, codec, &self.page, &self.sizes),
            &self.page.items[item],
        );
        let cost = |operation: fn(CodecSpec) -> Operation| {
            delivery.codec.map_or(Duration::ZERO, |codec| {
                typical(self.costs, operation(codec), known.plain)
            })
        };
        Order {
            host,
            gap: Duration::ZERO,
            think: Duration::ZERO,
            request_head: known.request_head,
            response_head: known.response_head,
            size: delivery.size,
            plain: known.plain,
            coding: delivery.coding,
            encoding: if codes_on_request(known.origin) {
                cost(Operation::Encode)
            } else {
                Duration::ZERO
            },
            decoding: cost(Operation::Decode),
            exchange: Exchange::FREE,
            dependents: Vec::new(),
        }
    }
}
