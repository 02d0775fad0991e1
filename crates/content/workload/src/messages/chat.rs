//! Messages of a mock chat service: JSON, most of them short, as in a public channel.
//!
//! A hello, the list of people present, then a day of people who talk, join, leave and rename themselves, and of a program that announces
//! events of an issue tracker. The words are pseudo-words by Zipf's law. The length of lines, their repetitions, and the uneven shares
//! of people are our own choice, made so that sizes are distributed and compress like those of the mock chat of the 2013 evaluation
//! (hybi list, 15 October 2013: 0.84 without context takeover, 0.30 with it). That they do is no evidence about chats; how settings
//! change the ratio is not determined by it.

use super::Timeline;
use crate::vocabulary::{Words, capitalised, pick_of};
use lastmile_codec::message::Kind;
use lastmile_traffic::messages::{Direction, Message};
use lastmile_units::random::{below, between, pick};
use lastmile_units::{Rng, Seed};
use std::num::NonZeroU32;
use std::time::Duration;

/// A chat service, as its server sees it: `{ kind = "chat", messages = 666 }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chat {
    /// The number of messages that the server sends over each connection; all messages of a day differ.
    pub messages: NonZeroU32,
    /// The number of connections whose users talk: everything is sent to each, and its user's messages are received over it. With 0, the
    /// default, there is one connection, over which nothing is received.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub speakers: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Chat {
    pub(crate) fn generate(&self, seed: Seed) -> Vec<Message> {
        let mut rng = seed.derive("chat").rng();
        let mut channel = Channel::new(&mut rng);
        let mut messages = Vec::new();
        for index in 0..self.messages.get() {
            let event = match index {
                0 => channel.hello(&mut rng),
                1 => channel.list(),
                _ => channel.event(&mut rng),
            };
            let message = |direction, connection, text: &str| Message {
                direction,
                at: Some(channel.clock.now),
                kind: Kind::Text,
                connection,
                payload: text.to_owned().into(),
            };
            if let Some(said) = &event.said
                && event.person < self.speakers as usize
            {
                messages.push(message(Direction::Received, event.person as u32, said));
            }
            messages.extend((0..self.speakers.max(1)).map(|to| message(Direction::Sent, to, &event.sent)));
        }
        messages
    }
}

/// An event.
struct Event {
    /// The message to everybody.
    sent: String,
    /// The person who caused it.
    person: usize,
    /// The message that this person's client sends for it, if there is one.
    said: Option<String>,
}

/// The number of people, the most talkative first: our own choice, as are all shares and lengths below.
const PEOPLE: usize = 40;

/// The unit of its timestamps.
const SECOND: Duration = Duration::from_secs(1);

/// The state of a channel during a day.
struct Channel {
    words: Words,
    clock: Timeline,
    /// People's current names.
    names: Vec<String>,
    /// Whether each person is present.
    present: [bool; PEOPLE],
    /// Projects whose tracker and code are talked about.
    projects: Vec<String>,
    /// Files of those projects.
    files: Vec<String>,
    /// The last issue's number.
    issue: usize,
    /// The people who talk with each other now, and their topic.
    talkers: Vec<usize>,
    subject: Vec<String>,
}

impl Channel {
    fn new(rng: &mut Rng) -> Self {
        let words = Words::new(rng);
        let mut names: Vec<String> = Vec::new();
        while names.len() < PEOPLE {
            let name = nickname(&words, rng);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let projects: Vec<String> = (0..6).map(|_| words.name(rng).to_owned()).collect();
        let files = (0..24)
            .map(|index| format!("{}/{}", projects[index % projects.len()], words.camel(rng)))
            .collect();
        Self {
            words,
            clock: Timeline::default(),
            names,
            present: [true; PEOPLE],
            projects,
            files,
            issue: between(rng, 2_000, 40_000),
            talkers: Vec::new(),
            subject: Vec::new(),
        }
    }

    fn hello(&self, rng: &mut Rng) -> Event {
        let welcome = self.words.sentences(5, rng);
        self.server_event(format!(
            r#"{{"type":"hello","server":"lastmile example chat service","version":"1.0","msg":"{welcome}"}}"#
        ))
    }

    fn list(&self) -> Event {
        let names = self.names.join(r#"",""#);
        self.server_event(format!(r#"{{"type":"channel-list","list":["{names}"]}}"#))
    }

    /// What the server sends without a person's message.
    fn server_event(&self, sent: String) -> Event {
        Event {
            sent,
            person: PEOPLE,
            said: None,
        }
    }

    fn event(&mut self, rng: &mut Rng) -> Event {
        if self.talkers.is_empty() || below(rng, 14) == 0 {
            self.change_subject(rng);
            self.clock.pause(rng, SECOND, 30, 900);
        } else {
            self.clock.pause(rng, SECOND, 1, 60);
        }
        match below(rng, 100) {
            0..4 => self.presence(rng),
            4 => self.rename(rng),
            5..13 => {
                let text = self.announcement(rng);
                self.message(PEOPLE, &text)
            }
            _ => {
                let person = pick(rng, &self.talkers);
                let text = self.line(person, rng);
                self.message(person, &text)
            }
        }
    }

    fn message(&self, person: usize, text: &str) -> Event {
        let (time, sender) = (self.clock.time_of_day(), self.name(person));
        Event {
            sent: format!(r#"{{"type":"msg","timestamp":"{time}","sender":"{sender}","msg":"{text}"}}"#),
            person,
            said: Some(format!(r#"{{"type":"say","msg":"{text}"}}"#)),
        }
    }

    fn name(&self, person: usize) -> &str {
        self.names.get(person).map_or("tracker-bot", String::as_str)
    }

    /// A person who talks little joins or leaves.
    fn presence(&mut self, rng: &mut Rng) -> Event {
        let person = between(rng, PEOPLE / 4, PEOPLE - 1);
        self.present[person] = !self.present[person];
        let what = if self.present[person] { "join" } else { "part" };
        let (time, sender) = (self.clock.time_of_day(), self.name(person));
        self.server_event(format!(
            r#"{{"type":"{what}","timestamp":"{time}","sender":"{sender}"}}"#
        ))
    }

    fn rename(&mut self, rng: &mut Rng) -> Event {
        let person = self.somebody(rng);
        let before = self.names[person].clone();
        let after = match before.split_once('|') {
            Some((name, _)) => name.to_owned(),
            None => format!("{before}|{}", pick(rng, &["away", "lunch", "busy", "night"])),
        };
        let time = self.clock.time_of_day();
        let sent = format!(r#"{{"type":"nick","timestamp":"{time}","sender":"{before}","nick":"{after}"}}"#);
        self.names[person] = after.clone();
        Event {
            sent,
            person,
            said: Some(format!(r#"{{"type":"nick","nick":"{after}"}}"#)),
        }
    }

    /// A random person; talkative people much more often.
    fn somebody(&self, rng: &mut Rng) -> usize {
        below(rng, PEOPLE).min(below(rng, PEOPLE)).min(below(rng, PEOPLE))
    }

    fn change_subject(&mut self, rng: &mut Rng) {
        let count = between(rng, 2, 4);
        self.talkers = (0..count).map(|_| self.somebody(rng)).collect();
        let mut subject: Vec<String> = (0..5).map(|_| self.words.name(rng).to_owned()).collect();
        subject.push(pick_one(&self.files, rng).to_owned());
        self.subject = subject;
    }

    /// An announcement of the tracker's program.
    fn announcement(&mut self, rng: &mut Rng) -> String {
        let what = pick(
            rng,
            &[
                "created",
                "resolved",
                "commented on",
                "commented on",
                "assigned to nobody",
            ],
        );
        if what == "created" {
            self.issue += between(rng, 1, 5);
        }
        let (issue, project) = (self.issue - below(rng, 12), pick_one(&self.projects, rng));
        let title = self.phrase(between(rng, 3, 8), rng);
        let reporter = self.name(self.somebody(rng));
        format!("({what}) {project}: {title} - https://tracker.harbour.example/{project}/issues/{issue} ({reporter})")
    }

    fn line(&self, person: usize, rng: &mut Rng) -> String {
        let text = match below(rng, 100) {
            0..20 => return pick_of(rng, REACTIONS).to_owned(),
            20..27 => {
                let (file, line) = (pick_one(&self.files, rng), between(rng, 1, 900));
                let remark = self.phrase(between(rng, 1, 6), rng);
                format!("{remark} https://code.harbour.example/{file}.rs#L{line}")
            }
            27..68 => self.phrase(between(rng, 2, 10), rng),
            68..85 => self.phrase(between(rng, 9, 22), rng),
            85..88 => self.phrase(between(rng, 24, 44), rng),
            _ => format!("{}?", self.phrase(between(rng, 3, 10), rng)),
        };
        let addressed = self.talkers.iter().find(|&&other| other != person);
        match addressed {
            Some(&other) if below(rng, 3) == 0 => format!("{}: {text}", self.name(other)),
            _ => text,
        }
    }

    /// A line of so many words, a few of them from the topic.
    fn phrase(&self, count: usize, rng: &mut Rng) -> String {
        let mut text = String::new();
        for index in 0..count {
            if index > 0 {
                text.push_str(if below(rng, 14) == 0 { ", " } else { " " });
            }
            text.push_str(match below(rng, 8) {
                0 if !self.subject.is_empty() => pick_one(&self.subject, rng),
                _ => self.words.word(rng),
            });
        }
        text
    }
}

fn pick_one<'a>(choices: &'a [String], rng: &mut Rng) -> &'a str {
    &choices[below(rng, choices.len())]
}

fn nickname(words: &Words, rng: &mut Rng) -> String {
    let name = words.name(rng);
    match below(rng, 6) {
        0 => format!("{name}_"),
        1 => format!("{}{}", capitalised(name), capitalised(words.name(rng))),
        2 => format!("{name}{}", between(rng, 2, 99)),
        3 => format!("{name}-{}", words.name(rng)),
        _ => capitalised(name),
    }
}

/// Short remarks.
const REACTIONS: &str = "ok; yes; no; hm; thanks; thank you; hello; sure; not yet; done; right; good idea; why?; one moment; it works here; \
     good morning; i see; agreed; ha; never mind; on it; what?; nice; later then";
