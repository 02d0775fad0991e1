//! The script of each response in one replay: its size, its server think time and its CPU costs.

use crate::dependencies::{Cause, Prerequisite, Priority};
use crate::load_options::LoadOptions;
use crate::page::{Page, PageResource};
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_testbed::cpu_cost_model::{CostTable, Operation};
use lastmile_traffic::responses::{Origin, ResponseKind};
use lastmile_units::{ByteCount, Seed, random};
use std::time::Duration;

/// How a response's body is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedResponse {
    /// The body as carried.
    pub size: ByteCount,
    /// The value of Content-Encoding.
    pub coding: Coding,
    /// The codec whose CPU costs are charged; none where compression is free or unknown.
    pub codec: Option<CodecSpec>,
}

impl EncodedResponse {
    /// Uncompressed.
    pub const fn identity(size: ByteCount) -> Self {
        Self {
            size,
            coding: Coding::Identity,
            codec: None,
        }
    }

    /// Compressed by `codec`, or uncompressed if that is no smaller, as a server with a sensible minimum length does.
    pub fn compressed(codec: CodecSpec, size: ByteCount, plain: ByteCount) -> Self {
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
pub struct ScriptedResponse {
    /// The index of its host.
    pub host: usize,
    /// Whether its request is made without cookies, over connections of its own.
    pub is_anonymous: bool,
    /// How long after its prerequisites the request is made.
    pub gap: Duration,
    /// How long the server works before it answers.
    pub server_think_time: Duration,
    /// The size of the request's line and headers in HTTP/1.1.
    pub request_head: ByteCount,
    /// The size of the response's line and headers in HTTP/1.1.
    pub response_head: ByteCount,
    /// The size of its body as carried.
    pub size: ByteCount,
    /// The size of its body without content coding.
    pub plain: ByteCount,
    /// The value of Content-Encoding.
    pub coding: Coding,
    /// CPU time on a reference core for compressing it while the client waits; zero if it was compressed beforehand.
    pub encoding: Duration,
    /// CPU time on a reference core for decompressing it.
    pub decoding: Duration,
    /// The other CPU costs of the exchange.
    pub exchange: ExchangeCost,
    /// What must have arrived before the request is made.
    pub prerequisites: Vec<Prerequisite>,
    /// The priority of the request.
    pub priority: Priority,
    /// Whether the browser's renderer counts it.
    pub is_throttled: bool,
    /// For a document, the time from its first bytes to the moment when the browser has made a page for it and reads it.
    pub commit: Duration,
}

impl ScriptedResponse {
    /// The index of the pool of connections that its request uses: a host has one for requests with cookies and one for those without.
    pub const fn pool(&self) -> usize {
        2 * self.host + self.is_anonymous as usize
    }
}

/// A page as the simulated programs see it.
#[derive(Debug, Clone, Default)]
pub struct PageScript {
    /// Its responses, in the order of their requests.
    pub responses: Vec<ScriptedResponse>,
    /// What must have arrived for the document's body to begin.
    pub body_begins: Vec<Prerequisite>,
}

/// The time from the first bytes of a document to its first requests being sent: of the page, and of a frame in it, which a renderer
/// reads that is there already. Both are Chromium 156's on a core of the reference machine, as we measured them.
const COMMIT: Duration = Duration::from_millis(16);
const COMMIT_FRAME: Duration = Duration::from_millis(7);

impl From<Vec<ScriptedResponse>> for PageScript {
    /// Responses that belong to no document.
    fn from(responses: Vec<ScriptedResponse>) -> Self {
        Self {
            responses,
            body_begins: Vec::new(),
        }
    }
}

/// The CPU costs of exchanging a request and its response, besides compression, on a reference core.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExchangeCost {
    /// The server's part: reading the request and writing a head.
    pub serving: Duration,
    /// The client's part.
    pub fetching: Duration,
    /// Encrypting the body into TLS records; zero without TLS.
    pub sealing: Duration,
    /// Decrypting the records.
    pub opening: Duration,
}

impl ExchangeCost {
    /// No cost: for comparisons of settings that share it, where only the difference matters.
    pub const FREE: Self = Self {
        serving: Duration::ZERO,
        fetching: Duration::ZERO,
        sealing: Duration::ZERO,
        opening: Duration::ZERO,
    };

    fn draw(costs: &CostTable, tls: bool, size: ByteCount, seed: Seed) -> Self {
        let draw = |name: &str, operation, bytes| costs.draw(&mut seed.derive(name).rng(), operation, bytes);
        let records = |name| {
            if tls {
                draw(name, Operation::ProtectRecords, size)
            } else {
                Duration::ZERO
            }
        };
        Self {
            serving: draw("serving", Operation::ServeRequest, ByteCount::ZERO),
            fetching: draw("fetching", Operation::FetchRequest, ByteCount::ZERO),
            sealing: records("sealing"),
            opening: records("opening"),
        }
    }
}

/// The script of one replay. Costs and gaps are drawn for each response from `seed`, so that one seed gives paired
/// replays: a response's costs have the same rank under every setting.
pub fn scripted_responses(
    page: &Page,
    deliveries: &[EncodedResponse],
    costs: &CostTable,
    options: &LoadOptions,
    seed: Seed,
) -> PageScript {
    let responses = page
        .items
        .iter()
        .zip(deliveries)
        .enumerate()
        .map(|(index, (item, delivery))| {
            scripted_response(item, *delivery, costs, options, [seed.derive_index(index as u64), seed])
        })
        .collect();
    PageScript {
        responses,
        body_begins: page.body_begins.clone(),
    }
}

/// Varies a gap that was recorded. A browser is not repeatable to the millisecond; with exact repetition the same coincidences would occur
/// every time (which of two requests finds a free connection). Every gap is scaled by up to a fifth either way, and lengthened by up to
/// 4 ms: our own choice. What a page names is asked for in its order, so that its gaps vary together.
fn varied(item: &PageResource, slow_client: f64, own_seed: Seed, page_seed: Seed) -> Duration {
    let (gap, seed) = match item.cause {
        Cause::Named => (item.gap.mul_f64(slow_client), page_seed),
        _ => (item.gap, own_seed),
    };
    let mut rng = seed.derive("gap").rng();
    let mut unit = || random::unit_fraction(&mut rng);
    gap.mul_f64(0.8 + 0.4 * unit()) + Duration::from_millis(4).mul_f64(unit())
}

fn scripted_response(
    item: &PageResource,
    delivery: EncodedResponse,
    costs: &CostTable,
    options: &LoadOptions,
    [seed, page_seed]: [Seed; 2],
) -> ScriptedResponse {
    let draw = |name: &str, operation: fn(CodecSpec) -> Operation| {
        delivery.codec.map_or(Duration::ZERO, |codec| {
            costs.draw(&mut seed.derive(name).rng(), operation(codec), item.plain)
        })
    };
    ScriptedResponse {
        host: item.host,
        is_anonymous: item.is_anonymous,
        gap: varied(item, options.slow_client, seed, page_seed),
        server_think_time: item.server_think_time,
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
        exchange: ExchangeCost::draw(costs, options.tls, delivery.size, seed),
        prerequisites: item.prerequisites.clone(),
        priority: item.priority,
        is_throttled: item.is_throttled,
        commit: match (item.kind, item.cause) {
            (ResponseKind::Html, Cause::Navigation) => COMMIT.mul_f64(options.slow_client),
            (ResponseKind::Html, _) => COMMIT_FRAME.mul_f64(options.slow_client),
            _ => Duration::ZERO,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{response, text, traffic};
    use lastmile_testbed::cpu_cost_model::Choice;
    use lastmile_traffic::responses::Body;

    #[test]
    fn settings_share_their_random_choices_and_only_what_is_made_on_request_is_coded_then() {
        let body = || Body::Present(text(10_000));
        let responses = vec![
            response("/", "text/html", Origin::Dynamic, body()),
            response("/a.js", "text/javascript", Origin::Static, body()),
        ];
        let page = Page::from_traffic(&traffic(responses));
        let costs = CostTable::load(&Choice::Reference).unwrap();
        let of = |codec: &str, seed| {
            let delivery =
                EncodedResponse::compressed(codec.parse().unwrap(), ByteCount::new(3_000), ByteCount::new(10_000));
            scripted_responses(&page, &[delivery; 2], &costs, &LoadOptions::default(), Seed::new(seed)).responses
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
            EncodedResponse::compressed(codec, ByteCount::new(30), ByteCount::new(30)),
            EncodedResponse::identity(ByteCount::new(30))
        );
    }
}
