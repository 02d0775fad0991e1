//! Counts messages that are not in time order, as in a log with the newest first.
//!
//! A direction of a connection is sorted by time where each of its messages has a time. [`super::Directions`] does the sorting, when
//! it gathers messages; here only those that it moves are counted.

use super::{Direction, Message};
use crate::reading::note::{NoteCounter, Plural};
use std::collections::BTreeMap;
use std::time::Duration;

/// Counts messages that follow a later one, as they are read.
#[derive(Debug, Default)]
pub(super) struct Order {
    courses: BTreeMap<(u32, Direction), TimeOrder>,
    /// How many messages were read.
    seen: u64,
}

/// The order of one direction of a connection.
#[derive(Debug, Clone, Copy, Default)]
struct TimeOrder {
    latest: Duration,
    has_untimed: bool,
    behind: u64,
    /// The number of the first message that follows a later one, from 1.
    first_behind: u64,
}

const BEHIND: Plural = Plural {
    one: "message follows a later one of its connection, and is moved into time order",
    many: "messages follow later ones of their connections, and are moved into time order",
};

impl Order {
    pub(super) fn push(&mut self, message: &Message) {
        self.seen += 1;
        let course = self.courses.entry((message.connection, message.direction)).or_default();
        match message.at {
            None => course.has_untimed = true,
            Some(at) if at < course.latest => {
                if course.behind == 0 {
                    course.first_behind = self.seen;
                }
                course.behind += 1;
            }
            Some(at) => course.latest = at,
        }
    }

    /// Adds a note with the count.
    pub(super) fn add_note(&self, remarks: &mut NoteCounter) {
        let moved = || {
            self.courses
                .values()
                .filter(|course| course.behind > 0 && !course.has_untimed)
        };
        let count = moved().map(|course| course.behind).sum();
        if let Some(first) = moved().map(|course| course.first_behind).min() {
            remarks.add(BEHIND, count, &format!("message {first}"));
        }
    }
}
