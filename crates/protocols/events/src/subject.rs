//! Subjects, which say what an event is about, and patterns that choose among them.
//!
//! A subject is tokens joined by dots: `run.cell.done`. In a pattern `*` stands for one token, and `>` at the end for one or more, as in NATS.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The longest subject or pattern, in bytes.
pub const SUBJECT_LENGTH_MAX: usize = 255;

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject(String);

/// Chooses subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

/// A text that is no subject, or no pattern.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum SubjectError {
    /// It has no bytes, or too many.
    #[error("a subject has 1 to {SUBJECT_LENGTH_MAX} bytes, and this one has {length}")]
    Length {
        /// How many it has.
        length: usize,
    },
    /// Two dots follow each other, or one is at an end.
    #[error("subject {text:?}: token {token} is empty; write tokens joined by single dots, like run.cell.done")]
    EmptyToken {
        /// The text.
        text: String,
        /// Which token, from 1.
        token: usize,
    },
    /// A character that tokens do not have.
    #[error(
        "subject {text:?}: token {token} has {character:?}; tokens have no spaces, quotes, = or control characters"
    )]
    Character {
        /// The text.
        text: String,
        /// Which token, from 1.
        token: usize,
        /// The character.
        character: char,
    },
    /// A wildcard in a subject, or one that is not a whole token.
    #[error(
        "{text:?}: {wildcard} is a wildcard: it stands for a whole token of a pattern (> for the last), and an event's subject has none"
    )]
    Wildcard {
        /// The text.
        text: String,
        /// The wildcard.
        wildcard: char,
    },
    /// A subject that only this system gives.
    #[error("subject {text:?}: a first token that begins with _ is reserved; choose another")]
    Reserved {
        /// The text.
        text: String,
    },
}

impl Subject {
    /// The subject that an application gives.
    ///
    /// # Errors
    /// When a token is empty or has a character that tokens do not have, and where the first begins with `_`.
    pub fn new(text: &str) -> Result<Self, SubjectError> {
        if text.starts_with('_') {
            return Err(SubjectError::Reserved { text: text.to_owned() });
        }
        Self::of_any_kind(text)
    }

    /// The subject of this text, which may be a reserved one.
    pub(crate) fn of_any_kind(text: &str) -> Result<Self, SubjectError> {
        check(text)?;
        match text.chars().find(|c| matches!(c, '*' | '>')) {
            Some(wildcard) => Err(SubjectError::Wildcard {
                text: text.to_owned(),
                wildcard,
            }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether only this system gives it, as for losses.
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with('_')
    }
}

impl Pattern {
    /// Whether it chooses this subject. Subjects that begin with `_` are chosen only by patterns that do too, and by `>`.
    pub fn matches(&self, subject: &str) -> bool {
        let mut tokens = subject.split('.');
        for (at, wanted) in self.0.split('.').enumerate() {
            let Some(token) = tokens.next() else { return false };
            match wanted {
                ">" => return at == 0 || !subject.starts_with('_') || self.0.starts_with('_'),
                "*" if at == 0 && token.starts_with('_') => return false,
                "*" => {}
                _ if wanted == token => {}
                _ => return false,
            }
        }
        tokens.next().is_none()
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Pattern {
    type Err = SubjectError;

    fn from_str(text: &str) -> Result<Self, SubjectError> {
        check(text)?;
        let tokens = text.split('.').count();
        for (at, token) in text.split('.').enumerate() {
            let whole = token == "*" || (token == ">" && at + 1 == tokens);
            if let Some(wildcard) = token.chars().find(|c| matches!(c, '*' | '>'))
                && !whole
            {
                return Err(SubjectError::Wildcard {
                    text: text.to_owned(),
                    wildcard,
                });
            }
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether the text is a subject, reserved or not, told without an error that names the place.
pub(crate) fn is_subject(text: &str) -> bool {
    let mut token_is_empty = true;
    let fits = (1..=SUBJECT_LENGTH_MAX).contains(&text.len());
    let allowed = text.bytes().all(|byte| match byte {
        b'.' => !std::mem::replace(&mut token_is_empty, true),
        // Everything that `check` refuses in ASCII, and the wildcards.
        b'"' | b'=' | b'*' | b'>' | 0..=0x20 | 0x7f => false,
        _ => {
            token_is_empty = false;
            true
        }
    });
    // Spaces and control characters beyond ASCII are rare enough for the slow way.
    fits && allowed && !token_is_empty && (text.is_ascii() || Subject::of_any_kind(text).is_ok())
}

fn check(text: &str) -> Result<(), SubjectError> {
    if text.is_empty() || text.len() > SUBJECT_LENGTH_MAX {
        return Err(SubjectError::Length { length: text.len() });
    }
    for (at, token) in text.split('.').enumerate() {
        let text = || text.to_owned();
        let token_number = at + 1;
        if token.is_empty() {
            return Err(SubjectError::EmptyToken {
                text: text(),
                token: token_number,
            });
        }
        let refused = |c: &char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '=');
        if let Some(character) = token.chars().find(refused) {
            return Err(SubjectError::Character {
                text: text(),
                token: token_number,
                character,
            });
        }
    }
    Ok(())
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, subject: &str) -> bool {
        pattern.parse::<Pattern>().unwrap().matches(subject)
    }

    #[test]
    fn a_star_stands_for_one_token_and_an_angle_for_one_or_more() {
        assert!(matches("run.*", "run.cell"));
        assert!(!matches("run.*", "run"));
        assert!(!matches("run.*", "run.cell.done"));
        assert!(matches("run.>", "run.cell.done"));
        assert!(!matches("run.>", "run"));
        assert!(matches("*.cell.>", "run.cell.done"));
        assert!(matches(">", "_loss"));
        assert!(!matches("*", "_loss"));
    }

    #[test]
    fn a_wildcard_within_a_token_is_refused_and_so_is_one_in_a_subject() {
        for text in ["run.c*", ">.run", "a.>b"] {
            assert!(
                matches!(text.parse::<Pattern>(), Err(SubjectError::Wildcard { .. })),
                "{text}"
            );
        }
        assert!(matches!(Subject::new("run.*"), Err(SubjectError::Wildcard { .. })));
        assert!(matches!(Subject::new("_loss"), Err(SubjectError::Reserved { .. })));
        assert!(matches!(
            Subject::new("run..cell"),
            Err(SubjectError::EmptyToken { token: 2, .. })
        ));
    }

    proptest! {
        #[test]
        fn a_subject_matches_itself_and_any_of_its_tokens_may_be_a_star(
            tokens in prop::collection::vec("[a-z][a-z0-9]{0,3}", 1..6),
            stars in prop::collection::vec(any::<bool>(), 6),
        ) {
            let subject = Subject::new(&tokens.join(".")).unwrap();
            let starred: Vec<&str> = tokens.iter().zip(&stars).map(|(token, star)| if *star { "*" } else { token }).collect();
            prop_assert!(matches(subject.as_str(), subject.as_str()));
            prop_assert!(matches(&starred.join("."), subject.as_str()));
            let below = format!("{}.>", starred.join("."));
            prop_assert!(!matches(&below, subject.as_str()));
            let longer = format!("{subject}.more");
            prop_assert!(!matches(&starred.join("."), &longer));
            prop_assert!(matches(&below, &longer));
        }

        #[test]
        fn the_quick_check_of_subjects_agrees_with_the_one_that_explains(text in "[a-c_.*>\"= \u{a0}\u{7f}é\t]{0,8}|.{0,300}") {
            prop_assert_eq!(is_subject(&text), Subject::of_any_kind(&text).is_ok(), "{:?}", text);
        }

        #[test]
        fn any_text_is_a_pattern_or_is_refused(text in ".{0,300}", subject in ".{0,40}") {
            if let Ok(pattern) = text.parse::<Pattern>() {
                pattern.matches(&subject);
            }
        }
    }
}
