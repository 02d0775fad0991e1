//! Whether the traffic and the options can have an answer: an answer about nothing, or about a small rest, is none.

use super::response_classes::Group;
use super::{AdviseError, Options};
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_page::Page;
use lastmile_page::page::PageResource;
use lastmile_report::number::quantity;
use lastmile_traffic::responses::{Body, Origin, Traffic};
use lastmile_units::ByteCount;
use std::collections::BTreeSet;

/// The bytes of the bodies of kinds that can be compressed: those in the traffic, and those of which it has only the size.
pub(super) fn body_bytes(page: &Page) -> [ByteCount; 2] {
    split_by_body(page).map(|items| items.iter().map(|item| item.plain).sum())
}

/// What can be compressed and is not empty: those whose bodies are in the traffic, and those of which it has only the size.
fn split_by_body(page: &Page) -> [Vec<&PageResource>; 2] {
    let items = page.items.iter();
    let compressible = items.filter(|item| !item.kind.already_compressed() && item.plain > ByteCount::ZERO);
    let (present, missing) = compressible.partition(|item| item.has_body);
    [present, missing]
}

/// Checks that there is something to replay, and that the answer is about most of it, unless less was asked for.
pub(super) fn check_page(traffic: &Traffic, page: &Page, options: &Options) -> Result<(), AdviseError> {
    let source = || traffic.source.clone();
    if page.items.is_empty() {
        return Err(AdviseError::NothingToReplay {
            traffic: source(),
            left_out: page.left_out.len(),
        });
    }
    if page.items.iter().all(|item| !item.has_body) {
        return Err(AdviseError::NoBodies {
            traffic: source(),
            responses: page.items.len(),
        });
    }
    if options.partial {
        return Ok(());
    }
    check_bodies(traffic, page)
}

/// Checks that most of what could be compressed is in the traffic: by bytes, or by count where sizes are missing too.
fn check_bodies(traffic: &Traffic, page: &Page) -> Result<(), AdviseError> {
    let [present, missing] = split_by_body(page);
    let [present_bytes, missing_bytes] = body_bytes(page);
    let without_size = page.left_out.iter().filter(|left_out| {
        let response = &traffic.responses[left_out.response];
        response.body == Body::Missing
            && !response.from_cache
            && response.media_type.is_some()
            && !response.kind().already_compressed()
    });
    let bodies = missing.len() + without_size.count();
    let responses = bodies + present.len();
    let [missing, all] = if missing_bytes > present_bytes {
        [missing_bytes, missing_bytes + present_bytes].map(|size| quantity(size.as_f64(), "B"))
    } else if bodies > missing.len() && bodies > present.len() {
        [format!("{bodies} bodies"), responses.to_string()]
    } else {
        return Ok(());
    };
    Err(AdviseError::MostBodiesMissing {
        traffic: traffic.source.clone(),
        missing,
        all,
        bodies,
        responses,
    })
}

/// Checks that the server supports one of the codings that were asked for, for the responses of each origin that could be compressed.
pub(super) fn check_server(options: &Options, groups: &[Group]) -> Result<(), AdviseError> {
    let Some(server) = options.server else {
        return Ok(());
    };
    let open = |origin| {
        groups
            .iter()
            .any(|group| group.origin == origin && !group.already_compressed)
    };
    let none_left = |origin: &Origin| open(*origin) && !options.levels.iter().any(|codec| options.can(*origin, *codec));
    let origins: Vec<Origin> = [Origin::Static, Origin::Dynamic]
        .into_iter()
        .filter(none_left)
        .collect();
    let responses = match origins[..] {
        [] => return Ok(()),
        [Origin::Static] => "files",
        [Origin::Dynamic] => "responses made on request",
        _ => "anything",
    };
    let can = |coding: &Coding| {
        let mut codecs = CodecSpec::all().filter(|codec| codec.coding() == *coding);
        *coding != Coding::Identity && codecs.any(|codec| origins.iter().all(|origin| options.can(*origin, codec)))
    };
    let asked: BTreeSet<Coding> = options.levels.iter().map(|codec| codec.coding()).collect();
    let listed = |codings: Vec<Coding>| {
        codings
            .iter()
            .map(|coding| coding.token())
            .collect::<Vec<_>>()
            .join(" and ")
    };
    Err(AdviseError::NothingToTry {
        server: server.name(),
        asked: listed(asked.into_iter().collect()),
        responses,
        supported: listed(Coding::ALL.into_iter().filter(can).collect()),
    })
}

#[cfg(test)]
mod tests;
