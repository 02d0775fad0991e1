//! How many octets do the messages of a piece become, at each of some settings? As few of them are compressed as decide it.

use super::Interrupted;
use super::chains::Chains;
use super::grid::encoder;
use super::parse::{LEVEL_MIN, Match, Parser, reach};
use super::piece::{Piece, Span};
use super::pool::{Pool, Share};
use super::shape::{Message, Parsed, ShapeId, Shapes};
use crate::message_codec::{Deflate, Strategy};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How octets are made of messages at a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// A message after the other, all of them: nothing is known beforehand.
    Whole,
    /// Each on its own, by a level that is not foretold.
    Alone,
    /// As foretold.
    Foretold,
}

impl Way {
    fn of(setting: Deflate) -> Self {
        if matches!(setting.strategy, Strategy::HuffmanOnly | Strategy::Rle) || setting.level == 0 {
            Self::Whole
        } else if setting.level >= LEVEL_MIN {
            Self::Foretold
        } else if setting.takeover {
            Self::Whole
        } else {
            Self::Alone
        }
    }
}

/// Whether a setting's octets are the same where history is primed, rather than compressed before.
pub(super) fn is_exact_in_pieces(setting: Deflate) -> bool {
    Way::of(setting) != Way::Whole || !setting.takeover
}

/// The setting that stands for all that give the same octets whatever the messages are, by what zlib.h and deflate.c say of
/// parameters: which have no effect at a level or strategy.
pub(super) fn representative(setting: Deflate) -> Deflate {
    let mut setting = Deflate {
        window_bits: setting.window_bits.runs_as(),
        ..setting
    };
    match setting.strategy {
        // Stored, whatever else is asked for.
        _ if setting.level == 0 => {
            return Deflate {
                level: 0,
                takeover: false,
                ..Deflate::default()
            };
        }
        // The level says how to look for matches; these do not look, or at one place.
        Strategy::HuffmanOnly | Strategy::Rle => setting.level = 1,
        // `deflate_fast` takes any match.
        Strategy::Filtered if setting.level < LEVEL_MIN => setting.strategy = Strategy::Default,
        _ => {}
    }
    setting
}

/// What is done in one go: settings whose parses have something in common.
struct Task {
    way: Way,
    /// One, or messages on their own at each of several windows, largest first.
    settings: Vec<Deflate>,
}

/// A setting's messages.
enum Outcome {
    Size(u64),
    Shapes(Vec<ShapeId>),
}

/// The octets of all of a piece's own messages at each setting, all of them [`representative`].
pub(super) fn sizes(
    piece: &Piece,
    settings: &[Deflate],
    pool: &Pool<'_>,
    share: Share,
) -> Result<BTreeMap<Deflate, u64>, Interrupted> {
    let is_foretold = piece.octets.len() <= FORETOLD_MAX;
    let work = Work {
        piece,
        chains: if is_foretold {
            Chains::of(piece)
        } else {
            Chains::default()
        },
        messages: messages(piece),
        shapes: Mutex::default(),
    };
    let way = |setting| if is_foretold { Way::of(setting) } else { Way::Whole };
    let outcomes = pool.map(&tasks(settings, way), share, |task| work.run(task))?;
    let shapes = work.shapes();
    let size = |outcome| match outcome {
        Outcome::Size(size) => size,
        Outcome::Shapes(numbers) => numbers.into_iter().map(|number| shapes.size(number)).sum(),
    };
    Ok(outcomes
        .into_iter()
        .flatten()
        .map(|(setting, outcome)| (setting, size(outcome)))
        .collect())
}

/// The longest first, so that no thread ends with one: what is run as a whole at small windows, whose buffers move on the
/// most often, each time with all of the hash; and last what may find everything measured.
fn tasks(settings: &[Deflate], way: impl Fn(Deflate) -> Way) -> Vec<Task> {
    let mut tasks = BTreeMap::<_, Vec<Deflate>>::new();
    for &setting in settings {
        let way = way(setting);
        let grouped = way != Way::Whole && !setting.takeover;
        let window = (!grouped).then_some(setting.window_bits);
        let hash = std::cmp::Reverse(setting.mem_level);
        tasks
            .entry((way, window, hash, setting.takeover, setting.level, setting.strategy))
            .or_default()
            .push(setting);
    }
    let task = |((way, ..), mut settings): ((Way, _, _, _, _, _), Vec<Deflate>)| {
        settings.sort_by_key(|setting| std::cmp::Reverse(setting.window_bits));
        Task { way, settings }
    };
    tasks.into_iter().map(task).collect()
}

/// The messages of a piece that are its own, with their contents numbered.
fn messages(piece: &Piece) -> Vec<Message> {
    let mut contents = HashMap::new();
    let message = |(number, span): (usize, &Span)| {
        let next = contents.len() as u32;
        let content = *contents.entry(piece.message(*span)).or_insert(next);
        Message {
            number: number as u32,
            content,
            length: span.len(),
        }
    };
    piece.messages.iter().enumerate().map(message).collect()
}

/// What threads share.
struct Work<'a> {
    piece: &'a Piece,
    chains: Chains,
    messages: Vec<Message>,
    shapes: Mutex<Shapes>,
}

/// What is parsed of some messages, to be numbered in one go.
#[derive(Default)]
struct Parses {
    matches: Vec<Match>,
    /// Of each message, where its matches end, and its symbols.
    ends: Vec<(usize, usize)>,
}

impl Work<'_> {
    fn shapes(&self) -> MutexGuard<'_, Shapes> {
        self.shapes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, task: &Task) -> Vec<(Deflate, Outcome)> {
        if task.way == Way::Whole {
            return task
                .settings
                .iter()
                .map(|&setting| (setting, Outcome::Size(self.whole(setting))))
                .collect();
        }
        let mut outcomes: Vec<(Deflate, Outcome)> = Vec::new();
        let mut before: Option<Vec<ShapeId>> = None;
        for &setting in &task.settings {
            // Within reach of the smaller window, nothing changes by it.
            let reach = reach(setting.window_bits);
            let anew = |message: &&Message| before.is_none() || message.length > reach;
            let some: Vec<Message> = self.messages.iter().filter(anew).copied().collect();
            let found = match task.way {
                Way::Foretold => self.foretold(setting, &some),
                _ => self.alone(setting, &some),
            };
            let mut numbers = before.take().unwrap_or_else(|| vec![0; self.messages.len()]);
            let mut wanted = Vec::new();
            for (message, (shape, is_new)) in some.iter().zip(found) {
                numbers[message.number as usize] = shape;
                if is_new {
                    wanted.push((message.number as usize, shape));
                }
            }
            self.measure(setting, &wanted);
            before = Some(numbers.clone());
            outcomes.push((setting, Outcome::Shapes(numbers)));
        }
        outcomes
    }

    /// Compresses everything; with takeover after its history, which levels that keep all of it in their hash are primed with, and
    /// others compress two windows of, or what there is.
    fn whole(&self, setting: Deflate) -> u64 {
        let mut encoder = encoder(setting);
        let (history, own) = (&self.piece.history, &self.piece.messages);
        let begin = own.first().map_or(0, |span| span.start);
        if setting.takeover && Way::of(setting) == Way::Foretold {
            encoder.prime(&self.piece.octets[own.first().map_or(0, |span| span.connection)..begin]);
        } else if setting.takeover {
            let warming = 2 << setting.window_bits.runs_as().get();
            for span in history.iter().filter(|span| span.end + warming > begin) {
                encoder.coded_size(self.piece.message(*span));
            }
        }
        // History is of the first connection.
        let (mut size, mut connection) = (0, 0);
        for span in own {
            if connection != span.connection {
                encoder.reset();
                connection = span.connection;
            }
            size += encoder.coded_size(self.piece.message(*span)) as u64;
        }
        size
    }

    fn foretold(&self, setting: Deflate, messages: &[Message]) -> Vec<(ShapeId, bool)> {
        let parser = Parser::new(&self.chains, setting);
        let (mut parses, mut matches) = (Parses::default(), Vec::new());
        for message in messages {
            let symbols = parser.parse(self.piece.messages[message.number as usize], &mut matches);
            parses.matches.extend_from_slice(&matches);
            parses.ends.push((parses.matches.len(), symbols));
        }
        let mut shapes = self.shapes();
        let mut from = 0;
        let number = |(&message, &(end, symbols)): (&Message, &(usize, usize))| {
            let matches = &parses.matches[std::mem::replace(&mut from, end)..end];
            shapes.number(message, setting, Parsed::Matches(matches, symbols))
        };
        messages.iter().zip(&parses.ends).map(number).collect()
    }

    /// Levels 1 to 3 without takeover: the hash has no say where it brings no other strings into the way, within the chain
    /// that a level follows, nor a string at the very greatest distance.
    fn alone(&self, setting: Deflate, messages: &[Message]) -> Vec<(ShapeId, bool)> {
        let reach = reach(setting.window_bits);
        let chain = FAST_CHAINS[usize::from(setting.level) - 1];
        let parsed = |message: &Message| {
            let span = self.piece.messages[message.number as usize];
            let any = message.length <= reach && self.chains.chain_needed(span, setting.mem_level) <= chain;
            if any { Parsed::AnyHash } else { Parsed::Unknown }
        };
        let parsed: Vec<_> = messages.iter().map(parsed).collect();
        let mut shapes = self.shapes();
        messages
            .iter()
            .zip(parsed)
            .map(|(&message, parsed)| shapes.number(message, setting, parsed))
            .collect()
    }

    /// Compresses messages, each after what went before it, and keeps their sizes.
    fn measure(&self, setting: Deflate, wanted: &[(usize, ShapeId)]) {
        if wanted.is_empty() {
            return;
        }
        let mut encoder = encoder(setting);
        let mut sizes = Vec::with_capacity(wanted.len());
        // The message that the encoder has come to, and its connection.
        let mut at: Option<(usize, usize)> = None;
        let gap_max = (2 << setting.window_bits.runs_as().get()) / PRIMING_SPEED;
        for &(place, shape) in wanted {
            let span = self.piece.messages[place];
            if setting.takeover {
                let is_near = |&(next, connection): &(usize, usize)| {
                    connection == span.connection && span.start - self.piece.messages[next].start <= gap_max
                };
                match at.filter(is_near) {
                    Some((next, _)) => {
                        for between in &self.piece.messages[next..place] {
                            encoder.coded_size(self.piece.message(*between));
                        }
                    }
                    None => encoder.prime(&self.piece.octets[span.connection..span.start]),
                }
            }
            sizes.push((shape, encoder.coded_size(self.piece.message(span))));
            at = Some((place + 1, span.connection));
        }
        let mut shapes = self.shapes();
        for (shape, size) in sizes {
            shapes.measured(shape, size);
        }
    }
}

/// The longest piece that is foretold, in octets; what is noted of each octet takes some 60 times as much. A longer one is one
/// long message, mostly. Our own choice.
const FORETOLD_MAX: usize = 4 << 20;

/// How far levels 1 to 3 follow a chain (deflate.c, `configuration_table`).
const FAST_CHAINS: [u32; 3] = [4, 8, 32];

/// How many octets of history are entered while one is compressed: our own choice, as roughly measured. Of history, up to two windows
/// are needed; over a gap that takes less time, the encoder is let run on.
const PRIMING_SPEED: usize = 16;
