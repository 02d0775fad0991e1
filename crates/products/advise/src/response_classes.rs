//! Groups of responses that get one setting: those of one kind and origin.

use crate::record;
use lastmile_page::Page;
use lastmile_traffic::responses::{Origin, ResponseKind};
use lastmile_units::ByteCount;
use std::collections::BTreeMap;

/// Responses that get one setting.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) kind: ResponseKind,
    pub(super) origin: Origin,
    /// Items of the page whose bodies can be compressed; at least one.
    pub(super) items: Vec<usize>,
    /// The total size of their bodies without content coding.
    pub(super) plain: ByteCount,
    /// Whether their format is already compressed, so that codings are only probed.
    pub(super) already_compressed: bool,
}

/// The groups of a page, the one with the most bytes first.
pub(super) fn groups(page: &Page) -> Vec<Group> {
    let mut by_kind: BTreeMap<(ResponseKind, Origin), Vec<usize>> = BTreeMap::new();
    for (index, item) in page.items.iter().enumerate().filter(|(_, item)| item.has_body) {
        by_kind.entry((item.kind, item.origin)).or_default().push(index);
    }
    let mut groups: Vec<Group> = by_kind
        .into_iter()
        .map(|((kind, origin), items)| Group {
            kind,
            origin,
            plain: items.iter().map(|item| page.items[*item].plain).sum(),
            items,
            already_compressed: kind.already_compressed(),
        })
        .collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.plain), group.kind, group.origin));
    groups
}

impl Group {
    /// Its name in doubts and sentences: `static javascript`.
    pub(super) fn name(&self) -> String {
        format!("{} {}", origin_word(self.origin), self.kind)
    }
}

/// As in the record.
pub(super) const fn origin_record(origin: Origin) -> record::Origin {
    match origin {
        Origin::Static => record::Origin::Static,
        Origin::Dynamic => record::Origin::Dynamic,
    }
}

/// `static` or `dynamic`.
pub(super) const fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Static => "static",
        Origin::Dynamic => "dynamic",
    }
}
