//! What does one replay deliver for each response: how many octets, after how much computing?

use super::page::{Item, Page};
use crate::cost::{CostTable, Operation};
use lastmile_payload::codec::{CodecSpec, Coding};
use lastmile_payload::traffic::Origin;
use lastmile_units::{Bytes, Seed};
use rand_core::Rng as _;
use std::time::Duration;

/// How a response's body is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delivery {
    /// The body as carried.
    pub(super) size: Bytes,
    /// What is named in Content-Encoding.
    pub(super) coding: Coding,
    /// What it costs to make and to read; none where that is free or unknown.
    pub(super) codec: Option<CodecSpec>,
}

impl Delivery {
    /// As it is.
    pub(super) const fn identity(size: Bytes) -> Self {
        Self {
            size,
            coding: Coding::Identity,
            codec: None,
        }
    }

    /// By `codec`, unless that makes it no smaller: then as it is, as a server with a sensible least length does.
    pub(super) fn coded(codec: CodecSpec, size: Bytes, plain: Bytes) -> Self {
        if codec.is_identity() || size >= plain {
            Self::identity(plain)
        } else {
            Self {
                size,
                coding: codec.coding(),
                codec: Some(codec),
            }
        }
    }
}

/// A response as the simulated programs see it.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) host: usize,
    pub(super) gap: Duration,
    pub(super) think: Duration,
    pub(super) request_head: Bytes,
    pub(super) response_head: Bytes,
    pub(super) size: Bytes,
    pub(super) plain: Bytes,
    pub(super) coding: Coding,
    /// Coding it while the client waits, on a reference core; zero for what was coded before.
    pub(super) encoding: Duration,
    /// Decoding it, on a reference core.
    pub(super) decoding: Duration,
    /// What the exchange costs besides.
    pub(super) exchange: Exchange,
    /// The orders that wait for this one's end.
    pub(super) dependents: Vec<usize>,
}

/// What a request and its response cost to exchange whatever they hold, on a reference core.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Exchange {
    /// The server's part: reading the request and writing a head.
    pub(super) serving: Duration,
    /// The client's.
    pub(super) fetching: Duration,
    /// Sealing the body into TLS records; zero in the clear.
    pub(super) sealing: Duration,
    /// Opening them again.
    pub(super) opening: Duration,
}

impl Exchange {
    /// Nothing: where two settings are compared that share it, and only the difference matters.
    pub(super) const FREE: Self = Self {
        serving: Duration::ZERO,
        fetching: Duration::ZERO,
        sealing: Duration::ZERO,
        opening: Duration::ZERO,
    };

    fn draw(costs: &CostTable, tls: bool, size: Bytes, seed: Seed) -> Self {
        let draw = |name: &str, operation, bytes| costs.draw(&mut seed.derive(name).rng(), operation, bytes);
        let records = |name| {
            if tls {
                draw(name, Operation::ProtectRecords, size)
            } else {
                Duration::ZERO
            }
        };
        Self {
            serving: draw("serving", Operation::ServeRequest, Bytes::ZERO),
            fetching: draw("fetching", Operation::FetchRequest, Bytes::ZERO),
            sealing: records("sealing"),
            opening: records("opening"),
        }
    }
}

/// The orders of one replay, over TLS where `tls`. Costs and gaps are drawn response by response from `seed`, so that one seed gives paired replays: a response's
/// costs are of the same rank under every setting.
pub(super) fn orders(page: &Page, deliveries: &[Delivery], costs: &CostTable, tls: bool, seed: Seed) -> Vec<Order> {
    let mut orders: Vec<Order> = page
        .items
        .iter()
        .zip(deliveries)
        .enumerate()
        .map(|(place, (item, delivery))| order(item, *delivery, costs, tls, seed.derive_index(place as u64)))
        .collect();
    for (place, item) in page.items.iter().enumerate() {
        if let Some(trigger) = item.trigger {
            orders[trigger].dependents.push(place);
        }
    }
    orders
}

/// A browser does not repeat itself to the millisecond, and two that do would meet the same coincidences every time (which of two
/// requests finds a connection free). Every gap is stretched by up to a fifth either way, and lengthened by up to 10 ms: our own choice.
fn varied(gap: Duration, seed: Seed) -> Duration {
    let mut rng = seed.derive("gap").rng();
    let mut unit = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    gap.mul_f64(0.8 + 0.4 * unit()) + Duration::from_millis(10).mul_f64(unit())
}

fn order(item: &Item, delivery: Delivery, costs: &CostTable, tls: bool, seed: Seed) -> Order {
    let draw = |name: &str, operation: fn(CodecSpec) -> Operation| {
        delivery.codec.map_or(Duration::ZERO, |codec| {
            costs.draw(&mut seed.derive(name).rng(), operation(codec), item.plain)
        })
    };
    Order {
        host: item.host,
        gap: varied(item.gap, seed),
        think: item.think,
        request_head: item.request_head,
        response_head: item.response_head,
        size: delivery.size,
        plain: item.plain,
        coding: delivery.coding,
        encoding: match item.origin {
            Origin::Static => Duration::ZERO,
            Origin::Dynamic => draw("encoding", Operation::Encode),
        },
        decoding: draw("decoding", Operation::Decode),
        exchange: Exchange::draw(costs, tls, delivery.size, seed),
        dependents: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::tests::{response, text, traffic};
    use crate::cost::Choice;
    use lastmile_payload::traffic::Body;

    #[test]
    fn settings_share_their_random_choices_and_only_what_is_made_on_request_is_coded_then() {
        let body = || Body::Present(text(10_000));
        let responses = vec![
            response("/", "text/html", Origin::Dynamic, body()),
            response("/a.js", "text/javascript", Origin::Static, body()),
        ];
        let page = Page::of(&traffic(responses));
        let costs = CostTable::load(&Choice::Reference).unwrap();
        let of = |codec: &str, seed| {
            let delivery = Delivery::coded(codec.parse().unwrap(), Bytes::new(3_000), Bytes::new(10_000));
            orders(&page, &[delivery; 2], &costs, true, Seed::new(seed))
        };
        let (gzip, brotli, other) = (of("gzip:6", 1), of("br:5", 1), of("gzip:6", 2));
        assert_eq!(gzip[0].gap, brotli[0].gap);
        assert_ne!(gzip[0].gap, other[0].gap);
        assert!(gzip[0].encoding > Duration::ZERO && gzip[0].encoding != brotli[0].encoding);
        assert_eq!(gzip[1].encoding, Duration::ZERO);
        assert!(gzip[1].decoding > Duration::ZERO);
    }

    #[test]
    fn a_coding_that_saves_nothing_is_not_used() {
        let codec = "gzip:6".parse().unwrap();
        assert_eq!(
            Delivery::coded(codec, Bytes::new(30), Bytes::new(30)),
            Delivery::identity(Bytes::new(30))
        );
    }
}
