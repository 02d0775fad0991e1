//! Reads documents: messages of a file that are JSON.

use crate::exactness;
use lastmile_traffic::messages::Location;
use serde_json::Value;

/// A document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Where it stands in the file.
    pub location: Location,
    /// Its text, as it stands there: the order of keys and white space are the user's own.
    pub text: String,
    /// What the text says.
    pub value: Value,
    /// What `value` has lost of the text: a number of more than 64 bits, or a key that stands there twice.
    pub loss: Option<String>,
}

impl Document {
    /// Reads the text of a document.
    ///
    /// # Errors
    /// When it is no JSON.
    pub fn parse(location: Location, text: &str) -> Result<Self, DocumentsError> {
        let value = serde_json::from_str(text).map_err(|error| DocumentsError::syntax(location, &error))?;
        Ok(Self {
            location,
            value,
            loss: exactness::loss(text),
            text: text.to_owned(),
        })
    }
}

/// Documents, and how they were read.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// In the order of the file.
    pub documents: Vec<Document>,
    /// Remarks on how they were read.
    pub notes: Vec<String>,
}

/// Why documents could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentsError {
    /// A line is no JSON.
    #[error("{location}, column {column}: {problem}; each line must be one JSON document: `jq -c .` writes such lines")]
    Syntax {
        /// Where the document stands.
        location: Location,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// There is nothing to encode.
    #[error("there is no document in it: each line must be one JSON document, such as {{\"id\": 7}}")]
    Empty,
    /// None of the messages can be encoded.
    #[error(
        "none of its {0} messages is a JSON document, such as {{\"id\": 7}}; `lastmile tune` compresses messages of any form"
    )]
    NoJson(usize),
}

impl DocumentsError {
    fn syntax(location: Location, error: &serde_json::Error) -> Self {
        let problem = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        Self::Syntax {
            location,
            column: error.column(),
            problem: problem.strip_suffix(&position).unwrap_or(&problem).to_owned(),
        }
    }
}

/// Takes the documents among the messages of a file.
#[derive(Debug, Default)]
pub struct DocumentReader {
    /// Whether each message is a line that must be a document.
    are_lines: bool,
    limit: usize,
    documents: Vec<Document>,
    found: usize,
    others: usize,
    /// The first line that is no document. What comes after it may say more: that the file is a log, or a table.
    broken: Option<DocumentsError>,
}

impl DocumentReader {
    /// A reader of at most `limit` documents. Where messages are lines, one that is neither empty nor JSON is an error; of other messages,
    /// those that are no JSON object or array are counted.
    pub fn new(are_lines: bool, limit: usize) -> Self {
        Self {
            are_lines,
            limit,
            ..Self::default()
        }
    }

    /// Reads the next message.
    pub fn push(&mut self, location: Location, message: &[u8]) {
        let text = String::from_utf8_lossy(message);
        if self.broken.is_some() || self.are_lines && text.trim().is_empty() {
            return;
        }
        match Document::parse(location, &text) {
            Ok(document) if self.are_lines || document.value.is_object() || document.value.is_array() => {
                self.found += 1;
                if self.found <= self.limit {
                    self.documents.push(document);
                }
            }
            Err(error) if self.are_lines => self.broken = Some(error),
            _ => self.others += 1,
        }
    }

    /// The documents, after the last message.
    ///
    /// # Errors
    /// When there is none, or a line was none.
    pub fn finish(self) -> Result<Documents, DocumentsError> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        if self.documents.is_empty() {
            return Err(match self.others {
                0 => DocumentsError::Empty,
                others => DocumentsError::NoJson(others),
            });
        }
        let mut notes = Vec::new();
        if !self.are_lines {
            notes.push("the documents are the messages of the file, whatever their direction".to_owned());
        }
        if self.others > 0 {
            notes.push(format!(
                "{} of {} messages are no JSON documents, and are left out",
                self.others,
                self.found + self.others
            ));
        }
        if self.found > self.limit {
            notes.push(format!(
                "only the first {} of {} documents are encoded: --documents takes more",
                self.limit, self.found
            ));
        }
        Ok(Documents {
            documents: self.documents,
            notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(are_lines: bool, messages: &[&str], limit: usize) -> Result<Documents, DocumentsError> {
        let mut reader = DocumentReader::new(are_lines, limit);
        for (number, message) in (1..).zip(messages) {
            reader.push(Location::Line(number), message.as_bytes());
        }
        reader.finish()
    }

    fn values(documents: &Documents) -> Vec<(Location, Value)> {
        let pair = |document: &Document| (document.location, document.value.clone());
        documents.documents.iter().map(pair).collect()
    }

    #[test]
    fn each_line_is_a_document_and_a_broken_one_is_named() {
        let lines = read(true, &["{\"a\":1}", "", "[2]"], 10).unwrap();
        assert_eq!(
            values(&lines),
            [(Location::Line(1), json!({"a": 1})), (Location::Line(3), json!([2]))]
        );
        let error = read(true, &["{\"a\":1}", "{\"a\":"], 10).unwrap_err().to_string();
        assert!(
            error.starts_with("line 2, column 5: EOF while parsing a value; "),
            "{error}"
        );
        assert_eq!(read(true, &[""], 10).unwrap_err(), DocumentsError::Empty);
    }

    #[test]
    fn messages_that_are_no_documents_are_counted() {
        let messages = read(false, &["{\"a\":1}", "hello", "2"], 10).unwrap();
        assert_eq!(values(&messages), [(Location::Line(1), json!({"a": 1}))]);
        assert!(messages.notes[1].starts_with("2 of 3 messages"), "{:?}", messages.notes);
        assert_eq!(read(false, &["hello", "2"], 10).unwrap_err(), DocumentsError::NoJson(2));
    }

    #[test]
    fn documents_beyond_the_limit_are_counted() {
        let lines = read(true, &["1", "2", "3"], 2).unwrap();
        assert_eq!(lines.documents.len(), 2);
        assert_eq!(
            lines.notes,
            ["only the first 2 of 3 documents are encoded: --documents takes more"]
        );
    }
}
