//! What each request of a page waits for, as Chromium makes requests.
//!
//! **Named.** What a document, a style sheet or a module names is asked for when the bytes that name it have been decoded: by the preload
//! scanner at once, by the parser when it gets there, by the layout when the styles have arrived. The parser stops at scripts that are
//! neither `async` nor `defer`; those, and inline ones, wait for the style sheets before them (HTML standard, sections 4.12.1 and
//! 13.2.6.4.4; CSS imports: CSS Cascading 4, section 2). All these conditions come down to parts of other resources that must have arrived:
//! [`Prerequisite`].
//!
//! **Made by scripts.** The recording says which script asked (`_initiator`), or else the script is the only one whose text has the
//! resource's name. The request is made when that script has run, and after the time that passed in the recording.
//!
//! **After the load event**, if the recording says when it was fired: what a document or a style sheet did not name, and was asked for after
//! the event, waits for all that the event waited for.
//!
//! **Unexplained.** The presumed trigger is the response that finished last before the request began, among those that can lead to a
//! request: documents, style sheets, scripts, data and redirects, but not images, fonts or empty responses. A request that began before
//! any such response had finished is made as long after the first request as it was when recorded. The rule is our own.
//!
//! What the recording contradicts is not believed: a response that ended after a request had begun is no prerequisite of it.

use crate::discovery::{css, html, html::Purpose, modules, url};
use lastmile_traffic::responses::{Body, Response, ResponseKind};
use lastmile_units::ByteCount;
use std::collections::BTreeMap;
use std::time::Duration;

/// A part of another resource that must have arrived, and been decoded, before a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prerequisite {
    /// The index of the other resource.
    pub item: usize,
    /// How much of its content, without content coding.
    pub extent: Extent,
}

/// How much of a resource's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// This many bytes from its beginning.
    Beginning(ByteCount),
    /// All of it.
    Whole,
}

/// Why a request is made when it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It is the first.
    Navigation,
    /// A document, style sheet or module names the resource.
    Named,
    /// A script asks for it.
    Script,
    /// It is unexplained, and follows the response that it followed in the recording.
    Recorded,
}

/// The priority of a request, in Chromium's words (`ResourceLoadPriority`), lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// What the next page or no page needs.
    VeryLow,
    /// Images, `async` and deferred scripts.
    Low,
    /// The first images, and scripts and styles behind them.
    Medium,
    /// Scripts, data.
    High,
    /// Documents, style sheets, fonts.
    VeryHigh,
}

/// How a request comes about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// What must have arrived.
    pub(crate) prerequisites: Vec<Prerequisite>,
    /// How long after that the request is made.
    pub(crate) gap: Duration,
    pub(crate) cause: Cause,
    pub(crate) priority: Priority,
    /// Whether Chromium's renderer limits how many such requests are in flight before the document's body has begun.
    pub(crate) is_throttled: bool,
}

/// What leads to each response of a page.
#[derive(Debug, Default)]
pub(crate) struct Dependencies {
    /// In the order of the responses.
    pub(crate) of_items: Vec<Dependency>,
    /// What must have arrived for the first document's body to begin.
    pub(crate) body_begins: Vec<Prerequisite>,
    /// The items that the first document's event `DOMContentLoaded` waits for.
    pub(crate) dom_content_loaded: Vec<usize>,
    /// The items that its event `load` waits for; none where the recording does not say when it was fired.
    pub(crate) load_event: Vec<usize>,
}

/// How one resource is named by another.
#[derive(Debug, Clone, Copy)]
enum Naming {
    InDocument {
        document: usize,
        end: usize,
        purpose: Purpose,
        is_small: bool,
    },
    ImportedBySheet {
        sheet: usize,
    },
    UsedBySheet {
        sheet: usize,
    },
    ImportedByModule {
        module: usize,
    },
}

impl Naming {
    const fn holder(&self) -> usize {
        match *self {
            Self::InDocument { document, .. } => document,
            Self::ImportedBySheet { sheet } | Self::UsedBySheet { sheet } => sheet,
            Self::ImportedByModule { module } => module,
        }
    }
}

/// A response that ended less than this after a request began may have led to it: the clocks of recordings are read at different moments.
/// Our own choice.
const TOLERANCE: Duration = Duration::from_millis(5);

/// From the arrival of what names a resource to its request. This time and those below are Chromium's on a core of the reference machine, as
/// we measured them over links of 4 and 28 ms; a slower client takes longer.
const ASKING: Duration = Duration::from_millis(2);

/// From the arrival of the last style sheet to the requests of the layout: about a frame at 60 Hz.
const LAYOUT: Duration = Duration::from_millis(15);

/// From the arrival of the last script that a frame's parser waits for to the request of the frame.
const FRAME: Duration = Duration::from_millis(8);

/// From the arrival of a script to its first request: at least this long, and longer by its size.
const SCRIPT: Duration = Duration::from_millis(4);
const SCRIPT_PER_BYTE: Duration = Duration::from_nanos(20);

/// Finds what leads to each response; they are in the order in which their requests began.
/// `load_event` is when the load event was fired, if the recording says so.
pub(crate) fn find(responses: &[&Response], load_event: Option<Duration>) -> Dependencies {
    let page = PageText::read(responses, load_event);
    let of_items = (0..responses.len()).map(|item| page.dependency(item)).collect();
    let (mut body_begins, mut dom_content_loaded) = (Vec::new(), Vec::new());
    if let Some(main) = page.main_document() {
        body_begins = page.parsed_to(main, page.documents[&main].body);
        dom_content_loaded = page.with_deferred_scripts(main);
    }
    let load_event = (0..responses.len()).filter(|item| page.delays_load_event(*item));
    Dependencies {
        of_items,
        body_begins: reduced(body_begins),
        dom_content_loaded: reduced(dom_content_loaded).iter().map(|wanted| wanted.item).collect(),
        load_event: load_event.collect(),
    }
}

/// The responses, read for what they name.
struct PageText<'a> {
    responses: &'a [&'a Response],
    load_event: Option<Duration>,
    /// The items with each URL, in their order.
    by_url: BTreeMap<String, Vec<usize>>,
    documents: BTreeMap<usize, html::Document>,
    /// The first place that names each.
    naming: Vec<Option<Naming>>,
    /// For each style sheet, the sheets that it imports.
    imports: BTreeMap<usize, Vec<usize>>,
}

impl<'a> PageText<'a> {
    fn read(responses: &'a [&'a Response], load_event: Option<Duration>) -> Self {
        let mut by_url: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (item, response) in responses.iter().enumerate() {
            let written = url::resolve(&response.url, "").unwrap_or_else(|| response.url.clone());
            by_url.entry(written).or_default().push(item);
        }
        let mut page = Self {
            responses,
            load_event,
            by_url,
            documents: BTreeMap::new(),
            naming: vec![None; responses.len()],
            imports: BTreeMap::new(),
        };
        // In the order of requests, so that what names a module or a sheet is known before its own text is read.
        for (item, response) in responses.iter().enumerate() {
            let Body::Present(body) = &response.body else {
                continue;
            };
            match response.kind() {
                ResponseKind::Html => page.read_document(item, body),
                ResponseKind::Css => page.read_sheet(item, body),
                ResponseKind::JavaScript if page.is_module(item) => {
                    for imported in modules::imports(&String::from_utf8_lossy(body)) {
                        page.name(&response.url, &imported, Naming::ImportedByModule { module: item });
                    }
                }
                _ => {}
            }
        }
        page
    }

    fn read_document(&mut self, item: usize, body: &[u8]) {
        let document = html::read(body);
        let own = &self.responses[item].url;
        let base = document.base.as_deref().and_then(|base| url::resolve(own, base));
        let base = base.unwrap_or_else(|| own.clone());
        for reference in &document.references {
            let naming = Naming::InDocument {
                document: item,
                end: reference.end,
                purpose: reference.purpose,
                is_small: reference.is_small,
            };
            self.name(&base, &reference.url, naming);
        }
        for script in document.inline_scripts.iter().filter(|script| script.is_module) {
            for imported in modules::imports(&script.text) {
                let naming = Naming::InDocument {
                    document: item,
                    end: script.end,
                    purpose: Purpose::ModuleScript,
                    is_small: false,
                };
                self.name(&base, &imported, naming);
            }
        }
        self.documents.insert(item, document);
    }

    fn read_sheet(&mut self, item: usize, body: &[u8]) {
        let own = &self.responses[item].url;
        let found = css::read(&String::from_utf8_lossy(body));
        let imports: Vec<usize> = found
            .imports
            .iter()
            .filter_map(|imported| self.name(own, imported, Naming::ImportedBySheet { sheet: item }))
            .collect();
        self.imports.insert(item, imports);
        for used in &found.resources {
            self.name(own, used, Naming::UsedBySheet { sheet: item });
        }
    }

    /// Notes that `reference` in a resource at `base` names an item, unless an earlier one does; gives the item.
    fn name(&mut self, base: &str, reference: &str, naming: Naming) -> Option<usize> {
        let items = self.by_url.get(&url::resolve(base, reference)?)?;
        let item = *items.iter().find(|item| **item > naming.holder())?;
        self.naming[item].get_or_insert(naming);
        Some(item)
    }

    fn is_module(&self, item: usize) -> bool {
        match self.naming[item] {
            Some(Naming::InDocument { purpose, .. }) => {
                matches!(purpose, Purpose::ModuleScript | Purpose::Preload | Purpose::AsyncScript)
            }
            Some(Naming::ImportedByModule { .. }) => true,
            _ => false,
        }
    }

    /// The first document that is not a redirect.
    fn main_document(&self) -> Option<usize> {
        self.documents
            .keys()
            .copied()
            .find(|item| !(300..400).contains(&self.responses[*item].status))
    }

    fn dependency(&self, item: usize) -> Dependency {
        let naming = self.naming[item];
        let (cause, wanted, own_gap) = match naming {
            _ if item == 0 => (Cause::Navigation, Vec::new(), Some(Duration::ZERO)),
            Some(naming) => {
                let (wanted, gap) = self.of_naming(item, naming);
                (Cause::Named, wanted, Some(gap))
            }
            None => {
                let script = self.script_of(item);
                let cause = if script.is_some() {
                    Cause::Script
                } else {
                    Cause::Recorded
                };
                let wanted = script.into_iter().flatten().chain(self.before_load_event(item));
                (cause, wanted.collect(), None)
            }
        };
        let believed: Vec<Prerequisite> = reduced(wanted)
            .into_iter()
            .filter(|prerequisite| prerequisite.item < item && !self.is_contradicted(*prerequisite, item))
            .collect();
        let priority = self.priority(item);
        let is_throttled = self.is_throttled(item);
        if item > 0 && believed.is_empty() {
            let (prerequisites, gap) = self.as_recorded(item);
            return Dependency {
                prerequisites,
                gap,
                cause: Cause::Recorded,
                priority,
                is_throttled,
            };
        }
        let gap = own_gap.unwrap_or_else(|| self.recorded_gap(item, &believed));
        Dependency {
            prerequisites: believed,
            gap,
            cause,
            priority,
            is_throttled,
        }
    }

    /// What the load event waited for, if a request was made after it (HTML standard, section 13.2.7; data that scripts ask for does not
    /// delay it).
    fn before_load_event(&self, item: usize) -> Vec<Prerequisite> {
        match self.load_event {
            Some(load) if self.responses[item].started >= load => {
                let earlier = (0..item).filter(|earlier| self.delays_load_event(*earlier));
                earlier.map(whole).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the load event waited for an item.
    fn delays_load_event(&self, item: usize) -> bool {
        use ResponseKind::{Css, FontWoff, Html, Image, JavaScript, Svg};
        let response = self.responses[item];
        self.load_event.is_some_and(|load| {
            matches!(response.kind(), Html | Css | JavaScript | Image | Svg | FontWoff)
                && response.started < load
                && self.ended(item).is_some_and(|ended| ended <= load + TOLERANCE)
        })
    }

    /// What must have arrived for a document to be parsed, and its deferred scripts to have run (HTML standard, section 13.2.7).
    fn with_deferred_scripts(&self, document: usize) -> Vec<Prerequisite> {
        let mut wanted = self.parsed_whole(document);
        let deferred = |purpose| matches!(purpose, Purpose::DeferredScript | Purpose::ModuleScript);
        for (script, _) in self.named_in(document, deferred) {
            wanted.extend(self.executed(script));
        }
        wanted
    }

    fn of_naming(&self, item: usize, naming: Naming) -> (Vec<Prerequisite>, Duration) {
        match naming {
            Naming::InDocument {
                document, end, purpose, ..
            } => match purpose {
                _ if purpose.is_preloaded() => (vec![self.beginning(document, end)], ASKING),
                Purpose::LazyImage | Purpose::OfLayout => {
                    let mut wanted = self.laid_out(document);
                    wanted.push(self.beginning(document, end));
                    (wanted, LAYOUT)
                }
                Purpose::Idle => {
                    let earlier = (0..item).filter(|earlier| !self.is_idle(*earlier));
                    (earlier.map(whole).collect(), ASKING)
                }
                Purpose::Frame => (self.parsed_to(document, end), FRAME),
                _ => (self.parsed_to(document, end), ASKING),
            },
            Naming::ImportedBySheet { sheet } => (vec![whole(sheet)], ASKING),
            Naming::ImportedByModule { module } => (vec![whole(module)], ASKING),
            Naming::UsedBySheet { sheet } => (self.laid_out_with(sheet), LAYOUT),
        }
    }

    fn is_idle(&self, item: usize) -> bool {
        matches!(
            self.naming[item],
            Some(Naming::InDocument {
                purpose: Purpose::Idle,
                ..
            })
        )
    }

    /// The document that a resource belongs to, through those that name it.
    fn document_of(&self, item: usize) -> Option<usize> {
        match self.naming[item]? {
            Naming::InDocument { document, .. } => Some(document),
            other => self.document_of(other.holder()),
        }
    }

    fn beginning(&self, item: usize, end: usize) -> Prerequisite {
        let size = self.responses[item].body.size().unwrap_or_default();
        let end = ByteCount::from(end);
        let extent = if end < size {
            Extent::Beginning(end)
        } else {
            Extent::Whole
        };
        Prerequisite { item, extent }
    }

    /// The items that a document names for a purpose, each with the offset.
    fn named_in(&self, document: usize, wanted: impl Fn(Purpose) -> bool) -> impl Iterator<Item = (usize, usize)> {
        self.naming
            .iter()
            .enumerate()
            .filter_map(move |(item, naming)| match naming {
                Some(Naming::InDocument {
                    document: holder,
                    end,
                    purpose,
                    ..
                }) if *holder == document && wanted(*purpose) => Some((item, *end)),
                _ => None,
            })
    }

    /// A style sheet with all that it imports.
    fn style(&self, sheet: usize) -> Vec<Prerequisite> {
        let mut found = vec![whole(sheet)];
        let mut next = 0;
        while next < found.len() {
            for imported in self.imports.get(&found[next].item).into_iter().flatten() {
                if !found.contains(&whole(*imported)) {
                    found.push(whole(*imported));
                }
            }
            next += 1;
        }
        found
    }

    /// The style sheets that stand before an offset of a document.
    fn styles_before(&self, document: usize, offset: usize) -> Vec<Prerequisite> {
        let sheets = self.named_in(document, |purpose| matches!(purpose, Purpose::Style | Purpose::Import));
        sheets
            .filter(|(_, end)| *end <= offset)
            .flat_map(|(sheet, _)| self.style(sheet))
            .collect()
    }

    /// What must have arrived for the parser to get to an offset: the document so far, the scripts that stop the parser before it, and the
    /// style sheets that these wait for.
    fn parsed_to(&self, document: usize, offset: usize) -> Vec<Prerequisite> {
        let mut wanted = vec![self.beginning(document, offset)];
        let blocking = self.named_in(document, |purpose| purpose == Purpose::BlockingScript);
        let mut last_script = None;
        for (script, end) in blocking.filter(|(_, end)| *end <= offset) {
            wanted.push(whole(script));
            last_script = last_script.max(Some(end));
        }
        let inline = self.documents[&document].inline_scripts.iter();
        let inline = inline
            .filter(|script| !script.is_module)
            .map(|script| script.end)
            .filter(|end| *end <= offset);
        if let Some(last) = last_script.max(inline.max()) {
            wanted.extend(self.styles_before(document, last));
        }
        wanted
    }

    fn parsed_whole(&self, document: usize) -> Vec<Prerequisite> {
        self.parsed_to(document, usize::MAX)
    }

    /// What must have arrived for the first layout.
    fn laid_out(&self, document: usize) -> Vec<Prerequisite> {
        let body = self.documents[&document].body;
        let mut wanted = self.parsed_to(document, body);
        wanted.extend(self.styles_before(document, body));
        wanted
    }

    /// What must have arrived for a layout with a style sheet.
    fn laid_out_with(&self, sheet: usize) -> Vec<Prerequisite> {
        let document = self.document_of(sheet);
        let mut wanted = document.map_or_else(Vec::new, |document| self.laid_out(document));
        wanted.push(whole(sheet));
        wanted
    }

    /// What must have arrived for a script to have run.
    fn executed(&self, script: usize) -> Vec<Prerequisite> {
        let mut wanted = vec![whole(script)];
        match self.naming[script] {
            Some(Naming::InDocument {
                document, end, purpose, ..
            }) => match purpose {
                Purpose::BlockingScript => {
                    wanted.extend(self.parsed_to(document, end));
                    wanted.extend(self.styles_before(document, end));
                }
                Purpose::DeferredScript | Purpose::ModuleScript => {
                    wanted.extend(self.parsed_whole(document));
                    wanted.extend(self.modules_below(script));
                }
                _ => {}
            },
            Some(Naming::ImportedByModule { module }) => wanted.extend(self.executed(module)),
            _ => {}
        }
        wanted
    }

    /// The modules that a module imports, and those that these import.
    fn modules_below(&self, module: usize) -> Vec<Prerequisite> {
        let mut found = vec![module];
        for item in module + 1..self.naming.len() {
            if matches!(self.naming[item], Some(Naming::ImportedByModule { module }) if found.contains(&module)) {
                found.push(item);
            }
        }
        found.into_iter().skip(1).map(whole).collect()
    }

    /// What must have arrived for the script that asks for an item to have run; none where no script is known to.
    fn script_of(&self, item: usize) -> Option<Vec<Prerequisite>> {
        let initiator = self.responses[item].initiator.as_deref();
        let initiator = initiator.and_then(|initiator| url::resolve(initiator, ""));
        let askers = initiator.and_then(|initiator| self.by_url.get(&initiator));
        let asker = askers.and_then(|askers| askers.iter().copied().rfind(|asker| *asker < item));
        match asker.map(|asker| (asker, self.responses[asker].kind())) {
            Some((script, ResponseKind::JavaScript)) => return Some(self.executed(script)),
            Some((sheet, ResponseKind::Css)) => return Some(self.laid_out_with(sheet)),
            _ => {}
        }
        self.only_script_with_name(item)
    }

    /// The only script, inline or not, whose text has the last part of an item's path: long enough to be a name of its own.
    fn only_script_with_name(&self, item: usize) -> Option<Vec<Prerequisite>> {
        const NAME_MIN: usize = 5;
        let path = self.responses[item].url.split(['?', '#']).next().unwrap_or_default();
        let name = path
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .filter(|name| name.len() >= NAME_MIN)?;
        let mut found = Vec::new();
        for (document, content) in self.documents.range(..item) {
            for script in content
                .inline_scripts
                .iter()
                .filter(|script| script.text.contains(name))
            {
                found.push(if script.is_module {
                    self.parsed_whole(*document)
                } else {
                    let mut wanted = self.parsed_to(*document, script.end);
                    wanted.extend(self.styles_before(*document, script.end));
                    wanted
                });
            }
        }
        for script in 0..item {
            let response = self.responses[script];
            if let Body::Present(body) = &response.body
                && response.kind() == ResponseKind::JavaScript
                && String::from_utf8_lossy(body).contains(name)
            {
                found.push(self.executed(script));
            }
        }
        match found.len() {
            1 => found.pop(),
            _ => None,
        }
    }

    /// When a response had ended in the recording.
    fn ended(&self, item: usize) -> Option<Duration> {
        Some(self.responses[item].started + self.responses[item].total?)
    }

    /// When a prerequisite was met in the recording.
    fn met(&self, prerequisite: Prerequisite) -> Option<Duration> {
        let response = self.responses[prerequisite.item];
        match prerequisite.extent {
            Extent::Whole => self.ended(prerequisite.item),
            Extent::Beginning(bytes) => {
                let total = response.total?;
                let before = response.wait.unwrap_or_default().min(total);
                let size = response.body.size().unwrap_or_default().as_f64().max(1.0);
                Some(response.started + before + (total - before).mul_f64((bytes.as_f64() / size).min(1.0)))
            }
        }
    }

    fn is_contradicted(&self, prerequisite: Prerequisite, item: usize) -> bool {
        prerequisite.extent == Extent::Whole
            && self
                .ended(prerequisite.item)
                .is_some_and(|ended| ended > self.responses[item].started + TOLERANCE)
    }

    /// How long after its prerequisites a request was made in the recording.
    fn recorded_gap(&self, item: usize, prerequisites: &[Prerequisite]) -> Duration {
        let met = prerequisites
            .iter()
            .filter_map(|prerequisite| self.met(*prerequisite))
            .max();
        let scripts = prerequisites
            .iter()
            .map(|prerequisite| self.responses[prerequisite.item]);
        let scripts = scripts.filter(|response| response.kind() == ResponseKind::JavaScript);
        let bytes: ByteCount = scripts.filter_map(|response| response.body.size()).sum();
        let least = SCRIPT + SCRIPT_PER_BYTE.mul_f64(bytes.as_f64());
        met.map_or(least, |met| self.responses[item].started.saturating_sub(met))
            .max(least)
    }

    /// The response that finished last before a request began, and the time between the two.
    fn as_recorded(&self, item: usize) -> (Vec<Prerequisite>, Duration) {
        let started = self.responses[item].started;
        let leading = (0..item).filter(|earlier| can_lead_to_a_request(self.responses[*earlier]));
        let ended = leading.filter_map(|earlier| {
            let ended = self.ended(earlier)?;
            (ended <= started).then_some((ended, earlier))
        });
        match ended.max() {
            Some((ended, earlier)) => (vec![whole(earlier)], started - ended),
            None => (Vec::new(), started.saturating_sub(self.responses[0].started)),
        }
    }

    /// Chromium's priority (`ResourceFetcher::ComputeLoadPriority` and `TypeToPriority` in resource_fetcher.cc).
    fn priority(&self, item: usize) -> Priority {
        let kind = self.responses[item].kind();
        let Some(Naming::InDocument {
            document,
            end,
            purpose,
            is_small,
        }) = self.naming[item]
        else {
            return match kind {
                ResponseKind::Html if item == 0 || self.main_document() == Some(item) => Priority::VeryHigh,
                ResponseKind::Css | ResponseKind::FontWoff => Priority::VeryHigh,
                // A script that a script adds is `async`.
                ResponseKind::JavaScript if !self.is_module(item) => Priority::Low,
                ResponseKind::Image | ResponseKind::Svg | ResponseKind::Video => Priority::Low,
                _ => Priority::High,
            };
        };
        let images = || self.named_in(document, |purpose| purpose == Purpose::Image);
        let is_late = images().any(|(_, image)| image < end);
        match purpose {
            Purpose::BlockingScript if is_late => Priority::Medium,
            Purpose::Style if is_late => Priority::Medium,
            Purpose::BlockingScript | Purpose::ModuleScript => Priority::High,
            Purpose::AsyncScript | Purpose::DeferredScript => Priority::Low,
            Purpose::Style | Purpose::Import | Purpose::Frame => Priority::VeryHigh,
            Purpose::UnusedStyle | Purpose::Idle => Priority::VeryLow,
            Purpose::Image => {
                // The first five that are not small (`kBoostImagePriority`).
                let earlier = images()
                    .filter(|(other, _)| *other < item && !self.is_small_image(*other))
                    .count();
                if !is_small && earlier < BOOSTED_IMAGES {
                    Priority::Medium
                } else {
                    Priority::Low
                }
            }
            Purpose::LazyImage | Purpose::Media => Priority::Low,
            Purpose::OfLayout | Purpose::Preload => match kind {
                ResponseKind::FontWoff if purpose == Purpose::OfLayout => Priority::VeryHigh,
                ResponseKind::Css => Priority::VeryHigh,
                ResponseKind::Image | ResponseKind::Svg | ResponseKind::Video => Priority::Low,
                _ => Priority::High,
            },
        }
    }

    fn is_small_image(&self, item: usize) -> bool {
        matches!(self.naming[item], Some(Naming::InDocument { is_small: true, .. }))
    }

    /// All but documents, and data that scripts ask for (`IsThrottlableRequestContext` in resource_loader.cc).
    fn is_throttled(&self, item: usize) -> bool {
        let is_data = match self.responses[item].kind() {
            ResponseKind::Html | ResponseKind::Video => true,
            ResponseKind::Json | ResponseKind::PlainText | ResponseKind::OtherText | ResponseKind::OtherBinary => {
                self.naming[item].is_none()
            }
            _ => false,
        };
        !is_data
    }
}

/// How many images get a higher priority (`kBoostImagePriorityImageCount`).
const BOOSTED_IMAGES: usize = 5;

const fn whole(item: usize) -> Prerequisite {
    Prerequisite {
        item,
        extent: Extent::Whole,
    }
}

/// One prerequisite per item: the greatest.
fn reduced(prerequisites: Vec<Prerequisite>) -> Vec<Prerequisite> {
    let mut greatest: BTreeMap<usize, Extent> = BTreeMap::new();
    for Prerequisite { item, extent } in prerequisites {
        let known = greatest.entry(item).or_insert(extent);
        *known = (*known).max(extent);
    }
    greatest
        .into_iter()
        .map(|(item, extent)| Prerequisite { item, extent })
        .collect()
}

fn can_lead_to_a_request(response: &Response) -> bool {
    let redirects = (300..400).contains(&response.status);
    let read_by_a_program = match response.kind() {
        ResponseKind::Html
        | ResponseKind::Css
        | ResponseKind::JavaScript
        | ResponseKind::Json
        | ResponseKind::PlainText
        | ResponseKind::OtherText
        | ResponseKind::Wasm => true,
        ResponseKind::Svg
        | ResponseKind::FontWoff
        | ResponseKind::Image
        | ResponseKind::Video
        | ResponseKind::Archive
        | ResponseKind::OtherBinary => false,
    };
    redirects || (read_by_a_program && response.status != 204)
}

#[cfg(test)]
mod tests;
