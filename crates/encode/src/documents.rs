//! Reads documents: JSON lines, one document each, or the messages of a transcript whose payloads are JSON.

use crate::exactness;
use serde_json::Value;

/// A document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The line that it is from, from 1.
    pub line: usize,
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
    pub fn parse(line: usize, text: &str) -> Result<Self, serde_json::Error> {
        Ok(Self {
            line,
            value: serde_json::from_str(text)?,
            loss: exactness::loss(text),
            text: text.to_owned(),
        })
    }
}

/// Documents with the lines that they are from.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// In the order of their lines.
    pub documents: Vec<Document>,
    /// Remarks on how they were read.
    pub notes: Vec<String>,
}

/// Why documents could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentsError {
    /// A line is no JSON.
    #[error("line {line}, column {column}: {problem}; each line must be one JSON document")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// There is nothing to encode.
    #[error("there is no document in it: each line must be one JSON document, such as {{\"id\": 7}}")]
    Empty,
    /// It is a recording, which is no document of an application.
    #[error(
        "this is a HAR recording, and no document: lastmile tune reads its WebSocket messages, lastmile advise its pages"
    )]
    Recording,
}

/// The keys by which a line of a transcript holds a message.
const PAYLOAD: &str = "payload";
const BINARY_PAYLOAD: &str = "payload_base64";

impl Documents {
    /// Reads at most `limit` documents. Empty lines are skipped.
    ///
    /// Where every line has `direction` and a payload, as in the transcripts that `tune` reads, the documents are the payloads that are JSON;
    /// a note counts the others.
    ///
    /// # Errors
    /// When a line is no JSON, or there is no document.
    pub fn read(text: &str, limit: usize) -> Result<Self, DocumentsError> {
        let mut lines = Vec::new();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let document = Document::parse(line, text).map_err(|error| DocumentsError::Syntax {
                line,
                column: error.column(),
                problem: error.to_string(),
            })?;
            lines.push(document);
        }
        if let [document] = &lines[..]
            && document.value.pointer("/log/entries").is_some_and(Value::is_array)
        {
            return Err(DocumentsError::Recording);
        }
        let has_payload =
            |value: &Value| value.get(PAYLOAD).is_some_and(Value::is_string) || value.get(BINARY_PAYLOAD).is_some();
        let is_message = |Document { value, .. }: &Document| value.get("direction").is_some() && has_payload(value);
        let mut documents = if !lines.is_empty() && lines.iter().all(is_message) {
            Self::payloads(&lines)
        } else {
            Self {
                notes: array_note(&lines).into_iter().collect(),
                documents: lines,
            }
        };
        if documents.documents.is_empty() {
            return Err(DocumentsError::Empty);
        }
        let all = documents.documents.len();
        if all > limit {
            documents.documents.truncate(limit);
            documents.notes.push(format!(
                "only the first {limit} of {all} documents are encoded: --documents takes more"
            ));
        }
        Ok(documents)
    }

    fn payloads(lines: &[Document]) -> Self {
        let parse = |Document { line, value, .. }: &Document| {
            let payload = value.get(PAYLOAD)?.as_str()?;
            let document = Document::parse(*line, payload).ok()?;
            (document.value.is_object() || document.value.is_array()).then_some(document)
        };
        let documents: Vec<Document> = lines.iter().filter_map(parse).collect();
        let mut notes = vec!["the file is a transcript: the documents are the payloads of its messages".to_owned()];
        let others = lines.len() - documents.len();
        if others > 0 {
            notes.push(format!(
                "{others} of {} messages are no JSON documents, and are left out",
                lines.len()
            ));
        }
        Self { documents, notes }
    }
}

/// A hint where the only document is an array, which may hold the documents that were meant.
fn array_note(lines: &[Document]) -> Option<String> {
    let [document] = lines else { return None };
    let elements = document.value.as_array().filter(|elements| elements.len() > 1)?;
    Some(format!(
        "the only document is an array of {} elements; if each is a message, write one a line: jq -c '.[]' FILE",
        elements.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(documents: &Documents) -> Vec<(usize, Value)> {
        let pair = |document: &Document| (document.line, document.value.clone());
        documents.documents.iter().map(pair).collect()
    }

    #[test]
    fn each_line_is_a_document_and_a_broken_one_is_named() {
        let read = Documents::read("{\"a\":1}\n\n[2]\n", 10).unwrap();
        assert_eq!(values(&read), [(1, json!({"a": 1})), (3, json!([2]))]);
        let error = Documents::read("{\"a\":1}\n{\"a\":\n", 10).unwrap_err().to_string();
        assert!(error.starts_with("line 2, column 5: "), "{error}");
        assert_eq!(Documents::read("\n", 10).unwrap_err(), DocumentsError::Empty);
        let recording = Documents::read(r#"{"log":{"entries":[]}}"#, 10).unwrap_err();
        assert_eq!(recording, DocumentsError::Recording);
        assert!(Documents::read("[1,2]", 10).unwrap().notes[0].contains("array of 2"));
    }

    #[test]
    fn the_documents_of_a_transcript_are_its_payloads() {
        let text = r#"{"direction":"sent","payload":"{\"a\":1}"}
{"direction":"sent","payload":"hello"}
{"direction":"received","payload_base64":"AA=="}"#;
        let read = Documents::read(text, 10).unwrap();
        assert_eq!(values(&read), [(1, json!({"a": 1}))]);
        assert!(read.notes[1].starts_with("2 of 3 messages"), "{:?}", read.notes);
    }

    #[test]
    fn what_is_beyond_the_limit_is_said() {
        let read = Documents::read("1\n2\n3\n", 2).unwrap();
        assert_eq!((read.documents.len(), read.notes.len()), (2, 1));
    }
}
