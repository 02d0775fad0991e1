//! Events as a Parquet file: a column for what every event has, and one for each field name.
//!
//! An answer is read once. Its lines wait in a file, while what the fields are becomes known; then they are written, a row group at a time. So
//! memory holds a row group, whatever the answer's size.

mod file;
mod thrift;

use anyhow::{Context as _, bail};
use file::{Column, ColumnType, ParquetWriter, Values};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// What every event has.
const COLUMNS: [(&str, ColumnType); 7] = [
    ("time", ColumnType::Time),
    ("subject", ColumnType::Text),
    ("source", ColumnType::Text),
    ("incarnation", ColumnType::Unsigned),
    ("sequence", ColumnType::Unsigned),
    ("span", ColumnType::Unsigned),
    ("position", ColumnType::Unsigned),
];

/// The most field names, each of which is a column. Our own choice.
const FIELDS_MAX: usize = 1_000;
/// The rows and the bytes after which a row group is written. Our own choice.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_BYTES: usize = 32 << 20;
/// The greatest integer up to which a double has each.
const EXACT_MAX: u64 = 1 << 53;

/// An answer on its way into a file.
pub(super) struct ParquetOutput {
    path: PathBuf,
    /// The lines of events so far.
    lines: BufWriter<File>,
    fields: BTreeMap<String, Seen>,
}

/// What the values of a field were so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    booleans: bool,
    integers: bool,
    /// Integers that a double does not have.
    great_integers: bool,
    doubles: bool,
    /// Texts that stand for numbers which JSON does not have.
    not_finite: bool,
    texts: bool,
}

/// How the values of a field are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldType {
    Typed(ColumnType),
    /// As JSON, since they are of several types.
    Mixed,
}

impl ParquetOutput {
    /// An output into `path`, which is replaced at the end.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let lines = beside(path, "lines");
        let opened = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&lines);
        let file = opened.with_context(|| format!("--parquet {}", path.display()))?;
        // It has no name any longer, so nothing is left of it however this ends.
        std::fs::remove_file(&lines).with_context(|| lines.display().to_string())?;
        Ok(Self {
            path: path.to_owned(),
            lines: BufWriter::new(file),
            fields: BTreeMap::new(),
        })
    }

    /// Takes a line of an answer, if it is an event.
    pub(super) fn take(&mut self, line: &str) -> anyhow::Result<bool> {
        let event: Value = serde_json::from_str(line)?;
        if event.get("sequence").is_none() {
            return Ok(false);
        }
        for (name, value) in event["fields"].as_object().into_iter().flatten() {
            if let Some(seen) = self.fields.get_mut(name) {
                seen.note(value);
            } else if self.fields.len() < FIELDS_MAX {
                self.fields.entry(name.clone()).or_default().note(value);
            } else {
                bail!("these events have more than {FIELDS_MAX} field names; ask for fewer subjects at a time");
            }
        }
        writeln!(self.lines, "{line}")?;
        Ok(true)
    }

    /// Writes the file; how many events it has.
    pub(super) fn finish(self) -> anyhow::Result<u64> {
        let mut lines = self.lines.into_inner().map_err(io::IntoInnerError::into_error)?;
        lines.rewind()?;
        let own = COLUMNS.iter().map(|(name, kind)| Column {
            name: (*name).to_owned(),
            kind: *kind,
            is_optional: false,
        });
        let fields: Vec<(&String, FieldType)> = self.fields.iter().map(|(name, seen)| (name, seen.kind())).collect();
        let of_fields = fields.iter().map(|(name, kind)| Column {
            name: column_name(name, &self.fields),
            kind: match kind {
                FieldType::Typed(kind) => *kind,
                FieldType::Mixed => ColumnType::Text,
            },
            is_optional: true,
        });
        let columns: Vec<Column> = own.chain(of_fields).collect();
        let new = beside(&self.path, "new");
        let file = File::create(&new).with_context(|| new.display().to_string())?;
        let mut writer = ParquetWriter::new(BufWriter::new(file), columns)?;
        let empty = vec![Values::default(); COLUMNS.len() + fields.len()];
        let (mut group, mut rows, mut events) = (empty.clone(), 0, 0);
        let mut line = String::new();
        let mut lines = BufReader::new(lines);
        while lines.read_line(&mut line)? > 0 {
            push(&mut group, &serde_json::from_str(&line)?, &fields)?;
            line.clear();
            rows += 1;
            events += 1;
            if rows == GROUP_ROWS || group.iter().map(Values::byte_count).sum::<usize>() >= GROUP_BYTES {
                writer.write_group(&group)?;
                (group, rows) = (empty.clone(), 0);
            }
        }
        writer.write_group(&group)?;
        let written = writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        written.sync_all()?;
        std::fs::rename(&new, &self.path).with_context(|| self.path.display().to_string())?;
        Ok(events)
    }
}

/// A file beside another.
fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{what}"));
    name.into()
}

/// A field's column is called as the field, unless every event has such a column.
fn column_name(field: &str, fields: &BTreeMap<String, Seen>) -> String {
    let mut name = field.to_owned();
    while COLUMNS.iter().any(|(own, _)| *own == name) || (name != field && fields.contains_key(&name)) {
        name.push_str("_field");
    }
    name
}

/// Adds the row of an event.
fn push(group: &mut [Values], event: &Value, fields: &[(&String, FieldType)]) -> anyhow::Result<()> {
    let (own, others) = group.split_at_mut(COLUMNS.len());
    let text = |name: &str| {
        event[name]
            .as_str()
            .with_context(|| format!("an event has no {name}: {event}"))
    };
    let number = |name: &str| {
        event[name]
            .as_u64()
            .with_context(|| format!("an event has no {name}: {event}"))
    };
    let (source, incarnation) = text("source")?
        .rsplit_once('@')
        .context("a source has no incarnation")?;
    let (_, position) = text("cursor")?.rsplit_once('-').context("a cursor has no position")?;
    own[0].push_integer(event["time_ns"].as_i64().context("an event has no time")?);
    own[1].push_text(text("subject")?);
    own[2].push_text(source);
    own[3].push_unsigned(u64::from_str_radix(incarnation, 16)?);
    own[4].push_unsigned(number("sequence")?);
    own[5].push_unsigned(event["span"].as_u64().unwrap_or(1));
    own[6].push_unsigned(position.parse()?);
    for ((name, kind), values) in fields.iter().zip(others) {
        let value = &event["fields"][name.as_str()];
        match kind {
            _ if value.is_null() => values.push_none(),
            FieldType::Typed(ColumnType::Boolean) => values.push_boolean(value.as_bool().unwrap_or_default()),
            FieldType::Typed(ColumnType::Double) => values.push_double(double(value)),
            FieldType::Typed(ColumnType::Text) => values.push_text(value.as_str().unwrap_or_default()),
            FieldType::Typed(_) => values.push_integer(value.as_i64().unwrap_or_default()),
            FieldType::Mixed => values.push_text(&value.to_string()),
        }
    }
    Ok(())
}

/// A number, or the text of one that JSON does not have.
fn double(value: &Value) -> f64 {
    let text = || value.as_str().and_then(|text| text.parse().ok());
    value.as_f64().or_else(text).unwrap_or(f64::NAN)
}

impl Seen {
    fn note(&mut self, value: &Value) {
        match value {
            Value::Bool(_) => self.booleans = true,
            Value::Number(number) => match number.as_i64() {
                Some(integer) if integer.unsigned_abs() <= EXACT_MAX => self.integers = true,
                Some(_) => self.great_integers = true,
                None => self.doubles = true,
            },
            Value::String(text) if ["NaN", "inf", "-inf"].contains(&text.as_str()) => self.not_finite = true,
            _ => self.texts = true,
        }
    }

    const fn kind(self) -> FieldType {
        match self {
            Self {
                booleans: true,
                integers: false,
                great_integers: false,
                doubles: false,
                not_finite: false,
                texts: false,
            } => FieldType::Typed(ColumnType::Boolean),
            Self {
                booleans: false,
                doubles: false,
                not_finite: false,
                texts: false,
                ..
            } => FieldType::Typed(ColumnType::Integer),
            Self {
                booleans: false,
                integers: false,
                great_integers: false,
                doubles: false,
                ..
            } => FieldType::Typed(ColumnType::Text),
            Self {
                booleans: false,
                great_integers: false,
                texts: false,
                ..
            } => FieldType::Typed(ColumnType::Double),
            _ => FieldType::Mixed,
        }
    }
}

#[cfg(test)]
mod tests;
