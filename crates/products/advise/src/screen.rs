//! The answer of an advice on one screen.

use crate::doubts::voids;
use crate::prose::{DETAIL, IDENTITY, TODAY, listed};
use crate::record::{Advice, KindAdvice, LinkAdvice, Origin, Rung};
use lastmile_report::document::{Grid, RowEmphasis};
use lastmile_report::number::{counted, percent, quantity, signed_percent};
use lastmile_report::saving::Saving;
use lastmile_report::screen::{Bar, BarGroup, STANDARD_INPUT, Screen, Tile, shell_word};

/// The most links that the sentence names.
const LINKS_MAX: usize = 3;

/// The share of what can be saved from which on one setting for everything is worth a sentence.
const COMMON_SHARE_MIN: f64 = 0.5;

pub(crate) fn screen(advice: &Advice) -> Screen {
    let link_doubts = advice.links.iter().flat_map(|link| {
        let of_kinds = link.kinds.iter().flat_map(|kind| &kind.doubts);
        link.doubts.iter().chain(of_kinds)
    });
    let (first, rest): (Vec<_>, Vec<_>) = advice.doubts.iter().partition(|doubt| voids(doubt));
    let source = &advice.traffic.source;
    let bars: Vec<BarGroup> = advice.links.iter().map(bars).collect();
    Screen {
        question: question(advice),
        tiles: Tile::of_changes(&bars),
        bars,
        table: advice.links.first().map(kinds_table),
        spare_columns: vec!["requests", "bytes now"],
        doubts: Screen::doubt_texts(first.into_iter().chain(link_doubts).chain(rest)),
        answer: answer(&advice.links) + &in_browser(&advice.links),
        next: match advice.options.server {
            _ if source == STANDARD_INPUT => String::new(),
            None => format!("{} --server nginx", again(advice)),
            // The details have the server's configuration.
            Some(server) => format!("{} --server {} --details", again(advice), server.name().to_lowercase()),
        },
    }
}

/// The command that asks about the same traffic and the same links.
fn again(advice: &Advice) -> String {
    let links: Vec<&str> = advice.links.iter().map(|link| link.name.as_str()).collect();
    let [traffic, links] = [&advice.traffic.source, &links.join(",")].map(|word| shell_word(word));
    format!("lastmile advise {traffic} --link {links}")
}

/// What was loaded, how often, and how far that is from a browser.
fn question(advice: &Advice) -> String {
    let traffic = &advice.traffic;
    let recorded = traffic.today_bytes.map_or_else(String::new, |bytes| {
        format!(", {} as recorded", quantity(bytes as f64, "B"))
    });
    let repeats = advice.links.iter().map(|link| link.repeats);
    let loads = match (repeats.clone().min(), repeats.max()) {
        (Some(least), Some(most)) if least != most => format!(", {least} to {most} loads each"),
        (Some(loads), _) => format!(", {} each", counted(loads, "load")),
        _ => String::new(),
    };
    let error = advice.model_error.as_ref().map_or_else(String::new, |error| {
        let [median, worst] = [error.median, error.worst].map(percent);
        format!(" ({median} from a browser, at worst {worst})")
    });
    format!(
        "{}: {} of {}, {} uncompressed{recorded}. Simulated{loads}{error}.",
        traffic.source,
        counted(traffic.responses, "response"),
        counted(traffic.hosts, "host"),
        quantity(traffic.identity_bytes as f64, "B"),
    )
}

/// The page as it is, with a common setting, and as recommended.
fn bars(link: &LinkAdvice) -> BarGroup {
    let rate = link
        .description
        .rate_down_bit_per_second
        .map_or_else(|| "as traced".to_owned(), |rate| quantity(rate, "bit/s"));
    let bar = |(at, rung): (usize, &Rung)| {
        let [low, high] = rung.saved_share_ci95.unwrap_or([rung.saved_share; 2]);
        let is_last = at + 1 == link.ladder.len();
        Bar {
            label: match rung.setting.as_str() {
                TODAY => "as recorded",
                IDENTITY => "not compressed",
                _ if is_last && at > 0 => "recommended",
                setting => setting,
            }
            .to_owned(),
            length: rung.page_time.mean,
            figure: quantity(rung.page_time.mean, "s"),
            change: match at {
                0 => String::new(),
                _ if low <= 0.0 && 0.0 <= high => "same".to_owned(),
                _ => signed_percent(-rung.saved_share),
            },
            interval: if is_last && percent(low) != percent(high) {
                format!(
                    "(95 %: {} to {})",
                    signed_percent(-high).trim_end_matches(" %"),
                    signed_percent(-low)
                )
            } else {
                String::new()
            },
        }
    };
    BarGroup {
        name: link.name.clone(),
        detail: rate,
        bars: link.ladder.iter().enumerate().map(bar).collect(),
    }
}

/// A row for each kind that changes on a link, and one for the others.
fn kinds_table(link: &LinkAdvice) -> Grid {
    let mut grid = Grid::new("", "")
        .word_columns(["kind"])
        .figure_columns(["requests", "bytes now"])
        .word_columns(["use"])
        .figure_columns(["bytes then".to_owned(), format!("without it, {}", link.name)]);
    let (changed, same): (Vec<_>, Vec<_>) = link
        .kinds
        .iter()
        .partition(|kind| kind.recommended.page_saves.is_some());
    let now = |kind: &KindAdvice| kind.today_bytes.unwrap_or(kind.identity_bytes);
    for kind in changed {
        let recommended = &kind.recommended;
        let page = recommended.page_saves.as_ref().filter(|saving| !is_same(saving));
        let cells = [
            kind.kind.clone(),
            kind.responses.to_string(),
            quantity(now(kind) as f64, "B"),
            format!("{}, {}", recommended.setting, origin(kind.origin)),
            signed_percent(recommended.compressed_bytes as f64 / now(kind).max(1) as f64 - 1.0),
            page.map_or_else(
                || "same".to_owned(),
                |saving| {
                    let sign = if saving.mean_s < 0.0 { "-" } else { "+" };
                    format!("{sign}{}", quantity(saving.mean_s.abs(), "s"))
                },
            ),
        ];
        grid.row(cells.to_vec(), RowEmphasis::Plain, &[]);
    }
    if !same.is_empty() {
        let mut names: Vec<String> = same.iter().map(|kind| kind.kind.clone()).collect();
        names.dedup();
        let cells = [
            names.join(", "),
            same.iter().map(|kind| kind.responses).sum::<u64>().to_string(),
            quantity(same.iter().map(|kind| now(kind)).sum::<u64>() as f64, "B"),
            "as it is".to_owned(),
            String::new(),
            String::new(),
        ];
        grid.row(cells.to_vec(), RowEmphasis::Plain, &[]);
    }
    grid
}

/// Whether a saving may be nothing, or is a detail; a setting that makes the page slower is neither.
fn is_same(saving: &Saving) -> bool {
    let [low, high] = saving.mean_ci95_s.unwrap_or([saving.mean_s; 2]);
    low <= 0.0 && 0.0 <= high || saving.share.abs() < DETAIL
}

/// `Use br:11 for files and br:5 for what is made on request: 798 ms less on wpt/3g, 50 s less on published/dialup-56k. gzip:6 for everything
/// saves 78 % of that on wpt/3g.`
fn answer(links: &[LinkAdvice]) -> String {
    let gains = |link: &&LinkAdvice| {
        let [first, .., best] = &link.ladder[..] else {
            return false;
        };
        best.saved_share_ci95.map_or(best.saved_share, |[low, _]| low) > 0.0
            && first.page_time.mean > best.page_time.mean
    };
    let (gaining, others): (Vec<_>, Vec<_>) = links.iter().partition(gains);
    let names = |links: &[&LinkAdvice]| {
        let mut names: Vec<String> = links.iter().take(LINKS_MAX).map(|link| link.name.clone()).collect();
        if links.len() > LINKS_MAX {
            names.push(format!("{} more links", links.len() - LINKS_MAX));
        }
        listed(&names)
    };
    let Some(first) = gaining.first() else {
        return format!(
            "Leave everything as it is: nothing tried is faster beyond the noise on {}.",
            names(&others)
        );
    };
    let saved = |link: &&LinkAdvice| {
        let [first, .., best] = &link.ladder[..] else {
            return String::new();
        };
        format!(
            "{} less on {}",
            quantity(first.page_time.mean - best.page_time.mean, "s"),
            link.name
        )
    };
    let mut saved: Vec<String> = gaining.iter().take(LINKS_MAX).map(saved).collect();
    if gaining.len() > LINKS_MAX {
        saved.push(format!("less on {} more links", gaining.len() - LINKS_MAX));
    }
    let mut text = format!("Use {}: {}", listed(&settings(first)), listed(&saved));
    if others.is_empty() {
        text.push('.');
    } else {
        text += &format!("; nothing beyond the noise on {}.", names(&others));
    }
    let usual = settings(first);
    let mut others: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for link in gaining.iter().skip(1) {
        let mut other = settings(link);
        other.retain(|setting| !usual.contains(setting));
        match others.iter_mut().find(|(known, _)| *known == other) {
            _ if other.is_empty() => {}
            Some((_, links)) => links.push(link.name.clone()),
            None => others.push((other, vec![link.name.clone()])),
        }
    }
    for (other, links) in &others {
        let settings = listed(other).replace(" for what is made on request", " on request");
        text += &format!(" On {}, {settings}.", listed(links));
    }
    if let [_, middle @ .., _] = &first.ladder[..]
        && let Some((rung, share)) = middle
            .iter()
            .filter_map(|rung| Some((rung, rung.share_of_saving?)))
            .next_back()
        && share > COMMON_SHARE_MIN
    {
        let share = percent((share.min(1.0) * 100.0).round() / 100.0);
        text += &format!(
            " {} for everything saves {share} of that on {}.",
            rung.setting, first.name
        );
    }
    text
}

/// What a real browser took, where one was asked for.
fn in_browser(links: &[LinkAdvice]) -> String {
    let sentences = links
        .iter()
        .filter_map(|link| Some(link.browser.as_ref()?.sentence(&link.name)));
    sentences.map(|sentence| format!(" {sentence}")).collect()
}

/// The settings of a link: by origin where each origin has one, else by kind.
fn settings(link: &LinkAdvice) -> Vec<String> {
    let mut parts: Vec<(String, Origin, Vec<String>)> = Vec::new();
    for kind in link.kinds.iter().filter(|kind| kind.recommended.page_saves.is_some()) {
        let setting = match kind.recommended.setting.as_str() {
            IDENTITY => "no compression",
            setting => setting,
        };
        match parts
            .iter_mut()
            .find(|(known, origin, _)| known == setting && *origin == kind.origin)
        {
            Some((.., names)) => names.push(kind.kind.clone()),
            None => parts.push((setting.to_owned(), kind.origin, vec![kind.kind.clone()])),
        }
    }
    if let [(first, ..), rest @ ..] = &parts[..]
        && rest.iter().all(|(setting, ..)| setting == first)
    {
        return vec![format!("{first} for what can be compressed")];
    }
    let is_of_origin = |origin: Origin| parts.iter().filter(|part| part.1 == origin).count() == 1;
    let text = |(setting, of, names): &(String, Origin, Vec<String>)| match of {
        Origin::Static if is_of_origin(*of) => format!("{setting} for files"),
        Origin::Dynamic if is_of_origin(*of) => format!("{setting} for what is made on request"),
        _ => format!("{setting} for {} ({})", listed(names), origin(*of)),
    };
    parts.iter().map(text).collect()
}

/// The words of web developers for it.
const fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Static => "files",
        Origin::Dynamic => "on request",
    }
}
