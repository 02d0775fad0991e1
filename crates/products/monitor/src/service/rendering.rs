//! Pages that were made into lines a moment ago. Subscribers who ask for the same and are at the same place share them.

use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// What a page was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// What is asked for, and how it is written.
    pub(super) question: Arc<str>,
    /// Where it begins.
    pub(super) position: u64,
    /// The log's end then.
    pub(super) end: u64,
}

/// A page as lines.
#[derive(Debug, Clone)]
pub(super) struct Rendered {
    pub(super) bytes: Bytes,
    pub(super) next: u64,
    pub(super) delivered: u64,
}

/// The last ones.
#[derive(Debug, Default)]
pub(super) struct RenderedPages {
    pages: Mutex<VecDeque<(Key, Rendered)>>,
}

/// How many are kept: our own choice. Subscribers at the log's end need one a question.
const PAGES_MAX: usize = 8;

impl RenderedPages {
    pub(super) fn get(&self, key: &Key) -> Option<Rendered> {
        let pages = self.pages.lock().expect("no thread panics with it");
        pages
            .iter()
            .find_map(|(known, page)| (known == key).then(|| page.clone()))
    }

    /// Forgets the pages that begin before a position, since what they tell is deleted.
    pub(super) fn release(&self, before: u64) {
        let mut pages = self.pages.lock().expect("no thread panics with it");
        pages.retain(|(key, _)| key.position >= before);
    }

    pub(super) fn put(&self, key: Key, page: Rendered) {
        let mut pages = self.pages.lock().expect("no thread panics with it");
        pages.push_front((key, page));
        pages.truncate(PAGES_MAX);
    }
}
