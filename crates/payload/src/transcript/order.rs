//! In what order did the messages of a connection go? In that of their times, where a direction of it has one for each: a log may have
//! the newest first.
//!
//! Messages are given as they are read; they are put in order where they are gathered, in [`super::Directions`]. Here is counted
//! what that moves.

use super::{Direction, Message};
use crate::source::remark::{Tally, Words};
use std::collections::BTreeMap;
use std::time::Duration;

/// Counts messages that stand behind a later one, while they come.
#[derive(Debug, Default)]
pub(super) struct Order {
    courses: BTreeMap<(u32, Direction), Course>,
    /// How many messages there were.
    seen: u64,
}

/// What went one way over a connection.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    latest: Duration,
    has_untimed: bool,
    behind: u64,
    /// The number of the first that stands behind a later one, from 1.
    first_behind: u64,
}

const BEHIND: Words = Words {
    one: "message stands behind a later one of its connection, and is put in the order of the times",
    many: "messages stand behind later ones of their connections, and are put in the order of the times",
};

impl Order {
    pub(super) fn take(&mut self, message: &Message) {
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

    /// Says how many there are.
    pub(super) fn remark(&self, remarks: &mut Tally) {
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
