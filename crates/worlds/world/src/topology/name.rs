//! The names of hosts and media. A name is also part of the file name of a capture.

use super::TopologyError;
use std::borrow::Borrow;
use std::fmt;

/// The maximum length of a name (RFC 1123, section 2.1).
const LENGTH_MAX: usize = 63;

/// The prefix of the names of captures of dropped packets; no host may have it as name.
pub const DROPS: &str = "drops";
/// The prefix of the names of captures of a radio's frames; no host may have it as name.
pub const AIR: &str = "air";

/// Defines a name: a text that is looked up in maps as one.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// A name that is not checked yet.
            pub(super) fn unchecked(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The name of a host: up to 63 lower-case letters, digits and hyphens, as a label of the Domain Name System
    /// (RFC 1123, section 2.1). Capital letters are invalid, since some file systems do not distinguish `Server` from `server`.
    HostName
}

name! {
    /// The name of a medium, with the same characters as that of a host.
    MediumName
}

impl HostName {
    /// Parses a name.
    ///
    /// # Errors
    /// If it is not a valid name, or is reserved for captures of media.
    pub fn new(name: &str) -> Result<Self, TopologyError> {
        let name = Self::unchecked(name);
        name.check()?;
        Ok(name)
    }

    pub(super) fn check(&self) -> Result<(), TopologyError> {
        check(&self.0, "host")?;
        let is_reserved = |first| [DROPS, AIR].contains(&first);
        if self.0.split('-').next().is_some_and(is_reserved) {
            return Err(TopologyError(format!(
                "a host cannot be called {:?}: that name is reserved for captures of dropped packets and of radios; choose another name",
                self.0
            )));
        }
        Ok(())
    }
}

impl MediumName {
    pub(super) fn check(&self) -> Result<(), TopologyError> {
        check(&self.0, "medium")
    }
}

fn check(name: &str, of: &str) -> Result<(), TopologyError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=LENGTH_MAX).contains(&name.len())
        && name.chars().all(fits)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_label {
        return Ok(());
    }
    Err(TopologyError(format!(
        "{name:?} is not the name of a {of}: use 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends, \
         like \"back-end-1\""
    )))
}
