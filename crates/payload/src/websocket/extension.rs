//! What does a `Sec-WebSocket-Extensions` field list (RFC 6455 section 9.1)? Names and parameters; what they mean is asked in
//! `negotiation`.

use std::fmt;

/// One element of the list: an extension that is offered, or in use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extension {
    /// `permessage-deflate`.
    pub name: String,
    /// In their order, repetitions included: whether those are allowed is for the extension to say.
    pub parameters: Vec<Parameter>,
}

/// A parameter of an extension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameter {
    /// `server_max_window_bits`.
    pub name: String,
    /// `10`, where it has a value; without the quotes that may have been around it, which mean nothing.
    pub value: Option<String>,
}

/// A field that breaks the grammar. Such a field fails the connection (RFC 6455 section 9.1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Sec-WebSocket-Extensions: {problem} at octet {offset} of {line:?} (RFC 6455 section 9.1)")]
pub struct ExtensionError {
    line: String,
    offset: usize,
    problem: &'static str,
}

/// Reads all lines of the field, in order, as one list.
///
/// ```
/// use lastmile_payload::websocket::{read_extensions, Extension};
/// let listed = read_extensions([b"permessage-deflate; server_max_window_bits=\"10\", x-other".as_slice()]).unwrap();
/// assert_eq!(listed[0].to_string(), "permessage-deflate; server_max_window_bits=10");
/// assert_eq!(listed[1].name, "x-other");
/// ```
///
/// # Errors
/// When a line breaks the grammar.
pub fn read_extensions<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Extension>, ExtensionError> {
    let mut listed = Vec::new();
    for line in lines {
        let mut cursor = Cursor { line, place: 0 };
        loop {
            // Empty elements of a list are passed over (RFC 9110 section 5.6.1.2).
            while cursor.takes(b',') {}
            if cursor.peek().is_none() {
                break;
            }
            listed.push(cursor.extension()?);
            if cursor.peek().is_some() && !cursor.takes(b',') {
                return Err(cursor.error("neither a comma nor a semicolon"));
            }
        }
    }
    Ok(listed)
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for Parameter { name, value } in &self.parameters {
            write!(f, "; {name}")?;
            if let Some(value) = value {
                write!(f, "={value}")?;
            }
        }
        Ok(())
    }
}

struct Cursor<'a> {
    line: &'a [u8],
    place: usize,
}

impl Cursor<'_> {
    fn extension(&mut self) -> Result<Extension, ExtensionError> {
        let name = self.token()?;
        let mut parameters = Vec::new();
        while self.takes(b';') {
            let name = self.token()?;
            let value = if self.takes(b'=') { Some(self.value()?) } else { None };
            parameters.push(Parameter { name, value });
        }
        Ok(Extension { name, parameters })
    }

    /// A token, or a quoted string that is one once unescaped.
    fn value(&mut self) -> Result<String, ExtensionError> {
        if !self.takes(b'"') {
            return self.token();
        }
        let mut value = String::new();
        loop {
            let mut octet = self.next_octet()?;
            if octet == b'"' && !value.is_empty() {
                return Ok(value);
            }
            if octet == b'\\' {
                octet = self.next_octet()?;
            }
            if !is_token_octet(octet) {
                self.place -= 1;
                return Err(self.error("a quoted value that is no token"));
            }
            value.push(char::from(octet));
        }
    }

    fn next_octet(&mut self) -> Result<u8, ExtensionError> {
        let octet = self.line.get(self.place).copied();
        self.place += 1;
        octet.ok_or_else(|| self.error("a quoted value without its end"))
    }

    fn token(&mut self) -> Result<String, ExtensionError> {
        self.peek();
        let rest = &self.line[self.place..];
        let length = rest.iter().take_while(|octet| is_token_octet(**octet)).count();
        if length == 0 {
            return Err(self.error("no token"));
        }
        self.place += length;
        Ok(rest[..length].iter().copied().map(char::from).collect())
    }

    fn takes(&mut self, octet: u8) -> bool {
        let is_there = self.peek() == Some(octet);
        self.place += usize::from(is_there);
        is_there
    }

    /// The next octet that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t') = self.line.get(self.place) {
            self.place += 1;
        }
        self.line.get(self.place).copied()
    }

    fn error(&self, problem: &'static str) -> ExtensionError {
        ExtensionError {
            line: String::from_utf8_lossy(self.line).into_owned(),
            offset: self.place.min(self.line.len()),
            problem,
        }
    }
}

/// RFC 9110 section 5.6.2.
pub(super) fn is_token_octet(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<String>, ExtensionError> {
        Ok(read_extensions([line.as_bytes()])?
            .iter()
            .map(Extension::to_string)
            .collect())
    }

    #[test]
    fn lists_are_read_whatever_stands_between_their_parts() {
        assert_eq!(read("a; b; c=1, d").unwrap(), ["a; b; c=1", "d"]);
        assert_eq!(read(" ,a;b = \"1\\0\" ,,\td;e , ").unwrap(), ["a; b=10", "d; e"]);
        assert_eq!(read("").unwrap(), [""; 0]);
        let lines = read_extensions([b"a".as_slice(), b"b; c"]).unwrap();
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn what_breaks_the_grammar_is_named_with_its_place() {
        for (line, offset) in [
            ("a b", 2),
            ("a;", 2),
            ("a; b=", 5),
            ("a; b=\"\"", 6),
            ("a; b=\"1 0\"", 7),
            ("a; b=\"10", 8),
            ("a; b=\"10\\", 9),
            ("=1", 0),
            ("a; b=\u{fc}", 5),
        ] {
            assert_eq!(read(line).unwrap_err().offset, offset, "{line}");
        }
    }
}
