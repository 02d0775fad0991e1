//! The sentences of an advice, made from its figures.

use super::PreparedReplay;
use super::candidates::Candidate;
use super::mix::{KindSetting, Mix};
use super::response_classes::{Group, origin_word};
use super::select::MeasuredCandidate;
use crate::record::{KindAdvice, LinkAdvice, Origin, Rung};
use lastmile_codec::content::CodecSpec;
use lastmile_report::model_error::ModelError;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::Finding;
use lastmile_traffic::responses;
use lastmile_units::ByteCount;

/// The names of rows that are no codec.
pub(crate) const RECOMMENDED: &str = "recommended";
/// As recorded.
pub(crate) const TODAY: &str = "today";
/// Uncompressed.
pub(crate) const IDENTITY: &str = "identity";

/// A page's saving below this share of its time is a detail: our own choice.
pub(crate) const DETAIL: f64 = 0.001;

/// What a setting does to a group and costs.
pub(super) fn why(tried: &[MeasuredCandidate], setting: KindSetting, group: &Group) -> String {
    if group.already_compressed {
        return "These formats are already compressed: a content coding would not make them smaller.".to_owned();
    }
    let codec = match setting {
        KindSetting::AsRecorded => {
            return "As recorded: no setting tried loads the page faster beyond the noise.".to_owned();
        }
        KindSetting::Codec(codec) => codec,
    };
    let Some(own) = tried.iter().find(|tried| tried.candidate.codec == codec) else {
        return String::new();
    };
    let time = quantity(own.isolated_time, "s");
    if codec.is_identity() {
        return format!(
            "Uncompressed, a response takes {time} on average on an idle link, and no setting tried loads the page faster beyond the noise."
        );
    }
    let left = percent(own.candidate.size.as_f64() / group.plain.as_f64());
    let computing = own.candidate.server.as_secs_f64();
    match group.origin {
        responses::Origin::Static => format!(
            "Compressed to {left}; on an idle link, a response arrives and is decompressed within {time} on average. Compressing all \
             of them takes {} of CPU time, before the first request.",
            quantity(computing, "s")
        ),
        responses::Origin::Dynamic => format!(
            "Compressed to {left} for {} of CPU time per response; on an idle link, a response arrives and is decompressed within \
             {time} on average.",
            quantity(computing / group.items.len() as f64, "s")
        ),
    }
}

/// The break-even formula with its figures; `break_even` defines the symbols.
pub(super) fn formula(pipelined: bool, plain: ByteCount, left: f64, computing: f64, decoding: f64) -> String {
    let (name, formula, reason) = if pipelined {
        (
            "Pipelined",
            "B* = 8 S / max(C, D)",
            "each piece is sent while the next is compressed",
        )
    } else {
        (
            "Store and forward",
            "B* = 8 S (1 - r) / (C + D)",
            "the body is compressed in one piece",
        )
    };
    format!(
        "{name}, since {reason}: {formula}, with size S = {} (the median), compression ratio r = {}, compression time on the loaded \
         server C = {}, decompression time on the client D = {}.",
        quantity(plain.as_f64(), "B"),
        percent(left),
        quantity(computing, "s"),
        quantity(decoding, "s"),
    )
}

/// The name of a kind's setting in the record.
pub(super) fn kind_setting(setting: KindSetting) -> String {
    match setting {
        KindSetting::AsRecorded => TODAY.to_owned(),
        KindSetting::Codec(codec) => codec.to_string(),
    }
}

/// The name of a mix that is one setting for everything, or as recorded; none where it is neither.
pub(super) fn known_name(prepared: &PreparedReplay<'_>, mix: &Mix) -> Option<String> {
    let recorded = prepared.as_recorded().filter(|recorded| recorded == mix);
    let codec = || prepared.uniform_codec(mix).map(|codec| codec.to_string());
    recorded.map(|_| TODAY.to_owned()).or_else(codec)
}

/// The name of a mix in the record: one setting, or each with the kinds that have it.
pub(super) fn mix_name(prepared: &PreparedReplay<'_>, mix: &Mix) -> String {
    known_name(prepared, mix).unwrap_or_else(|| {
        let kinds = prepared.groups.iter().zip(&mix.0).map(|(group, setting)| {
            let origin = origin_word(group.origin);
            (kind_setting(*setting), origin, group.kind.name().to_owned())
        });
        settings_of_kinds(kinds)
    })
}

/// The answer over all links.
pub(super) fn answer(links: &[LinkAdvice], model_error: Option<&ModelError>) -> String {
    let mut sentences: Vec<String> = links.iter().map(|link| link.summary.clone()).collect();
    let in_browser = links
        .iter()
        .filter_map(|link| Some(link.browser.as_ref()?.sentence(&link.name)));
    sentences.extend(in_browser);
    sentences.extend(model_error.map(lastmile_report::model_error::ModelError::sentence));
    sentences.join(" ")
}

/// The recommendation for a link, as a ladder from the page as it is.
pub(super) fn link_summary(link: &LinkAdvice) -> String {
    let mut sentence = format!("On {}: {}.", link.name, recommended(&link.kinds));
    let [first, middle @ .., best] = &link.ladder[..] else {
        return sentence;
    };
    let time = |rung: &Rung| quantity(rung.page_time.mean, "s");
    let as_it_is = if first.setting == TODAY {
        "as recorded"
    } else {
        "without compression"
    };
    let saved = percent(best.saved_share);
    let [low, high] = best.saved_share_ci95.unwrap_or([best.saved_share; 2]);
    if best.saved_share == 0.0 && low == high {
        return sentence
            + &format!(
                " The page takes {} {as_it_is}, and nothing tried is faster.",
                time(best)
            );
    }
    sentence += &format!(" The page takes {} {as_it_is},", time(first));
    if low <= 0.0 {
        sentence += &format!(
            " {} as recommended ({saved} less{}): the interval includes 0, so this may save nothing.",
            time(best),
            share_interval(low, high)
        );
        return sentence;
    }
    for rung in middle {
        if let Some(share) = rung.share_of_saving.filter(|share| *share > 0.0) {
            sentence += &format!(
                " {} with {} ({} of what can be saved),",
                time(rung),
                rung.setting,
                percent((share.min(1.0) * 100.0).round() / 100.0)
            );
        }
    }
    let interval = share_interval(low, high);
    let at_best = if middle.iter().all(|rung| rung.page_time.mean > best.page_time.mean) {
        "at best"
    } else {
        "as recommended"
    };
    sentence += &format!(" {} {at_best} ({saved} less{interval}).", time(best));
    let ties: Vec<&String> = link
        .as_good_as
        .iter()
        .filter(|name| is_one_setting(name))
        .take(2)
        .collect();
    if !ties.is_empty() {
        let names: Vec<String> = ties.into_iter().cloned().collect();
        sentence += &format!(
            " That is as good as {} for everything, within the noise.",
            names.join(" or ")
        );
    }
    sentence
}

/// `, 54 to 62 %`. Repeats that agree tell nothing of how far the model is from the truth.
fn share_interval(low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(percent);
    if low == high {
        return ", to within the model's error".to_owned();
    }
    format!(", {} to {high}", low.trim_end_matches(" %"))
}

/// Whether a row's name is a codec.
fn is_one_setting(name: &str) -> bool {
    name.parse::<CodecSpec>().is_ok_and(|codec| !codec.is_identity())
}

/// `br:11 for static css and javascript, br:5 for dynamic json, the rest uncompressed`.
fn recommended(kinds: &[KindAdvice]) -> String {
    let all = kinds.iter().map(|kind| {
        let origin = match kind.origin {
            Origin::Static => "static",
            Origin::Dynamic => "dynamic",
        };
        (kind.recommended.setting.clone(), origin, kind.kind.clone())
    });
    settings_of_kinds(all)
}

/// Each setting with the kinds that have it, given as setting, origin and kind.
fn settings_of_kinds(kinds: impl Iterator<Item = (String, &'static str, String)>) -> String {
    let (uncompressed, compressed): (Vec<_>, Vec<_>) = kinds.partition(|(setting, ..)| setting == IDENTITY);
    let rest = if uncompressed.is_empty() {
        ""
    } else {
        ", the rest uncompressed"
    };
    let Some((first, ..)) = compressed.first() else {
        return "compress nothing".to_owned();
    };
    if compressed.iter().all(|(setting, ..)| setting == first) {
        let (all, first) = (listed(&kind_names(&compressed)), setting_words(first));
        return format!("{first} for {all}{rest}");
    }
    let mut by_setting: Vec<(String, Vec<String>)> = Vec::new();
    for (setting, origin, kind) in compressed {
        let setting = format!("{} for {origin}", setting_words(&setting));
        match by_setting.iter_mut().find(|(known, _)| *known == setting) {
            Some((_, names)) => names.push(kind),
            None => by_setting.push((setting, vec![kind])),
        }
    }
    let parts = by_setting
        .into_iter()
        .map(|(setting, names)| format!("{setting} {}", listed(&names)));
    parts.collect::<Vec<String>>().join(", ") + rest
}

/// The names of kinds, each once.
fn kind_names(kinds: &[(String, &str, String)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (.., kind) in kinds {
        if !names.contains(kind) {
            names.push(kind.clone());
        }
    }
    names
}

fn setting_words(setting: &str) -> &str {
    if setting == TODAY {
        "the recorded encoding"
    } else {
        setting
    }
}

/// `a, b and c`.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// The other findings.
pub(super) fn findings(prepared: &PreparedReplay<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = prepared
        .groups
        .iter()
        .zip(&prepared.candidates)
        .filter_map(|(group, candidates)| already_compressed(group, candidates))
        .collect();
    findings.push(left_out_of_replays());
    findings
}

fn left_out_of_replays() -> Finding {
    Finding {
        title: "What the replays do not model".to_owned(),
        text: "DNS lookups, caches, the priorities of HTTP/2 streams, request bodies, and everything behind the access link: every server is directly at \
               its far end. The browser's parsing, scripts and painting are part of the recorded gaps between requests."
            .to_owned(),
        inferred: false,
    }
}

/// The finding on a group in an already compressed format, with the evidence.
fn already_compressed(group: &Group, candidates: &[Candidate]) -> Option<Finding> {
    let least = candidates
        .iter()
        .filter(|candidate| !candidate.codec.is_identity())
        .min_by_key(|candidate| candidate.size)?;
    group.already_compressed.then(|| Finding {
        title: format!("Do not compress {} {}", origin_word(group.origin), group.kind),
        text: format!(
            "It is already compressed: {} compresses its {} only to {}.",
            least.codec,
            quantity(group.plain.as_f64(), "B"),
            percent(least.size.as_f64() / group.plain.as_f64()),
        ),
        inferred: false,
    })
}
