//! Detects the format of a file: by its name, its first bytes and its first JSON.

use super::detect_json_log::OneValue;
use super::keys::OR_TEXT;
use super::{Format, Reading, TranscriptError, WANTED, detect_json_log, length_prefixed};
use crate::reading::note::NoteCounter;
use crate::reading::sniff::{BYTE_ORDER_MARK, FileKind, OpenedFile, unpacked_extension};
use lastmile_units::ByteCount;
use serde_json::value::RawValue;
use std::io::{Cursor, Read};
use std::path::Path;

/// The note on a file that is named as JSON Lines, and whose lines are messages as they stand.
pub const LINES_AS_THEY_STAND: &str =
    "JSON Lines file does not start with a key of a transcript, so each line as it stands is a message";

/// A file, decompressed if it was compressed.
type Decompressed<'a> = OpenedFile<Box<dyn Read + Send + 'a>>;

/// A file whose format is known, at its start.
pub(super) struct Detected<'a> {
    pub(super) format: Format,
    pub(super) opened: Decompressed<'a>,
    /// Whether it is a JSON list, whose elements are lines of `opened`.
    pub(super) is_list: bool,
}

/// Detects the format of a file, unless `reading` states it.
///
/// # Errors
/// When it cannot be read, is empty, or is another kind of file.
pub(super) fn detect<'a>(
    from: Box<dyn Read + Send + 'a>,
    name: &str,
    reading: Reading,
    remarks: &mut NoteCounter,
) -> Result<Detected<'a>, TranscriptError> {
    let opened = OpenedFile::new(from, name)?.unpacked(name)?;
    if opened.head().is_empty() {
        return Err(TranscriptError::new(name, "the file is empty", WANTED));
    }
    let detected = |format, opened, is_list| Detected {
        format,
        opened,
        is_list,
    };
    if let Some(format) = reading.format {
        return Ok(detected(format, opened, false));
    }
    let is_har = unpacked_extension(Path::new(name)).as_deref() == Some("har");
    let (opened, is_list) = if is_har {
        (opened, false)
    } else {
        with_elements_as_lines(opened, name, reading.largest_message, remarks)?
    };
    if let Some(signature) = opened.signature() {
        // Some signatures are letters, which lines of text may begin with.
        let remedy = match signature.kind {
            FileKind::Gzip | FileKind::Zstd => "it is compressed twice; decompress it first".to_owned(),
            FileKind::OtherPacked => format!("unpack it first, or compress it with gzip or zstd, {OR_TEXT}"),
            FileKind::Utf16 => "save it as UTF-8".to_owned(),
            FileKind::Capture => "read it as a capture, not as a transcript".to_owned(),
            FileKind::Other => format!("{WANTED}, {OR_TEXT}"),
        };
        let problem = format!("it looks like {}", signature.name);
        return Err(TranscriptError::new(name, problem, remedy));
    }
    let head = opened.head();
    if let Some(offset) = head.iter().position(|byte| *byte == 0) {
        if opened.alternates_with_zeros() {
            let remedy = "save it as UTF-8, or set the input format if it is another";
            return Err(TranscriptError::new(name, "it looks like text in UTF-16", remedy));
        }
        if length_prefixed::starts(head) {
            return Ok(detected(Format::LengthPrefixed, opened, is_list));
        }
        let problem =
            format!("the file is binary: byte {offset} is 0, and it does not start with a length-prefixed message");
        return Err(TranscriptError::new(name, problem, format!("{WANTED}, {OR_TEXT}")));
    }
    let opened = opened.without_mark();
    if is_har {
        return Ok(detected(Format::Har, opened, is_list));
    }
    let from_start = detect_json_log::detect(opened.first_key(), opened.head());
    let (format, doubt) = from_start.map_err(|value| {
        let (problem, command) = match value {
            OneValue::List => ("the file starts with a JSON list over several lines", "jq -c '.[]'"),
            OneValue::Object => ("the file starts with a JSON object over several lines", "jq -c ."),
        };
        let remedy = format!("write each object on a line of its own, as `{command}` does, {OR_TEXT}");
        TranscriptError::new(name, format!("{problem}, not with one object per line"), remedy)
    })?;
    let is_named_json_lines = matches!(unpacked_extension(Path::new(name)).as_deref(), Some("jsonl" | "ndjson"));
    if let Some(doubt) = doubt {
        remarks.count(doubt, name);
    } else if format == Format::Text && is_named_json_lines {
        remarks.count(LINES_AS_THEY_STAND, name);
    }
    Ok(detected(format, opened, is_list))
}

/// A file that is one JSON list of objects, none of them over several lines, with each object on a line of its own, and whether it is one; any
/// other file as it is. A list of more than `size_max` is taken for another file.
///
/// # Errors
/// When it cannot be read.
pub(super) fn with_elements_as_lines<'a>(
    opened: Decompressed<'a>,
    name: &str,
    size_max: ByteCount,
    notes: &mut NoteCounter,
) -> Result<(Decompressed<'a>, bool), TranscriptError> {
    let head = opened.head().strip_prefix(BYTE_ORDER_MARK).unwrap_or(opened.head());
    let list = head.trim_ascii_start().strip_prefix(b"[");
    if !list.is_some_and(|first| first.trim_ascii_start().starts_with(b"{")) {
        return Ok((opened, false));
    }
    let mut content = opened.without_mark().content();
    let mut text = Vec::new();
    let read = content.by_ref().take(size_max.get()).read_to_end(&mut text);
    read.map_err(|error| TranscriptError::io(name, &error))?;
    let lines = ((text.len() as u64) < size_max.get())
        .then(|| element_lines(&text))
        .flatten();
    let is_list = lines.is_some();
    if is_list {
        notes.count("file is a JSON list, and each of its elements is read as a line", name);
    }
    let content: Box<dyn Read + Send + 'a> = Box::new(Cursor::new(lines.unwrap_or(text)).chain(content));
    Ok((OpenedFile::new(content, name)?, is_list))
}

/// The elements of a JSON list, a line each; none where the text is no list of objects, or one of them has several lines.
fn element_lines(text: &[u8]) -> Option<Vec<u8>> {
    let elements: Vec<&RawValue> = serde_json::from_slice(text).ok()?;
    let is_line = |element: &&RawValue| element.get().starts_with('{') && !element.get().contains('\n');
    let mut lines = Vec::with_capacity(text.len());
    for element in elements {
        if !is_line(&element) {
            return None;
        }
        lines.extend_from_slice(element.get().as_bytes());
        lines.push(b'\n');
    }
    Some(lines)
}
