//! The compressed size of a piece's messages at each setting, with as few messages compressed as possible.

use super::Interrupted;
use super::chain_positions::MemLevels;
use super::equivalence::{Message, ParseResult, ShapeId, Shapes, fills_buffer};
use super::grid::encoder;
use super::hash_chains::Chains;
use super::lazy_parse::{LEVEL_MIN, Match, Parser, Scratch, reach};
use super::work_unit::{Piece, Span};
use super::workers::Pool;
use lastmile_codec::message::{Deflate, MessageEncoder, Strategy};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How the sizes of messages at a setting are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Method {
    /// Compress all messages, one after the other: nothing can be predicted.
    All,
    /// Messages without takeover, at a level that is not predicted.
    Independent,
    /// From predicted matches.
    Predicted,
}

impl Method {
    fn for_setting(setting: Deflate) -> Self {
        if matches!(setting.strategy, Strategy::HuffmanOnly | Strategy::Rle) || setting.level == 0 {
            Self::All
        } else if setting.level >= LEVEL_MIN {
            Self::Predicted
        } else if setting.takeover {
            Self::All
        } else {
            Self::Independent
        }
    }
}

/// Whether priming a context with history gives the same context as compressing the history.
pub(super) fn is_primed(setting: Deflate) -> bool {
    Method::for_setting(setting) == Method::Predicted
}

/// Whether a setting sends the same bytes in pieces: without takeover, or if priming is exact.
pub(super) fn is_exact_in_pieces(setting: Deflate) -> bool {
    !setting.takeover || is_primed(setting)
}

/// The setting that represents all that send the same bytes for any messages, by zlib.h and deflate.c: some parameters have no effect at
/// a level or strategy.
pub(super) fn representative(setting: Deflate) -> Deflate {
    let mut setting = Deflate {
        window_bits: setting.window_bits.runs_as(),
        ..setting
    };
    match setting.strategy {
        // Stored, whatever the other parameters are.
        _ if setting.level == 0 => {
            return Deflate {
                level: 0,
                takeover: false,
                ..Deflate::default()
            };
        }
        // The level says how to search for matches; these do not search, or only at distance 1.
        Strategy::HuffmanOnly | Strategy::Rle => setting.level = 1,
        // `deflate_fast` accepts any match.
        Strategy::Filtered if setting.level < LEVEL_MIN => setting.strategy = Strategy::Default,
        _ => {}
    }
    setting
}

/// The bytes of history to compress to warm up a context that cannot be primed: two windows.
pub(super) fn warm_up_bytes(setting: Deflate) -> usize {
    2 << setting.window_bits.runs_as().get()
}

/// A unit of work: settings whose parses have something in common.
struct Task {
    way: Method,
    /// Settings by window, the largest first, since without takeover results carry over to smaller windows; for each window, settings that
    /// differ only in the mem level.
    windows: Vec<Vec<Deflate>>,
}

/// The result for a setting.
enum Outcome {
    Size(u64),
    Shapes(Vec<ShapeId>),
}

/// The output of a setting for a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutputSize {
    /// Its size in bytes.
    pub(super) size: u64,
    /// Identifies the stream: the same for settings that are known to send the same bytes.
    pub(super) stream: u64,
}

/// The output size of a piece's own messages at each setting. All settings are [`representative`].
pub(super) fn sizes(
    piece: &Piece,
    settings: &[Deflate],
    pool: &Pool<'_>,
    share: Range<f64>,
) -> Result<BTreeMap<Deflate, OutputSize>, Interrupted> {
    let is_foretold = piece.bytes.len() <= PREDICTED_MAX;
    let work = PieceState {
        piece,
        chains: if is_foretold {
            Chains::new(piece)
        } else {
            Chains::default()
        },
        messages: messages(piece),
        shapes: Mutex::default(),
    };
    let way = |setting| {
        if is_foretold {
            Method::for_setting(setting)
        } else {
            Method::All
        }
    };
    let outcomes = pool.map(&tasks(settings, way), share, |task| work.run(task))?;
    let shapes = work.shapes();
    let mut streams: HashMap<Vec<ShapeId>, u64> = HashMap::new();
    let mut alone = 0;
    let made = |outcome| match outcome {
        Outcome::Size(size) => {
            alone += 1;
            OutputSize {
                size,
                stream: u64::MAX - alone,
            }
        }
        Outcome::Shapes(numbers) => {
            let next = streams.len() as u64;
            OutputSize {
                size: numbers.iter().map(|number| shapes.size(*number)).sum(),
                stream: *streams.entry(numbers).or_insert(next),
            }
        }
    };
    let (settings, outcomes): (Vec<_>, Vec<_>) = outcomes.into_iter().flatten().unzip();
    Ok(settings.into_iter().zip(outcomes.into_iter().map(made)).collect())
}

/// Groups settings into tasks, the slowest first, so that no thread ends with one. Whole runs at small windows are slowest: their buffers
/// slide most often, which updates the whole hash each time. Last come tasks that may find everything measured.
fn tasks(settings: &[Deflate], way: impl Fn(Deflate) -> Method) -> Vec<Task> {
    let mut tasks = BTreeMap::<_, BTreeMap<_, Vec<Deflate>>>::new();
    for &setting in settings {
        let way = way(setting);
        // Whole runs at two settings have nothing in common.
        let window = (way == Method::All || setting.takeover).then_some(setting.window_bits);
        let hash = (way != Method::Predicted).then_some(Reverse(setting.mem_level));
        tasks
            .entry((way, window, hash, setting.takeover, setting.level, setting.strategy))
            .or_default()
            .entry(Reverse(setting.window_bits))
            .or_default()
            .push(setting);
    }
    let task = |((way, ..), windows): ((Method, _, _, _, _, _), BTreeMap<_, Vec<Deflate>>)| Task {
        way,
        windows: windows.into_values().collect(),
    };
    tasks.into_iter().map(task).collect()
}

/// A piece's own messages, with their contents numbered.
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

/// State shared between threads.
struct PieceState<'a> {
    piece: &'a Piece,
    chains: Chains,
    messages: Vec<Message>,
    shapes: Mutex<Shapes>,
}

/// Parse results of some messages, to be numbered together.
#[derive(Default)]
struct ParseBatch {
    matches: Vec<Match>,
    lists: Vec<Parse>,
}

/// The parse of a message at some mem levels.
struct Parse {
    message: Message,
    mem_levels: MemLevels,
    /// Where its matches end.
    end: usize,
    symbols: usize,
}

/// A task's results at one mem level, updated window by window.
struct MemLevelColumn {
    /// The shape of each message.
    numbers: Vec<ShapeId>,
    /// Messages whose shapes are not measured yet.
    unmeasured: Vec<(usize, ShapeId)>,
}

impl MemLevelColumn {
    fn add(&mut self, message: Message, (shape, is_new): (ShapeId, bool)) {
        self.numbers[message.number as usize] = shape;
        if is_new {
            self.unmeasured.push((message.number as usize, shape));
        }
    }
}

impl PieceState<'_> {
    fn shapes(&self) -> MutexGuard<'_, Shapes> {
        self.shapes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, task: &Task) -> Vec<(Deflate, Outcome)> {
        if task.way == Method::All {
            let settings = task.windows.iter().flatten();
            return settings
                .map(|&setting| (setting, Outcome::Size(self.compress_all(setting))))
                .collect();
        }
        let mut outcomes: Vec<(Deflate, Outcome)> = Vec::new();
        let mut columns: BTreeMap<u8, MemLevelColumn> = BTreeMap::new();
        for settings in &task.windows {
            let Some(first) = settings.first() else { continue };
            // A message within reach of the smaller window keeps its shape.
            let reach = reach(first.window_bits);
            let is_new = settings.iter().any(|setting| !columns.contains_key(&setting.mem_level));
            let anew = |message: &&Message| is_new || message.length > reach;
            let some: Vec<Message> = self.messages.iter().filter(anew).copied().collect();
            for setting in settings {
                columns.entry(setting.mem_level).or_insert_with(|| MemLevelColumn {
                    numbers: vec![0; self.messages.len()],
                    unmeasured: Vec::new(),
                });
            }
            match task.way {
                Method::Predicted => self.with_predicted_parses(settings, &some, &mut columns),
                _ => self.independent_messages(settings, &some, &mut columns),
            }
            for setting in settings {
                if let Some(column) = columns.get_mut(&setting.mem_level) {
                    self.measure(*setting, &std::mem::take(&mut column.unmeasured));
                    outcomes.push((*setting, Outcome::Shapes(column.numbers.clone())));
                }
            }
        }
        outcomes
    }

    /// Compresses everything; with takeover, after its history.
    fn compress_all(&self, setting: Deflate) -> u64 {
        let mut encoder = encoder(setting);
        let (mut size, mut connection) = (0, None);
        for &span in &self.piece.messages {
            if connection.replace(span.connection) != Some(span.connection) {
                encoder.reset();
                if setting.takeover {
                    self.replay_history(&mut encoder, setting, span);
                }
            }
            size += encoder.compressed_size(self.piece.message(span)) as u64;
        }
        size
    }

    /// Loads the history before the first message of a connection. Levels that enter all of it into their hash are primed with it; others
    /// compress up to two windows of it.
    fn replay_history(&self, encoder: &mut MessageEncoder, setting: Deflate, first: Span) {
        if is_primed(setting) {
            encoder.prime(&self.piece.bytes[first.connection..first.start]);
            return;
        }
        let warming = warm_up_bytes(setting);
        let near = |span: &&Span| span.connection == first.connection && span.end + warming > first.start;
        for span in self.piece.history.iter().filter(near) {
            encoder.compressed_size(self.piece.message(*span));
        }
    }

    /// Levels 4 to 9, at settings that differ only in the mem level.
    fn with_predicted_parses(
        &self,
        settings: &[Deflate],
        messages: &[Message],
        columns: &mut BTreeMap<u8, MemLevelColumn>,
    ) {
        let Some(&setting) = settings.first() else { return };
        let parser = Parser::new(&self.chains, setting);
        let all = MemLevels::from_levels(settings.iter().map(|setting| setting.mem_level));
        let (mut parses, mut scratch) = (ParseBatch::default(), Scratch::default());
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
                    None => shapes.number(message, setting, ParseResult::Matches(list, symbols)),
                };
                alike = is_alike.then_some(shape.0);
                if let Some(column) = columns.get_mut(&mem_level) {
                    column.add(message, shape);
                }
            }
        }
    }

    /// Levels 1 to 3 without takeover. The hash does not matter if no other strings get in the way within the chain length that a level
    /// follows, and if no string is at the greatest distance.
    fn independent_messages(
        &self,
        settings: &[Deflate],
        messages: &[Message],
        columns: &mut BTreeMap<u8, MemLevelColumn>,
    ) {
        for &setting in settings {
            let reach = reach(setting.window_bits);
            let chain = FAST_CHAINS[usize::from(setting.level) - 1];
            let parsed = |message: &Message| {
                let span = self.piece.messages[message.number as usize];
                let any = message.length <= reach && self.chains.chain_needed(span, setting.mem_level) <= chain;
                if any {
                    ParseResult::AnyHash
                } else {
                    ParseResult::Unknown
                }
            };
            let parsed: Vec<_> = messages.iter().map(parsed).collect();
            let Some(column) = columns.get_mut(&setting.mem_level) else {
                continue;
            };
            let mut shapes = self.shapes();
            for (&message, parsed) in messages.iter().zip(parsed) {
                column.add(message, shapes.number(message, setting, parsed));
            }
        }
    }

    /// Compresses messages, each after its history, and stores their sizes.
    fn measure(&self, setting: Deflate, wanted: &[(usize, ShapeId)]) {
        if wanted.is_empty() {
            return;
        }
        let mut encoder = encoder(setting);
        let mut sizes = Vec::with_capacity(wanted.len());
        // The encoder's position, and its connection.
        let mut at: Option<(usize, usize)> = None;
        // Up to two windows of history are needed; a shorter gap between two messages is entered without compressing it.
        let gap_max = warm_up_bytes(setting);
        for &(index, shape) in wanted {
            let span = self.piece.messages[index];
            if setting.takeover {
                let is_near =
                    |&(end, connection): &(usize, usize)| connection == span.connection && span.start - end <= gap_max;
                match at.filter(is_near) {
                    Some((end, _)) => encoder.append_history(&self.piece.bytes[end..span.start]),
                    None => encoder.prime(&self.piece.bytes[span.connection..span.start]),
                }
            }
            sizes.push((shape, encoder.compressed_size(self.piece.message(span))));
            at = Some((span.end, span.connection));
        }
        let mut shapes = self.shapes();
        for (shape, size) in sizes {
            shapes.measured(shape, size);
        }
    }
}

/// The longest piece that is predicted, in bytes: the chains use some 60 bytes per byte. A longer piece is mostly one long message. Our own
/// choice.
const PREDICTED_MAX: usize = 4 << 20;

/// How far levels 1 to 3 follow a chain (deflate.c, `configuration_table`).
const FAST_CHAINS: [u32; 3] = [4, 8, 32];
