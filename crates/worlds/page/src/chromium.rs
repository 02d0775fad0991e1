//! Loads a recorded page in a real browser: Chromium in the emulated world, behind the link, with the page's servers on its other side.
//!
//! The hosts and the link are those of a simulated load. Chromium is the peer `chromium` of `peers/`. It is warm (it has loaded a small
//! page), but each load has empty caches and no connections. Computing takes the time of this machine.

use crate::playback::{Playback, PlaybackLog};
use crate::replay::{CLIENT, server_name, topology};
use lastmile_link::LinkSpec;
use lastmile_report::record::Doubt;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::http::Version;
use lastmile_testbed::http::tls::browser_certificate;
use lastmile_testbed::peer::{Inputs, PeerError, PeerSpec};
use lastmile_testbed::testbed::{HostSetup, Testbed, TestbedWorld as _};
use lastmile_units::Seed;
use lastmile_world::emu::{HostSpec, World};
use lastmile_world::{Host as _, World as _};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How a page is loaded in Chromium.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserOptions {
    /// The protocol of hosts whose scheme is `https`; none gives each the recorded one.
    pub protocol: Option<Version>,
    /// How many times the page is loaded.
    pub repeats: NonZeroU64,
    /// How many times slower than this machine's the browser's main threads are.
    pub cpu_slowdown: f64,
    /// A load that lacks recorded responses is over when nothing has been requested for this long after the load event.
    pub quiet: Duration,
}

impl Default for BrowserOptions {
    /// The recorded protocols, three loads, at this machine's speed; and three seconds, which is our own choice.
    fn default() -> Self {
        Self {
            protocol: None,
            repeats: const { NonZeroU64::new(3).unwrap() },
            cpu_slowdown: 1.0,
            quiet: Duration::from_secs(3),
        }
    }
}

/// The loads of a page in one run of Chromium.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserLoads {
    /// The browser's name and version, as it states them.
    pub browser: String,
    /// The loads that came to their end, in their order; at least one.
    pub loads: Vec<BrowserLoad>,
    /// Why the others did not.
    pub failed: Vec<String>,
    /// What the servers were asked for in all loads together.
    pub log: PlaybackLog,
    /// Why the times may not count.
    pub doubts: Vec<Doubt>,
}

/// One load.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserLoad {
    /// From the first request to the end of the last recorded response.
    pub page_time: Duration,
    /// From the first request to the events `DOMContentLoaded` and `load` of the document; none where they did not happen.
    pub dom_content_loaded: Option<Duration>,
    /// See [`Self::dom_content_loaded`].
    pub loaded: Option<Duration>,
    /// The requests in their order.
    pub requests: Vec<BrowserRequest>,
    /// The items of the page that were not requested.
    pub not_requested: Vec<usize>,
}

/// A request of a browser; its times are since the first request.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserRequest {
    /// The item of the page that answered it; none where it was not recorded.
    pub item: Option<usize>,
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// What it is for, in the browser's words: `Document`, `Script`.
    pub kind: String,
    /// The priority that it began with, in the browser's words: `VeryHigh`.
    pub priority: String,
    /// What led to it, in the browser's words: `parser`, `script`, `other`.
    pub initiator: String,
    /// The URL of what led to it, where the browser says so.
    pub initiator_url: Option<String>,
    /// When the browser decided to make it.
    pub requested: Duration,
    /// When it was sent: it had a connection by then.
    pub sent: Option<Duration>,
    /// When the response's head had arrived.
    pub head: Option<Duration>,
    /// When the response was complete, or had failed.
    pub ended: Option<Duration>,
    /// The status code.
    pub status: Option<u16>,
    /// The protocol that was agreed on: `h2`, `http/1.1`.
    pub protocol: Option<String>,
    /// The browser's number of its connection.
    pub connection: Option<u64>,
    /// The bytes of head and body on the connection, as the browser counts them.
    pub bytes: u64,
    /// Whether a cache of the browser answered.
    pub cached: bool,
    /// Why it failed.
    pub error: Option<String>,
}

impl BrowserLoads {
    /// The items that the browser did not read to their end in some load, although it did not fail: images that cannot be decoded.
    pub fn cut_short(&self) -> BTreeSet<usize> {
        let is_short = |request: &&BrowserRequest| {
            let item = request.item.unwrap_or_default();
            let sent = self.log.body_bytes[item] / self.log.requests[item].max(1);
            !request.cached && request.error.is_none() && request.bytes < sent
        };
        let answered = self.loads.iter().flat_map(|load| &load.requests);
        let answered = answered.filter(|request| request.item.is_some() && request.ended.is_some());
        answered.filter(is_short).filter_map(|request| request.item).collect()
    }
}

/// A page that could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// Chromium is not installed, or does not run.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// The recording has no document.
    #[error(
        "the recording has no HTML document, so that no browser can load it; record the page itself: save a HAR in a browser"
    )]
    NoDocument,
    /// The world could not be made, or stopped.
    #[error(transparent)]
    Testbed(#[from] Failure),
}

/// The peer.
const PEER: &str = "chromium";

/// Checks that Chromium is installed, and returns its version.
///
/// # Errors
/// What is missing, with the remedy.
pub fn is_installed() -> Result<String, PeerError> {
    Ok(PeerSpec::named(PEER)?.is_installed()?)
}

/// Loads `playback` over `link`. The process must have acquired the right to make an emulated world, before it started any thread.
///
/// # Errors
/// When Chromium is missing or fails, the recording has no document, or the world cannot be made.
pub fn load(
    playback: &Rc<Playback>,
    link: &LinkSpec,
    options: &BrowserOptions,
    seed: Seed,
) -> Result<BrowserLoads, BrowserError> {
    load_captured(playback, link, options, seed, None)
}

/// The same, with captures of the hosts' packets in files of a folder that begin with a name.
///
/// # Errors
/// As [`load`], and when a capture cannot be written.
pub fn load_captured(
    playback: &Rc<Playback>,
    link: &LinkSpec,
    options: &BrowserOptions,
    seed: Seed,
    capture: Option<(&Path, &str)>,
) -> Result<BrowserLoads, BrowserError> {
    let peer = PeerSpec::named(PEER)?;
    let (Some(document), Some(warm_up)) = (playback.document(), playback.warm_up()) else {
        return Err(BrowserError::NoDocument);
    };
    let recorded_hosts: Vec<(&str, String)> = playback.recorded_hosts().collect();
    let mut testbed = Testbed::<World>::build(&topology(link, recorded_hosts.len())?, seed, |_| HostSetup {
        kernel: HostSpec {
            no_delay: true,
            ..HostSpec::default()
        },
        ..HostSetup::default()
    })?;
    if let Some((folder, name)) = capture {
        testbed.capture(folder, name)?;
    }
    let log = Rc::new(RefCell::new(playback.log()));
    let mut addresses = BTreeMap::new();
    let versions = playback.versions(options.protocol);
    for (number, (_, authority)) in recorded_hosts.iter().enumerate() {
        let server = testbed.host(&server_name(number));
        let port = playback.serve(number, server, versions[number], &log).map_err(failed)?;
        addresses.insert(authority.clone(), server.address(port).to_string());
    }
    let folders = tempfile::TempDir::with_prefix("lastmile-").map_err(failed)?;
    let [state, data] = ["state", "data"].map(|name| folders.path().join(name));
    let description = json!({
        "url": document,
        "warm_up": warm_up,
        "hosts": addresses,
        "resources": playback.urls(),
    });
    std::fs::create_dir(&state)
        .and_then(|()| std::fs::create_dir(&data))
        .and_then(|()| std::fs::write(data.join("page.json"), description.to_string()))
        .and_then(|()| std::fs::write(data.join("certificate.der"), browser_certificate()))
        .map_err(failed)?;
    let per_load = World::limit(link, playback.urls().len(), playback.plain_bytes());
    let inputs = Inputs::new("load", data, state)
        .with("protocol", newest_protocol(&versions))
        .with("repeats", &options.repeats)
        .with("cpu_slowdown", &options.cpu_slowdown)
        .with("quiet_milliseconds", &options.quiet.as_millis().max(1))
        .with("timeout_seconds", &per_load.as_secs().max(1));
    // The warm-up page, too, is loaded within that time.
    let loads = u32::try_from(options.repeats.get())
        .unwrap_or(u32::MAX)
        .saturating_add(1);
    let limit = START_TIMEOUT.saturating_add(per_load.saturating_mul(loads));
    let receiver = run(&testbed, peer, inputs, limit)?;
    testbed.flush_captures()?;
    let doubts = testbed.doubts();
    drop(testbed);
    let log = log.borrow().clone();
    Ok(read(&receiver, playback, log, doubts)?)
}

/// The time for starting and ending Chromium. Our own choice: it takes seconds.
const START_TIMEOUT: Duration = Duration::from_secs(60);

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string())
}

/// The newest protocol that the browser is to offer: each server agrees to one only.
fn newest_protocol(versions: &[Version]) -> &'static str {
    if versions.contains(&Version::H2) {
        "h2"
    } else {
        "http/1.1"
    }
}

/// Runs the peer on the client's host, beside the servers, which run in this thread.
fn run(testbed: &Testbed<World>, peer: PeerSpec, inputs: Inputs, limit: Duration) -> Result<Vec<Value>, BrowserError> {
    let namespace = testbed.host(CLIENT).namespace().clone();
    let (sender, receiver) = oneshot::channel();
    // The thread is there until the peer has ended, as the peer's contract asks.
    let thread = std::thread::spawn(move || {
        let ended = namespace.enter(|| peer.run_within(limit, &inputs, &|_| Ok(())));
        // The receiver is gone where the world has stopped.
        let _ = sender.send(ended);
    });
    let ended = testbed.world.run_for(limit.saturating_add(START_TIMEOUT), receiver);
    let joined = thread.join();
    let ended = ended.map_err(failed)?;
    joined.map_err(|_| Failure::new("the thread that ran Chromium panicked"))?;
    let receiver = ended
        .map_err(|_| Failure::new("the thread that ran Chromium gave no result"))?
        .map_err(|error| Failure::new(format!("the host cannot be entered: {error}")))?;
    Ok(receiver?)
}

/// Reads what the peer has reported.
fn read(
    receiver: &[Value],
    playback: &Playback,
    log: PlaybackLog,
    doubts: Vec<Doubt>,
) -> Result<BrowserLoads, Failure> {
    let mut recorders: Vec<LoadRecorder> = Vec::new();
    for event in receiver {
        let name = event["event"].as_str().unwrap_or_default();
        if name == "begin" {
            recorders.push(LoadRecorder::default());
        } else if let Some(load) = event["load"].as_u64() {
            let recorder = recorders.get_mut(load as usize);
            recorder
                .ok_or_else(|| Failure::new(format!("peer {PEER} reports on load {load} before it began")))?
                .hear(name, event, playback);
        }
    }
    let (mut loads, mut failed) = (Vec::new(), Vec::new());
    for recorder in recorders {
        match recorder.load(playback.urls().len()) {
            Ok(load) => loads.push(load),
            Err(failure) => failed.push(failure.reason),
        }
    }
    if loads.is_empty() {
        let why = failed.into_iter().next();
        return Err(Failure::new(
            why.unwrap_or_else(|| format!("peer {PEER} reports no load")),
        ));
    }
    Ok(BrowserLoads {
        browser: receiver
            .first()
            .and_then(|hello| hello["version"].as_str())
            .unwrap_or_default()
            .to_owned(),
        loads,
        failed,
        log,
        doubts,
    })
}

/// What was reported on one load so far; times are the browser's, in seconds.
#[derive(Default)]
struct LoadRecorder {
    requests: Vec<RequestRecorder>,
    /// The last request of each of the browser's ids: a redirect continues under the same one.
    current: BTreeMap<String, usize>,
    dom_content_loaded: Option<f64>,
    loaded: Option<f64>,
    /// Why it was given up.
    given_up: Option<String>,
}

struct RequestRecorder {
    request: BrowserRequest,
    requested: f64,
    sent: Option<f64>,
    head: Option<f64>,
    ended: Option<f64>,
}

impl LoadRecorder {
    fn hear(&mut self, name: &str, event: &Value, playback: &Playback) {
        let time = event["time"].as_f64();
        match name {
            "request" => self.requested(event, playback),
            "dom-content-loaded" => self.dom_content_loaded = time,
            "loaded" => self.loaded = time,
            "complete" => {
                let why = event["why"].as_str().filter(|why| ["stalled", "timeout"].contains(why));
                self.given_up = why.map(str::to_owned);
            }
            "response" | "finished" | "failed" => {
                let id = event["id"].as_str().unwrap_or_default();
                if let Some(index) = self.current.get(id) {
                    self.requests[*index].hear(name, event);
                }
            }
            _ => {}
        }
    }

    fn requested(&mut self, event: &Value, playback: &Playback) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (method, url) = (text(&event["method"]), text(&event["url"]));
        let request = BrowserRequest {
            item: playback.find(&method, &url).map(|(item, _)| item),
            method,
            url,
            kind: text(&event["kind"]),
            priority: text(&event["priority"]),
            initiator: text(&event["initiator"]["type"]),
            initiator_url: event["initiator"]["url"].as_str().map(str::to_owned),
            requested: Duration::ZERO,
            sent: None,
            head: None,
            ended: None,
            status: None,
            protocol: None,
            connection: None,
            bytes: 0,
            cached: false,
            error: None,
        };
        self.current.insert(text(&event["id"]), self.requests.len());
        self.requests.push(RequestRecorder {
            request,
            requested: event["time"].as_f64().unwrap_or_default(),
            sent: None,
            head: None,
            ended: None,
        });
    }

    fn load(self, items: usize) -> Result<BrowserLoad, Failure> {
        let first = self.requests.first();
        let begin = first
            .map(|first| first.requested)
            .ok_or_else(|| Failure::new("Chromium requested nothing"))?;
        let since = |time: f64| Duration::try_from_secs_f64(time - begin).unwrap_or_default();
        let requests: Vec<BrowserRequest> = self
            .requests
            .into_iter()
            .map(|recorder| BrowserRequest {
                requested: since(recorder.requested),
                sent: recorder.sent.map(since),
                head: recorder.head.map(since),
                ended: recorder.ended.map(since),
                ..recorder.request
            })
            .collect();
        if let Some(why) = self.given_up {
            return Err(Failure::new(format!(
                "the load was given up ({why}): {}",
                open_requests(&requests)
            )));
        }
        let is_complete = |request: &&BrowserRequest| request.item.is_some() && request.error.is_none();
        let ends = requests.iter().filter(is_complete).filter_map(|request| request.ended);
        let page_time = ends.max().ok_or_else(|| {
            let error = requests.iter().find_map(|request| request.error.as_deref());
            Failure::new(format!(
                "Chromium got no response of the recording: {}",
                error.unwrap_or("no request ended")
            ))
        })?;
        let requested = |item: &usize| requests.iter().any(|request| request.item == Some(*item));
        Ok(BrowserLoad {
            page_time,
            dom_content_loaded: self.dom_content_loaded.map(since),
            loaded: self.loaded.map(since),
            not_requested: (0..items).filter(|item| !requested(item)).collect(),
            requests,
        })
    }
}

/// The number of requests that have not ended, and the first of them.
fn open_requests(requests: &[BrowserRequest]) -> String {
    let open: Vec<&BrowserRequest> = requests.iter().filter(|request| request.ended.is_none()).collect();
    match open.first() {
        None => "no request was open".to_owned(),
        Some(first) => {
            let step = match (first.sent, first.head) {
                (_, Some(_)) => "had the head of its response",
                (Some(_), None) => "was sent",
                (None, None) => "was not answered",
            };
            format!(
                "{} requests were open, of which the first {step} ({})",
                open.len(),
                first.url
            )
        }
    }
}

impl RequestRecorder {
    fn hear(&mut self, name: &str, event: &Value) {
        let time = |field: &str| event[field].as_f64();
        let request = &mut self.request;
        match name {
            "response" => {
                request.status = event["status"].as_u64().and_then(|status| u16::try_from(status).ok());
                request.protocol = event["protocol"].as_str().map(str::to_owned);
                request.connection = event["connection"].as_f64().map(|number| number as u64);
                request.cached = event["cached"].as_bool().unwrap_or_default();
                self.sent = time("sent");
                self.head = time("head");
            }
            "finished" => {
                request.bytes = event["bytes"].as_f64().unwrap_or_default() as u64;
                self.ended = time("time");
            }
            _ => {
                request.error = Some(event["error"].as_str().unwrap_or("failed").to_owned());
                self.ended = time("time");
            }
        }
    }
}

#[cfg(test)]
mod tests;
