//! Loads a recorded page in Chromium in the emulated world and in simulation, and prints both loads as lines of JSON.
//!
//! ```text
//! cargo run -p lastmile-page --example load_in_chromium -- PAGE LINK CODEC h1|h2|recorded REPEATS [CAPTURE-FOLDER]
//! ```
//!
//! PAGE is a recording, or the name of a shape of generated page: `head-scripts`.
//!
//! Every text body is compressed by CODEC (`identity`, `gzip:6`). Times are in seconds since the first request. The simulated client and
//! servers compute at the speed of the reference cost table's machine, since Chromium is not slowed down either.

use lastmile_testbed::http::Version;
use std::error::Error;

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("Chromium is loaded in the emulated world, which needs Linux");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, link, codec, protocol, repeats, rest @ ..] = arguments.as_slice() else {
        return Err("give PAGE.har LINK CODEC h1|h2|recorded REPEATS [CAPTURE-FOLDER]".into());
    };
    lastmile_world::emu::acquire()?;
    let protocol = match protocol.as_str() {
        "h1" => Some(Version::Http11),
        "h2" => Some(Version::H2),
        "recorded" => None,
        other => return Err(format!("the protocol {other:?} is neither h1, h2 nor recorded").into()),
    };
    linux::compare(
        file,
        link,
        codec.parse()?,
        protocol,
        repeats.parse()?,
        rest.first().map(std::path::Path::new),
    )
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Error, Version};
    use lastmile_codec::content::CodecSpec;
    use lastmile_page::chromium::{self, BrowserLoad, BrowserOptions, BrowserRequest};
    use lastmile_page::playback::{Playback, compressed_uniformly};
    use lastmile_page::replay::{PageLoad, ReplayContext, replay};
    use lastmile_page::request_timing::RequestTiming;
    use lastmile_page::{LoadOptions, Page};
    use lastmile_testbed::cpu_cost_model::{Choice, CostTable};
    use lastmile_traffic::responses::Traffic;
    use lastmile_units::Seed;
    use serde_json::{Value, json};
    use std::num::NonZeroU64;
    use std::path::Path;
    use std::rc::Rc;
    use std::time::Duration;

    pub(super) fn compare(
        file: &str,
        link: &str,
        codec: CodecSpec,
        protocol: Option<Version>,
        repeats: NonZeroU64,
        captures: Option<&Path>,
    ) -> Result<(), Box<dyn Error>> {
        let traffic = match lastmile_workload::web_pages::find(file) {
            Some(shape) => shape.traffic(),
            None => Traffic::open(file)?,
        };
        let page = Page::from_traffic(&traffic);
        let link = lastmile_link::resolve(link)?;
        let deliveries = compressed_uniformly(&page, &traffic, codec);
        let playback = Rc::new(Playback::new(&page, &traffic, &deliveries));
        let browser = BrowserOptions {
            protocol,
            repeats,
            ..BrowserOptions::default()
        };
        let capture = captures.map(|folder| (folder, "load"));
        let loads = chromium::load_captured(&playback, &link, &browser, Seed::new(1), capture)?;
        for (repeat, load) in loads.loads.iter().enumerate() {
            println!("{}", emulated(repeat, load, &playback));
        }
        let doubts: Vec<&str> = loads.doubts.iter().map(|doubt| &*doubt.text).collect();
        println!(
            "{}",
            json!({
                "world": "emu",
                "browser": loads.browser,
                "failed": loads.failed,
                "valid": doubts.is_empty(),
                "doubts": doubts,
                "requests_with_another_query": loads.log.other_query,
                "not_recorded": loads.log.not_recorded,
                "cut_short": loads.cut_short().iter().map(|item| &*playback.urls()[*item]).collect::<Vec<_>>(),
            })
        );
        let options = LoadOptions::beside_browser(protocol, page.has_https(), 1.0);
        let costs = CostTable::load(&Choice::Reference)?;
        let scene = ReplayContext {
            page: &page,
            options: &options,
            costs: &costs,
        };
        for repeat in 0..repeats.get() {
            let load = replay(&scene, &link, &deliveries, Seed::new(1).derive_index(repeat))?;
            println!("{}", simulated(repeat, &load, &playback));
        }
        Ok(())
    }

    fn seconds(time: Option<Duration>) -> Value {
        time.map_or(Value::Null, |time| json!(time.as_secs_f64()))
    }

    fn emulated(repeat: usize, load: &BrowserLoad, playback: &Playback) -> Value {
        let request = |request: &BrowserRequest| {
            json!({
                "item": request.item,
                "url": request.url,
                "start_s": request.requested.as_secs_f64(),
                "sent_s": seconds(request.sent),
                "head_s": seconds(request.head),
                "end_s": seconds(request.ended),
                "status": request.status,
                "bytes": request.bytes,
                "kind": request.kind,
                "priority": request.priority,
                "initiator": request.initiator,
                "initiator_url": request.initiator_url,
                "protocol": request.protocol,
                "connection": request.connection,
                "cached": request.cached,
                "error": request.error,
            })
        };
        json!({
            "world": "emu",
            "repeat": repeat,
            "page_time_s": load.page_time.as_secs_f64(),
            "dom_content_loaded_s": seconds(load.dom_content_loaded),
            "loaded_s": seconds(load.loaded),
            "not_requested": load.not_requested.iter().map(|item| &*playback.urls()[*item]).collect::<Vec<_>>(),
            "resources": load.requests.iter().map(request).collect::<Vec<_>>(),
        })
    }

    fn simulated(repeat: u64, load: &PageLoad, playback: &Playback) -> Value {
        let resource = |(item, request): (usize, &RequestTiming)| {
            json!({
                "item": item,
                "url": playback.urls()[item],
                "sent_s": request.connected.as_secs_f64(),
                "end_s": request.decoded.as_secs_f64(),
            })
        };
        json!({
            "world": "sim",
            "repeat": repeat,
            "page_time_s": load.page_time.as_secs_f64(),
            "bytes_down": load.bytes_down.get(),
            "resources": load.requests.iter().enumerate().map(resource).collect::<Vec<_>>(),
        })
    }
}
