//! What Chromium reports of a page's network, as a HAR file (HTTP Archive 1.2).

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use time::{Duration, OffsetDateTime};

const PAGE: &str = "page_1";
/// Fields whose values are secrets.
const SECRET: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "set-cookie"];

/// The traffic of a page.
#[derive(Default)]
pub struct Archive {
    url: String,
    /// In the order of their requests.
    exchanges: Vec<Exchange>,
    /// The exchange that a request's events belong to, while it is open.
    open: BTreeMap<String, usize>,
    /// The exchange that each expected body belongs to, by the number of its answer.
    bodies: BTreeMap<u64, usize>,
    /// On Chromium's clock: the first request, DOMContentLoaded, load.
    began: Option<f64>,
    content_loaded: Option<f64>,
    loaded: Option<f64>,
    failed: u64,
    /// Responses to requests that Chromium did not report.
    missed: u64,
    failure: Option<String>,
}

/// A request and its response, as Chromium reports them.
#[derive(Default)]
struct Exchange {
    /// The request, and when it was made: on the clock of the day, and on Chromium's.
    request: Value,
    wall_time: f64,
    time: f64,
    initiator: Value,
    kind: Value,
    response: Value,
    ended: Option<f64>,
    bytes: f64,
    body: Option<(String, bool)>,
    has_failed: bool,
}

pub struct Counts {
    pub entries: u64,
    pub bytes: u64,
    pub without_body: u64,
    pub failed: u64,
}

impl Archive {
    pub(super) fn new(url: &str) -> Self {
        let url = url.to_owned();
        Self { url, ..Self::default() }
    }

    /// Takes an event, and returns the request whose body is there now. `is_page` tells the page from its frames.
    pub(super) fn hear(&mut self, method: &str, params: &Value, is_page: bool) -> Option<String> {
        let id = params["requestId"].as_str().unwrap_or_default().to_owned();
        let time = params["timestamp"].as_f64();
        match method {
            "Network.requestWillBeSent" => self.request(id, params),
            "Network.responseReceived" => {
                let is_fetched = params["response"]["url"]
                    .as_str()
                    .is_some_and(|url| url.starts_with("http"));
                match self.open.get(&id) {
                    Some(at) => self.exchanges[*at].response = params["response"].clone(),
                    None => self.missed += u64::from(is_fetched),
                }
            }
            "Network.loadingFinished" => {
                let exchange = &mut self.exchanges[*self.open.get(&id)?];
                exchange.ended = time;
                exchange.bytes = params["encodedDataLength"].as_f64().unwrap_or_default();
                return Some(id);
            }
            "Network.loadingFailed" => {
                if let Some(at) = self.open.remove(&id) {
                    self.exchanges[at].has_failed = true;
                    self.failed += 1;
                    if at == 0 {
                        self.failure = params["errorText"].as_str().map(str::to_owned);
                    }
                }
            }
            "Page.domContentEventFired" if is_page => self.content_loaded = self.content_loaded.or(time),
            "Page.loadEventFired" if is_page && self.began.is_some() => self.loaded = self.loaded.or(time),
            _ => {}
        }
        None
    }

    fn request(&mut self, id: String, params: &Value) {
        let is_fetched = params["request"]["url"]
            .as_str()
            .is_some_and(|url| url.starts_with("http"));
        if !is_fetched {
            return;
        }
        if let (Some(at), redirect @ Value::Object(_)) = (self.open.remove(&id), &params["redirectResponse"]) {
            let exchange = &mut self.exchanges[at];
            exchange.response = redirect.clone();
            exchange.ended = params["timestamp"].as_f64();
            exchange.bytes = redirect["encodedDataLength"].as_f64().unwrap_or_default();
            exchange.body = Some((String::new(), false));
        }
        let time = params["timestamp"].as_f64().unwrap_or_default();
        self.began = self.began.or(Some(time));
        self.open.insert(id, self.exchanges.len());
        self.exchanges.push(Exchange {
            request: params["request"].clone(),
            wall_time: params["wallTime"].as_f64().unwrap_or_default(),
            time,
            initiator: params["initiator"].clone(),
            kind: params["type"].clone(),
            ..Exchange::default()
        });
    }

    pub(super) fn expect_body(&mut self, answer: u64, request: &str) {
        if let Some(at) = self.open.get(request) {
            self.bodies.insert(answer, *at);
        }
    }

    /// Takes an answer, which may be a body. A request is open until its body is there, or refused.
    pub(super) fn take_body(&mut self, answer: u64, result: &Value) {
        let Some(at) = self.bodies.remove(&answer) else { return };
        self.open.retain(|_, open| *open != at);
        if let Some(body) = result["body"].as_str() {
            self.exchanges[at].body = Some((body.to_owned(), result["base64Encoded"] == true));
        }
    }

    pub(super) fn fail(&mut self, why: &str) {
        self.failure = Some(why.to_owned());
    }

    /// Why the page itself did not load.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// How many responses came to requests that were not seen.
    pub(super) fn missed(&self) -> u64 {
        self.missed
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.loaded.is_some()
    }

    pub fn open_requests(&self) -> usize {
        self.open.len()
    }

    /// The status of the page itself, after redirections.
    pub fn page_status(&self) -> Option<u64> {
        let statuses = self.whole().filter_map(|exchange| exchange.response["status"].as_u64());
        statuses.into_iter().find(|status| !(300..400).contains(status))
    }

    /// From the first request to the load event, in seconds.
    pub fn load_time(&self) -> Option<f64> {
        Some(self.loaded? - self.began?)
    }

    /// Those with a response that came to its end.
    fn whole(&self) -> impl Iterator<Item = &Exchange> {
        let is_whole =
            |exchange: &&Exchange| exchange.ended.is_some() && exchange.response.is_object() && !exchange.has_failed;
        self.exchanges.iter().filter(is_whole)
    }

    pub fn counts(&self) -> Counts {
        Counts {
            entries: self.whole().count() as u64,
            bytes: self.whole().map(|exchange| exchange.bytes as u64).sum(),
            without_body: self.whole().filter(|exchange| exchange.body.is_none()).count() as u64,
            failed: self.failed,
        }
    }

    pub fn to_har(&self) -> Value {
        let since = |time: Option<f64>| match (time, self.began) {
            (Some(time), Some(began)) => json!((time - began) * 1e3),
            _ => json!(-1),
        };
        let began = self.exchanges.first().map_or(0.0, |first| first.wall_time);
        json!({"log": {
            "version": "1.2",
            "creator": {"name": "lastmile", "version": env!("CARGO_PKG_VERSION")},
            "pages": [{
                "id": PAGE,
                "title": self.url,
                "startedDateTime": instant(began),
                "pageTimings": {"onContentLoad": since(self.content_loaded), "onLoad": since(self.loaded)},
            }],
            "entries": self.whole().map(Exchange::entry).collect::<Vec<_>>(),
        }})
    }
}

impl Exchange {
    fn entry(&self) -> Value {
        let Self { request, response, .. } = self;
        let version = match response["protocol"].as_str().unwrap_or_default() {
            "http/1.0" => "HTTP/1.0",
            "http/1.1" => "HTTP/1.1",
            "h2" => "h2",
            other => other,
        };
        let timings = self.timings();
        let time: f64 = ["blocked", "dns", "connect", "send", "wait", "receive"]
            .iter()
            .map(|name| timings[*name].as_f64().unwrap_or_default().max(0.0))
            .sum();
        let head = response["encodedDataLength"]
            .as_f64()
            .unwrap_or_default()
            .min(self.bytes);
        let mut content = json!({"size": 0, "mimeType": response["mimeType"]});
        if let Some((body, is_base64)) = &self.body {
            // Of four characters of base64, with padding, are three bytes.
            let padding = body.bytes().rev().take_while(|byte| *byte == b'=').count();
            content["size"] = if *is_base64 {
                (body.len() / 4 * 3).saturating_sub(padding)
            } else {
                body.len()
            }
            .into();
            content["text"] = body.as_str().into();
            if *is_base64 {
                content["encoding"] = "base64".into();
            }
        }
        let mut entry = json!({
            "pageref": PAGE,
            "startedDateTime": instant(self.wall_time),
            "time": time,
            "request": {
                "method": request["method"],
                "url": request["url"],
                "httpVersion": version,
                "cookies": [],
                "headers": headers(&request["headers"]),
                "queryString": [],
                "headersSize": -1,
                "bodySize": request["postData"].as_str().map_or(0, str::len),
            },
            "response": {
                "status": response["status"],
                "statusText": response["statusText"],
                "httpVersion": version,
                "cookies": [],
                "headers": headers(&response["headers"]),
                "content": content,
                "redirectURL": header(&response["headers"], "location"),
                "headersSize": head,
                "bodySize": self.bytes - head,
                "_transferSize": self.bytes,
            },
            "cache": {},
            "timings": timings,
            "serverIPAddress": response["remoteIPAddress"].as_str().unwrap_or_default().trim_matches(['[', ']']),
            "connection": response["connectionId"].to_string(),
            "_initiator": self.initiator,
            "_priority": request["initialPriority"],
            "_resourceType": self.kind.as_str().unwrap_or_default().to_lowercase(),
        });
        if response["fromDiskCache"] == true || response["fromPrefetchCache"] == true {
            entry["_fromCache"] = "disk".into();
        }
        entry
    }

    /// In milliseconds; -1 where there was no such phase.
    fn timings(&self) -> Value {
        let timing = &self.response["timing"];
        let ended = self.ended.unwrap_or(self.time);
        let Some(began) = timing["requestTime"].as_f64() else {
            return json!({"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 0, "receive": (ended - self.time).max(0.0) * 1e3});
        };
        let at = |name: &str| timing[name].as_f64().filter(|at| *at >= 0.0);
        let phase = |start: &str, end: &str| match (at(start), at(end)) {
            (Some(start), Some(end)) => end - start,
            _ => -1.0,
        };
        let first = ["dnsStart", "connectStart", "sendStart"]
            .iter()
            .find_map(|name| at(name))
            .unwrap_or_default();
        let head = at("receiveHeadersEnd").unwrap_or_default();
        json!({
            "blocked": ((began - self.time) * 1e3 + first).max(0.0),
            "dns": phase("dnsStart", "dnsEnd"),
            "connect": phase("connectStart", "connectEnd"),
            "ssl": phase("sslStart", "sslEnd"),
            "send": phase("sendStart", "sendEnd").max(0.0),
            "wait": (head - at("sendEnd").unwrap_or(head)).max(0.0),
            "receive": ((ended - began) * 1e3 - head).max(0.0),
        })
    }
}

/// Fields by name; values of secrets are removed, and a value of several lines is several fields.
fn headers(fields: &Value) -> Vec<Value> {
    let none = Map::new();
    let fields = fields.as_object().unwrap_or(&none);
    let lines = fields.iter().flat_map(|(name, value)| {
        let value = value.as_str().unwrap_or_default();
        let is_secret = SECRET.contains(&name.to_ascii_lowercase().as_str());
        value
            .split('\n')
            .map(move |line| json!({"name": name, "value": if is_secret { "removed" } else { line }}))
    });
    lines.collect()
}

fn header(fields: &Value, name: &str) -> String {
    let fields = fields.as_object().into_iter().flatten();
    let mut found = fields.filter(|(known, _)| known.eq_ignore_ascii_case(name));
    found
        .next()
        .and_then(|(_, value)| value.as_str())
        .unwrap_or_default()
        .to_owned()
}

fn instant(seconds: f64) -> String {
    let time = OffsetDateTime::UNIX_EPOCH + Duration::seconds_f64(seconds);
    let (hour, minute, second, microsecond) = time.to_hms_micro();
    format!("{}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}Z", time.date())
}
