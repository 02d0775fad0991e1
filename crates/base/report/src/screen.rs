//! The answer on one screen of a terminal: what was asked, bars, the table that decides, doubts, the sentence, and the next step.
//!
//! Width and lines are bounded: a narrow table loses columns, a long one rows, and both say so by the number that is left out.

use crate::document::Grid;
use crate::record::Doubt;
use crate::terminal::{TerminalStyle, replace_control_characters, wrap};

/// What data from standard input is called; no command can be given its name.
pub const STANDARD_INPUT: &str = "standard input";

/// The most lines of a screen. The 24th of a terminal is for the name of the report.
pub const LINES_MAX: usize = 23;

/// The most lines of the question, of doubts, and of the answer.
const QUESTION_LINES_MAX: usize = 3;
const DOUBT_LINES_MAX: usize = 2;
const ANSWER_LINES_MAX: usize = 8;

/// The bounds of a table's rows, and of the characters of bars and names.
const ROWS_MIN: usize = 3;
const BAR_WIDTH_MIN: usize = 10;
/// On a narrow terminal the bars give way to names, which cannot be read where they are cut.
const BAR_WIDTH_NARROW: usize = 5;
const BAR_WIDTH_MAX: usize = 30;
const NAME_WIDTH_MAX: usize = 28;
const NAME_WIDTH_MIN: usize = 8;
const LAST_WORDS_WIDTH_MIN: usize = 14;

/// What a terminal shows by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Screen {
    /// What was asked: the input, its size, how it was measured.
    pub question: String,
    /// Groups of bars that are compared with each other.
    pub bars: Vec<BarGroup>,
    /// The table that decides, whose cells have one line each.
    pub table: Option<Grid>,
    /// The columns that a narrow terminal leaves out, the first of them first.
    pub spare_columns: Vec<&'static str>,
    /// What makes the answer suspect, the gravest first.
    pub doubts: Vec<String>,
    /// The sentence that answers.
    pub answer: String,
    /// A command to try next; empty where there is none.
    pub next: String,
    /// The figures that answer: a report begins with them, and a terminal has them in bars or sentences.
    pub tiles: Vec<Tile>,
}

/// A figure that answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tile {
    /// What it is of: a link, a direction.
    pub name: String,
    /// The figure, with its unit.
    pub figure: String,
    /// What it is, and what it is compared with.
    pub detail: String,
}

impl Tile {
    pub fn new(name: impl Into<String>, figure: impl Into<String>, detail: impl Into<String>) -> Self {
        let (name, figure, detail) = (name.into(), figure.into(), detail.into());
        Self { name, figure, detail }
    }

    /// The last bar of each group beside its first, where bars show what is changed and by how much.
    pub fn of_changes(groups: &[BarGroup]) -> Vec<Self> {
        let tile = |group: &BarGroup| {
            let [first, .., last] = group.bars.as_slice() else {
                return None;
            };
            let detail = format!("{}, {}; {} {}", last.label, last.change, first.label, first.figure);
            (!last.change.is_empty()).then(|| Self::new(&group.name, &last.figure, detail))
        };
        groups.iter().filter_map(tile).collect()
    }
}

/// Bars with a common scale, which begins at 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarGroup {
    /// What they have in common: a link.
    pub name: String,
    /// More about that, below its name.
    pub detail: String,
    /// The bars. Where there is no room for all, the first and the last stay.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bar {
    pub label: String,
    pub length: f64,
    /// The figure that it shows, with its unit.
    pub figure: String,
    /// How far that is from the first bar: `-5 %`.
    pub change: String,
    /// The interval of that, where there is room for it.
    pub interval: String,
}

impl Screen {
    /// Doubts in a line or two each, every text once: the name and the first sentence.
    pub fn doubt_texts<'a>(doubts: impl IntoIterator<Item = &'a Doubt>) -> Vec<String> {
        let text = |doubt: &Doubt| {
            let sentence = doubt.text.split_inclusive(". ").next().unwrap_or_default();
            format!("{}: {}", doubt.kind.name(), sentence.trim_end())
        };
        let mut texts: Vec<String> = Vec::new();
        for text in doubts.into_iter().map(text) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }
}

/// The screen, in at most [`LINES_MAX`] lines, none wider than `style` allows.
pub fn render(screen: &Screen, style: TerminalStyle) -> String {
    let width = usize::from(style.width).clamp(40, 100);
    let question = shorten_to_lines(&screen.question, width, QUESTION_LINES_MAX);
    let doubts: Vec<String> = match screen.doubts.split_first() {
        None => Vec::new(),
        Some((first, rest)) => {
            let more = match rest.len() {
                0 => String::new(),
                more => format!(" (and {more} more: --details)"),
            };
            let shortened = (0..=length(first))
                .rev()
                .map(|room| format!("doubt {}{more}", cut_at_word(first, room)));
            let fitting = shortened
                .map(|text| wrap(&text, width))
                .find(|lines| lines.len() <= DOUBT_LINES_MAX);
            fitting
                .unwrap_or_default()
                .iter()
                .map(|line| shorten(line, width))
                .collect()
        }
    };
    let mut answer = shorten_to_lines(&screen.answer, width, ANSWER_LINES_MAX);
    if style.colour {
        answer = answer.iter().map(|line| format!("\u{1b}[1m{line}\u{1b}[0m")).collect();
    }
    if !screen.next.is_empty() {
        answer.push(format!("next: {}", replace_control_characters(&screen.next)));
    }
    let fixed = [&question, &doubts, &answer];
    let blank_lines = fixed.iter().filter(|part| !part.is_empty()).count() - 1
        + usize::from(!screen.bars.is_empty())
        + usize::from(screen.table.is_some());
    let room = LINES_MAX.saturating_sub(fixed.iter().map(|part| part.len()).sum::<usize>() + blank_lines);
    // A head, some rows, and the number of the others.
    let table_min = screen.table.as_ref().map_or(0, |grid| {
        grid.rows.len().min(ROWS_MIN + 1) + 1 + usize::from(!grid.title.is_empty())
    });
    let bars = draw_bars(&screen.bars, width, room.saturating_sub(table_min));
    let table = screen.table.as_ref().map_or_else(Vec::new, |grid| {
        draw_table(grid, &screen.spare_columns, width, room.saturating_sub(bars.len()))
    });
    let parts = [question, bars, table, doubts, answer];
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.map(|part| part.join("\n")).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// The group's name or detail and the bar's label, the bar's share of the longest, and its figure, change and interval.
type BarRow = ([String; 2], f64, [String; 3]);

/// A row for each bar, in at most `lines_max` lines: where there are more, each group has its first and last, then only its last.
fn draw_bars(groups: &[BarGroup], width: usize, lines_max: usize) -> Vec<String> {
    let name_max = NAME_WIDTH_MAX.min(width * 2 / 5);
    let count: usize = groups.iter().map(|group| group.bars.len()).sum();
    let is_shown = |at: usize, of: usize| match lines_max {
        _ if count <= lines_max => true,
        _ if 2 * groups.len() <= lines_max => at == 0 || at + 1 == of,
        _ => at + 1 == of,
    };
    let mut rows: Vec<BarRow> = Vec::new();
    for group in groups {
        let largest = group.bars.iter().map(|bar| bar.length).fold(0.0, f64::max);
        let shown = group
            .bars
            .iter()
            .enumerate()
            .filter(|(at, _)| is_shown(*at, group.bars.len()));
        for (line, (_, bar)) in shown.enumerate() {
            let name = [&group.name, &group.detail]
                .get(line)
                .map_or_else(String::new, |name| shorten(name, name_max));
            let share = if largest > 0.0 { bar.length / largest } else { 0.0 };
            let figures = [&bar.figure, &bar.change, &bar.interval].map(|text| replace_control_characters(text));
            rows.push(([name, shorten(&bar.label, name_max)], share, figures));
        }
    }
    if lines_max == 0 {
        return Vec::new();
    }
    let mut hidden = rows.len().saturating_sub(lines_max);
    if hidden > 0 {
        hidden += 1;
        rows.truncate(lines_max.saturating_sub(1));
    }
    let widest = |text: &dyn Fn(&BarRow) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let [mut name, mut label] = [0, 1].map(|at| widest(&|row| length(&row.0[at])));
    let mut figures = [0, 1, 2].map(|at| widest(&|row| length(&row.2[at])));
    let gaps = |figures: &[usize; 3]| 2 * (2 + figures.iter().filter(|width| **width > 0).count());
    let room = |names: usize, figures: &[usize; 3]| {
        width.saturating_sub(names + figures.iter().sum::<usize>() + gaps(figures))
    };
    if room(name + label, &figures) < BAR_WIDTH_MIN {
        figures[2] = 0;
    }
    if room(name + label, &figures) < BAR_WIDTH_NARROW {
        figures[1] = 0;
    }
    while room(name + label, &figures) < BAR_WIDTH_NARROW && name.max(label) > NAME_WIDTH_MIN {
        let longer = if name > label { &mut name } else { &mut label };
        *longer -= 1;
    }
    let bar_width = room(name + label, &figures).clamp(BAR_WIDTH_NARROW, BAR_WIDTH_MAX);
    let line = |([group, of], share, texts): &BarRow| {
        let mut line = format!(
            "{:name$}  {:label$}  {}",
            shorten(group, name),
            shorten(of, label),
            pad_right(&bar_of(*share, bar_width), bar_width)
        );
        for (text, width) in texts.iter().zip(figures).filter(|(_, width)| *width > 0) {
            line += &format!("  {text:>width$}");
        }
        line.trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if hidden > 0 {
        lines.push(format!("{hidden} more: --details"));
    }
    lines
}

/// A bar in eighths of a character; a share above 0 has one at least.
fn bar_of(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let mut eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    if share > 0.0 {
        eighths = eighths.max(1);
    }
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// A head and a line for each row, in at most `lines_max` lines, without the spare columns that do not fit.
fn draw_table(grid: &Grid, spare: &[&str], width: usize, lines_max: usize) -> Vec<String> {
    let caption = cut_words(&grid.title, width);
    let lines_max = lines_max - usize::from(!caption.is_empty()).min(lines_max);
    if lines_max < 3 {
        return Vec::new();
    }
    let rows = &grid.rows;
    let cell = |at: usize, row: usize| rows[row].cells.get(at).map_or("", String::as_str);
    let is_used = |at: &usize| (0..rows.len()).any(|row| !cell(*at, row).is_empty());
    let mut columns: Vec<usize> = (0..grid.columns.len()).filter(is_used).collect();
    let column_width = |at: usize| {
        let cells = (0..rows.len()).map(|row| length(cell(at, row)));
        cells
            .max()
            .unwrap_or(0)
            .max(length(&grid.columns[at].name))
            .min(NAME_WIDTH_MAX)
    };
    // Words at the end take what is left of a line.
    let total = |columns: &[usize]| {
        let Some((last, first)) = columns.split_last() else {
            return 0;
        };
        let least = if grid.columns[*last].figures {
            NAME_WIDTH_MAX
        } else {
            LAST_WORDS_WIDTH_MIN
        };
        first.iter().map(|at| column_width(*at) + 2).sum::<usize>() + column_width(*last).min(least) + 2
    };
    for name in spare {
        if total(&columns) <= width + 2 {
            break;
        }
        columns.retain(|at| grid.columns[*at].name != *name);
    }
    while total(&columns) > width + 2 && columns.len() > 1 {
        columns.pop();
    }
    let shown = if rows.len() < lines_max {
        rows.len()
    } else {
        lines_max.saturating_sub(2)
    };
    let Some((last, first)) = columns.split_last() else {
        return Vec::new();
    };
    let line = |text: &dyn Fn(usize) -> String| {
        let mut line = String::new();
        for at in first {
            let (text, width) = (cut_words(&text(*at), NAME_WIDTH_MAX), column_width(*at));
            line += &if grid.columns[*at].figures {
                format!("{text:>width$}  ")
            } else {
                format!("{text:width$}  ")
            };
        }
        let room = width.saturating_sub(length(&line));
        let text = replace_control_characters(&text(*last));
        line += &if grid.columns[*last].figures {
            let width = column_width(*last).min(room);
            format!("{:>width$}", cut_words(&text, width))
        } else {
            cut_at_word(&text, room)
        };
        shorten(line.trim_end(), width)
    };
    let mut lines: Vec<String> = Some(caption)
        .filter(|caption| !caption.is_empty())
        .into_iter()
        .collect();
    lines.push(line(&|at| grid.columns[at].name.clone()));
    lines.extend((0..shown).map(|row| line(&|at| cell(at, row).to_owned())));
    if shown < rows.len() {
        lines.push(format!("{} more: --details", rows.len() - shown));
    }
    lines
}

/// Wrapped into at most `lines_max` lines of `width`; what does not fit ends in `…`.
fn shorten_to_lines(text: &str, width: usize, lines_max: usize) -> Vec<String> {
    let mut lines = wrap(text, width);
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            *last = cut_at_word(&format!("{last} and more"), length(last).min(width - 1));
        }
    }
    lines.iter().map(|line| shorten(line, width)).collect()
}

/// The first words, within `length_max` characters; what does not fit ends in `…`.
fn cut_at_word(text: &str, length_max: usize) -> String {
    if length(text) <= length_max {
        return text.to_owned();
    }
    let start: String = text.chars().take(length_max.saturating_sub(1)).collect();
    format!(
        "{} …",
        start.rsplit_once(' ').map_or(start.as_str(), |(whole, _)| whole)
    )
}

/// In at most `length_max` characters: words lose the last of them, a single word its middle.
fn cut_words(text: &str, length_max: usize) -> String {
    let text = replace_control_characters(text);
    let first = text.chars().take(length_max.saturating_sub(1));
    if first.clone().any(|c| c == ' ') {
        cut_at_word(&text, length_max)
    } else {
        shorten(&text, length_max)
    }
}

/// In at most `length_max` characters: a longer name loses its middle.
fn shorten(text: &str, length_max: usize) -> String {
    let characters: Vec<char> = replace_control_characters(text).chars().collect();
    if characters.len() <= length_max {
        return characters.into_iter().collect();
    }
    let tail = (length_max - 1) / 2;
    let (start, end) = (
        &characters[..length_max - 1 - tail],
        &characters[characters.len() - tail..],
    );
    start.iter().chain(&['…']).chain(end).collect()
}

/// A word as a shell reads it back: in single quotes where it has to be.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(length(text))))
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests;
