//! Writes the simulated loads of an advice as HTTP Archives 1.2, so that other tools draw them.
//!
//! The format is the W3C draft's ("HTTP Archive (HAR) format", 2012). Times are of virtual time, whose start is the one of the simulated
//! servers' clocks. `receive` contains decompressing, of which HAR knows nothing; so a request ends where the simulation has it end.

use crate::record::waterfall::{SimulatedLoad, Waterfall};
use crate::record::{Advice, Protocol};
use lastmile_testbed::http::EPOCH;
use lastmile_traffic::responses::{Response, Traffic};
use lastmile_units::ByteCount;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use time::OffsetDateTime;

/// The name of a file, and its content.
pub type Archive = (String, String);

/// Two archives for each link: the page as it is, and as recommended. `traffic` is what the advice is about.
pub fn archives(advice: &Advice, traffic: &Traffic) -> Vec<Archive> {
    let responses: BTreeMap<u64, &Response> = traffic
        .responses
        .iter()
        .map(|response| (response.index as u64, response))
        .collect();
    let mut names = BTreeSet::new();
    let mut archives = Vec::new();
    for link in &advice.links {
        let Some(waterfall) = &link.waterfall else { continue };
        let name = unused_name(&file_name(&link.name), &mut names);
        for load in [&waterfall.today, &waterfall.recommended] {
            let writer = Writer {
                advice,
                waterfall,
                load,
                responses: &responses,
            };
            let title = format!("{} on {}, {} (simulated)", traffic.source, link.name, load.setting);
            archives.push((
                format!("{name}-{}.har", load.setting),
                writer.archive(&title).to_string(),
            ));
        }
    }
    archives
}

/// A name of up to 100 letters, digits and `.-_+`, for a file on any system.
fn file_name(link: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_+".contains(c);
    let chars = link.chars().map(|c| if is_plain(c) { c } else { '-' });
    chars.take(100).collect()
}

/// The name, with a number behind it where it is taken; file systems may not tell capitals apart.
fn unused_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (1..).map(|number| match number {
        1 => name.to_owned(),
        _ => format!("{name}-{number}"),
    });
    let mut unused = numbered.filter(|name| taken.insert(name.to_ascii_lowercase()));
    unused.next().expect("some number is not taken")
}

struct Writer<'a> {
    advice: &'a Advice,
    waterfall: &'a Waterfall,
    load: &'a SimulatedLoad,
    /// By their indices in the traffic's file.
    responses: &'a BTreeMap<u64, &'a Response>,
}

impl Writer<'_> {
    fn archive(&self, title: &str) -> Value {
        let mut order: Vec<usize> = (0..self.waterfall.entry.len()).collect();
        order.sort_by_key(|request| self.load.start_us.get(*request));
        let entries: Vec<Value> = order.into_iter().filter_map(|request| self.entry(request)).collect();
        json!({"log": {
            "version": "1.2",
            "creator": {"name": "lastmile", "version": self.advice.version},
            "pages": [{
                "id": PAGE,
                "title": title,
                "startedDateTime": instant(0),
                "pageTimings": {
                    "onContentLoad": self.load.dom_content_loaded_us.map_or(-1.0, milliseconds),
                    "onLoad": milliseconds(self.load.load_event_us.unwrap_or(self.load.page_time_us)),
                },
                "comment": "simulated; events are those of the last response that they wait for, without the time to run scripts",
            }],
            "entries": entries,
        }})
    }

    fn response(&self, request: usize) -> Option<&Response> {
        self.responses.get(self.waterfall.entry.get(request)?).copied()
    }

    fn entry(&self, request: usize) -> Option<Value> {
        let Self { waterfall, load, .. } = self;
        let response = self.response(request)?;
        let host = self.advice.options.hosts.get(*waterfall.host.get(request)? as usize)?;
        let version = match host.protocol {
            Protocol::Http11 => "HTTP/1.1",
            Protocol::H2 => "h2",
        };
        let phases = load.phases_us(request)?;
        let [blocked, connect, tls, send, wait, receive, decode] = phases;
        // In HAR, `connect` contains `ssl`, and -1 says that there was no such phase.
        let if_any = |us: u64, all: u64| if us > 0 { milliseconds(all) } else { -1.0 };
        let body = *load.body_bytes.get(request)?;
        let plain = *waterfall.identity_bytes.get(request)?;
        let coding = load.coding.get(request)?;
        let header = |name: &str, value: &str| json!({"name": name, "value": value});
        let mime_type = response.media_type.as_deref().unwrap_or_default();
        let mut headers = vec![header("content-type", mime_type)];
        if coding != "identity" {
            headers.push(header("content-encoding", coding));
        }
        let head = |bytes: Option<ByteCount>| bytes.map_or(-1, |bytes| bytes.get() as i64);
        let response_head = head(response.response_header_bytes);
        let mut entry = json!({
            "pageref": PAGE,
            "startedDateTime": instant(*load.start_us.get(request)?),
            "time": milliseconds(phases.iter().sum()),
            "request": {
                "method": response.method,
                "url": response.url,
                "httpVersion": version,
                "cookies": [],
                "headers": [],
                "queryString": [],
                "headersSize": head(response.request_header_bytes),
                "bodySize": 0,
            },
            "response": {
                "status": response.status,
                "statusText": "",
                "httpVersion": version,
                "cookies": [],
                "headers": headers,
                "content": {"size": plain, "compression": plain as i64 - body as i64, "mimeType": mime_type},
                "redirectURL": response.fields.get("location").map_or("", String::as_str),
                "headersSize": response_head,
                "bodySize": body,
                "_transferSize": response_head.max(0) as u64 + body,
            },
            "cache": {},
            "timings": {
                "blocked": milliseconds(blocked),
                "dns": -1,
                "connect": if_any(connect + tls, connect + tls),
                "ssl": if_any(tls, tls),
                "send": milliseconds(send),
                "wait": milliseconds(wait),
                "receive": milliseconds(receive + decode),
                "_decode": milliseconds(decode),
            },
            "connection": (load.connection.get(request)? + 1).to_string(),
            "_priority": waterfall.priority.get(request)?.name(),
            "_critical": load.critical_path.contains(&(request as u64)),
        });
        if let Some(initiator) = (*load.waited_for.get(request)?).and_then(|other| self.response(other as usize)) {
            entry["_initiator"] = json!({"type": "other", "url": initiator.url});
        }
        Some(entry)
    }
}

const PAGE: &str = "page_1";

/// A time of the load on the clock of the simulated servers.
fn instant(us: u64) -> String {
    let time = OffsetDateTime::UNIX_EPOCH + EPOCH + Duration::from_micros(us);
    let (hour, minute, second, microsecond) = time.to_hms_micro();
    format!("{}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}Z", time.date())
}

fn milliseconds(us: u64) -> f64 {
    us as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{advised, fixtures, options, small_page};
    use lastmile_traffic::responses::har;

    fn numbered_page() -> Traffic {
        let mut page = small_page();
        page.load_event = Some(Duration::from_secs(3600));
        for (index, response) in page.responses.iter_mut().enumerate() {
            response.index = index;
        }
        page
    }

    #[test]
    fn our_own_reader_finds_the_same_requests_at_the_same_times() {
        let mut traffic = numbered_page();
        traffic.responses[1].url = "https://a.example/app.js?\"</script>".to_owned();
        let advice = advised(&traffic, &options(&["wpt/3g"]));
        let archives = archives(&advice, &traffic);
        let names: Vec<&str> = archives.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["wpt-3g-today.har", "wpt-3g-recommended.har"]);
        let waterfall = advice.links[0].waterfall.as_ref().unwrap();
        for (load, (name, content)) in [&waterfall.today, &waterfall.recommended].into_iter().zip(&archives) {
            let read = har::read(content.as_bytes(), name).unwrap();
            // It counts from the first request.
            let since_first = |us: u64| Duration::from_micros(us - load.start_us[0]);
            assert_eq!(read.load_event, Some(since_first(load.load_event_us.unwrap())));
            assert!(load.load_event_us <= Some(load.page_time_us) && load.dom_content_loaded_us <= load.load_event_us);
            assert_eq!(read.responses.len(), 3);
            for (request, response) in read.responses.iter().enumerate() {
                let phases = load.phases_us(request).unwrap();
                let recorded = &traffic.responses[request];
                assert_eq!(response.url, recorded.url);
                assert_eq!(response.started, since_first(load.start_us[request]));
                assert_eq!(response.total, Some(Duration::from_micros(phases.iter().sum())));
                assert_eq!(response.wait, Some(Duration::from_micros(phases[4])));
                assert_eq!(response.transferred.map(ByteCount::get), Some(load.body_bytes[request]));
                assert_eq!(response.body.size(), recorded.body.size());
                assert_eq!(response.connection, Some((load.connection[request] + 1).to_string()));
                assert_eq!(response.content_encoding.as_deref(), Some(&*load.coding[request]));
            }
        }
    }

    #[test]
    fn the_timings_of_an_entry_add_up_and_no_handshake_is_minus_one() {
        let traffic = numbered_page();
        let advice = advised(&traffic, &options(&["wpt/cable"]));
        let (_, content) = &archives(&advice, &traffic)[0];
        let archive: Value = serde_json::from_str(content).unwrap();
        let entries = archive["log"]["entries"].as_array().unwrap();
        for entry in entries {
            let timing = |name: &str| entry["timings"][name].as_f64().unwrap().max(0.0);
            let sum: f64 = ["blocked", "connect", "send", "wait", "receive"]
                .map(timing)
                .iter()
                .sum();
            assert!((sum - entry["time"].as_f64().unwrap()).abs() < 1e-6, "{entry}");
        }
        assert!(entries[0]["timings"]["ssl"].as_f64().unwrap() > 0.0);
        assert_eq!(entries[1]["timings"]["connect"], -1.0);
    }

    #[test]
    fn links_have_files_of_their_own_with_plain_names() {
        let mut advice = fixtures::advice();
        for (link, name) in advice.links.iter_mut().zip(["../wpt/3g<1%", "..-wpt-3G-1-"]) {
            link.name = name.to_owned();
        }
        let archives = archives(&advice, &small_page());
        let names: Vec<&str> = archives.iter().map(|(name, _)| &**name).collect();
        let first = ["..-wpt-3g-1--today.har", "..-wpt-3g-1--recommended.har"];
        let second = ["..-wpt-3G-1--2-today.har", "..-wpt-3G-1--2-recommended.har"];
        assert_eq!(names, [first, second].concat());
    }
}
