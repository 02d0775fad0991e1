//! What makes an advice suspect?

use super::Study;
use super::candidates::codes_on_request;
use super::measure::Measured;
use lastmile_report::record::Doubt;

/// Fewer responses than that say little of their kind: our own choice.
const FEW_RESPONSES: usize = 3;

/// Fewer repeats than that leave intervals wide: our own choice, as for studies.
const FEW_REPEATS: usize = 5;

fn doubt(kind: &str, text: String) -> Doubt {
    Doubt {
        kind: kind.to_owned(),
        text,
    }
}

/// Of the traffic as a whole.
pub(super) fn of_all(study: &Study<'_>) -> Vec<Doubt> {
    let items = &study.page.items;
    let mut doubts = Vec::new();
    let unseen = items
        .iter()
        .filter(|item| !item.has_body && item.plain.get() > 0)
        .count();
    if unseen > 0 {
        let text = format!(
            "{unseen} of {} responses are replayed at the size at which they were seen under every setting: their bodies are not in \
             the traffic, so that no coding could be tried",
            items.len()
        );
        doubts.push(doubt("missing-bodies", text));
    }
    let missing = study
        .page
        .left_out
        .iter()
        .filter(|left_out| left_out.why.contains("size"))
        .count();
    if missing > 0 {
        doubts.push(doubt(
            "missing-responses",
            format!("{missing} responses are not replayed: neither body nor size is known"),
        ));
    }
    let unknown = items
        .iter()
        .filter(|item| study.traffic.responses[item.response].response_header_bytes.is_none())
        .count();
    if study.knows_today() && unknown > 0 {
        let text = format!(
            "of {unknown} of {} responses the headers' size is not in the traffic: they are replayed with a usual one",
            items.len()
        );
        doubts.push(doubt("unknown-heads", text));
    }
    let coded_on_request = items.iter().filter(|item| {
        codes_on_request(item.origin) && study.traffic.responses[item.response].content_encoding.is_some()
    });
    let coded = coded_on_request.count();
    if coded > 0 {
        let text = format!(
            "at which level {coded} responses were compressed on request is not in the traffic: as recorded, they compute as the level does \
             whose size is nearest"
        );
        doubts.push(doubt("unknown-level", text));
    }
    doubts
}

/// Of one link.
pub(super) fn of_link(study: &Study<'_>, measured: &Measured, something_varied: bool) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if let Some((failed, why)) = &measured.failed {
        let text = format!(
            "{failed} of {} repeats did not load under every setting, and are left out under all: {why}",
            study.options.repeats
        );
        doubts.push(doubt("failed-runs", text));
    }
    let repeats = measured.pages.values().map(Vec::len).min().unwrap_or_default();
    if something_varied && repeats < FEW_REPEATS {
        doubts.push(doubt(
            "few-runs",
            format!("{repeats} repeats: intervals want {FEW_REPEATS} or more"),
        ));
    }
    doubts
}

/// Of one kind on one link.
pub(super) fn of_kind(study: &Study<'_>, place: usize, measured: &Measured) -> Vec<Doubt> {
    let group = &study.groups[place];
    let mut doubts = Vec::new();
    if group.items.len() < FEW_RESPONSES {
        let text = format!(
            "{} {}: too few to speak for their kind",
            group.items.len(),
            group.name()
        );
        doubts.push(doubt("few-responses", text));
    }
    if measured.tried[place].iter().any(|tried| tried.candidate.estimated) {
        let text = "bodies are so long that under slow settings only their beginnings were coded, and the rest taken to be alike";
        doubts.push(doubt("estimated-sizes", text.to_owned()));
    }
    doubts
}
