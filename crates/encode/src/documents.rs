//! Reads documents: JSON lines, one document each, or the messages of a transcript whose payloads are JSON.

use serde_json::Value;

/// Documents with the lines that they are from.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// Each with its line, from 1.
    pub documents: Vec<(usize, Value)>,
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
            let value: Value = serde_json::from_str(text).map_err(|error| DocumentsError::Syntax {
                line,
                column: error.column(),
                problem: error.to_string(),
            })?;
            lines.push((line, value));
        }
        let has_payload =
            |value: &Value| value.get(PAYLOAD).is_some_and(Value::is_string) || value.get(BINARY_PAYLOAD).is_some();
        let is_message = |(_, value): &(usize, Value)| value.get("direction").is_some() && has_payload(value);
        let mut documents = if !lines.is_empty() && lines.iter().all(is_message) {
            Self::payloads(&lines)
        } else {
            Self {
                documents: lines,
                notes: Vec::new(),
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

    fn payloads(lines: &[(usize, Value)]) -> Self {
        let parse = |(line, value): &(usize, Value)| {
            let payload = value.get(PAYLOAD)?.as_str()?;
            let document: Value = serde_json::from_str(payload).ok()?;
            (document.is_object() || document.is_array()).then_some((*line, document))
        };
        let documents: Vec<(usize, Value)> = lines.iter().filter_map(parse).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_line_is_a_document_and_a_broken_one_is_named() {
        let read = Documents::read("{\"a\":1}\n\n[2]\n", 10).unwrap();
        assert_eq!(read.documents, [(1, json!({"a": 1})), (3, json!([2]))]);
        let error = Documents::read("{\"a\":1}\n{\"a\":\n", 10).unwrap_err().to_string();
        assert!(error.starts_with("line 2, column 5: "), "{error}");
        assert_eq!(Documents::read("\n", 10).unwrap_err(), DocumentsError::Empty);
    }

    #[test]
    fn the_documents_of_a_transcript_are_its_payloads() {
        let text = r#"{"direction":"sent","payload":"{\"a\":1}"}
{"direction":"sent","payload":"hello"}
{"direction":"received","payload_base64":"AA=="}"#;
        let read = Documents::read(text, 10).unwrap();
        assert_eq!(read.documents, [(1, json!({"a": 1}))]);
        assert!(read.notes[1].starts_with("2 of 3 messages"), "{:?}", read.notes);
    }

    #[test]
    fn what_is_beyond_the_limit_is_said() {
        let read = Documents::read("1\n2\n3\n", 2).unwrap();
        assert_eq!((read.documents.len(), read.notes.len()), (2, 1));
    }
}
