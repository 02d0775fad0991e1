//! The doubts of an advice: what makes its figures suspect.

use super::PreparedReplay;
use super::candidates::compressed_per_request;
use super::link_measurement::LinkMeasurement;
use lastmile_page::PageHost;
use lastmile_report::number::{interval, quantity};
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_report::saving::Saving;
use lastmile_traffic::responses::{HttpVersion, Response};
use std::collections::BTreeSet;

/// Fewer responses than this say little about their kind: our own choice.
const FEW_RESPONSES: usize = 3;

/// Fewer repeats than this make intervals wide: our own choice, as for studies.
const FEW_REPEATS: usize = 5;

/// The kinds of doubts that an advice raises.
pub const DOUBTS: &[DoubtKind] = &[
    DoubtKind::MostBodiesMissing,
    DoubtKind::MissingBodies,
    DoubtKind::MissingResponses,
    DoubtKind::CachedResponses,
    DoubtKind::UnknownHeads,
    DoubtKind::UnknownLevel,
    DoubtKind::OtherProtocol,
    DoubtKind::FailedRuns,
    DoubtKind::FewRuns,
    DoubtKind::FewResponses,
    DoubtKind::EstimatedSizes,
    DoubtKind::OtherRequests,
    DoubtKind::UncertainSaving,
];

/// Of the traffic as a whole.
pub(super) fn traffic_doubts(prepared: &PreparedReplay<'_>) -> Vec<Doubt> {
    let items = &prepared.page.items;
    let mut doubts = Vec::new();
    let [present, absent] = super::checks::body_bytes(&prepared.page);
    if absent > present {
        let text = format!(
            "the traffic does not contain {} of the {} that could be compressed: the answer is about the rest only; record it with content \
             (\"Save all as HAR with content\", or recordHar with content: 'embed' in Playwright)",
            quantity(absent.as_f64(), "B"),
            quantity((absent + present).as_f64(), "B")
        );
        doubts.push(Doubt::new(DoubtKind::MostBodiesMissing, text));
    }
    let unseen = items
        .iter()
        .filter(|item| !item.has_body && item.plain.get() > 0)
        .count();
    if unseen > 0 {
        let text = format!(
            "{unseen} of {} responses are replayed at their recorded size under every setting: the traffic does not contain their \
             bodies, so no compression could be tried",
            items.len()
        );
        doubts.push(Doubt::new(DoubtKind::MissingBodies, text));
    }
    let missing = prepared
        .page
        .left_out
        .iter()
        .filter(|left_out| left_out.why.contains("size"))
        .count();
    if missing > 0 {
        doubts.push(Doubt::new(
            DoubtKind::MissingResponses,
            format!("{missing} responses are not replayed: neither body nor size is known"),
        ));
    }
    doubts.extend(cached_responses(prepared));
    let unknown = items
        .iter()
        .filter(|item| {
            prepared.traffic.responses[item.response]
                .response_header_bytes
                .is_none()
        })
        .count();
    if prepared.has_recorded_encoding() && unknown > 0 {
        let text = format!(
            "the traffic does not give the size of the headers of {unknown} of {} responses: they are replayed with a typical size",
            items.len()
        );
        doubts.push(Doubt::new(DoubtKind::UnknownHeads, text));
    }
    let coded_on_request = items.iter().filter(|item| {
        compressed_per_request(item.origin) && prepared.traffic.responses[item.response].content_encoding.is_some()
    });
    let coded = coded_on_request.count();
    if coded > 0 {
        let text = format!(
            "the traffic does not say at which level {coded} responses were compressed on request: the page as recorded is charged the \
             CPU time of the level whose size is nearest"
        );
        doubts.push(Doubt::new(DoubtKind::UnknownLevel, text));
    }
    doubts.extend(other_protocol(prepared));
    let estimated = prepared.estimated_settings();
    if !estimated.is_empty() {
        let text = format!(
            "compressing everything under every setting would take too long, so the sizes under {} settings are estimated from the \
             beginnings of bodies; these settings were neither replayed nor recommended",
            estimated.len()
        );
        doubts.push(Doubt::new(DoubtKind::EstimatedSizes, text));
    }
    doubts
}

/// That the browser itself answered what a first visit requests; none where each such response was requested, too.
fn cached_responses(prepared: &PreparedReplay<'_>) -> Option<Doubt> {
    let response = |index: usize| &prepared.traffic.responses[index];
    let requested: BTreeSet<&str> = prepared
        .page
        .items
        .iter()
        .map(|item| &*response(item.response).url)
        .collect();
    let left_out = prepared
        .page
        .left_out
        .iter()
        .map(|left_out| response(left_out.response));
    let cached: Vec<&Response> = left_out.filter(|response| response.from_cache).collect();
    let of_first_visit: BTreeSet<&str> = cached
        .iter()
        .filter(|response| !(300..400).contains(&response.status))
        .map(|response| &*response.url)
        .filter(|url| !requested.contains(url))
        .collect();
    let first = of_first_visit.first()?;
    let text = format!(
        "the browser answered {} of {} requests itself, from a cache or by a service worker: they crossed no network and are not replayed, \
         but a first visit makes {} of them; record the page in a private window, with caches disabled (first: {})",
        cached.len(),
        prepared.traffic.responses.len(),
        of_first_visit.len(),
        first.chars().take(120).collect::<String>()
    );
    Some(Doubt::new(DoubtKind::CachedResponses, text))
}

/// That hosts were recorded over HTTP/3, and are replayed over HTTP/2; none where another protocol was asked for.
fn other_protocol(prepared: &PreparedReplay<'_>) -> Option<Doubt> {
    if prepared.options.load.protocol.is_some() {
        return None;
    }
    let over_3 = |host: &&PageHost| host.recorded() == Some(HttpVersion::Http3);
    let mut hosts = prepared.page.hosts.iter().filter(over_3);
    let first = hosts.next()?;
    let text = format!(
        "{} of {} hosts were recorded over HTTP/3 and are replayed over HTTP/2, since QUIC is not modelled: their connections take a round \
         trip longer to open, and one lost packet delays all their responses (first: {})",
        1 + hosts.count(),
        prepared.page.hosts.len(),
        first.address
    );
    Some(Doubt::new(DoubtKind::OtherProtocol, text))
}

/// That a setting may save nothing: the interval of its saving includes 0, or is below it.
fn uncertain_saving(saving: &Saving, kind: &str) -> Option<Doubt> {
    let [low, high] = saving.mean_ci95_s.unwrap_or([saving.mean_s; 2]);
    let text = if high <= 0.0 {
        format!(
            "{kind}: the page is no slower without its setting; what that would save is less than the model's error"
        )
    } else if low <= 0.0 {
        format!(
            "{kind}: the interval of what the page saves includes 0 ({}): the setting may save nothing",
            interval([low, high], "s")
        )
    } else {
        return None;
    };
    Some(Doubt::new(DoubtKind::UncertainSaving, text))
}

/// Of one link.
pub(super) fn link_doubts(measured: &LinkMeasurement, something_varied: bool) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if let Some((failed, why)) = &measured.failed {
        let text = format!(
            "in {failed} of {} repeats the page did not load under every setting; they are left out under all settings: {why}",
            measured.repeats
        );
        doubts.push(Doubt::new(DoubtKind::FailedRuns, text));
    }
    let repeats = measured.recommended().1.len();
    if something_varied && repeats < FEW_REPEATS {
        doubts.push(Doubt::new(
            DoubtKind::FewRuns,
            format!("{repeats} repeats: confidence intervals need {FEW_REPEATS} or more"),
        ));
    }
    doubts
}

/// Of one kind on one link.
pub(super) fn kind_doubts(prepared: &PreparedReplay<'_>, index: usize, page_saves: Option<&Saving>) -> Vec<Doubt> {
    let group = &prepared.groups[index];
    let mut doubts = Vec::new();
    if group.items.len() < FEW_RESPONSES {
        let text = format!(
            "{} {}: too few responses to represent their kind",
            group.items.len(),
            group.name()
        );
        doubts.push(Doubt::new(DoubtKind::FewResponses, text));
    }
    doubts.extend(page_saves.and_then(|saving| uncertain_saving(saving, &group.name())));
    doubts
}

/// Whether a doubt says that the answer is about a part of the page only.
pub(crate) fn voids(doubt: &Doubt) -> bool {
    matches!(doubt.kind, DoubtKind::MostBodiesMissing | DoubtKind::CachedResponses)
}
