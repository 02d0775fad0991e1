//! Which tables and sentences show an advice?

use super::{Block, Grid, Tone};
use crate::advise::{
    Advice, BreakEven, Candidate, Connections, KindAdvice, LinkAdvice, LinkDescription, Origin, Saving,
};
use crate::advise::{Options, PageOutcome, Protocol, Server, TrafficKind};
use crate::number::{interval, mean_and_spread, percent, quantity, signed_percent};
use crate::record::{Axis, Chart, Doubt, Point, Scale, Series, Source};

/// The advice in the order of a terminal: the answer first, then what it is made of, as far as it fits on a few screens.
pub(crate) fn for_terminal(advice: &Advice) -> Vec<Block> {
    in_order(advice, Detail::Answer)
}

/// The same with every setting that no other one beats.
pub(crate) fn for_markdown(advice: &Advice) -> Vec<Block> {
    in_order(advice, Detail::Frontier)
}

fn in_order(advice: &Advice, detail: Detail) -> Vec<Block> {
    let mut blocks = answer(advice);
    blocks.push(recommendations(advice, detail));
    for link in &advice.links {
        blocks.push(Block::Heading(link.name.clone()));
        blocks.extend(link_blocks(link, detail));
    }
    blocks.extend(advice.findings.iter().cloned().map(Block::Finding));
    blocks.extend(snippets(advice));
    blocks.push(Block::Text(replayed_how(advice)));
    if detail == Detail::Answer {
        blocks.push(Block::Text(
            "Why, kind by kind, with every setting tried, is in the report, and in the forms json, csv and md."
                .to_owned(),
        ));
    }
    blocks.extend(doubts(advice));
    blocks
}

/// The answer, a paragraph a link.
pub(crate) fn answer(advice: &Advice) -> Vec<Block> {
    advice
        .links
        .iter()
        .map(|link| Block::Answer(link.summary.clone()))
        .collect()
}

/// The settings that a short answer shows the page under: what is advised, what there is, and what servers have as they come.
const KNOWN_SETTINGS: [&str; 7] = ["recommended", "today", "identity", "gzip:6", "br:5", "br:11", "zstd:3"];

/// How much is said of each link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The page under the settings that people know, and no kinds.
    Answer,
    /// Settings that another one beats are left out, and counted.
    Frontier,
    /// Everything, with drawings.
    All,
}

/// One line a link and kind: what to use, and what it buys; the intervals where there is room.
pub(crate) fn recommendations(advice: &Advice, detail: Detail) -> Block {
    let saved = |seconds: f64, ci95: Option<[f64; 2]>| match detail {
        Detail::Answer | Detail::Frontier => quantity(seconds, "s"),
        Detail::All => with_interval(seconds, ci95),
    };
    let mut grid = Grid::new(
        "What to use",
        "Savings are in transfer time a response, against no compression.",
    )
    .words(["link", "kind", "origin", "use"])
    .figures(["share saved", "median saved", "p95 saved"])
    .words(["stops paying above"]);
    for link in &advice.links {
        for kind in &link.kinds {
            let buys = &kind.recommended.buys;
            let cells = vec![
                link.name.clone(),
                kind.kind.clone(),
                kind.origin.name().to_owned(),
                kind.recommended.setting.clone(),
                percent(buys.share),
                saved(buys.median_s, buys.median_ci95_s),
                saved(buys.p95_s, buys.p95_ci95_s),
                kind.break_even.as_ref().map_or_else(String::new, stops_paying),
            ];
            grid.row(cells, Tone::Plain, &kind.doubts);
        }
    }
    Block::Grid(grid)
}

/// A link: the page under each setting, then kind by kind.
pub(crate) fn link_blocks(link: &LinkAdvice, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Text(describe(&link.description))];
    if detail == Detail::All {
        blocks.push(Block::Text(link.summary.clone()));
    }
    if detail == Detail::All && !link.page.is_empty() {
        blocks.push(Block::Chart(page_chart(link)));
    }
    blocks.push(Block::Grid(page_grid(link, detail)));
    for kind in &link.kinds {
        let grid = Block::Grid(frontier(kind, detail));
        let why = Block::Text(why(kind));
        match detail {
            Detail::Answer => {}
            Detail::Frontier => blocks.extend([grid, why]),
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
pub(crate) fn snippets(advice: &Advice) -> Vec<Block> {
    let block = |snippet: &crate::advise::Snippet| Block::Code {
        title: server(snippet.server).to_owned(),
        text: snippet.text.clone(),
        note: snippet.note.clone(),
    };
    advice.snippets.iter().map(block).collect()
}

/// What makes the whole suspect, and what was assumed in reading the traffic; none where nothing is.
pub(crate) fn doubts(advice: &Advice) -> Option<Block> {
    let notes = advice.traffic.notes.iter().map(|text| Doubt {
        kind: "traffic".to_owned(),
        text: text.clone(),
    });
    let all: Vec<Doubt> = advice.doubts.iter().cloned().chain(notes).collect();
    (!all.is_empty()).then_some(Block::Doubts(all))
}

/// What was replayed, and how.
pub(crate) fn replayed_how(advice: &Advice) -> String {
    let Advice { traffic, options, .. } = advice;
    let Options {
        protocol,
        connections_per_host,
        tls,
        connections,
        repeats,
        slow_client,
    } = options;
    let kind = match traffic.kind {
        TrafficKind::Har => "HTTP archive",
        TrafficKind::Folder => "folder",
        TrafficKind::Jsonl => "JSON lines",
    };
    let protocol = match protocol {
        Protocol::Http11 => "HTTP/1.1",
        Protocol::H2 => "HTTP/2",
    };
    let connections = match connections {
        Connections::Cold => "cold",
        Connections::Warm => "warm",
    };
    format!(
        "Replayed {} responses, {} without compression, of {} hosts from {} ({kind}), {repeats} times a setting and link: {protocol}, \
         {connections_per_host} {connections} connections a host, {} TLS, a client {slow_client} times slower than the cost table. \
         Simulated with seed {}, cost table {} ({}), lastmile {}.",
        traffic.responses,
        quantity(traffic.identity_bytes as f64, "B"),
        traffic.hosts,
        traffic.source,
        if *tls { "with" } else { "without" },
        advice.seed,
        advice.cpu,
        advice.cpu_machine,
        advice.version,
    )
}

/// A link's figures, and where they are from.
pub(super) fn describe(link: &LinkDescription) -> String {
    let rate = |rate: Option<f64>| rate.map_or_else(|| "as traced".to_owned(), |rate| quantity(rate, "bit/s"));
    format!(
        "{} down, {} up, round trip {}, loss {}, {}. Source: {}.",
        rate(link.rate_down_bit_per_second),
        rate(link.rate_up_bit_per_second),
        quantity(link.round_trip_s, "s"),
        percent(link.loss),
        link.queue,
        link.source.trim_end_matches('.'),
    )
}

fn page_grid(link: &LinkAdvice, detail: Detail) -> Grid {
    let mut grid = Grid::new(
        "The whole page",
        "From the first request to the last response decoded: mean ± population deviation. Savings are of paired pages, with 95 % intervals.",
    )
    .words(["setting"])
    .figures(["page time", "median", "p95", "bytes down", "saved against identity", "saved against today"]);
    let known = |outcome: &&PageOutcome| detail != Detail::Answer || KNOWN_SETTINGS.contains(&outcome.setting.as_str());
    for outcome in link.page.iter().filter(known) {
        let time = &outcome.page_time;
        let quantile = |p: &str| {
            time.quantiles
                .get(p)
                .map_or_else(String::new, |value| quantity(*value, &time.unit))
        };
        let cells = vec![
            outcome.setting.clone(),
            mean_and_spread(time),
            quantile("0.5"),
            quantile("0.95"),
            quantity(outcome.bytes_down.mean, &outcome.bytes_down.unit),
            outcome.saving_against_identity.as_ref().map_or_else(String::new, saved),
            outcome.saving_against_today.as_ref().map_or_else(String::new, saved),
        ];
        grid.row(
            cells,
            if outcome.setting == "recommended" {
                Tone::Good
            } else {
                Tone::Plain
            },
            &link.doubts,
        );
    }
    grid
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
        Origin::Static => "Compressing is done once, before anyone asks.",
        Origin::Dynamic => "Compressing is done on every request.",
    };
    let left_out = kind.frontier.len() - kind.frontier.iter().filter(shown).count();
    let left_out = if left_out == 0 {
        String::new()
    } else {
        format!(" {left_out} settings that others beat are left out.")
    };
    let note = format!(
        "{} responses, {} as identity. {computing}{left_out}",
        kind.responses,
        quantity(kind.identity_bytes as f64, "B")
    );
    let mut grid = Grid::new(title, note).words(["setting"]).figures([
        "size",
        "of identity",
        "server computing",
        "client computing",
        "transfer time",
        "median",
        "p95",
    ]);
    if detail == Detail::All {
        grid = grid.words(["beaten by another"]);
    }
    for candidate in kind.frontier.iter().filter(shown) {
        let time = &candidate.transfer_time;
        let quantile = |p: &str| {
            time.quantiles
                .get(p)
                .map_or_else(String::new, |value| quantity(*value, &time.unit))
        };
        let mut cells = vec![
            candidate.setting.clone(),
            quantity(candidate.compressed_bytes as f64, "B"),
            percent(candidate.ratio),
            quantity(candidate.server_cpu_s, "s"),
            quantity(candidate.client_cpu_s, "s"),
            mean_and_spread(time),
            quantile("0.5"),
            quantile("0.95"),
        ];
        if detail == Detail::All {
            cells.push(if candidate.dominated { "yes" } else { "" }.to_owned());
        }
        let recommended = candidate.setting == kind.recommended.setting;
        grid.row(cells, if recommended { Tone::Good } else { Tone::Plain }, &kind.doubts);
    }
    grid
}

fn is_baseline(kind: &KindAdvice, candidate: &Candidate) -> bool {
    candidate.setting == "identity" || kind.today.as_deref() == Some(candidate.setting.as_str())
}

fn why(kind: &KindAdvice) -> String {
    let recommended = &kind.recommended;
    let mut text = format!(
        "Use {}. {} Against no compression a response saves {} at the median and {} at the 95th percentile, {} on average.",
        recommended.setting,
        recommended.why,
        with_interval(recommended.buys.median_s, recommended.buys.median_ci95_s),
        with_interval(recommended.buys.p95_s, recommended.buys.p95_ci95_s),
        percent(recommended.buys.share),
    );
    if let Some(today) = &recommended.buys_against_today {
        text += &format!(" Against today it saves {}.", saved(today));
    }
    if let Some(break_even) = &kind.break_even {
        text += &format!(
            " Break-even: {}; by formula: {}. {}",
            stops_paying(break_even),
            by_formula(break_even),
            break_even.formula
        );
    }
    text.replace('\n', " ")
}

/// Where simulated, that; else by formula: `320 to 480 Mbit/s`, `never (to 1 Gbit/s)`.
fn stops_paying(break_even: &BreakEven) -> String {
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
fn saved(saving: &Saving) -> String {
    let time = format!("{}, {}", quantity(saving.mean_s, "s"), signed_percent(saving.share));
    saving
        .mean_ci95_s
        .map_or(time.clone(), |ci| format!("{time}\n({})", interval(ci, "s")))
}

fn with_interval(seconds: f64, ci95: Option<[f64; 2]>) -> String {
    let time = quantity(seconds, "s");
    ci95.map_or(time.clone(), |ci| format!("{time}\n({})", interval(ci, "s")))
}

fn server(server: Server) -> &'static str {
    match server {
        Server::Nginx => "nginx",
        Server::Apache => "Apache",
        Server::Caddy => "Caddy",
    }
}

fn page_chart(link: &LinkAdvice) -> Chart {
    let names: Vec<String> = link.page.iter().map(|outcome| outcome.setting.clone()).collect();
    let point = |(at, outcome): (usize, &PageOutcome)| Point {
        x: at as f64,
        y: outcome.page_time.mean,
        spread: outcome.page_time.ci95,
        label: Some(quantity(outcome.page_time.mean, &outcome.page_time.unit)),
    };
    Chart {
        title: format!("Page time on {}", link.name),
        note: "Bars are 95 % intervals of the mean; lower is better.".to_owned(),
        x: Axis {
            label: "Setting".to_owned(),
            unit: String::new(),
            scale: Scale::Named(names),
        },
        y: Axis {
            label: "Page time".to_owned(),
            unit: "s".to_owned(),
            scale: Scale::Linear,
        },
        series: vec![Series {
            name: "page time".to_owned(),
            source: Source::Measured,
            joined: false,
            points: link.page.iter().enumerate().map(point).collect(),
        }],
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
                y: candidate.transfer_time.mean,
                spread: candidate.transfer_time.ci95,
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
        series("beaten by none", &|candidate| {
            !candidate.dominated && !recommended(candidate)
        }),
        series("beaten by another", &|candidate| {
            candidate.dominated && !recommended(candidate)
        }),
    ];
    Chart {
        title: format!("Size and time of {}", kind.kind),
        note: "Bars are 95 % intervals of the mean; lower and further left is better.".to_owned(),
        x: Axis {
            label: "Size of all".to_owned(),
            unit: "B".to_owned(),
            scale: Scale::Log,
        },
        y: Axis {
            label: "Transfer time of one".to_owned(),
            unit: "s".to_owned(),
            scale: Scale::Log,
        },
        series: all.into_iter().filter(|series| !series.points.is_empty()).collect(),
    }
}
