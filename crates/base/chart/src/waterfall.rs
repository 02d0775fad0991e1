//! Draws a [`Waterfall`] as HTML of our own: a row per request of a page, its phases along one time axis, beside another load of the page.
//!
//! HTML and not SVG, so that one drawing fits any width: names are cut in the middle by the style, and bars are shares of what is left. It
//! needs no script. Phases differ by height and pattern as well as by shade.

use crate::axis::{Tick, ticks_from_zero};
use crate::escape::Text;
use lastmile_units::number::{Prefixed, prefix, quantity, with_decimals};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// One load of a page, or two to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Waterfall {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The load that is drawn in full.
    pub load: Load,
    /// The load that it is compared with, drawn as outlines.
    pub before: Option<Load>,
    /// The requests, in any order.
    pub rows: Vec<Row>,
}

/// A load of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// What it is called: `as recorded`.
    pub name: String,
    /// What happened in it, each once, in seconds from its start; drawn as verticals.
    pub events: Vec<(Event, f64)>,
}

/// A moment of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The document was parsed, and its deferred scripts were there.
    DomContentLoaded,
    /// All that belongs to the document was there.
    LoadEvent,
    /// The last response was there.
    PageEnd,
}

impl Event {
    const fn name(self) -> &'static str {
        match self {
            Self::DomContentLoaded => "DOMContentLoaded",
            Self::LoadEvent => "load event",
            Self::PageEnd => "page time",
        }
    }

    /// Its class in the style, and the name of its variable there.
    const fn class(self) -> &'static str {
        match self {
            Self::DomContentLoaded => "dom",
            Self::LoadEvent => "load",
            Self::PageEnd => "end",
        }
    }
}

/// A request. Times are in seconds from the start of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What is requested.
    pub name: String,
    /// The host that it is folded into, where there are many rows.
    pub host: String,
    /// What else is to be known about it, in lines.
    pub details: String,
    /// When the request was made.
    pub start: f64,
    /// Its phases one after the other, with their lengths.
    pub phases: Vec<(Phase, f64)>,
    /// Its start and end in the other load.
    pub before: Option<[f64; 2]>,
    /// Whether the page's end waited for it.
    pub is_critical: bool,
    /// The number of the connection that carried it, where that is known.
    pub connection: Option<u64>,
}

impl Row {
    fn end(&self) -> f64 {
        self.start + self.phases.iter().map(|(_, length)| length).sum::<f64>()
    }
}

/// A part of a request's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// For a connection, or for requests of higher priority.
    Blocked,
    /// Finding the address of the host.
    Lookup,
    /// The TCP handshake.
    Connect,
    /// The TLS handshake.
    Encrypt,
    /// Writing the request.
    Send,
    /// For the first byte.
    Wait,
    /// Reading the body.
    Receive,
    /// Decompressing what is left when all is read.
    Decode,
}

impl Phase {
    const ALL: [Self; 8] = [
        Self::Blocked,
        Self::Lookup,
        Self::Connect,
        Self::Encrypt,
        Self::Send,
        Self::Wait,
        Self::Receive,
        Self::Decode,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Blocked => "waiting for a connection",
            Self::Lookup => "name lookup",
            Self::Connect => "TCP handshake",
            Self::Encrypt => "TLS handshake",
            Self::Send => "sending the request",
            Self::Wait => "waiting for the response",
            Self::Receive => "receiving",
            Self::Decode => "decompressing the rest",
        }
    }

    /// Its class in the style.
    const fn class(self) -> char {
        match self {
            Self::Blocked => 'b',
            Self::Lookup => 'l',
            Self::Connect => 'c',
            Self::Encrypt => 'e',
            Self::Send => 's',
            Self::Wait => 'w',
            Self::Receive => 'r',
            Self::Decode => 'd',
        }
    }
}

/// Above this many rows they are folded by host: our own choice.
const ROWS_OPEN_MAX: usize = 200;

/// The characters at the end of a name that are shown at any width.
const NAME_TAIL: usize = 14;

/// A request that ends sooner or later by less than this share of the page is said to end at the same time: our own choice.
const SAME: f64 = 0.001;

/// Draws `waterfall` for a page that has [`crate::CSS`].
pub fn html(waterfall: &Waterfall) -> String {
    let mut out = String::new();
    Drawing::new(waterfall)
        .write_to(&mut out)
        .expect("a String takes all that is written to it");
    out
}

struct Drawing<'a> {
    waterfall: &'a Waterfall,
    /// In the order of their starts.
    rows: Vec<&'a Row>,
    /// Where the time axis ends, in seconds.
    end: f64,
    /// The unit of the times at the ends of the rows.
    unit: Prefixed,
}

impl<'a> Drawing<'a> {
    fn new(waterfall: &'a Waterfall) -> Self {
        let mut rows: Vec<&Row> = waterfall.rows.iter().collect();
        rows.sort_by(|a, b| a.start.total_cmp(&b.start));
        let loads = std::iter::once(&waterfall.load).chain(&waterfall.before);
        let ends = rows
            .iter()
            .flat_map(|row| [row.end(), row.before.map_or(0.0, |[_, end]| end)]);
        let events = loads.flat_map(|load| &load.events).map(|(_, time)| *time);
        let end = events.chain(ends).fold(0.0, f64::max);
        // A line at the very end would be cut off.
        let end = if end > 0.0 { end * 1.01 } else { 1.0 };
        Self {
            waterfall,
            rows,
            end,
            unit: prefix(end, "s"),
        }
    }

    fn write_to(&self, out: &mut String) -> fmt::Result {
        let (step, ticks) = ticks_from_zero(self.end, "s", 6);
        let Waterfall { load, before, .. } = self.waterfall;
        write!(
            out,
            "<div class=\"chart waterfall\" style=\"--tick:{}",
            self.percent(step)
        )?;
        for (load, suffix) in std::iter::once((load, "")).chain(before.iter().map(|before| (before, "-before"))) {
            for (event, time) in &load.events {
                write!(out, ";--{}{suffix}:{}", event.class(), self.percent(*time))?;
            }
        }
        out.push_str("\">\n");
        self.write_orders(out)?;
        self.write_legend(out)?;
        self.write_axis(out, &ticks)?;
        if self.rows.len() <= ROWS_OPEN_MAX {
            self.write_rows(out, &self.rows)?;
        } else {
            self.write_folded(out)?;
        }
        out.push_str("</div>\n");
        Ok(())
    }

    fn write_legend(&self, out: &mut String) -> fmt::Result {
        let Waterfall { load, before, rows, .. } = self.waterfall;
        out.push_str("<ul class=\"key\">");
        let occurs = |phase: &Phase| {
            let mut phases = rows.iter().flat_map(|row| &row.phases);
            phases.any(|(other, length)| other == phase && *length > 0.0)
        };
        for phase in Phase::ALL.iter().filter(|phase| occurs(phase)) {
            write!(out, "<li><i class=\"{}\"></i>{}</li>", phase.class(), phase.name())?;
        }
        if let Some(before) = before {
            write!(out, "<li><s></s>{}</li>", Text(&before.name))?;
        }
        if rows.iter().any(|row| row.is_critical) {
            out.push_str("<li><u></u>the page waits for it (critical path)</li>");
        }
        for (load, then) in std::iter::once((load, "")).chain(before.iter().map(|before| (before, " then"))) {
            for (event, time) in &load.events {
                let text = format!("{} {}: {}", event.name(), load.name, quantity(*time, "s"));
                write!(out, "<li><b class=\"{}{then}\"></b>{}</li>", event.class(), Text(text))?;
            }
        }
        writeln!(out, "</ul>")
    }

    /// Buttons for the page's script, which sorts the rows; without it they stay hidden.
    fn write_orders(&self, out: &mut String) -> fmt::Result {
        let has_connections = self.rows.iter().any(|row| row.connection.is_some());
        let orders = [
            ("start", "by start", true),
            ("saved", "by time saved", self.waterfall.before.is_some()),
            ("lane", "by connection", has_connections),
        ];
        if orders.iter().filter(|(.., is_there)| *is_there).count() < 2 {
            return Ok(());
        }
        out.push_str("<div class=\"tools\" hidden>");
        for (value, text, _) in orders.iter().filter(|(.., is_there)| *is_there) {
            let pressed = *value == "start";
            write!(
                out,
                "<button type=\"button\" value=\"{value}\" aria-pressed=\"{pressed}\">{text}</button>"
            )?;
        }
        writeln!(out, "</div>")
    }

    fn write_axis(&self, out: &mut String, ticks: &[Tick]) -> fmt::Result {
        out.push_str("<div class=\"row axis\"><span class=\"n\">request</span><span class=\"t\">");
        // The text of a tick at the very end would run into the next column.
        for tick in ticks.iter().filter(|tick| tick.at < 0.9) {
            write!(out, "<b style=\"left:{}\">{}</b>", share(tick.at), Text(&tick.text))?;
        }
        let saved = if self.waterfall.before.is_some() {
            "sooner by"
        } else {
            "takes"
        };
        writeln!(
            out,
            "</span><span class=\"d\">{saved} ({})</span></div>",
            self.unit.unit
        )
    }

    fn write_rows(&self, out: &mut String, rows: &[&Row]) -> fmt::Result {
        let path = if rows.iter().any(|row| row.is_critical) {
            " class=\"path\""
        } else {
            ""
        };
        writeln!(out, "<ol{path}>")?;
        for row in rows {
            self.write_row(out, row)?;
        }
        writeln!(out, "</ol>")
    }

    /// Those that the page waits for, then host by host.
    fn write_folded(&self, out: &mut String) -> fmt::Result {
        let critical: Vec<&Row> = self.rows.iter().copied().filter(|row| row.is_critical).collect();
        if !critical.is_empty() {
            write!(out, "<p>The {} requests that the page waits for:</p>", critical.len())?;
            self.write_rows(out, &critical)?;
        }
        write!(out, "<p>All {} requests, by host:</p>", self.rows.len())?;
        for (host, rows) in by_host(&self.rows) {
            out.push_str("<details><summary class=\"row\">");
            let name = format!("{host} ({})", rows.len());
            let [start, end] = span(rows.iter().map(|row| [row.start, row.end()]));
            let before = rows.iter().filter_map(|row| row.before);
            let before = before.clone().next().map(|_| span(before));
            self.write_cells(out, &name, start, &[('h', end - start)], before)?;
            out.push_str("</summary>");
            self.write_rows(out, &rows)?;
            out.push_str("</details>\n");
        }
        Ok(())
    }

    fn write_row(&self, out: &mut String, row: &Row) -> fmt::Result {
        let critical = if row.is_critical { " k" } else { "" };
        write!(out, "<li class=\"row{critical}\" tabindex=0")?;
        if let Some([_, end]) = row.before {
            write!(out, " data-saved={:.3}", end - row.end())?;
        }
        if let Some(connection) = row.connection {
            write!(out, " data-lane=\"{connection} to {}\"", Text(&row.host))?;
        }
        write!(out, " title=\"{}\">", tooltip(row))?;
        let bars: Vec<(char, f64)> = row
            .phases
            .iter()
            .map(|(phase, length)| (phase.class(), *length))
            .collect();
        self.write_cells(out, &row.name, row.start, &bars, row.before)?;
        writeln!(out, "</li>")
    }

    /// The name, the bars in a row from `start` on, and the time saved.
    fn write_cells(
        &self,
        out: &mut String,
        name: &str,
        start: f64,
        bars: &[(char, f64)],
        before: Option<[f64; 2]>,
    ) -> fmt::Result {
        let (head, tail) = split_name(name);
        write!(out, "<span class=\"n\"><b>{}</b>", Text(head))?;
        if !tail.is_empty() {
            write!(out, "<i>{}</i>", Text(tail))?;
        }
        out.push_str("</span><span class=\"t\">");
        if let Some([from, to]) = before {
            let (left, width) = (self.percent(from), self.percent(to - from));
            write!(out, "<s style=left:{left};width:{width}></s>")?;
        }
        let mut from = start;
        for (class, length) in bars.iter().filter(|(_, length)| *length > 0.0) {
            let width = self.percent(*length);
            // Bars follow each other without a gap, so only the first has a position.
            let left = if from == start {
                format!("margin-left:{};", self.percent(start))
            } else {
                String::new()
            };
            write!(out, "<i class={class} style={left}width:{width}></i>")?;
            from += length;
        }
        let (class, text) = self.last_cell(from, before, from - start);
        write!(out, "</span><span class=\"d{class}\">{}</span>", Text(text))
    }

    /// How much sooner a request ends than in the other load; how long it takes, where there is none.
    fn last_cell(&self, end: f64, before: Option<[f64; 2]>, length: f64) -> (&'static str, String) {
        let time = |seconds: f64| with_decimals(seconds / self.unit.size, if self.unit.size < 1.0 { 0 } else { 2 });
        match (before, &self.waterfall.before) {
            (Some([_, end_before]), _) if (end_before - end).abs() < SAME * self.end => (" same", "same".to_owned()),
            (Some([_, end_before]), _) if end_before < end => (" later", format!("−{}", time(end - end_before))),
            (Some([_, end_before]), _) => ("", time(end_before - end)),
            (None, Some(_)) => ("", String::new()),
            (None, None) => ("", time(length)),
        }
    }

    /// A length on the time axis.
    fn percent(&self, seconds: f64) -> String {
        share(seconds / self.end)
    }
}

/// A share in per cent, to a hundredth: finer cannot be seen.
fn share(share: f64) -> String {
    let hundredths = (share.clamp(0.0, 1.0) * 10_000.0).round() as u32;
    match hundredths % 100 {
        0 => format!("{}%", hundredths / 100),
        part if part % 10 == 0 => format!("{}.{}%", hundredths / 100, part / 10),
        part => format!("{}.{part:02}%", hundredths / 100),
    }
}

/// The rows of each host, in the order of the hosts' first rows.
fn by_host<'a>(rows: &[&'a Row]) -> Vec<(&'a str, Vec<&'a Row>)> {
    let mut hosts: Vec<(&str, Vec<&Row>)> = Vec::new();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let number = *numbers.entry(&row.host).or_insert_with(|| {
            hosts.push((&row.host, Vec::new()));
            hosts.len() - 1
        });
        hosts[number].1.push(row);
    }
    hosts
}

/// The first start and the last end.
fn span(times: impl Iterator<Item = [f64; 2]>) -> [f64; 2] {
    times.fold([f64::INFINITY, 0.0], |[first, last], [start, end]| {
        [first.min(start), last.max(end)]
    })
}

/// A name in two parts, of which the second is shown at any width, so that a long name is cut in the middle.
fn split_name(name: &str) -> (&str, &str) {
    let tail = name.char_indices().rev().nth(NAME_TAIL - 1).map_or(0, |(at, _)| at);
    if tail < NAME_TAIL {
        (name, "")
    } else {
        name.split_at(tail)
    }
}

/// Everything that is known about a row, in lines, as the value of an attribute.
fn tooltip(row: &Row) -> String {
    let from_to = |start: f64, end: f64| format!("{} to {}", quantity(start, "s"), quantity(end, "s"));
    let mut text = format!("{}\n{}", row.name, from_to(row.start, row.end()));
    if row.is_critical {
        text.push_str(", on the critical path");
    }
    let phases = row.phases.iter().filter(|(_, length)| *length > 0.0);
    for (nth, (phase, length)) in phases.enumerate() {
        let before = if nth == 0 { ": " } else { ", " };
        let _ = write!(text, "{before}{} {}", phase.name(), quantity(*length, "s"));
    }
    if let Some([start, end]) = row.before {
        let _ = write!(text, "\nbefore: {}", from_to(start, end));
    }
    if !row.details.is_empty() {
        let _ = write!(text, "\n{}", row.details);
    }
    // A row stays on one line.
    Text(text).to_string().replace('\n', "&#10;")
}

#[cfg(test)]
mod tests;
