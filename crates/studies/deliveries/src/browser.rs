//! The deliveries `browser/1.1` and `browser/2`: a browser loads a web page from its servers, over HTTP/1.1 or HTTP/2 and as recorded with
//! or without TLS. In the simulated world it is our own, in the emulated one Chromium.

use crate::capture_name;
use crate::over_link::{link, workload};
use lastmile_codec::content::CodecSpec;
use lastmile_link::LinkSpec;
use lastmile_page::playback::compressed_uniformly;
use lastmile_page::replay::{ReplayContext, replay};
use lastmile_page::scripted_response::EncodedResponse;
use lastmile_page::{LoadOptions, Page};
use lastmile_study::cell::Cell;
use lastmile_study::delivery::{Delivery, Refusal};
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::runner::RunContext;
use lastmile_study::settings::{Codec, Settings, group};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::http::Version;
use lastmile_testbed::settings::World;
use lastmile_traffic::responses::Traffic;
use lastmile_workload::WorkloadSpec;
use lastmile_workload::web_pages::Page as WebPage;
use std::time::Duration;

/// A browser that speaks one version of HTTP.
pub(crate) struct Browser(pub(crate) Version);

/// The settings that a page load has.
const SETTINGS: &[&[&str]] = &[
    group::WORLD,
    group::CODING,
    &["link", "delivery", "cpu_slowdown", "cpu_slowdown_client"],
];

/// About the CPU time of a simulated load: our own measurement.
const CPU_PER_LOAD: Duration = Duration::from_millis(30);

/// What a cell loads.
struct Plan {
    traffic: Traffic,
    page: Page,
    sent: Vec<EncodedResponse>,
    link: LinkSpec,
    /// How many times slower the browser computes.
    slow_client: f64,
    slow_server: f64,
}

impl Delivery for Browser {
    fn name(&self) -> &'static str {
        match self.0 {
            Version::Http11 => "browser/1.1",
            Version::H2 => "browser/2",
        }
    }

    fn carries(&self) -> &'static str {
        "web pages"
    }

    fn about(&self) -> &'static str {
        match self.0 {
            Version::Http11 => "A browser loads a web page over HTTP/1.1.",
            Version::H2 => "A browser loads a web page over HTTP/2.",
        }
    }

    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        page(settings)?.check().map_err(|error| error.to_string())?;
        link(settings)?;
        Ok(settings.check_keys(SETTINGS, "the load of a page")?)
    }

    fn check_world(&self, world: World) -> Result<(), String> {
        match world {
            World::Simulated => Ok(()),
            #[cfg(target_os = "linux")]
            World::Emulated => lastmile_page::chromium::is_installed()
                .map(drop)
                .map_err(|error| error.to_string()),
            #[cfg(not(target_os = "linux"))]
            World::Emulated => Err("the emulated world needs Linux; set world = \"sim\"".to_owned()),
        }
    }

    fn figures(&self, settings: &Settings) -> &'static [&'static Figure] {
        match settings.world() {
            World::Simulated => &[figure::PAGE_TIME, figure::LINK_BYTES],
            World::Emulated => &[figure::PAGE_TIME],
        }
    }

    fn runs_alone(&self, _: &Settings) -> bool {
        true
    }

    fn expected_time(&self, _: &Settings) -> Duration {
        CPU_PER_LOAD
    }

    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
        let plan = Plan::read(&cell.settings).map_err(Failure::from_error)?;
        match cell.world() {
            World::Simulated => self.simulated(&plan, cell, context),
            #[cfg(target_os = "linux")]
            World::Emulated => self.emulated(&plan, cell, context),
            #[cfg(not(target_os = "linux"))]
            World::Emulated => unreachable!("a plan for another world is refused"),
        }
    }
}

fn page(settings: &Settings) -> Result<&WebPage, Refusal> {
    match workload(settings)? {
        WorkloadSpec::Page(page) => Ok(page),
        _ => Err(Refusal::Workload),
    }
}

impl Plan {
    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let traffic = page(settings)?.traffic().map_err(|error| error.to_string())?;
        let page = Page::from_traffic(&traffic);
        let codec = settings.codec.map_or(Ok(CodecSpec::IDENTITY), Codec::content)?;
        let slow_server = settings.cpu_slowdown();
        Ok(Self {
            sent: compressed_uniformly(&page, &traffic, codec),
            page,
            traffic,
            link: link(settings)?,
            slow_client: settings.cpu_slowdown_client.unwrap_or(slow_server).get(),
            slow_server: slow_server.get(),
        })
    }
}

impl Browser {
    fn simulated(&self, plan: &Plan, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
        if context.captures.is_some() {
            return Err(Failure::new(
                "the load of a page is captured only in the emulated world".to_owned(),
            ));
        }
        let mut options = LoadOptions::beside_browser(Some(self.0), plan.page.has_https(), plan.slow_client);
        options.server.slow_down = plan.slow_server;
        let scene = ReplayContext {
            page: &plan.page,
            options: &options,
            costs: context.costs,
        };
        let load = |repeat| {
            let seed = context.seeds(cell, repeat).link;
            let load = replay(&scene, &plan.link, &plan.sent, seed).map_err(Failure::from_error)?;
            let mut observation = Observation::default();
            observation.sample(figure::PAGE_TIME, load.page_time.as_secs_f64());
            observation.sample(figure::LINK_BYTES, load.bytes_down.as_f64());
            observation.vary("start-phase");
            Ok(observation)
        };
        Ok(context.repeats.clone().map(load).collect())
    }

    #[cfg(target_os = "linux")]
    fn emulated(&self, plan: &Plan, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
        use lastmile_page::chromium::{self, BrowserOptions};
        use lastmile_page::playback::Playback;
        use std::num::NonZeroU64;
        use std::rc::Rc;
        let playback = Rc::new(Playback::new(&plan.page, &plan.traffic, &plan.sent));
        let count = context.repeats.end - context.repeats.start;
        let Some(repeats) = NonZeroU64::new(count) else {
            return Ok(Vec::new());
        };
        let options = BrowserOptions {
            protocol: Some(self.0),
            repeats,
            cpu_slowdown: plan.slow_client,
            ..BrowserOptions::default()
        };
        let name = capture_name::name(cell, &context.repeats);
        let capture = context.captures.map(|folder| (folder, &*name));
        let seed = context.seeds(cell, context.repeats.start).link;
        let loads =
            chromium::load_captured(&playback, &plan.link, &options, seed, capture).map_err(Failure::from_error)?;
        let observe = |load: &chromium::BrowserLoad| {
            if let Some(missing) = load.not_requested.first() {
                return Err(Failure::new(format!(
                    "Chromium did not ask for {} of {} resources (first: {})",
                    load.not_requested.len(),
                    playback.urls().len(),
                    playback.urls()[*missing]
                )));
            }
            let mut observation = Observation::default();
            observation.sample(figure::PAGE_TIME, load.page_time.as_secs_f64());
            observation.vary("start-phase");
            observation.doubts.extend(loads.doubts.iter().cloned());
            Ok(observation)
        };
        let failed = loads.failed.iter().map(|why| Err(Failure::new(why.clone())));
        Ok(loads.loads.iter().map(observe).chain(failed).collect())
    }
}
