//! The tables and sentences of an advice.

use crate::csv;
use crate::doubts::voids;
use crate::prose::DETAIL;
use crate::record::{Advice, BreakEven, Candidate, KindAdvice, LinkAdvice, Origin};
use crate::record::{BrowserComparison, Options, PageOutcome, Protocol, ReplayedHost, Server, TrafficKind};
use crate::screen;
use lastmile_report::connections::Connections;
use lastmile_report::csv::Rows;
use lastmile_report::document::{Block, Detail, Grid, Note, Record, RowEmphasis};
use lastmile_report::number::{interval, percent, quantity, signed_percent};
use lastmile_report::page::{Page, PageRecord};
use lastmile_report::record::{Axis, Chart, Doubt, Figure, Point, Scale, Series, Source};
use lastmile_report::saving::Saving;
use lastmile_report::screen::Screen;

mod waterfall;

impl Record for Advice {
    /// The answer first, then its grounds: on a terminal, as far as they fit on a few screens; else, every setting that no other one dominates.
    fn blocks(&self, detail: Detail) -> Vec<Block> {
        let mut blocks = answer(self);
        blocks.push(recommendations(self));
        for link in &self.links {
            blocks.push(Block::Heading(link.name.clone()));
            blocks.extend(link_blocks(self, link, detail));
        }
        blocks.extend(self.findings.iter().cloned().map(Block::Finding));
        blocks.extend(snippets(self));
        blocks.push(Block::Text(provenance_text(self)));
        if detail == Detail::Short {
            blocks.push(Block::Text(
                "The reasons for each kind, with every setting tried: --format md, json or csv.".to_owned(),
            ));
        }
        blocks.extend(doubts(self));
        blocks
    }

    fn rows(&self) -> Rows {
        csv::advice(self)
    }

    fn screen(&self) -> Option<Screen> {
        Some(screen::screen(self))
    }
}

/// The answer, one paragraph per link; before it, what voids it.
fn answer(advice: &Advice) -> Vec<Block> {
    let voiding: Vec<Note> = advice
        .doubts
        .iter()
        .filter(|doubt| voids(doubt))
        .map(Note::from)
        .collect();
    let mut blocks: Vec<Block> = Vec::new();
    if !voiding.is_empty() {
        blocks.push(Block::Doubts(voiding));
    }
    let links = advice.links.iter();
    blocks.extend(links.clone().map(|link| Block::Answer(link.summary.clone())));
    let in_browser = links.filter_map(|link| Some(link.browser.as_ref()?.sentence(&link.name)));
    blocks.extend(in_browser.map(Block::Text));
    blocks.extend(advice.model_error.iter().map(|error| Block::Text(error.sentence())));
    blocks
}

/// The settings for which a short answer shows the page: the recommended one, the recorded one, and servers' defaults.
const KNOWN_SETTINGS: [&str; 7] = ["recommended", "today", "identity", "gzip:6", "br:5", "br:11", "zstd:3"];

/// For each link, a line per kind that changes: the setting to use, what it does to the bytes, and what the page would lose without it; then
/// the other kinds, and all together.
fn recommendations(advice: &Advice) -> Block {
    let mut grid = Grid::new(
        "What to use",
        "Bytes are those of the bodies, today and as recommended. A setting saves what the page would take longer without it: its kind as it \
         is today, all others as recommended, in paired loads, with the 95 % interval. Kinds share the link, so they do not add up to all.",
    )
    .word_columns(["link", "kind", "origin", "use"])
    .figure_columns(["bytes today", "with it", "the page saves"])
    .word_columns(["stops paying above"]);
    for link in &advice.links {
        let changes = |kind: &&KindAdvice| kind.recommended.page_saves.is_some();
        let (changed, same): (Vec<&KindAdvice>, Vec<&KindAdvice>) = link.kinds.iter().partition(changes);
        let mut row = |kind: String, origin: &str, setting: &str, figures: [String; 4], doubts: &[Doubt]| {
            let mut cells = vec![link.name.clone(), kind, origin.to_owned(), setting.to_owned()];
            cells.extend(figures);
            grid.row(cells, RowEmphasis::Plain, doubts);
        };
        for kind in &changed {
            let recommended = &kind.recommended;
            let [before, after] = bytes_text(&[*kind]);
            let saves = recommended
                .page_saves
                .as_ref()
                .map_or_else(String::new, page_saves_text);
            let until = kind.break_even.as_ref().map_or_else(String::new, break_even_text);
            let figures = [before, after, saves, until];
            row(
                kind.kind.clone(),
                kind.origin.name(),
                &recommended.setting,
                figures,
                &kind.doubts,
            );
        }
        if !same.is_empty() {
            let mut names: Vec<&str> = same.iter().map(|kind| kind.kind.as_str()).collect();
            names.dedup();
            row(names.join(", "), "", "as today", Default::default(), &[]);
        }
        let saves = link.page.first().and_then(|page| {
            let of_today = page.saving_against_today.as_ref();
            of_today.or(page.saving_against_identity.as_ref())
        });
        if let (2.., Some(saves)) = (changed.len(), saves) {
            let [before, after] = bytes_text(&changed);
            let figures = [before, after, page_saves_text(saves), String::new()];
            row("all".to_owned(), "", "", figures, &link.doubts);
        }
    }
    Block::Grid(grid)
}

/// The bytes of kinds today and as recommended.
fn bytes_text(kinds: &[&KindAdvice]) -> [String; 2] {
    let today = kinds.iter().map(|kind| kind.today_bytes.unwrap_or(kind.identity_bytes));
    let recommended = kinds.iter().map(|kind| kind.recommended.compressed_bytes);
    [today.sum::<u64>(), recommended.sum()].map(|bytes| quantity(bytes as f64, "B"))
}

/// `204 ms (190 to 218 ms)`; or a bound, where it may be nothing: the mean would be noise.
fn page_saves_text(saving: &Saving) -> String {
    let [low, high] = saving.mean_ci95_s.unwrap_or([saving.mean_s; 2]);
    if high <= 0.0 {
        "nothing".to_owned()
    } else if saving.share.abs() < DETAIL {
        format!("less than {}", percent(DETAIL))
    } else if low <= 0.0 {
        format!("less than {}", quantity(high, "s"))
    } else {
        with_interval(saving.mean_s, saving.mean_ci95_s, "s").replace('\n', " ")
    }
}

/// A link: the page under each setting, then kind by kind.
fn link_blocks(advice: &Advice, link: &LinkAdvice, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Text(link.description.sentence())];
    if detail == Detail::All {
        blocks.push(Block::Text(link.summary.clone()));
    }
    if detail == Detail::All && !link.page.is_empty() {
        blocks.extend(page_charts(link));
    }
    if detail == Detail::All
        && let Some(waterfall) = &link.waterfall
    {
        blocks.push(Block::Waterfall(waterfall::drawing(advice, link, waterfall)));
    }
    blocks.push(Block::Grid(page_grid(advice, link, detail)));
    if let Some(browser) = &link.browser {
        blocks.push(Block::Grid(browser_grid(browser)));
    }
    if detail == Detail::All && !link.screened.is_empty() {
        blocks.push(Block::Folded {
            summary: format!("{} more settings, replayed less often", link.screened.len()),
            blocks: vec![Block::Grid(screened_grid(link))],
        });
    }
    for kind in &link.kinds {
        let grid = Block::Grid(frontier(kind, detail));
        let why = Block::Text(reason_text(kind));
        match detail {
            Detail::Short => {}
            Detail::Long => blocks.extend([grid, why]),
            Detail::All => {
                let summary = format!("{} ({}): {}", kind.kind, kind.origin.name(), kind.recommended.setting);
                blocks.push(Block::Folded {
                    summary,
                    blocks: vec![why, Block::Chart(frontier_chart(kind)), grid],
                });
            }
        }
    }
    blocks
}

/// Configuration to paste.
fn snippets(advice: &Advice) -> Vec<Block> {
    let block = |snippet: &crate::record::Snippet| Block::Code {
        title: server(snippet.server).to_owned(),
        text: snippet.text.clone(),
        note: snippet.note.clone(),
    };
    advice.snippets.iter().map(block).collect()
}

/// The other doubts about the whole advice, and what was assumed in reading the traffic; none where there are none.
fn doubts(advice: &Advice) -> Option<Block> {
    let notes = advice.traffic.notes.iter().map(|text| Note {
        name: "traffic",
        text: text.clone(),
    });
    let others = advice.doubts.iter().filter(|doubt| !voids(doubt));
    let all: Vec<Note> = others.map(Note::from).chain(notes).collect();
    (!all.is_empty()).then_some(Block::Doubts(all))
}

/// What was replayed, and how.
fn provenance_text(advice: &Advice) -> String {
    let Advice { traffic, options, .. } = advice;
    let Options {
        protocol,
        hosts,
        tls,
        connections,
        repeats,
        repeats_max,
        encodings,
        server: asked,
        slow_client,
    } = options;
    let kind = match traffic.kind {
        TrafficKind::Har => "HTTP archive",
        TrafficKind::Folder => "folder",
        TrafficKind::Jsonl => "JSON lines",
    };
    let protocols = protocols_text(hosts, *protocol);
    let connections = match connections {
        Connections::Cold => "cold",
        Connections::Warm => "warm",
    };
    let repeats = if repeats_max > repeats {
        format!("{repeats} to {repeats_max}")
    } else {
        repeats.to_string()
    };
    let asked = asked.map_or_else(String::new, |asked| format!(" that {} supports", server(asked)));
    let sizes = match (advice.sizes.exact.len(), advice.sizes.estimated.len()) {
        (_, 0) => "All sizes are exact.".to_owned(),
        (exact, estimated) => format!(
            "The sizes under {exact} settings are exact; those under {estimated} others are estimated, and these were neither replayed nor \
             recommended."
        ),
    };
    format!(
        "Replayed {} responses, {} without compression, of {} hosts from {} ({kind}), {repeats} times per setting and link, with the settings of \
         {}{asked}: {protocols}; {connections} connections {} TLS, a client {slow_client} times slower than the cost table's machine. {sizes} Simulated with seed {}, cost table {} ({}), lastmile {}.",
        traffic.responses,
        quantity(traffic.identity_bytes as f64, "B"),
        traffic.hosts,
        traffic.source,
        encodings.join(", "),
        if *tls { "with" } else { "without" },
        advice.seed,
        advice.cpu,
        advice.cpu_machine,
        advice.version,
    )
}

/// The protocol of each host: `HTTP/2 over 1 connection per host for 3 hosts, and HTTP/1.1
/// over up to 6 connections per host for http://a.example, as recorded`.
fn protocols_text(hosts: &[ReplayedHost], asked: Option<Protocol>) -> String {
    let mut groups: Vec<(Protocol, Vec<&ReplayedHost>)> = Vec::new();
    for host in hosts {
        match groups.iter_mut().find(|(protocol, _)| *protocol == host.protocol) {
            Some((_, group)) => group.push(host),
            None => groups.push((host.protocol, vec![host])),
        }
    }
    let responses = |group: &[&ReplayedHost]| group.iter().map(|host| host.responses).sum::<u64>();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(responses(group)));
    let is_mixed = groups.len() > 1;
    let text = |(protocol, group): &(Protocol, Vec<&ReplayedHost>)| {
        let connections = match group.first().map_or(0, |host| host.connections) {
            1 => "1 connection".to_owned(),
            several => format!("up to {several} connections"),
        };
        let of = match &group[..] {
            _ if !is_mixed => String::new(),
            [one] => format!(" for {}", one.host.trim_start_matches("https://")),
            several => format!(" for {} hosts", several.len()),
        };
        format!("{} over {connections} per host{of}", protocol.name())
    };
    let texts: Vec<String> = groups.iter().map(text).collect();
    let unknown = hosts.iter().filter(|host| host.recorded.is_none()).count();
    let source = match (asked, unknown) {
        (Some(_), _) => "as asked".to_owned(),
        (None, 0) => "as recorded".to_owned(),
        (None, all) if all == hosts.len() => "since the traffic does not say which".to_owned(),
        (None, some) => format!(
            "as recorded, or HTTP/1.1 where the traffic does not say ({some} of {} hosts)",
            hosts.len()
        ),
    };
    format!("{}, {source}", texts.join(", and "))
}

fn page_grid(advice: &Advice, link: &LinkAdvice, detail: Detail) -> Grid {
    let note = format!(
        "From the first request to the last response decoded, mean of {} repeats. Savings compare paired pages; a setting is as good as the \
         recommended one where the interval includes 0. All intervals are of the mean, 95 %.",
        link.repeats
    );
    let mut grid = Grid::new("The whole page", note)
        .word_columns(["setting"])
        .figure_columns(["page time"]);
    let quantiles: &[(&str, &str)] = if detail == Detail::Short {
        &[]
    } else {
        &[("median", "0.5"), ("p95", "0.95")]
    };
    grid = grid
        .figure_columns(quantiles.iter().map(|(name, _)| *name))
        .figure_columns([
            "bytes down",
            "saved against identity",
            "saved against today",
            "recommended saves",
        ]);
    let known = |outcome: &&PageOutcome| detail != Detail::Short || KNOWN_SETTINGS.contains(&outcome.setting.as_str());
    let as_pasted = advice.snippets.iter().flat_map(|snippet| &snippet.replays);
    let as_pasted = as_pasted.filter(|replay| replay.link == link.name).map(|replay| {
        let name = format!("{}, as below", replay.page.setting);
        (name, &replay.page)
    });
    let rows = link
        .page
        .iter()
        .filter(known)
        .map(|outcome| (outcome.setting.clone(), outcome));
    for (name, outcome) in rows.chain(as_pasted) {
        let time = &outcome.page_time;
        let quantile = |(_, p): &(&str, &str)| {
            time.quantiles
                .get(*p)
                .map_or_else(String::new, |value| quantity(*value, &time.unit))
        };
        let saving = |saving: &Option<Saving>| saving.as_ref().map_or_else(String::new, saving_text);
        let mut cells = vec![name, figure_text(time)];
        cells.extend(quantiles.iter().map(quantile));
        cells.extend([
            quantity(outcome.bytes_down.mean, &outcome.bytes_down.unit),
            saving(&outcome.saving_against_identity),
            saving(&outcome.saving_against_today),
            outcome
                .recommended_saves
                .as_ref()
                .map_or_else(String::new, recommended_saves_text),
        ]);
        grid.row(
            cells,
            if outcome.setting == "recommended" {
                RowEmphasis::Good
            } else {
                RowEmphasis::Plain
            },
            &link.doubts,
        );
    }
    grid
}

/// Each setting in simulation and in the browser.
fn browser_grid(comparison: &BrowserComparison) -> Grid {
    let note = format!(
        "Page times in {}, behind the same link in the emulated world, and in simulations of it, with 95 % intervals of the mean. In both, \
         client and servers compute at full speed. A ratio above 1 means that the simulation is slower. On the right: the share of requests \
         that start and end within 10 % of the page time of Chromium's.",
        comparison.browser
    );
    let mut grid = Grid::new("Simulated against Chromium", note)
        .word_columns(["setting"])
        .figure_columns([
            "simulated",
            "in Chromium",
            "simulated / Chromium",
            "requests at the same time",
        ]);
    for outcome in &comparison.outcomes {
        let ratio = match outcome.ratio_ci95 {
            Some([low, high]) => format!("{:.2} ({low:.2} to {high:.2})", outcome.ratio),
            None => format!("{:.2}", outcome.ratio),
        };
        let cells = vec![
            outcome.setting.clone(),
            figure_text(&outcome.simulated),
            figure_text(&outcome.emulated),
            ratio,
            outcome.requests_within_10_percent.map_or_else(String::new, percent),
        ];
        grid.row(cells, RowEmphasis::Plain, &comparison.doubts);
    }
    grid
}

/// The settings that were replayed in the first repeats only.
fn screened_grid(link: &LinkAdvice) -> Grid {
    let mut grid = Grid::new(
        "Settings replayed less often",
        "They are not among the best after the first repeats; the recommended setting is compared in these repeats.",
    )
    .word_columns(["setting"])
    .figure_columns(["repeats", "page time", "recommended saves"]);
    for screened in &link.screened {
        let cells = vec![
            screened.setting.clone(),
            screened.page_time.n.to_string(),
            figure_text(&screened.page_time),
            recommended_saves_text(&screened.recommended_saves),
        ];
        grid.row(cells, RowEmphasis::Plain, &[]);
    }
    grid
}

/// The saving, or that the two are equally good as far as one can tell.
fn recommended_saves_text(saving: &Saving) -> String {
    let [low, high] = saving.mean_ci95_s.unwrap_or([saving.mean_s; 2]);
    if saving.share.abs() < DETAIL {
        "as good".to_owned()
    } else if low <= 0.0 && high >= 0.0 {
        format!("as good\n({})", interval([low, high], "s"))
    } else {
        saving_text(saving)
    }
}

fn frontier(kind: &KindAdvice, detail: Detail) -> Grid {
    let shown = |candidate: &&Candidate| {
        detail == Detail::All
            || !candidate.dominated
            || is_baseline(kind, candidate)
            || candidate.setting == kind.recommended.setting
    };
    let title = format!("{}, {}", kind.kind, kind.origin.name());
    let computing = match kind.origin {
        Origin::Static => "They are compressed once, before the first request.",
        Origin::Dynamic => "They are compressed on every request.",
    };
    let left_out = kind.frontier.len() - kind.frontier.iter().filter(shown).count();
    let left_out = if left_out == 0 {
        String::new()
    } else {
        format!(" {left_out} dominated settings are left out.")
    };
    let note = format!(
        "{} responses, {} uncompressed. {computing} The last column is the mean time from a response's request to its last decoded byte, each \
         alone on the link.{left_out}",
        kind.responses,
        quantity(kind.identity_bytes as f64, "B")
    );
    let mut grid = Grid::new(title, note).word_columns(["setting"]).figure_columns([
        "size",
        "of identity",
        "server CPU time",
        "client CPU time",
        "a response alone",
    ]);
    if detail == Detail::All {
        grid = grid.word_columns(["dominated"]);
    }
    for candidate in kind.frontier.iter().filter(shown) {
        let mut cells = vec![
            candidate.setting.clone(),
            quantity(candidate.compressed_bytes as f64, "B"),
            percent(candidate.ratio),
            quantity(candidate.server_cpu_s, "s"),
            quantity(candidate.client_cpu_s, "s"),
            quantity(candidate.isolated_time_s, "s"),
        ];
        if detail == Detail::All {
            cells.push(if candidate.dominated { "yes" } else { "" }.to_owned());
        }
        let recommended = candidate.setting == kind.recommended.setting;
        grid.row(
            cells,
            if recommended {
                RowEmphasis::Good
            } else {
                RowEmphasis::Plain
            },
            &kind.doubts,
        );
    }
    grid
}

fn is_baseline(kind: &KindAdvice, candidate: &Candidate) -> bool {
    candidate.setting == "identity" || kind.today.as_deref() == Some(candidate.setting.as_str())
}

fn reason_text(kind: &KindAdvice) -> String {
    let recommended = &kind.recommended;
    let mut text = format!("Use {}. {}", recommended.setting, recommended.why);
    text += &match &recommended.page_saves {
        Some(saving) => format!(" With it, the page saves {}.", page_saves_text(saving)),
        None => " That leaves them as they are today.".to_owned(),
    };
    if let Some(break_even) = &kind.break_even {
        text += &format!(
            " Break-even: {}; by formula: {}. {}",
            break_even_text(break_even),
            by_formula(break_even),
            break_even.formula
        );
    }
    text.replace('\n', " ")
}

/// The simulated break-even, or else that of the formula: `320 to 480 Mbit/s`, `never (to 1 Gbit/s)`.
fn break_even_text(break_even: &BreakEven) -> String {
    match &break_even.by_simulation {
        None => format!("{} (formula)", by_formula(break_even)),
        Some(search) => match search.between_bit_per_second {
            Some(between) => interval(between, "bit/s"),
            None => format!("never (to {})", quantity(search.searched_bit_per_second[1], "bit/s")),
        },
    }
}

fn by_formula(break_even: &BreakEven) -> String {
    break_even
        .by_formula_bit_per_second
        .map_or_else(|| "never".to_owned(), |rate| quantity(rate, "bit/s"))
}

/// `5.58 s, +62 %`, and on a line of its own `(5.19 to 5.97 s)`.
fn saving_text(saving: &Saving) -> String {
    let time = format!("{}, {}", quantity(saving.mean_s, "s"), signed_percent(saving.share));
    time + &interval_text(saving.mean_ci95_s, "s")
}

/// The mean of a figure, with its interval.
fn figure_text(figure: &Figure) -> String {
    with_interval(figure.mean, figure.ci95, &figure.unit)
}

fn with_interval(mean: f64, ci95: Option<[f64; 2]>, unit: &str) -> String {
    quantity(mean, unit) + &interval_text(ci95, unit)
}

/// An interval on a line of its own; nothing where its ends read alike.
fn interval_text(ci95: Option<[f64; 2]>, unit: &str) -> String {
    let has_width = |[low, high]: &[f64; 2]| quantity(*low, unit) != quantity(*high, unit);
    ci95.filter(has_width)
        .map_or_else(String::new, |ci| format!("\n({})", interval(ci, unit)))
}

fn server(server: Server) -> &'static str {
    match server {
        Server::Nginx => "nginx",
        Server::Apache => "Apache",
        Server::Caddy => "Caddy",
    }
}

/// What a page is compared under first; all other settings are folded away.
const DRAWN_FIRST: [&str; 5] = ["recommended", "today", "gzip:6", "br:5", "identity"];

/// The page time under the settings that readers know, and folded, under all.
fn page_charts(link: &LinkAdvice) -> Vec<Block> {
    let mut all: Vec<(&str, &Figure, bool)> = (link.page.iter())
        .map(|outcome| (outcome.setting.as_str(), &outcome.page_time, true))
        .chain(
            link.screened
                .iter()
                .map(|screened| (screened.setting.as_str(), &screened.page_time, false)),
        )
        .collect();
    all.sort_by(|one, other| one.1.mean.total_cmp(&other.1.mean));
    let first: Vec<_> = all
        .iter()
        .copied()
        .filter(|(setting, ..)| DRAWN_FIRST.contains(setting))
        .collect();
    let title = format!("Page time on {}", link.name);
    if first.len() < 2 || first.len() == all.len() {
        return vec![Block::Chart(page_chart(title, &all))];
    }
    let summary = format!("All {} settings", all.len());
    let folded = Block::Chart(page_chart(format!("{title}, all settings"), &all));
    vec![
        Block::Chart(page_chart(title, &first)),
        Block::Folded {
            summary,
            blocks: vec![folded],
        },
    ]
}

/// A row per setting: its name, its page time, and whether it was replayed in every repeat.
fn page_chart(title: String, all: &[(&str, &Figure, bool)]) -> Chart {
    let name = |setting: &str| {
        match setting {
            "today" => "as recorded",
            "identity" => "not compressed",
            other => other,
        }
        .to_owned()
    };
    let series = |name: &str, is_in: &dyn Fn(&str, bool) -> bool| {
        let points = all
            .iter()
            .enumerate()
            .filter(|(_, (setting, _, whole))| is_in(setting, *whole));
        Series {
            name: name.to_owned(),
            source: Source::Measured,
            joined: false,
            points: points
                .map(|(at, (_, time, _))| Point {
                    spread: time.ci95,
                    ..Point::new(at as f64, time.mean)
                })
                .collect(),
        }
    };
    let series = [
        series("recommended", &|setting, _| setting == "recommended"),
        series("other settings", &|setting, whole| whole && setting != "recommended"),
        series("replayed less often", &|_, whole| !whole),
    ];
    Chart {
        title,
        note: "The fastest first. Whiskers are 95 % intervals of the mean; settings are compared in paired loads, so differences are surer than \
               these."
            .to_owned(),
        x: Axis::new("Setting", "", Scale::Named(all.iter().map(|(setting, ..)| name(setting)).collect())),
        y: Axis::new("Page time", "s", Scale::Linear),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
        ..Chart::default()
    }
}

fn frontier_chart(kind: &KindAdvice) -> Chart {
    let series = |name: &str, wanted: &dyn Fn(&Candidate) -> bool| {
        let mut points: Vec<Point> = kind
            .frontier
            .iter()
            .filter(|candidate| wanted(candidate))
            .map(|candidate| Point {
                x: candidate.compressed_bytes as f64,
                y: candidate.isolated_time_s,
                spread: None,
                label: Some(candidate.setting.clone()),
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series {
            name: name.to_owned(),
            source: Source::Measured,
            joined: false,
            points,
        }
    };
    let recommended = |candidate: &Candidate| candidate.setting == kind.recommended.setting;
    let all = [
        series("recommended", &recommended),
        series("not dominated", &|candidate| {
            !candidate.dominated && !recommended(candidate)
        }),
        series("dominated", &|candidate| candidate.dominated && !recommended(candidate)),
    ];
    Chart {
        title: format!("Size and time of {}", kind.kind),
        note: "Each response alone on the link, mean over the responses; lower and further left is better.".to_owned(),
        x: Axis {
            label: "Total size".to_owned(),
            unit: "B".to_owned(),
            scale: Scale::Log,
        },
        y: Axis {
            label: "Time of a response alone".to_owned(),
            unit: "s".to_owned(),
            scale: Scale::Log,
        },
        series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
        ..Chart::default()
    }
}

impl PageRecord for Advice {
    fn page(&self) -> Page<'_> {
        let advice = self;
        let mut first = answer(advice);
        first.push(recommendations(advice));
        first.extend(doubts(advice));
        let findings = advice.findings.iter().cloned().map(Block::Finding).collect();
        let mut sections = vec![("Answer".to_owned(), first)];
        for link in &advice.links {
            sections.push((format!("On {}", link.name), link_blocks(advice, link, Detail::All)));
        }
        let names = advice.links.iter().find_map(|link| link.waterfall.as_ref());
        let recorded = advice.traffic.recorded.as_ref().zip(names);
        let recorded = recorded.map(|(load, names)| Block::Waterfall(waterfall::recorded(advice, load, names)));
        let charts = advice.charts.iter().cloned().map(Block::Chart).collect();
        let exhibits = advice.exhibits.iter().map(|table| Block::Grid(table.into())).collect();
        sections.extend([
            ("The recording".to_owned(), recorded.into_iter().collect()),
            ("Charts".to_owned(), charts),
            ("Findings".to_owned(), findings),
            ("Exhibits".to_owned(), exhibits),
            (
                "To paste".to_owned(),
                Block::folded("Configuration of the server", snippets(advice)),
            ),
        ]);
        let Advice {
            traffic, seed, version, ..
        } = advice;
        Page {
            title: &traffic.source,
            kind: "advice",
            question: "Which compression should these responses have, on these links?",
            facts: vec![
                traffic.source.clone(),
                "simulated".to_owned(),
                format!("seed {seed}"),
                format!("lastmile {version}"),
            ],
            sections,
            how: provenance_text(advice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures::advice;
    use lastmile_report::terminal::{self, TerminalStyle};
    use lastmile_report::testing::{check_page, check_record, check_schema, check_screen};

    #[test]
    fn the_record_keeps_what_every_record_must() {
        check_schema("advise", &advice());
        check_record(
            &advice(),
            &[
                "har", "static", "dynamic", "http/1.1", "h2", "cold", "nginx", "apache", "default", "first",
                "fallback", "VeryHigh", "High", "Low",
            ],
        );
        check_page(
            &advice(),
            &[
                "har", "static", "dynamic", "http/1.1", "h2", "cold", "nginx", "apache", "default", "first",
                "fallback", "VeryHigh", "High", "Low",
            ],
            &advice()
                .options
                .hosts
                .into_iter()
                .map(|host| host.host)
                .collect::<Vec<_>>(),
        );
    }

    #[test]
    fn an_advice_is_shown_like_this() {
        let style = TerminalStyle {
            width: 120,
            colour: false,
        };
        insta::assert_snapshot!(terminal::render(&advice(), Detail::Short, style));
    }

    #[test]
    fn the_screen_of_an_advice_looks_like_this() {
        insta::assert_snapshot!(check_screen(&advice()));
    }
    #[test]
    fn a_setting_that_makes_the_page_slower_is_not_called_the_same() {
        let mut advice = advice();
        let saving = advice.links[0].kinds[0].recommended.page_saves.as_mut().unwrap();
        (saving.mean_s, saving.mean_ci95_s, saving.share) = (-0.123, Some([-0.2, -0.05]), -0.09);
        assert!(check_screen(&advice).contains(" -123 ms"), "{}", check_screen(&advice));
        let saving = advice.links[0].kinds[0].recommended.page_saves.as_mut().unwrap();
        saving.mean_ci95_s = Some([-0.3, 0.05]);
        assert!(!check_screen(&advice).contains("-123 ms"));
    }
}
