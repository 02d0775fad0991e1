//! Parses the `Sec-WebSocket-Extensions` field (RFC 6455 section 9.1) into names and parameters; their meaning is left to `negotiation`.

use std::fmt;

/// One element of the list: an extension that is offered or in use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extension {
    /// `permessage-deflate`.
    pub name: String,
    /// In order, repetitions included: the extension decides whether those are allowed.
    pub parameters: Vec<Parameter>,
}

/// A parameter of an extension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameter {
    /// `server_max_window_bits`.
    pub name: String,
    /// `10`, if it has a value; without surrounding quotes, which have no meaning.
    pub value: Option<String>,
}

/// A field with a syntax error, which fails the connection (RFC 6455 section 9.1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Sec-WebSocket-Extensions: {problem} at byte {offset} of {line:?} (RFC 6455 section 9.1)")]
pub struct ExtensionError {
    line: String,
    offset: usize,
    problem: &'static str,
}

/// Parses all lines of the field, in order, as one list.
///
/// ```
/// use lastmile_websocket::{read_extensions, Extension};
/// let listed = read_extensions([b"permessage-deflate; server_max_window_bits=\"10\", x-other".as_slice()]).unwrap();
/// assert_eq!(listed[0].to_string(), "permessage-deflate; server_max_window_bits=10");
/// assert_eq!(listed[1].name, "x-other");
/// ```
///
/// # Errors
/// When a line has a syntax error.
pub fn read_extensions<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Extension>, ExtensionError> {
    let mut listed = Vec::new();
    for line in lines {
        let mut cursor = Cursor { line, position: 0 };
        loop {
            // Empty list elements are skipped (RFC 9110 section 5.6.1.2).
            while cursor.consume(b',') {}
            if cursor.peek().is_none() {
                break;
            }
            listed.push(cursor.extension()?);
            if cursor.peek().is_some() && !cursor.consume(b',') {
                return Err(cursor.error("no comma or semicolon"));
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
    position: usize,
}

impl Cursor<'_> {
    fn extension(&mut self) -> Result<Extension, ExtensionError> {
        let name = self.token()?;
        let mut parameters = Vec::new();
        while self.consume(b';') {
            let name = self.token()?;
            let value = if self.consume(b'=') { Some(self.value()?) } else { None };
            parameters.push(Parameter { name, value });
        }
        Ok(Extension { name, parameters })
    }

    /// A token, or a quoted string that is a token once unescaped.
    fn value(&mut self) -> Result<String, ExtensionError> {
        if !self.consume(b'"') {
            return self.token();
        }
        let mut value = String::new();
        loop {
            let mut byte = self.next_byte()?;
            if byte == b'"' && !value.is_empty() {
                return Ok(value);
            }
            if byte == b'\\' {
                byte = self.next_byte()?;
            }
            if !is_token_byte(byte) {
                self.position -= 1;
                return Err(self.error("a quoted value that is not a token"));
            }
            value.push(char::from(byte));
        }
    }

    fn next_byte(&mut self) -> Result<u8, ExtensionError> {
        let byte = self.line.get(self.position).copied();
        self.position += 1;
        byte.ok_or_else(|| self.error("an unterminated quoted value"))
    }

    fn token(&mut self) -> Result<String, ExtensionError> {
        self.peek();
        let rest = &self.line[self.position..];
        let length = rest.iter().take_while(|byte| is_token_byte(**byte)).count();
        if length == 0 {
            return Err(self.error("no token"));
        }
        self.position += length;
        Ok(rest[..length].iter().copied().map(char::from).collect())
    }

    fn consume(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.position += usize::from(is_there);
        is_there
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t') = self.line.get(self.position) {
            self.position += 1;
        }
        self.line.get(self.position).copied()
    }

    fn error(&self, problem: &'static str) -> ExtensionError {
        ExtensionError {
            line: String::from_utf8_lossy(self.line).into_owned(),
            offset: self.position.min(self.line.len()),
            problem,
        }
    }
}

/// RFC 9110 section 5.6.2.
pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
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
