//! Loads the page in Chromium over each link, beside simulated loads under the same conditions, to show whether the simulation holds here.
//!
//! The settings are those that an answer is about: as recorded, none, `gzip:6`, and the recommended ones. Chromium and the servers compute
//! at this machine's speed, so these simulated loads have a client and servers that are neither slower than the cost table's machine nor
//! busy; those of the answer have the options that the user chose.

use super::link_measurement::LinkMeasurement;
use super::{AdviseError, Phase, PreparedReplay, Progress};
use crate::record;
use lastmile_codec::content::CodecSpec;
use lastmile_page::LoadOptions;
use lastmile_page::chromium::{self, BrowserLoads, BrowserOptions};
use lastmile_page::playback::Playback;
use lastmile_page::replay::{PageLoad, ReplayContext, replay};
use lastmile_page::request_timing::requests_at_the_same_time;
use lastmile_page::scripted_response::EncodedResponse;
use lastmile_report::paired_statistics::{Figures, Runs};
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_statistics::interval::interval_95;
use lastmile_statistics::mean;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// The comparison of each link.
pub(super) fn load_all(
    prepared: &PreparedReplay<'_>,
    measured: &[LinkMeasurement],
    options: &BrowserOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<record::BrowserComparison>, AdviseError> {
    let total = measured.iter().map(|link| prepared.compared(link).len()).sum();
    let mut done = 0;
    let mut comparisons = Vec::new();
    for (index, link) in measured.iter().enumerate() {
        let mut comparison = record::BrowserComparison {
            browser: String::new(),
            outcomes: Vec::new(),
            doubts: Vec::new(),
        };
        for (setting, deliveries) in prepared.compared(link) {
            if prepared.options.interrupt.load(Ordering::Relaxed) {
                return Err(AdviseError::Interrupted);
            }
            prepared.compare(index, &setting, &deliveries, options, &mut comparison)?;
            done += 1;
            progress(Progress {
                phase: Phase::LoadingInChromium,
                done,
                total,
            });
        }
        comparisons.push(comparison);
    }
    Ok(comparisons)
}

impl PreparedReplay<'_> {
    /// The settings to compare on a link, with their deliveries; one that sends what another does is left out.
    fn compared(&self, link: &LinkMeasurement) -> Vec<(String, Vec<EncodedResponse>)> {
        let gzip: CodecSpec = "gzip:6".parse().expect("it is a codec");
        let mixes = [
            ("recommended", Some(link.recommended().0.clone())),
            ("today", self.as_recorded()),
            ("gzip:6", Some(self.uniform(gzip))),
            ("identity", Some(self.uniform(CodecSpec::IDENTITY))),
        ];
        let mut compared: Vec<(String, Vec<EncodedResponse>)> = Vec::new();
        for (name, mix) in mixes {
            let Some(mix) = mix else { continue };
            let deliveries = self.deliveries(&mix);
            if !compared.iter().any(|(_, known)| *known == deliveries) {
                compared.push((name.to_owned(), deliveries));
            }
        }
        compared
    }

    fn compare(
        &self,
        index: usize,
        setting: &str,
        deliveries: &[EncodedResponse],
        options: &BrowserOptions,
        comparison: &mut record::BrowserComparison,
    ) -> Result<(), AdviseError> {
        let (name, link) = &self.options.links[index];
        let failed = |why: String| AdviseError::Browser {
            link: name.clone(),
            setting: setting.to_owned(),
            why,
        };
        let playback = Rc::new(Playback::new(&self.page, self.traffic, deliveries));
        let seed = self.options.root().derive("browser");
        let loads = chromium::load(&playback, link, options, seed).map_err(|error| failed(error.to_string()))?;
        let mut conditions = LoadOptions::beside_browser(options.protocol, self.page.has_https(), options.cpu_slowdown);
        conditions.server.cores = self.options.load.server.cores;
        let scene = ReplayContext {
            page: &self.page,
            options: &conditions,
            costs: self.costs,
        };
        let simulated: Result<Vec<PageLoad>, _> = (0..options.repeats.get())
            .map(|repeat| {
                let seed = self.options.root().derive_index(repeat);
                replay(&scene, link, deliveries, seed)
            })
            .collect();
        let simulated_loads = simulated.map_err(|error| failed(error.to_string()))?;
        let simulated: Runs = simulated_loads
            .iter()
            .map(|load| vec![load.page_time.as_secs_f64()])
            .collect();
        let [same, compared] = simulated_loads
            .iter()
            .zip(&loads.loads)
            .fold([0, 0], |sum, (one, other)| {
                let of_load = requests_at_the_same_time(&one.requests, other, 0.1);
                [sum[0] + of_load[0], sum[1] + of_load[1]]
            });
        let figures = |varied: &str| Figures {
            varied: vec![varied.to_owned()],
            seed: self.options.root().derive("intervals"),
        };
        let emulated: Runs = page_times(&loads);
        let ratios: Vec<f64> = simulated
            .concat()
            .iter()
            .zip(emulated.concat())
            .map(|(simulated, emulated)| simulated / emulated)
            .collect();
        comparison.browser.clone_from(&loads.browser);
        comparison.outcomes.push(record::BrowserOutcome {
            setting: setting.to_owned(),
            simulated: figures("random choices").figure("s", "page", &simulated),
            emulated: figures("machine").figure("s", "page", &emulated),
            ratio: mean(&ratios).unwrap_or_default(),
            ratio_ci95: interval_95(&ratios, self.options.root().derive("intervals")),
            requests_within_10_percent: (compared > 0).then(|| same as f64 / compared as f64),
        });
        for doubt in doubts(&loads, &playback, setting) {
            if !comparison.doubts.contains(&doubt) {
                comparison.doubts.push(doubt);
            }
        }
        Ok(())
    }
}

fn page_times(loads: &BrowserLoads) -> Runs {
    let times = loads.loads.iter().map(|load| load.page_time.as_secs_f64());
    times.map(|time| vec![time]).collect()
}

/// What makes the loads of one setting suspect.
fn doubts(loads: &BrowserLoads, playback: &Playback, setting: &str) -> Vec<Doubt> {
    let mut doubts = loads.doubts.clone();
    if let Some(why) = loads.failed.first() {
        let failed = loads.failed.len();
        let text = format!(
            "{failed} of {} loads of {setting} in Chromium failed, and are left out: {why}",
            failed + loads.loads.len()
        );
        doubts.push(Doubt::new(DoubtKind::FailedRuns, text));
    }
    let mut differences = Vec::new();
    let missing = loads
        .loads
        .iter()
        .flat_map(|load| &load.not_requested)
        .collect::<std::collections::BTreeSet<_>>();
    if let Some(first) = missing.first() {
        differences.push(format!(
            "does not request {} of the recorded responses (first: {})",
            missing.len(),
            shortened(&playback.urls()[**first])
        ));
    }
    let unknown: std::collections::BTreeSet<&String> = loads.log.not_recorded.iter().collect();
    if let Some(first) = unknown.first() {
        differences.push(format!(
            "requests {} URLs that were not recorded (first: {})",
            unknown.len(),
            shortened(first)
        ));
    }
    if let Some(first) = loads.cut_short().first() {
        differences.push(format!(
            "does not read {} responses to their end, since they are not what they should be (first: {})",
            loads.cut_short().len(),
            shortened(&playback.urls()[*first])
        ));
    }
    if !differences.is_empty() {
        let text = format!(
            "Chromium loads another page than the simulation: it {}",
            differences.join(", and ")
        );
        doubts.push(Doubt::new(DoubtKind::OtherRequests, text));
    }
    doubts
}

fn shortened(url: &str) -> String {
    url.chars().take(120).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use lastmile_page::Page;
    use lastmile_page::chromium::BrowserLoad;
    use lastmile_page::playback::compressed_uniformly;
    use lastmile_page::testing::{response, text, traffic};
    use lastmile_traffic::responses::{Body, Origin};
    use std::time::Duration;

    fn playback() -> Playback {
        let body = Body::Present(text(1_000));
        let traffic = traffic(vec![response("/", "text/html", Origin::Static, body)]);
        let page = Page::from_traffic(&traffic);
        Playback::new(
            &page,
            &traffic,
            &compressed_uniformly(&page, &traffic, CodecSpec::IDENTITY),
        )
    }

    fn loads(playback: &Playback) -> BrowserLoads {
        let load = BrowserLoad {
            page_time: Duration::from_secs(2),
            dom_content_loaded: None,
            loaded: None,
            requests: Vec::new(),
            not_requested: Vec::new(),
        };
        BrowserLoads {
            browser: "Chromium 1".to_owned(),
            loads: vec![load],
            failed: Vec::new(),
            log: playback.log(),
            doubts: Vec::new(),
        }
    }

    /// The doubts of loads that lack a recorded response, and have another.
    pub(crate) fn doubts_of_another_page() -> Vec<Doubt> {
        let playback = playback();
        let mut other = loads(&playback);
        other.loads[0].not_requested = vec![0];
        other.log.not_recorded = vec!["https://a.example/favicon.ico".to_owned(); 2];
        doubts(&other, &playback, "identity")
    }

    #[test]
    fn a_browser_that_loads_another_page_raises_a_doubt() {
        let playback = playback();
        let same = loads(&playback);
        assert_eq!(doubts(&same, &playback, "identity"), []);
        let [doubt] = &doubts_of_another_page()[..] else {
            panic!("one doubt");
        };
        assert_eq!(doubt.kind, DoubtKind::OtherRequests);
        let expected = "Chromium loads another page than the simulation: it does not request 1 of the recorded responses (first: \
            https://a.example/), and requests 1 URLs that were not recorded (first: https://a.example/favicon.ico)";
        assert_eq!(doubt.text, expected);
        let mut stuck = same;
        stuck.failed = vec!["the load was given up".to_owned()];
        assert_eq!(doubts(&stuck, &playback, "identity")[0].kind, DoubtKind::FailedRuns);
    }
}
