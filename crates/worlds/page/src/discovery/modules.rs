//! Finds the modules that a JavaScript module imports statically.

/// The specifiers of `import ... from "x"`, `import "x"` and `export ... from "x"`, in their order.
///
/// Comments and strings are told apart, but not regular expressions: a module that hides an import statement in one is not known.
pub(crate) fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    // The last word, while nothing but blanks has followed it.
    let mut word = "";
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = end_of(text, at, "\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = end_of(text, at + 2, "*/"),
            quote @ (b'"' | b'\'' | b'`') => {
                let end = end_of_string(bytes, at, quote);
                let is_whole = end > at + 1 && bytes.get(end - 1) == Some(&quote);
                if quote != b'`' && matches!(word, "from" | "import") && is_whole {
                    found.push(text[at + 1..end - 1].to_owned());
                }
                word = "";
                at = end;
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' => {
                let length = bytes[at..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte == b'$')
                    .count();
                word = &text[at..at + length];
                at += length;
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    word = "";
                }
                at += 1;
            }
        }
    }
    found
}

/// The place behind the next `mark`.
fn end_of(text: &str, from: usize, mark: &str) -> usize {
    let rest = &text.as_bytes()[from.min(text.len())..];
    rest.windows(mark.len())
        .position(|window| window == mark.as_bytes())
        .map_or(text.len(), |index| from + index + mark.len())
}

/// The place behind the string that begins at `start`; the end of its line closes an unfinished one.
fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote || (byte == b'\n' && quote != b'`') => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_imports_are_found_and_nothing_else() {
        let module = r#"
            // import "comment.js"
            import "./a.js"; import{b}from'./b.js'
            import c, * as d from "../c.js";
            export * from "./d.js"; /* from "e.js" */
            const text = 'import "f.js"'; const from = "g.js";
            const lazy = () => import("./h.js"); const t = `from "i.js"`;
        "#;
        assert_eq!(imports(module), ["./a.js", "./b.js", "../c.js", "./d.js"]);
    }

    #[test]
    fn unfinished_text_ends() {
        for text in ["import \"", "/*", "import '\\", "\"\u{e9}", "`"] {
            let _ = imports(text);
        }
    }
}
