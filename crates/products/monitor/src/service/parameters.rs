//! The parameters of a request, as its query string has them.

use crate::cursor::Cursor;
use crate::filter::{Filter, Predicate};
use lastmile_events::uplink::Durability;
use lastmile_events::{Pattern, Timestamp};
use std::str::FromStr as _;
use thiserror::Error;

/// Where reading begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum From {
    /// The log's first event.
    #[default]
    Start,
    /// What comes.
    Now,
    /// A cursor.
    At(Cursor),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Parameters {
    pub(super) filter: Filter,
    pub(super) from: From,
    pub(super) limit: Option<u64>,
    pub(super) latest: bool,
    pub(super) durability: Option<Durability>,
    /// Who asks.
    pub(super) client: Option<String>,
    /// What is asked for, without where it begins and who asks.
    pub(super) question: String,
}

/// A parameter that is not understood.
#[derive(Debug, Error)]
#[error("parameter {name}: {message}")]
pub(super) struct ParameterError {
    name: String,
    message: String,
}

/// The most conditions of a request: our own choice.
const PREDICATES_MAX: usize = 32;

impl Parameters {
    pub(super) fn parse(query: &str) -> Result<Self, ParameterError> {
        let mut parameters = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decoded = decode(value).ok_or_else(|| ParameterError {
                name: name.chars().take(32).collect(),
                message: "it is not percent-encoded UTF-8".to_owned(),
            })?;
            parameters.set(name, &decoded)?;
            if !matches!(name, "from" | "client") {
                parameters.question.push_str(pair);
                parameters.question.push('&');
            }
        }
        Ok(parameters)
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let refused = |message: String| ParameterError {
            name: name.chars().take(32).collect(),
            message,
        };
        let time = || {
            value
                .parse()
                .map(Timestamp::from_unix_nanoseconds)
                .map_err(|_| refused("write nanoseconds of Unix time".to_owned()))
        };
        match name {
            "subject" => {
                let pattern = Pattern::from_str(value).map_err(|error| refused(error.to_string()))?;
                self.filter.subject = Some(pattern);
            }
            "since" => self.filter.since = Some(time()?),
            "until" => self.filter.until = Some(time()?),
            "where" => {
                if self.filter.predicates.len() == PREDICATES_MAX {
                    return Err(refused(format!("there are at most {PREDICATES_MAX}")));
                }
                let predicate = Predicate::from_str(value).map_err(|error| refused(error.to_string()))?;
                self.filter.predicates.push(predicate);
            }
            "limit" => self.limit = Some(value.parse().map_err(|_| refused("write a whole number".to_owned()))?),
            "from" => {
                self.from = match value {
                    "start" => From::Start,
                    "now" => From::Now,
                    cursor => From::At(Cursor::from_str(cursor).map_err(|error| refused(error.to_string()))?),
                }
            }
            "mode" => match value {
                "latest" => self.latest = true,
                "lossless" => self.latest = false,
                _ => return Err(refused("it is lossless or latest".to_owned())),
            },
            "client" => {
                if value.is_empty() || value.chars().any(char::is_control) {
                    return Err(refused("write a name without control characters".to_owned()));
                }
                self.client = Some(value.to_owned());
            }
            "durability" => {
                let durability = Durability::of_name(value);
                self.durability = Some(durability.ok_or_else(|| refused("it is memory, process or power".to_owned()))?);
            }
            _ => {
                return Err(refused(
                    "it is unknown; there are subject, since, until, where, limit, from, mode, client and durability"
                        .to_owned(),
                ));
            }
        }
        Ok(())
    }
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A text as a value of a query string.
pub fn encode_parameter(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_survives_a_query_string_and_broken_encodings_are_refused() {
        for text in ["run.*", "cell >= 2,5 & ü", "a+b%"] {
            assert_eq!(decode(&encode_parameter(text)).as_deref(), Some(text));
        }
        assert_eq!(decode("%4"), None);
        assert_eq!(decode("%ff"), None);
        assert!(Parameters::parse("subject=a..b").is_err());
        assert!(Parameters::parse("sort=1").is_err());
    }
}
