//! How are the figures told in sentences?

use super::candidates::Candidate;
use super::choose::{Tried, waiting_of_others};
use super::groups::{Group, origin_word};
use super::measure::Setting;
use super::{Options, Study};
use lastmile_payload::traffic;
use lastmile_report::advise::{KindAdvice, LinkAdvice, Origin, PageOutcome, Saving};
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::Finding;
use lastmile_units::Bytes;

/// Why `chosen` of what was tried, where `best` keeps client and others waiting least.
pub(super) fn why(tried: &[Tried], chosen: usize, best: usize, group: &Group, options: &Options) -> String {
    let of_one = |seconds: f64| quantity(seconds / group.items.len() as f64, "s");
    let own = &tried[chosen];
    let time = quantity(own.alone, "s");
    if group.left_as_is {
        return "These are compressed inside, and a coding would leave them as large.".to_owned();
    }
    if own.candidate.codec.is_identity() {
        return format!(
            "Alone on the link, a response takes {time} on average as it is, and no setting saves more than it costs."
        );
    }
    let left = percent(own.candidate.size.as_f64() / group.plain.as_f64());
    let computing = own.candidate.server.as_secs_f64();
    let mut why = match group.origin {
        traffic::Origin::Static => format!(
            "It leaves {left}; alone on the link, a response is there and decoded after {time} on average. Compressing all takes {}, \
             before anyone asks.",
            quantity(computing, "s")
        ),
        traffic::Origin::Dynamic => format!(
            "It leaves {left} for {} of computing a response; alone on the link, one is there and decoded after {time} on average.",
            of_one(computing)
        ),
    };
    let sooner = tried
        .iter()
        .min_by(|a, b| a.alone.total_cmp(&b.alone))
        .filter(|sooner| sooner.alone < own.alone);
    if let Some(sooner) = sooner {
        let (name, gain) = (sooner.candidate.codec, quantity(own.alone - sooner.alone, "s"));
        let others = of_one(sooner.candidate.server.as_secs_f64());
        why += &match group.origin {
            traffic::Origin::Static => {
                format!(" {name} would be {gain} sooner, which is no difference, and is larger.")
            }
            traffic::Origin::Dynamic if tried[best].candidate.codec == sooner.candidate.codec => {
                format!(" {name} would be {gain} sooner, which is no difference, for {others} of computing.")
            }
            traffic::Origin::Dynamic => format!(
                " {name} would be {gain} sooner, but computes for {others}: at a load of {}, each second of computing keeps other \
                 requests waiting for {} s.",
                percent(options.server.load),
                round_to(waiting_of_others(options.server.load), 2),
            ),
        };
    }
    why
}

fn round_to(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

/// The break-even formula with its figures; what the symbols mean is in `break_even`.
pub(super) fn formula(pipelined: bool, plain: Bytes, left: f64, computing: f64, decoding: f64) -> String {
    let (name, formula, reason) = if pipelined {
        (
            "Pipelined",
            "B* = 8 S / max(C, D)",
            "pieces are sent while the next is coded",
        )
    } else {
        (
            "Store and forward",
            "B* = 8 S (1 - r) / (C + D)",
            "the body is coded in one piece",
        )
    };
    format!(
        "{name}, since {reason}: {formula}, with size S = {} (the median), share left r = {}, coding on the loaded server C = {}, \
         decoding on the client D = {}.",
        quantity(plain.as_f64(), "B"),
        percent(left),
        quantity(computing, "s"),
        quantity(decoding, "s"),
    )
}

/// How a setting is called in the record.
pub(super) fn setting(setting: Setting) -> String {
    match setting {
        Setting::Recommended => "recommended".to_owned(),
        Setting::Today => "today".to_owned(),
        Setting::All(codec) => codec.to_string(),
    }
}

/// The answer over all links.
pub(super) fn answer(links: &[LinkAdvice]) -> String {
    links
        .iter()
        .map(|link| link.summary.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The recommendation of a link, and what it buys.
pub(super) fn of_link(name: &str, pages: &[PageOutcome], kinds: &[KindAdvice]) -> String {
    let mut sentence = format!("On {name}: {}.", recommended(kinds));
    if let Some(page) = pages.iter().find(|page| page.setting == "recommended") {
        sentence += &format!(" The page takes {}", quantity(page.page_time.mean, "s"));
        let against = |saving: &Option<Saving>, whom: &str| {
            saving.as_ref().map(|saving| match saving.share {
                share if share.abs() < 0.005 => format!("as long as {whom}"),
                share if share > 0.0 => format!("{} less than {whom}", percent(share)),
                share => format!("{} more than {whom}", percent(-share)),
            })
        };
        let compared: Vec<String> = [
            against(&page.saving_against_identity, "without compression"),
            against(&page.saving_against_today, "as recorded"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if !compared.is_empty() {
            sentence += &format!(", {}", compared.join(" and "));
        }
        sentence += ".";
    }
    sentence
}

/// `br:11 for static css and javascript, br:5 for dynamic json, the rest as it is`.
fn recommended(kinds: &[KindAdvice]) -> String {
    let mut by_setting: Vec<(String, Vec<String>)> = Vec::new();
    for kind in kinds.iter().filter(|kind| kind.recommended.setting != "identity") {
        let origin = match kind.origin {
            Origin::Static => "static",
            Origin::Dynamic => "dynamic",
        };
        let (setting, name) = (format!("{} for {origin}", kind.recommended.setting), kind.kind.clone());
        match by_setting.iter_mut().find(|(known, _)| *known == setting) {
            Some((_, names)) => names.push(name),
            None => by_setting.push((setting, vec![name])),
        }
    }
    if by_setting.is_empty() {
        return "compress nothing".to_owned();
    }
    let mut parts: Vec<String> = by_setting
        .into_iter()
        .map(|(setting, names)| format!("{setting} {}", listed(&names)))
        .collect();
    if kinds.iter().any(|kind| kind.recommended.setting == "identity") {
        parts.push("the rest as it is".to_owned());
    }
    parts.join(", ")
}

/// `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// What else follows.
pub(super) fn findings(study: &Study<'_>, links: &[LinkAdvice]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = study
        .groups
        .iter()
        .zip(&study.candidates)
        .filter_map(|(group, candidates)| left_as_is(group, candidates))
        .collect();
    findings.extend(links.iter().filter_map(faster_for_all));
    findings.push(left_out_of_replays());
    findings
}

fn left_out_of_replays() -> Finding {
    Finding {
        title: "What the replays leave out".to_owned(),
        text: "Looking up names, caches, priorities, bodies of requests, and all that lies behind the access \
               link: every server stands right at its far end. What a browser parses, runs and paints is in the gaps of the recording."
            .to_owned(),
        inferred: false,
    }
}

/// What is compressed inside, with the evidence.
fn left_as_is(group: &Group, candidates: &[Candidate]) -> Option<Finding> {
    let least = candidates
        .iter()
        .filter(|candidate| !candidate.codec.is_identity())
        .min_by_key(|candidate| candidate.size)?;
    group.left_as_is.then(|| Finding {
        title: format!("Leave {} {} as it is", origin_word(group.origin), group.kind),
        text: format!(
            "It is compressed inside: {} leaves {} of its {}.",
            least.codec,
            percent(least.size.as_f64() / group.plain.as_f64()),
            quantity(group.plain.as_f64(), "B"),
        ),
        inferred: false,
    })
}

/// One setting for everything that loads the page sooner than the recommended mix, by more than the noise.
fn faster_for_all(link: &LinkAdvice) -> Option<Finding> {
    let mix = link.page.iter().find(|page| page.setting == "recommended")?;
    let alone = |page: &&PageOutcome| !["recommended", "today"].contains(&&*page.setting);
    let best = link
        .page
        .iter()
        .filter(alone)
        .min_by(|a, b| a.page_time.mean.total_cmp(&b.page_time.mean))?;
    let gain = mix.page_time.mean - best.page_time.mean;
    let noise = mix.page_time.ci95.map_or(0.0, |[low, high]| (high - low) / 2.0);
    (gain > noise.max(0.01 * mix.page_time.mean)).then(|| Finding {
        title: format!("On {}, {} for everything loads the page sooner still", link.name, best.setting),
        text: format!(
            "It takes {} where the recommended mix takes {}: the mix weighs what computing costs other requests, and picks kind by \
             kind, by when a response arrives.",
            quantity(best.page_time.mean, "s"),
            quantity(mix.page_time.mean, "s"),
        ),
        inferred: false,
    })
}
