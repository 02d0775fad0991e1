//! Recommends a compression for given traffic on given links, by replaying it under every setting worth trying.
//!
//! [`advise`] makes the published record from traffic that has been read. Its steps:
//!
//! | step | file |
//! | --- | --- |
//! | whether the traffic and the options can have an answer | `checks` |
//! | the size of each body under each setting | `compressed_sizes`, over `response_classes` |
//! | the settings worth replaying | `prepare`, `candidates` |
//! | the page, and one load of it | crate `page` |
//! | all replays, each once | `measure`, `replays` |
//! | the recommended mix of settings | `search` tries mixes, with the times of `isolated_transfer` as a hint; `select` chooses |
//! | one repeat once more, request by request | `waterfall` |
//! | what servers do, and the bandwidth up to which a setting pays | `snippets`, `break_even` |
//! | the page in a real browser, where that is asked for | `browser_loads` |
//! | the simulated loads for other tools | `har` |
//! | rules that a build is held to | `rules` |
//! | the record and its sentences | `answer`, `prose`, `extra_tables`, `doubts` |
//!
//! Replays of one repeat share their random choices under every setting, so that settings are compared in pairs. Work is spread over
//! threads; results do not depend on their number.

pub(crate) mod answer;
mod as_run;
mod break_even;
#[cfg(target_os = "linux")]
mod browser_loads;
mod candidates;
mod checks;
mod compressed_sizes;
mod csv;
mod document;
mod doubts;
mod extra_tables;
pub mod har;
mod isolated_transfer;
mod link_measurement;
mod measure;
mod mix;
mod prepare;
mod prose;
pub mod record;
mod replays;
mod response_classes;
pub mod rules;
mod screen;
mod search;
mod select;
mod snippets;
mod waterfall;

pub use doubts::DOUBTS;

use crate::record::{Advice, Server};
use candidates::Candidate;
use compressed_sizes::Sizes;
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_link::LinkSpec;
#[cfg(target_os = "linux")]
use lastmile_page::chromium::BrowserOptions;
use lastmile_page::{LoadOptions, Page};
use lastmile_report::model_error::ModelError;
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::invalid_option::InvalidOption;
use lastmile_traffic::responses::{Origin, Response, Traffic};
use lastmile_units::Seed;
use lastmile_units::workers::{Interrupted, Workers};
use response_classes::Group;
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How traffic is replayed.
#[derive(Debug, Clone)]
pub struct Options {
    /// The links, with their requested names; at least one.
    pub links: Vec<(String, LinkSpec)>,
    /// How pages are loaded.
    pub load: LoadOptions,
    /// How often each page is loaded under each setting at first.
    pub repeats: NonZeroU64,
    /// How often it is loaded at most, under settings between which fewer repeats do not decide.
    pub repeats_max: NonZeroU64,
    /// The root of every random choice.
    pub seed: u64,
    /// The settings considered.
    pub levels: Vec<CodecSpec>,
    /// How the page is loaded in Chromium in the emulated world, too; none leaves that out. It takes real time, and needs the right to
    /// make an emulated world.
    #[cfg(target_os = "linux")]
    pub browser: Option<BrowserOptions>,
    /// The server that sends the traffic: only settings that it supports are considered. None considers those of any server.
    pub server: Option<Server>,
    /// Where compressing every body under every setting would take longer than this, by the reference cost table, the sizes under slow
    /// settings are estimated, and made exact for those that are worth replaying.
    pub exact_within: Duration,
    /// Whether to answer where most of what could be compressed is not in the traffic, about the rest.
    pub partial: bool,
    /// How far simulated page times are from a real browser's, where that was measured.
    pub model_error: Option<ModelError>,
    /// How many threads work.
    pub threads: NonZeroUsize,
    /// Stops the work with [`AdviseError::Interrupted`] when another thread sets it.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Options {
    /// Pages are loaded 7 times at first, and up to 28 times. Every level of gzip and br is considered, and of zstd 1 to 11, 16 and 19: the levels between those need
    /// as much memory and time as the next for a few thousandths of the size, and those above 19 need more memory than a server would
    /// spend.
    fn default() -> Self {
        let considered = |codec: &CodecSpec| match codec.coding() {
            Coding::Identity | Coding::Deflate => false,
            Coding::Gzip | Coding::Brotli => true,
            Coding::Zstd => codec.level() <= 11 || [16, 19].contains(&codec.level()),
        };
        Self {
            links: Vec::new(),
            load: LoadOptions::default(),
            repeats: const { NonZeroU64::new(7).unwrap() },
            repeats_max: const { NonZeroU64::new(28).unwrap() },
            seed: 1,
            levels: CodecSpec::all().filter(considered).collect(),
            #[cfg(target_os = "linux")]
            browser: None,
            server: None,
            exact_within: compressed_sizes::EXACT_WITHIN,
            partial: false,
            model_error: None,
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            interrupt: Arc::default(),
        }
    }
}

/// The progress of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The current phase.
    pub phase: Phase,
    /// The number of pieces done in this phase; while bodies are compressed, the expected milliseconds of CPU time.
    pub done: usize,
    /// The number of pieces in this phase.
    pub total: usize,
}

impl Progress {
    /// Reports the number of pieces done of a phase.
    fn counter(phase: Phase, total: usize, progress: &mut dyn FnMut(Self)) -> impl FnMut(usize) {
        move |done| progress(Self { phase, done, total })
    }
}

/// A phase of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Bodies are compressed, to measure their sizes.
    Compressing,
    /// Responses are replayed on an idle link, to choose settings.
    Choosing,
    /// Pages are replayed with one setting for all responses.
    Replaying,
    /// Pages are replayed with other settings for one kind after the other.
    Improving,
    /// Pages are replayed more often, with the settings that may be the best.
    Checking,
    /// Break-even bandwidths are searched.
    BreakEven,
    /// Pages are loaded in Chromium.
    LoadingInChromium,
}

/// Why there is no advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdviseError {
    /// An option is out of its range.
    #[error(transparent)]
    Option(#[from] InvalidOption),
    /// The traffic has no response that crossed a link.
    #[error(
        "{traffic}: nothing to replay: {left_out} responses came from caches or have no size; save the archive with contents, with \
         caches disabled"
    )]
    NothingToReplay {
        /// Its source.
        traffic: String,
        /// The number of responses left out.
        left_out: usize,
    },
    /// The traffic has no body at all, so that nothing can be compressed.
    #[error(
        "{traffic}: none of {responses} responses has its body: nothing can be compressed, so there is nothing to advise; record it with \
         content: \"Save all as HAR with content\" in a browser's network panel, with caches disabled, or recordHar with content: 'embed' in \
         Playwright"
    )]
    NoBodies {
        /// Its source.
        traffic: String,
        /// The number of responses that would be replayed.
        responses: usize,
    },
    /// Most of what could be compressed is not in the traffic.
    #[error(
        "{traffic}: {missing} of the {all} that could be compressed are not in it: {bodies} of {responses} such responses have no body, or one \
         that is cut off; record it with content: \"Save all as HAR with content\" in a browser's network panel, with caches disabled, \
         or recordHar with content: 'embed' in Playwright; for an answer about the rest, use --partial"
    )]
    MostBodiesMissing {
        /// Its source.
        traffic: String,
        /// The size of the bodies that are missing; a count where sizes are unknown.
        missing: String,
        /// The same of all bodies that could be compressed.
        all: String,
        /// The number of responses without their body.
        bodies: usize,
        /// The number of responses whose bodies could be compressed.
        responses: usize,
    },
    /// The server supports none of the codings that were asked for.
    #[error(
        "{server} cannot do {asked}: nothing is left to try for {responses}; {server} can do {supported}: name one of these with --encodings, \
         or leave out --server"
    )]
    NothingToTry {
        /// The server.
        server: &'static str,
        /// The codings that were asked for.
        asked: String,
        /// The responses for which nothing is left.
        responses: &'static str,
        /// What the server supports.
        supported: String,
    },
    /// The page does not load in any repeat over a link.
    #[error("over link {link} the page never loads: {why}; try a link with less loss")]
    Link {
        /// The link's name.
        link: String,
        /// The first failure.
        why: String,
    },
    /// Chromium does not load the page.
    #[error("over link {link}, with {setting}, Chromium does not load the page: {why}")]
    Browser {
        /// The link's name.
        link: String,
        /// The setting.
        setting: String,
        /// The failure.
        why: String,
    },
    /// The work was interrupted.
    #[error("interrupted: no advice was made")]
    Interrupted,
}

impl From<Interrupted> for AdviseError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// The results before the first replay.
struct PreparedReplay<'a> {
    traffic: &'a Traffic,
    options: &'a Options,
    costs: &'a CostTable,
    page: Page,
    groups: Vec<Group>,
    sizes: Sizes,
    /// For each group, every setting considered, identity first.
    candidates: Vec<Vec<Candidate>>,
    /// For each group, the CPU time of the server for all bodies as recorded; none where none has a recorded content coding.
    recorded_cpu: Vec<Option<Duration>>,
    /// The settings that are replayed, identity first. All their sizes are exact.
    settings: Vec<CodecSpec>,
}

/// Replays `traffic` under every setting worth trying over every link of `options`, with the CPU times of `costs`, and recommends a
/// setting.
///
/// # Errors
/// When an option is out of range, there is nothing to replay, a page does not load in any repeat, or the work is interrupted.
pub fn advise(
    traffic: &Traffic,
    options: &Options,
    costs: &CostTable,
    progress: &mut dyn FnMut(Progress),
) -> Result<Advice, AdviseError> {
    options.check()?;
    let workers = Workers {
        threads: options.threads,
        interrupt: &options.interrupt,
    };
    let prepared = PreparedReplay::prepare(traffic, options, costs, &workers, progress)?;
    let measured = measure::measure(&prepared, &workers, progress)?;
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_mut, reason = "Chromium is loaded on Linux only")
    )]
    let mut advice = answer::advice(&prepared, &measured);
    #[cfg(target_os = "linux")]
    if let Some(browser) = &options.browser {
        let comparisons = browser_loads::load_all(&prepared, &measured.links, browser, progress)?;
        for (link, comparison) in advice.links.iter_mut().zip(comparisons) {
            link.browser = Some(comparison);
        }
        advice.answer = prose::answer(&advice.links, advice.model_error.as_ref());
    }
    Ok(advice)
}

impl Options {
    fn check(&self) -> Result<(), InvalidOption> {
        if self.links.is_empty() {
            let (found, remedy) = ("empty".to_owned(), "name at least one, like wpt/3g");
            return Err(InvalidOption::new("the list of links", found, remedy));
        }
        self.load.check()
    }

    fn root(&self) -> Seed {
        Seed::new(self.seed).derive("advise")
    }

    /// Whether the server that sends the traffic supports a setting for an origin.
    fn can(&self, origin: Origin, codec: CodecSpec) -> bool {
        self.server
            .is_none_or(|server| snippets::supports(server, origin, codec))
    }
}

impl PreparedReplay<'_> {
    /// The response of an item.
    fn response(&self, item: usize) -> &Response {
        &self.traffic.responses[self.page.items[item].response]
    }

    /// The seed of every interval.
    fn interval_seed(&self) -> Seed {
        self.options.root().derive("intervals")
    }
}

#[cfg(test)]
mod tests;
