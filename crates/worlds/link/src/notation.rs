//! The notation of queue, loss, jitter and reordering: reads and prints them. Their types say what they mean.
//!
//! Every form may be written with or without spaces. What is printed reads back as the same value.

mod delay;
mod loss;
mod queue;

use lastmile_units::Probability;
pub(crate) use queue::packets;
use std::fmt;
use std::str::FromStr;

/// A part of a link that could not be read: what was expected, what was found, and examples that would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {what}: {problem}; write it like {examples}")]
pub struct ParsePartError {
    what: &'static str,
    found: String,
    problem: String,
    examples: &'static str,
}

/// What a kind of value is called, and how it is written.
pub(crate) struct ValueGrammar {
    pub(crate) what: &'static str,
    pub(crate) examples: &'static str,
}

impl ValueGrammar {
    pub(crate) fn error(&self, found: &str, problem: impl Into<String>) -> ParsePartError {
        ParsePartError {
            what: self.what,
            found: found.to_owned(),
            problem: problem.into(),
            examples: self.examples,
        }
    }

    /// Splits `arguments` such as `p=1%,r=30%`: each key must be known, and may be given once.
    pub(crate) fn arguments<'a, const N: usize>(
        &self,
        found: &str,
        arguments: &'a str,
        keys: [&str; N],
    ) -> Result<[Option<&'a str>; N], ParsePartError> {
        let mut values = [None; N];
        for argument in arguments.split(',').filter(|argument| !argument.is_empty()) {
            let (key, value) = argument
                .split_once('=')
                .ok_or_else(|| self.error(found, format!("{argument:?} has no \"=\"")))?;
            let index = keys.iter().position(|known| *known == key);
            let index = index.ok_or_else(|| self.error(found, format!("{key:?} is not one of {}", keys.join(", "))))?;
            if values[index].replace(value).is_some() {
                return Err(self.error(found, format!("{key:?} is given twice")));
            }
        }
        Ok(values)
    }

    /// Reads one argument by its own type. On failure the error names the whole part and shows the whole part's
    /// examples, since an example that fits an argument need not fit the whole.
    pub(crate) fn argument<T, E: fmt::Display>(&self, found: &str, read: Result<T, E>) -> Result<T, ParsePartError> {
        read.map_err(|error| {
            let error = error.to_string();
            let problem = error
                .split_once("; write it like")
                .map_or(error.as_str(), |(problem, _)| problem);
            self.error(found, problem)
        })
    }
}

/// Reads a value by its own type; the error is its text.
pub(crate) fn read<T: FromStr>(text: &str) -> Result<T, String>
where
    T::Err: fmt::Display,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// The text without white space.
pub(crate) fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// What is inside the parentheses of `name(...)`.
pub(crate) fn inside<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

/// In per cent, or as a ratio where per cent would lose digits.
pub(crate) fn print_exactly(probability: Probability) -> String {
    let per_cent = probability.to_string();
    if per_cent.parse() == Ok(probability) {
        per_cent
    } else {
        probability.get().to_string()
    }
}

#[cfg(test)]
mod tests;
