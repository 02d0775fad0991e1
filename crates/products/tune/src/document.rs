//! The tables and sentences that show a tuning.
//!
//! A grid has 1,440 points per direction: the tables show the frontier, the answer and the settings that have a name; `maps`, CSV and JSON
//! have the rest.

mod frontier;
mod maps;
mod rate;
mod screen;
mod settings;

pub(crate) use settings::{beyond, settings};

use crate::csv;
use crate::record::{Choice, Direction, LinkDelivery, Sampling, Scope, Stream, Tuning};
use lastmile_report::csv::Rows;
use lastmile_report::document::{Block, Detail, Grid, Note, Record, RowEmphasis, levels_text, standing};
use lastmile_report::number::{count, counted, mean_and_spread, percent, quantity, with_decimals};
use lastmile_report::page::{Page, PageRecord};
use lastmile_report::record::Figure;
use lastmile_report::screen::Screen;

impl Record for Tuning {
    /// The tuning in the order of a terminal: the answer first, then what it was chosen from.
    fn blocks(&self, detail: Detail) -> Vec<Block> {
        let mut blocks = answer(self);
        blocks.extend(thresholds(self));
        for stream in &self.directions {
            blocks.push(Block::Heading(heading(stream)));
            blocks.extend(settings(self, stream, detail));
            blocks.extend(maps::ratio_table(self, stream.direction, detail));
            blocks.extend(beyond(self, stream.direction, detail));
        }
        for link in &self.links {
            blocks.push(Block::Heading(format!("On {}", self.link_label(link))));
            blocks.extend(link_blocks(link));
        }
        blocks.extend(self.findings.iter().cloned().map(Block::Finding));
        blocks.extend(snippets(self));
        blocks.push(Block::Text(provenance_text(self)));
        if detail != Detail::All {
            let everything = "The report, --all, and the formats json and csv show every point.";
            blocks.push(Block::Text(everything.to_owned()));
        }
        blocks.extend(doubts(self));
        blocks
    }

    fn rows(&self) -> Rows {
        csv::tuning(self)
    }

    fn screen(&self) -> Option<Screen> {
        Some(screen::screen(self))
    }
}

/// The answer, and the settings that it names.
fn answer(tuning: &Tuning) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(tuning.answer.text.clone())];
    let connections = tuning.options.connections;
    let note = format!(
        "The ratio is compressed over raw payload; memory is that of one compressing context; CPU time is that of compressing one message: here its \
         mean ± population deviation, in sentences its median. \"Of {}\" is the memory of that many connections in both directions: one pair of \
         contexts each, or one pair per core where nothing is kept between messages.",
        count(connections)
    );
    let mut grid = Grid::new("What to use", note)
        .word_columns(["direction", "scope", "setting", "with"])
        .figure_columns(["ratio", "memory", &connections_label(connections), "CPU time"])
        .word_columns(["fits"]);
    for choice in &tuning.answer.choices {
        grid.row(choice_cells(choice), RowEmphasis::Good, &[]);
    }
    if !grid.rows.is_empty() {
        blocks.push(Block::Grid(grid.without_empty_columns()));
    }
    let choices = &tuning.answer.choices;
    for (at, choice) in choices.iter().enumerate() {
        let is_same = |earlier: &&Choice| (earlier.direction, &earlier.setting) == (choice.direction, &choice.setting);
        // If nothing beats the best setting of permessage-deflate, that setting is chosen in both scopes, for the same reason.
        if !choice.why.is_empty() && !choices[..at].iter().any(|earlier| is_same(&earlier)) {
            let Choice { setting, why, .. } = choice;
            blocks.push(Block::Text(format!("{}, {setting}: {why}", choice.direction.name())));
        }
    }
    blocks
}

fn choice_cells(choice: &Choice) -> Vec<String> {
    let scope = match choice.scope {
        Scope::PermessageDeflate => "permessage-deflate",
        Scope::AnyCodec => "any codec",
    };
    let with: Vec<&str> = [&choice.dictionary, &choice.policy]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    vec![
        choice.direction.name().to_owned(),
        scope.to_owned(),
        choice.setting.clone(),
        with.join("; "),
        ratio(choice.ratio, choice.ratio_ci95),
        memory(choice.memory_bytes),
        memory(choice.memory_total_bytes),
        computing(choice.cpu_seconds.as_ref()),
        match choice.fits {
            None => "",
            Some(true) => "yes",
            Some(false) => "no",
        }
        .to_owned(),
    ]
}

/// `Sent: 666 messages, 87.9 kB; the median is 118 B, the longest 514 B`.
fn heading(stream: &Stream) -> String {
    let name = match stream.direction {
        Direction::Sent => "Sent",
        Direction::Received => "Received",
    };
    format!(
        "{name}: {}, {}; the median is {}, the longest {}",
        counted(stream.messages, "message"),
        memory(stream.bytes),
        memory(stream.length_median_bytes),
        memory(stream.length_max_bytes),
    )
}

/// A link: its description, what the answer gains there, delivery under each setting.
fn link_blocks(link: &LinkDelivery) -> Vec<Block> {
    let mut blocks = vec![
        Block::Text(link.description.sentence()),
        Block::Text(link.summary.clone()),
    ];
    let note = "Delivery time runs from when a message was due to be sent until the other side has decoded it: mean ± population deviation. The bytes \
                carried include the headers of every layer. Savings are means over paired messages.";
    let mut grid = Grid::new("Delivery", note)
        .word_columns(["direction", "setting"])
        .figure_columns(["delivery time", "median", "p95", "carried", "saved", "share saved"]);
    for outcome in &link.outcomes {
        let time = &outcome.delivery_time;
        let quantile = |p: &str| {
            let value = time.quantiles.get(p);
            value.map_or_else(String::new, |value| quantity(*value, &time.unit))
        };
        let saving = outcome.saving_against_identity.as_ref();
        let cells = vec![
            outcome.direction.name().to_owned(),
            outcome.setting.clone(),
            mean_and_spread(time),
            quantile("0.5"),
            quantile("0.95"),
            quantity(outcome.link_bytes.mean, &outcome.link_bytes.unit),
            saving.map_or_else(String::new, |saving| quantity(saving.mean_s, "s")),
            saving.map_or_else(String::new, |saving| percent(saving.share)),
        ];
        grid.row(cells, RowEmphasis::Plain, &link.doubts);
    }
    if grid.rows.is_empty() {
        blocks.extend(Block::notes(&link.doubts, std::iter::empty()));
    } else {
        blocks.push(Block::Grid(grid));
    }
    blocks
}

/// The rules that the figures were checked against; none without rules.
fn thresholds(tuning: &Tuning) -> Option<Block> {
    let mut grid = Grid::new("Thresholds", "")
        .word_columns(["rule", "checked on"])
        .figure_columns(["found"])
        .word_columns(["held"]);
    for threshold in &tuning.thresholds {
        let (held, tone) = standing(threshold);
        let cells = vec![
            threshold.rule.clone(),
            levels_text(&threshold.levels),
            found(&threshold.rule, threshold.found),
            held.to_owned(),
        ];
        grid.row(cells, tone, &[]);
    }
    (!grid.rows.is_empty()).then_some(Block::Grid(grid))
}

/// The value found, in the unit of the figure that a rule names.
fn found(rule: &str, value: f64) -> String {
    if rule.starts_with("memory") {
        memory(value as u64)
    } else if rule.starts_with("ratio") {
        with_decimals(value, 4)
    } else {
        quantity(value, "s")
    }
}

/// Configuration to paste.
fn snippets(tuning: &Tuning) -> Vec<Block> {
    let block = |snippet: &crate::record::Snippet| Block::Code {
        title: snippet.implementation.label().to_owned(),
        text: snippet.text.clone(),
        note: snippet.note.clone(),
    };
    tuning.snippets.iter().map(block).collect()
}

/// Doubts about the tuning as a whole, and assumptions made in reading the transcript; none if there are none.
fn doubts(tuning: &Tuning) -> Option<Block> {
    let notes = tuning.transcript.notes.iter();
    Block::notes(&tuning.doubts, notes.map(|text| Note::new("transcript", text)))
}

/// What was compressed, with which libraries, and where CPU time was measured.
fn provenance_text(tuning: &Tuning) -> String {
    let (transcript, options) = (&tuning.transcript, &tuning.options);
    let others: Vec<String> = tuning
        .libraries
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" (and {})", others.join(", "))
    };
    let sampling = match options.sampling {
        Sampling::Exact => "every byte at every point",
        Sampling::Auto => {
            "every byte, or as many as it takes to tell points apart; points from such a sample carry an interval"
        }
    };
    let timed = match &tuning.cpu_machine {
        Some(machine) => format!(
            " CPU time was measured on {machine}, in turns over {}.",
            counted(options.connections, "context")
        ),
        None => String::new(),
    };
    format!(
        "Compressed {}, {}, of {} from {} ({}) with zlib {}{others}: {sampling}.{timed} Seed {}, lastmile {}.",
        counted(transcript.messages, "message"),
        quantity(transcript.bytes as f64, "B"),
        counted(transcript.connections, "connection"),
        transcript.source,
        transcript.format.name(),
        tuning.zlib,
        tuning.seed,
        tuning.version,
    )
}

/// A direction on a page: its settings, the chart of the frontier, maps of the grid, the codecs and policies beyond it.
fn direction_blocks(tuning: &Tuning, stream: &Stream) -> Vec<Block> {
    let mut blocks = vec![Block::Text(format!("{}.", heading(stream)))];
    blocks.extend(settings(tuning, stream, Detail::Short));
    blocks.extend(frontier::frontier(tuning, stream.direction).map(Block::Chart));
    blocks.extend(maps::maps(tuning, stream.direction));
    blocks.extend(beyond(tuning, stream.direction, Detail::All));
    if let Some(everything) = settings(tuning, stream, Detail::All) {
        blocks.push(Block::Folded {
            summary: "Every point".to_owned(),
            blocks: vec![everything],
        });
    }
    blocks
}

/// `0.3045`, and its interval on a line of its own.
fn ratio(value: f64, ci95: Option<[f64; 2]>) -> String {
    match ci95 {
        Some([low, high]) => format!(
            "{}\n{} to {}",
            with_decimals(value, 4),
            with_decimals(low, 4),
            with_decimals(high, 4)
        ),
        None => with_decimals(value, 4),
    }
}

fn memory(bytes: u64) -> String {
    quantity(bytes as f64, "B")
}

fn computing(figure: Option<&Figure>) -> String {
    figure.map_or_else(String::new, mean_and_spread)
}

fn connections_label(connections: u64) -> String {
    format!("of {}", count(connections))
}

impl PageRecord for Tuning {
    fn page(&self) -> Page<'_> {
        let mut first = answer(self);
        first.extend(doubts(self));
        let findings = self.findings.iter().cloned().map(Block::Finding).collect();
        let mut sections = vec![
            ("Answer".to_owned(), first),
            ("Thresholds".to_owned(), thresholds(self).into_iter().collect()),
        ];
        for stream in &self.directions {
            let head = format!("What was {}", stream.direction.name());
            sections.push((head, direction_blocks(self, stream)));
        }
        for link in &self.links {
            sections.push((format!("On {}", self.link_label(link)), link_blocks(link)));
        }
        sections.extend([
            ("Findings".to_owned(), findings),
            (
                "To paste".to_owned(),
                Block::folded("Configuration of server and client", snippets(self)),
            ),
        ]);
        let source = &self.transcript.source;
        Page {
            title: source,
            kind: "tuning",
            question: "Which compression suits these messages, and what does it cost?",
            facts: vec![
                source.clone(),
                format!("zlib {}", self.zlib),
                format!("seed {}", self.seed),
                format!("lastmile {}", self.version),
            ],
            sections,
            how: provenance_text(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures::tuning;
    use lastmile_report::page::{self, Provenance};
    use lastmile_report::terminal::{self, TerminalStyle};
    use lastmile_report::testing::{check_page, check_record, check_schema, check_screen};

    #[test]
    fn the_screen_looks_like_this() {
        insta::assert_snapshot!(check_screen(&tuning()));
    }

    #[test]
    fn the_record_keeps_what_every_record_must() {
        check_schema("tune", &tuning());
        check_record(
            &tuning(),
            &[
                "jsonl",
                "auto",
                "sent",
                "received",
                "default",
                "permessage-deflate",
                "any-codec",
                "python-websockets",
                "exact",
            ],
        );
        check_page(
            &tuning(),
            &[
                "jsonl",
                "auto",
                "sent",
                "received",
                "default",
                "permessage-deflate",
                "any-codec",
                "python-websockets",
                "exact",
            ],
            &[],
        );
    }

    #[test]
    fn a_tuning_is_shown_like_this() {
        let style = TerminalStyle {
            width: 120,
            colour: false,
        };
        insta::assert_snapshot!(terminal::render(&tuning(), Detail::Short, style));
    }

    fn page_of(tuning: &Tuning) -> String {
        let provenance = Provenance {
            command: "lastmile tune chat.txt".to_owned(),
            machine: "2 cores, Linux 6.1".to_owned(),
            finished: None,
            study: None,
        };
        page::render(tuning, &provenance)
    }

    #[test]
    fn a_tuning_is_shown_whole_only_when_asked_for() {
        let style = TerminalStyle {
            width: 120,
            colour: false,
        };
        let (short, whole) = (
            terminal::render(&tuning(), Detail::Short, style),
            terminal::render(&tuning(), Detail::All, style),
        );
        let settings = |text: &str| text.lines().filter(|line| line.starts_with("deflate:")).count();
        assert!(settings(&short) < 30, "{}", settings(&short));
        // The grid one way and three points the other.
        assert_eq!(settings(&whole), 1_440 + 3);
    }

    #[test]
    fn a_grid_is_drawn_with_every_value_in_a_tool_tip_and_the_setting_to_use_framed() {
        let page = page_of(&tuning());
        let tool_tip = "<title>deflate:6/w13/m6 (to use, frontier): ratio 0.369000, 32,437 B, context 71,504 B, 6.70 µs CPU per message</title>";
        assert!(page.contains(tool_tip), "{page}");
        assert!(page.contains("class=\"frame\""));
        for title in [
            "Ratio by window and mem level, level 6, with takeover",
            "Ratio by window and level, mem level 6, with takeover",
            "Memory by window and mem level",
        ] {
            assert!(page.contains(&format!("<b>{title}</b>")), "{title}");
        }
    }

    #[test]
    fn a_tuning_of_one_point_or_none_is_still_a_page() {
        let mut tuning = tuning();
        tuning.points.truncate(1);
        let page = page_of(&tuning);
        let (shown, _) = page.split_once("<script>").unwrap();
        assert!(!shown.contains("NaN") && !shown.contains("inf "));
        tuning.points.clear();
        tuning.codecs.clear();
        tuning.directions.clear();
        tuning.answer.choices.clear();
        assert!(page_of(&tuning).ends_with("</html>\n"));
    }
}
