//! How many octets do the messages of a piece become, at each of some settings? As few of them are compressed as decide it.

use super::Interrupted;
use super::chains::Chains;
use super::grid::encoder;
use super::parse::{LEVEL_MIN, Match, Parser, Scratch, reach};
use super::piece::{Piece, Span};
use super::places::MemLevels;
use super::pool::{Pool, Share};
use super::shape::{Message, Parsed, ShapeId, Shapes, fills_buffer};
use crate::message_codec::{Deflate, MessageEncoder, Strategy};
use std::cmp::Reverse;
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

/// Whether a context is the same where history is primed, rather than compressed before.
pub(super) fn is_primed(setting: Deflate) -> bool {
    Way::of(setting) == Way::Foretold
}

/// Whether a setting's octets are the same in pieces: where each message stands alone, or history is primed.
pub(super) fn is_exact_in_pieces(setting: Deflate) -> bool {
    !setting.takeover || is_primed(setting)
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

/// By how many octets before it a context is warmed up that has to be compressed into: two windows.
pub(super) fn warming(setting: Deflate) -> usize {
    2 << setting.window_bits.runs_as().get()
}

/// What is done in one go: settings whose parses have something in common.
struct Task {
    way: Way,
    /// By window, the largest first, as messages on their own go by it; and for each, those that differ in the mem level alone.
    windows: Vec<Vec<Deflate>>,
}

/// A setting's messages.
enum Outcome {
    Size(u64),
    Shapes(Vec<ShapeId>),
}

/// What a setting makes of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    /// In octets.
    pub(super) size: u64,
    /// The same for settings of which it is known that they make the same octets.
    pub(super) stream: u64,
}

/// What each setting, all of them [`representative`], makes of all of a piece's own messages.
pub(super) fn sizes(
    piece: &Piece,
    settings: &[Deflate],
    pool: &Pool<'_>,
    share: Share,
) -> Result<BTreeMap<Deflate, Made>, Interrupted> {
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
    let mut streams: HashMap<Vec<ShapeId>, u64> = HashMap::new();
    let mut alone = 0;
    let made = |outcome| match outcome {
        Outcome::Size(size) => {
            alone += 1;
            Made {
                size,
                stream: u64::MAX - alone,
            }
        }
        Outcome::Shapes(numbers) => {
            let next = streams.len() as u64;
            Made {
                size: numbers.iter().map(|number| shapes.size(*number)).sum(),
                stream: *streams.entry(numbers).or_insert(next),
            }
        }
    };
    let (settings, outcomes): (Vec<_>, Vec<_>) = outcomes.into_iter().flatten().unzip();
    Ok(settings.into_iter().zip(outcomes.into_iter().map(made)).collect())
}

/// The longest first, so that no thread ends with one: what is run as a whole at small windows, whose buffers move on the
/// most often, each time with all of the hash; and last what may find everything measured.
fn tasks(settings: &[Deflate], way: impl Fn(Deflate) -> Way) -> Vec<Task> {
    let mut tasks = BTreeMap::<_, BTreeMap<_, Vec<Deflate>>>::new();
    for &setting in settings {
        let way = way(setting);
        // Messages that are run one after the other have nothing in common at two settings.
        let window = (way == Way::Whole || setting.takeover).then_some(setting.window_bits);
        let hash = (way != Way::Foretold).then_some(Reverse(setting.mem_level));
        tasks
            .entry((way, window, hash, setting.takeover, setting.level, setting.strategy))
            .or_default()
            .entry(Reverse(setting.window_bits))
            .or_default()
            .push(setting);
    }
    let task = |((way, ..), windows): ((Way, _, _, _, _, _), BTreeMap<_, Vec<Deflate>>)| Task {
        way,
        windows: windows.into_values().collect(),
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
    lists: Vec<Parse>,
}

/// How a message is parsed at some mem levels.
struct Parse {
    message: Message,
    mem_levels: MemLevels,
    /// Where its matches end.
    end: usize,
    symbols: usize,
}

/// What a task has found at one mem level, window by window.
struct Column {
    /// The shape of each message.
    numbers: Vec<ShapeId>,
    /// Those that nobody has measured.
    wanted: Vec<(usize, ShapeId)>,
}

impl Column {
    fn found(&mut self, message: Message, (shape, is_new): (ShapeId, bool)) {
        self.numbers[message.number as usize] = shape;
        if is_new {
            self.wanted.push((message.number as usize, shape));
        }
    }
}

impl Work<'_> {
    fn shapes(&self) -> MutexGuard<'_, Shapes> {
        self.shapes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, task: &Task) -> Vec<(Deflate, Outcome)> {
        if task.way == Way::Whole {
            let settings = task.windows.iter().flatten();
            return settings
                .map(|&setting| (setting, Outcome::Size(self.whole(setting))))
                .collect();
        }
        let mut outcomes: Vec<(Deflate, Outcome)> = Vec::new();
        let mut columns: BTreeMap<u8, Column> = BTreeMap::new();
        for settings in &task.windows {
            let Some(first) = settings.first() else { continue };
            // Within reach of the smaller window, nothing changes by it.
            let reach = reach(first.window_bits);
            let is_new = settings.iter().any(|setting| !columns.contains_key(&setting.mem_level));
            let anew = |message: &&Message| is_new || message.length > reach;
            let some: Vec<Message> = self.messages.iter().filter(anew).copied().collect();
            for setting in settings {
                columns.entry(setting.mem_level).or_insert_with(|| Column {
                    numbers: vec![0; self.messages.len()],
                    wanted: Vec::new(),
                });
            }
            match task.way {
                Way::Foretold => self.foretold(settings, &some, &mut columns),
                _ => self.alone(settings, &some, &mut columns),
            }
            for setting in settings {
                if let Some(column) = columns.get_mut(&setting.mem_level) {
                    self.measure(*setting, &std::mem::take(&mut column.wanted));
                    outcomes.push((*setting, Outcome::Shapes(column.numbers.clone())));
                }
            }
        }
        outcomes
    }

    /// Compresses everything, with takeover after its history.
    fn whole(&self, setting: Deflate) -> u64 {
        let mut encoder = encoder(setting);
        let (mut size, mut connection) = (0, None);
        for &span in &self.piece.messages {
            if connection.replace(span.connection) != Some(span.connection) {
                encoder.reset();
                if setting.takeover {
                    self.go_through_history(&mut encoder, setting, span);
                }
            }
            size += encoder.coded_size(self.piece.message(span)) as u64;
        }
        size
    }

    /// What went before the first message of a connection: levels that keep all of it in their hash are primed with it, others
    /// compress two windows of it, or what there is.
    fn go_through_history(&self, encoder: &mut MessageEncoder, setting: Deflate, first: Span) {
        if is_primed(setting) {
            encoder.prime(&self.piece.octets[first.connection..first.start]);
            return;
        }
        let warming = warming(setting);
        let near = |span: &&Span| span.connection == first.connection && span.end + warming > first.start;
        for span in self.piece.history.iter().filter(near) {
            encoder.coded_size(self.piece.message(*span));
        }
    }

    /// Levels 4 to 9, at settings that differ in the mem level alone.
    fn foretold(&self, settings: &[Deflate], messages: &[Message], columns: &mut BTreeMap<u8, Column>) {
        let Some(&setting) = settings.first() else { return };
        let parser = Parser::new(&self.chains, setting);
        let all = MemLevels::of(settings.iter().map(|setting| setting.mem_level));
        let (mut parses, mut scratch) = (Parses::default(), Scratch::default());
        for &message in messages {
            let span = self.piece.messages[message.number as usize];
            parser.parse(span, all, &mut scratch, |mem_levels, matches, symbols| {
                parses.matches.extend_from_slice(matches);
                parses.lists.push(Parse {
                    message,
                    mem_levels,
                    end: parses.matches.len(),
                    symbols,
                });
            });
        }
        let mut shapes = self.shapes();
        let mut from = 0;
        for &Parse {
            message,
            mem_levels,
            end,
            symbols,
        } in &parses.lists
        {
            let list = shapes.list(&parses.matches[std::mem::replace(&mut from, end)..end]);
            let mut alike = None;
            for mem_level in mem_levels.descending() {
                let setting = Deflate { mem_level, ..setting };
                let is_alike = !fills_buffer(symbols, mem_level);
                let shape = match alike.filter(|_| is_alike) {
                    Some(shape) => (shape, false),
                    None => shapes.number(message, setting, Parsed::Matches(list, symbols)),
                };
                alike = is_alike.then_some(shape.0);
                if let Some(column) = columns.get_mut(&mem_level) {
                    column.found(message, shape);
                }
            }
        }
    }

    /// Levels 1 to 3 without takeover: the hash has no say where it brings no other strings into the way, within the chain
    /// that a level follows, nor a string at the very greatest distance.
    fn alone(&self, settings: &[Deflate], messages: &[Message], columns: &mut BTreeMap<u8, Column>) {
        for &setting in settings {
            let reach = reach(setting.window_bits);
            let chain = FAST_CHAINS[usize::from(setting.level) - 1];
            let parsed = |message: &Message| {
                let span = self.piece.messages[message.number as usize];
                let any = message.length <= reach && self.chains.chain_needed(span, setting.mem_level) <= chain;
                if any { Parsed::AnyHash } else { Parsed::Unknown }
            };
            let parsed: Vec<_> = messages.iter().map(parsed).collect();
            let Some(column) = columns.get_mut(&setting.mem_level) else {
                continue;
            };
            let mut shapes = self.shapes();
            for (&message, parsed) in messages.iter().zip(parsed) {
                column.found(message, shapes.number(message, setting, parsed));
            }
        }
    }

    /// Compresses messages, each after what went before it, and keeps their sizes.
    fn measure(&self, setting: Deflate, wanted: &[(usize, ShapeId)]) {
        if wanted.is_empty() {
            return;
        }
        let mut encoder = encoder(setting);
        let mut sizes = Vec::with_capacity(wanted.len());
        // Where the encoder has come to, and on which connection.
        let mut at: Option<(usize, usize)> = None;
        // Of history, up to two windows are needed; what is left out in between is entered as it is, if it is less.
        let gap_max = warming(setting);
        for &(place, shape) in wanted {
            let span = self.piece.messages[place];
            if setting.takeover {
                let is_near =
                    |&(end, connection): &(usize, usize)| connection == span.connection && span.start - end <= gap_max;
                match at.filter(is_near) {
                    Some((end, _)) => encoder.follow(&self.piece.octets[end..span.start]),
                    None => encoder.prime(&self.piece.octets[span.connection..span.start]),
                }
            }
            sizes.push((shape, encoder.coded_size(self.piece.message(span))));
            at = Some((span.end, span.connection));
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
