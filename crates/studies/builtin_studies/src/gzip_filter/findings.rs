//! The findings of the study `gzip-filter`.

use super::figures::{self, GZIP, PLAIN, Split, levels_of, part_of_link, reproductions, time};
use super::reference_values::{BANDWIDTHS, CASES};
use lastmile_report::number::{mean_and_spread, percent, quantity};
use lastmile_report::record::{Published, Run};

/// `B 63 %, C 71 %`.
fn listed(items: impl IntoIterator<Item = (String, String)>) -> String {
    items
        .into_iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Our ratio of a case, with the printed one where it is a single number.
fn against_published(run: &Run, name: &str) -> Vec<(String, f64, f64)> {
    let of_case = |ratio: &lastmile_report::record::Ratio| match (ratio.levels.get("case"), ratio.published) {
        (Some(case), Some(Published::Value(printed))) if ratio.name == name && ratio.levels.len() == 1 => {
            Some((case.clone(), ratio.mean, printed))
        }
        _ => None,
    };
    run.ratios.iter().filter_map(of_case).collect()
}

pub(super) fn sizes(run: &Run) -> Option<String> {
    let compared = against_published(run, "rssdr");
    let (case, ours, printed) = compared
        .iter()
        .max_by(|a, b| (a.1 - a.2).abs().total_cmp(&(b.1 - b.2).abs()))?
        .clone();
    let least = compared.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "Over {} cases, the share of bytes saved differs from the printed one by at most {} percentage points (case {case}: {} here, \
             {} printed). A single object saves least ({} in case {}), since most of it is class descriptors, which occur only once. The \
             texts of the objects are ours, and their form was chosen with the printed sizes in view: the agreement shows that such \
             objects exist, and is not independent evidence. The table on contents shows what the saving depends on.",
        compared.len(),
        quantity((ours - printed).abs() * 100.0, ""),
        percent(ours),
        percent(printed),
        percent(least.1),
        least.0
    ))
}

pub(super) fn times(run: &Run) -> Option<String> {
    let compared = against_published(run, "etdr");
    if compared.is_empty() {
        return None;
    }
    let shown = listed(compared.iter().map(|(case, ours, printed)| {
        (
            case.clone(),
            format!("{} ({} printed)", percent(*ours), percent(*printed)),
        )
    }));
    let (plain, gzip) = (time_ratio(run, PLAIN)?, time_ratio(run, GZIP)?);
    Some(format!(
        "The extracting time decreases by: {shown}. With today's TCP and processors our times are shorter than the printed ones, \
             by a factor of {} without the filter and {} with it (geometric means over the cases). The round trip of 250 ms is \
             inferred from case F; the report does not state it.",
        quantity(plain, ""),
        quantity(gzip, "")
    ))
}

/// By what factor the printed times are longer than ours, as a geometric mean over the cases.
fn time_ratio(run: &Run, codec: &str) -> Option<f64> {
    let mut logs = Vec::new();
    for case in CASES {
        let ours = time(run, "cases", &[("case", case.name), ("codec", codec)])?;
        let printed = if codec == PLAIN {
            case.plain_time
        } else {
            case.gzip_time
        };
        logs.push(libm::log(printed / ours));
    }
    Some(libm::exp(logs.iter().sum::<f64>() / logs.len() as f64))
}

pub(super) fn buffering(run: &Run) -> Option<String> {
    let mut shown = Vec::new();
    let mut largest: Option<(f64, String)> = None;
    for case in ["B", "C", "H"] {
        for nagle in levels_of(run, "mechanisms", "nagle") {
            let split = Split::from_run(run, case, "250 ms", nagle)?;
            let share = split.share_of_buffering()?;
            if nagle == "on" {
                let etdr = split.etdr();
                let text = format!(
                    "{} of the time ({} of that by buffering)",
                    percent(etdr),
                    percent(share)
                );
                shown.push((case.to_owned(), text));
            }
            if largest.as_ref().is_none_or(|(most, _)| share > *most) {
                let why = if nagle == "off" {
                    ", where small writes are sent as small segments, each with its own header"
                } else {
                    ""
                };
                largest = Some((share, format!("case {case}, Nagle {nagle}{why}")));
            }
        }
    }
    let (most, setting) = largest?;
    Some(format!(
        "The filter collects the response before it sends it, so buffering alone would give a part of the saving. The filter \
             saves, in case {}; the rest is compression. Over all settings tried, buffering explains at most {} of the saving \
             ({setting}). In the others the server makes objects faster than they are sent, and so fills whole segments without the \
             filter; full segments do not wait.",
        listed(shown),
        percent(most)
    ))
}

pub(super) fn nearest_setting(run: &Run) -> Option<String> {
    let ranked = reproductions(run);
    let (best, worst) = (ranked.first()?, ranked.last()?);
    let base = ranked
        .iter()
        .find(|setting| setting.receive_window.starts_with("64") && setting.object_time == "0 s")?;
    Some(format!(
        "Of {} combinations of settings that the report does not state, a receive window of {} and {} per object come closest: \
             they meet the sixteen printed times within a factor of {} (geometric standard distance; {} without the filter, {} with \
             it), compared with {} for TCP of 2005 with a full window and no time per object, and {} for the worst. A small window is \
             thus a better explanation of the printed times than Nagle's algorithm: it allows two or three segments per round trip, \
             however the server writes. The table of times shows what remains unexplained.",
        ranked.len(),
        best.receive_window,
        best.object_time,
        quantity(best.both, ""),
        quantity(best.plain, ""),
        quantity(best.gzip, ""),
        quantity(base.both, ""),
        quantity(worst.both, "")
    ))
}

pub(super) fn forecast(run: &Run) -> Option<String> {
    let mut shown = Vec::new();
    let mut crossings = Vec::new();
    for slow_down in levels_of(run, "processors", "cpu_slowdown") {
        let mut curve: Vec<(f64, f64)> = run
            .ratios
            .iter()
            .filter(|ratio| {
                ratio.name == "etdr_by_processor"
                    && ratio.levels.get("cpu_slowdown").is_some_and(|level| level == slow_down)
            })
            .filter_map(|ratio| Some((megabits(ratio.levels.get("link")?)?, ratio.mean)))
            .collect();
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        let crossing = curve
            .windows(2)
            .find(|pair| pair[0].1 > 0.0 && pair[1].1 <= 0.0)
            .map(|pair| {
                let ((low, above), (high, below)) = (pair[0], pair[1]);
                libm::exp(libm::log(low) + (libm::log(high) - libm::log(low)) * above / (above - below))
            });
        let text = match (crossing, curve.last()?.1 > 0.0) {
            (Some(at), _) => format!("about {}", quantity(at * 1e6, "bit/s")),
            (None, true) => "no bandwidth tried".to_owned(),
            (None, false) => "the lowest bandwidth tried".to_owned(),
        };
        shown.push((format!("slow-down {slow_down}:"), text));
        crossings.push(crossing.unwrap_or(if curve.last()?.1 > 0.0 { f64::INFINITY } else { 0.0 }));
    }
    if shown.is_empty() {
        return None;
    }
    // The levels are in the order of the study, the fastest processor first.
    let shifts = crossings.windows(2).all(|pair| pair[0] > pair[1]);
    Some(format!(
        "In case H over a round trip of 1 ms, the filter stops paying off at: {}. The report's forecast, that faster processors \
             shift the curve to the right, {}.",
        listed(shown),
        if shifts { "holds" } else { "does not hold here" }
    ))
}

/// The rate in the name of a link of the `processors` part: `30M-1ms`, `512k-1ms`.
fn megabits(link: &str) -> Option<f64> {
    let (rate, _) = link.split_once('-')?;
    if let Some(kilobits) = rate.strip_suffix('k') {
        return Some(kilobits.parse::<f64>().ok()? / 1e3);
    }
    rate.strip_suffix('M')?.parse().ok()
}

pub(super) fn local_host(run: &Run) -> Option<String> {
    let mut shown = Vec::new();
    for link in ["published/intranet-100m", "published/local-host"] {
        let (_, printed_plain, printed_gzip) = BANDWIDTHS.into_iter().find(|(name, ..)| *name == link)?;
        let of = |codec| {
            figures::cell(run, part_of_link(link), &[("link", link), ("codec", codec)])?
                .figures
                .get("extract_time")
        };
        let printed_gzip = printed_gzip.map_or("cut off".to_owned(), |seconds| quantity(seconds, "s"));
        shown.push(format!(
            "{link}: {} without and {} with the filter (printed: {} and {printed_gzip})",
            mean_and_spread(of(PLAIN)?),
            mean_and_spread(of(GZIP)?),
            quantity(printed_plain, "s")
        ));
    }
    let intranet = time(run, "intranet", &[("codec", PLAIN)])?;
    let printed = BANDWIDTHS
        .into_iter()
        .find(|(link, ..)| *link == "published/intranet-100m")?
        .1;
    Some(format!(
        "{}. With {PACKETS} packets in the printed time of the intranet, making and reading one packet took {} in 2005; here it \
             takes at most {}, {} times less. The report measured its own processors there, which ours cannot represent. Our times on \
             one machine spread because of waits: in some runs Nagle's algorithm holds a last small write until a delayed \
             acknowledgement arrives, in others it does not.",
        shown.join("; "),
        quantity(printed / PACKETS, "s"),
        quantity(intranet / PACKETS, "s"),
        quantity((printed / intranet).round(), "")
    ))
}

/// How many packets case I delivers.
const PACKETS: f64 = 100.0;
