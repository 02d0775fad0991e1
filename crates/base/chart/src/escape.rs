//! Escapes text for HTML and SVG.
//!
//! Names in a record come from foreign files: a link may be called `<script>`. Everything that is not markup of our own goes
//! through [`Text`].

use std::fmt::{self, Display, Write};

/// Text between tags or in a quoted attribute, of HTML and of XML alike.
#[derive(Debug)]
pub struct Text<T>(pub T);

impl<T: Display> Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Escape<'a, 'b>(&'a mut fmt::Formatter<'b>);
        impl Write for Escape<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                for c in text.chars() {
                    match c {
                        '&' => self.0.write_str("&amp;")?,
                        '<' => self.0.write_str("&lt;")?,
                        '>' => self.0.write_str("&gt;")?,
                        '"' => self.0.write_str("&quot;")?,
                        '\'' => self.0.write_str("&#39;")?,
                        // XML 1.0 section 2.2 allows no other control characters, escaped or not.
                        '\t' | '\n' => self.0.write_char(c)?,
                        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => self.0.write_char('\u{fffd}')?,
                        c => self.0.write_char(c)?,
                    }
                }
                Ok(())
            }
        }
        write!(Escape(f), "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_is_shown_and_not_obeyed() {
        let shown = Text("<script>\"a\" & 'b'</script>\0]]>").to_string();
        assert_eq!(
            shown,
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;\u{fffd}]]&gt;"
        );
    }
}
