//! Which compression should be used for this traffic, on these links? Replays it under every setting worth trying, and compares.
//!
//! [`advise`] takes traffic as it was read and gives the record that is published. In between:
//!
//! | question | file |
//! | --- | --- |
//! | what is replayed, and what waits for what? | `page` |
//! | how large is each body under each setting? | `sizes`, over `groups` |
//! | which settings are worth replaying? | `candidates` |
//! | what happens in one replay? | `replay`: `order`, `site`, `browser` |
//! | what do the replays say? | `measure`, `figures` |
//! | which setting is recommended, and where does it stop paying? | `choose`, by what `alone` shows; `break_even` |
//! | how is that told? | `answer`, `words`, `exhibits`, `snippets` |
//!
//! Replays of one repeat share their random choices under every setting, so that settings are compared in pairs. Work is spread over
//! threads; results do not depend on how.

mod alone;
pub(crate) mod answer;
mod break_even;
mod browser;
mod candidates;
mod choose;
mod doubts;
mod exhibits;
pub(crate) mod figures;
mod groups;
mod measure;
mod order;
mod page;
pub(crate) mod parallel;
mod replay;
mod site;
mod sizes;
mod snippets;
mod words;

use crate::cost::CostTable;
use crate::http::Version;
use candidates::Candidate;
use groups::Group;
use lastmile_link::LinkSpec;
use lastmile_payload::codec::{CodecSpec, Coding};
use lastmile_payload::traffic::Traffic;
use lastmile_report::advise::{Advice, Connections};
use lastmile_units::Seed;
use page::Page;
use parallel::{Interrupted, Workers};
use sizes::Sizes;
use std::collections::BTreeSet;
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How traffic is replayed.
#[derive(Debug, Clone)]
pub struct Options {
    /// The links, with the names they were asked for by; at least one.
    pub links: Vec<(String, LinkSpec)>,
    /// HTTP/1.1 over six connections a host, as browsers do, or HTTP/2 over one.
    pub protocol: Version,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// Whether they stand before the first request, with windows that have grown.
    pub connections: Connections,
    /// How often each page is loaded under each setting.
    pub repeats: NonZeroU64,
    /// The root of every random choice.
    pub seed: u64,
    /// How many times slower than the cost table's machine the client computes.
    pub slow_client: f64,
    /// What the servers are like; each host of the traffic has one of its own.
    pub server: ServerSpec,
    /// The settings considered.
    pub levels: Vec<CodecSpec>,
    /// How many threads work.
    pub threads: NonZeroUsize,
    /// Set by someone else, stops the work with [`AdviseError::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
}

/// A server's CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerSpec {
    /// How many responses it codes at once.
    pub cores: u16,
    /// How many times slower than the cost table's machine.
    pub slow_down: f64,
    /// The share of it that other requests keep busy, from 0 to below 1.
    pub load: f64,
}

impl Default for Options {
    /// HTTP/2 as most pages are served today would hide what single responses take, so HTTP/1.1; over TLS, cold, 7 repeats. The
    /// client is 4 times slower, which is how Lighthouse turns a desktop into a mid-range phone (`cpuSlowdownMultiplier`). The
    /// server has 4 cores, half busy: our own choice. Every level of gzip and br is considered; of zstd 1 to 11, 16 and 19: the levels
    /// between those take as much memory and time as the next for a few thousandths of the size, and those above 19 take more memory
    /// than a server would spend.
    fn default() -> Self {
        let considered = |codec: &CodecSpec| match codec.coding() {
            Coding::Identity | Coding::Deflate => false,
            Coding::Gzip | Coding::Brotli => true,
            Coding::Zstd => codec.level() <= 11 || [16, 19].contains(&codec.level()),
        };
        Self {
            links: Vec::new(),
            protocol: Version::Http11,
            tls: true,
            connections: Connections::Cold,
            repeats: const { NonZeroU64::new(7).unwrap() },
            seed: 1,
            slow_client: 4.0,
            server: ServerSpec {
                cores: 4,
                slow_down: 1.0,
                load: 0.5,
            },
            levels: CodecSpec::all().filter(considered).collect(),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            interrupt: Arc::default(),
        }
    }
}

/// How far the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// How many pieces of that are done.
    pub done: usize,
    /// Of how many.
    pub total: usize,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Bodies are coded, to learn their sizes.
    Coding,
    /// Responses are replayed alone, to choose by.
    Choosing,
    /// Pages are replayed under one setting for all.
    Replaying,
    /// Pages are replayed with the recommended mix.
    Checking,
    /// Break-evens are searched.
    BreakEven,
}

/// Why there is no advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdviseError {
    /// An option is out of its range.
    #[error("{option} is {found}, which cannot be replayed; {remedy}")]
    Option {
        /// Which.
        option: &'static str,
        /// What it was.
        found: String,
        /// What it can be.
        remedy: &'static str,
    },
    /// The traffic holds nothing that crossed a link.
    #[error(
        "{traffic}: nothing to replay: {left_out} responses came from caches or have no size; save the archive with contents, caches off"
    )]
    NothingToReplay {
        /// Where it was read from.
        traffic: String,
        /// How many there were.
        left_out: usize,
    },
    /// The page loads in no repeat over a link.
    #[error("over link {link} the page never loads: {why}; try a link that loses less")]
    Link {
        /// The link's name.
        link: String,
        /// What happened the first time.
        why: String,
    },
    /// Someone asked to stop.
    #[error("interrupted: no advice was made")]
    Interrupted,
}

impl From<Interrupted> for AdviseError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// Everything that is known before the first replay.
struct Study<'a> {
    traffic: &'a Traffic,
    options: &'a Options,
    costs: &'a CostTable,
    page: Page,
    groups: Vec<Group>,
    sizes: Sizes,
    /// Of each group, every setting considered, identity first.
    candidates: Vec<Vec<Candidate>>,
    /// What is replayed, identity first.
    settings: Vec<CodecSpec>,
}

/// Replays `traffic` under every setting worth trying over every link of `options`, computing at the `costs`, and says what to use.
///
/// # Errors
/// When an option is out of range, there is nothing to replay, a page loads in no repeat, or someone interrupts.
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
    let study = Study::prepare(traffic, options, costs, &workers, progress)?;
    let measured = measure::measure(&study, &workers, progress)?;
    Ok(answer::advice(&study, &measured))
}

impl Options {
    fn check(&self) -> Result<(), AdviseError> {
        let refuse = |option, found: String, remedy| Err(AdviseError::Option { option, found, remedy });
        let positive = |value: f64| value > 0.0 && value <= 1e6;
        if self.links.is_empty() {
            return refuse(
                "the list of links",
                "empty".to_owned(),
                "name at least one, like wpt/3g",
            );
        }
        if !positive(self.slow_client) {
            return refuse(
                "the client's slow-down",
                self.slow_client.to_string(),
                "give a factor above 0, like 4",
            );
        }
        if !positive(self.server.slow_down) {
            return refuse(
                "the server's slow-down",
                self.server.slow_down.to_string(),
                "give a factor above 0, like 1",
            );
        }
        if self.server.cores == 0 {
            return refuse("the server's number of cores", "0".to_owned(), "give at least 1");
        }
        if !(0.0..1.0).contains(&self.server.load) {
            return refuse(
                "the server's load",
                self.server.load.to_string(),
                "give a share from 0 to below 1, like 0.5",
            );
        }
        Ok(())
    }

    fn root(&self) -> Seed {
        Seed::new(self.seed).derive("advise")
    }
}

/// What is compressed inside is probed with these; only where one of them makes less than this share of it is it treated as others are.
/// Our own choice.
const PROBES: [&str; 2] = ["gzip:6", "br:5"];
const WORTH_CODING: f64 = 0.9;

impl<'a> Study<'a> {
    fn prepare(
        traffic: &'a Traffic,
        options: &'a Options,
        costs: &'a CostTable,
        workers: &Workers<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, AdviseError> {
        let page = Page::of(traffic);
        if page.items.is_empty() {
            let (source, left_out) = (traffic.source.clone(), page.left_out.len());
            return Err(AdviseError::NothingToReplay {
                traffic: source,
                left_out,
            });
        }
        let mut on_done = |done, total| {
            progress(Progress {
                phase: Phase::Coding,
                done,
                total,
            });
        };
        let mut groups = groups::groups(&page);
        let mut sizes = Sizes::default();
        let probes = PROBES.map(|probe| probe.parse().expect("a probe is a codec"));
        let probed: Vec<usize> = items(&groups, |group| group.left_as_is);
        sizes.measure(traffic, &page, &probed, &probes, workers, &mut on_done)?;
        for group in groups.iter_mut().filter(|group| group.left_as_is) {
            let least = probes
                .iter()
                .map(|probe| Candidate::of(*probe, group, &page, &sizes, costs, options).size)
                .min();
            group.left_as_is = least.is_none_or(|least| least.as_f64() >= WORTH_CODING * group.plain.as_f64());
        }
        let coded: Vec<usize> = items(&groups, |group| !group.left_as_is);
        sizes.measure(traffic, &page, &coded, &options.levels, workers, &mut on_done)?;
        let of_group = |group: &Group| {
            let levels: &[CodecSpec] = if group.left_as_is { &probes } else { &options.levels };
            let all = std::iter::once(CodecSpec::IDENTITY).chain(levels.iter().copied());
            all.map(|codec| Candidate::of(codec, group, &page, &sizes, costs, options))
                .collect::<Vec<_>>()
        };
        let candidates: Vec<_> = groups.iter().map(of_group).collect();
        let settings = settings(&groups, &candidates, options);
        Ok(Self {
            traffic,
            options,
            costs,
            page,
            groups,
            sizes,
            candidates,
            settings,
        })
    }
}

fn items(groups: &[Group], wanted: impl Fn(&Group) -> bool) -> Vec<usize> {
    groups
        .iter()
        .filter(|group| wanted(group))
        .flat_map(|group| group.items.iter().copied())
        .collect()
}

/// Identity, what is worth replaying for some group, and the usual defaults among the levels considered.
fn settings(groups: &[Group], candidates: &[Vec<Candidate>], options: &Options) -> Vec<CodecSpec> {
    let mut settings = BTreeSet::from([CodecSpec::IDENTITY]);
    for (group, candidates) in groups.iter().zip(candidates) {
        if !group.left_as_is {
            settings.extend(candidates::worth_replaying(candidates));
            settings.extend(candidates::usual_defaults().filter(|codec| options.levels.contains(codec)));
        }
    }
    settings.into_iter().collect()
}

#[cfg(test)]
mod tests;
