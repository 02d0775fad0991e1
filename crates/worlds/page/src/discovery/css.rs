//! Reads what a style sheet names: imports, and the images and fonts of its rules.
//!
//! As much of CSS Syntax Level 3 (section 4) as that needs: comments, strings, identifiers and `url()` are told apart.

/// What a style sheet names, as written, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyleReferences {
    /// Sheets that it imports.
    pub(crate) imports: Vec<String>,
    /// Fonts and images, fetched when the layout needs them.
    pub(crate) resources: Vec<String>,
}

/// Reads a sheet, or the content of a `style` element or attribute.
pub(crate) fn read(text: &str) -> StyleReferences {
    let mut found = StyleReferences::default();
    let mut rest = text;
    // Whether the statement is an import that has not named its sheet.
    let mut imports = false;
    while let Some(first) = rest.chars().next() {
        let mut named = None;
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
            continue;
        } else if first == '"' || first == '\'' {
            let (string, after) = string(rest);
            named = imports.then_some(string);
            rest = after;
        } else if is_of_identifier(first) || first == '@' {
            let begun = first.len_utf8();
            let behind = rest[begun..]
                .find(|c| !is_of_identifier(c))
                .map_or(rest.len(), |length| begun + length);
            let (word, after) = rest.split_at(behind);
            rest = after;
            if let Some(rule) = word.strip_prefix('@') {
                imports = rule.eq_ignore_ascii_case("import");
            } else if word.eq_ignore_ascii_case("url")
                && let Some(argument) = rest.strip_prefix('(')
            {
                let (url, after) = url(argument);
                named = Some(url);
                rest = after;
            }
        } else {
            imports &= !matches!(first, ';' | '{' | '}');
            rest = &rest[first.len_utf8()..];
        }
        if let Some(url) = named.filter(|url| !url.is_empty()) {
            let list = if imports {
                &mut found.imports
            } else {
                &mut found.resources
            };
            list.push(url);
            imports = false;
        }
    }
    found
}

fn is_of_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '\\') || !c.is_ascii()
}

/// The string that `text` begins with, without its quotes and escapes, and what follows; the end of its line closes an unfinished one.
fn string(text: &str) -> (String, &str) {
    let mut chars = text.char_indices();
    let quote = chars.next().map(|(_, quote)| quote);
    let mut content = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => content.extend(chars.next().map(|(_, escaped)| escaped)),
            '\n' => return (content, &text[at..]),
            c if Some(c) == quote => return (content, &text[at + 1..]),
            c => content.push(c),
        }
    }
    (content, "")
}

/// The argument of `url(`, and what follows its parenthesis.
fn url(text: &str) -> (String, &str) {
    let text = text.trim_start();
    if text.starts_with(['"', '\'']) {
        let (url, after) = string(text);
        return (
            url.trim().to_owned(),
            after.find(')').map_or("", |end| &after[end + 1..]),
        );
    }
    let end = text.find(')').unwrap_or(text.len());
    let url = text[..end].trim().replace('\\', "");
    (url, text.get(end + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_fonts_and_images_are_found_in_every_notation() {
        let sheet = r#"
            @charset "utf-8";
            @import "a.css";
            @import url(b.css) screen and (min-width: 1px);
            @import url("c.css") layer(base);
            /* url(not.png) */
            @font-face { font-family: "F"; src: url('f.woff2') format("woff2"), local("G"); }
            @media print { .x { background: #fff url( d.png ) no-repeat; content: "url(text.png)"; } }
            .y { background-image: image-set("e.avif" 1x, url("g.png") 2x); mask: URL(h.svg#m) }
        "#;
        let found = read(sheet);
        assert_eq!(found.imports, ["a.css", "b.css", "c.css"]);
        assert_eq!(found.resources, ["f.woff2", "d.png", "g.png", "h.svg#m"]);
    }

    #[test]
    fn broken_sheets_end() {
        assert_eq!(read("@import url("), StyleReferences::default());
        assert_eq!(read("a{background:url(x.png").resources, ["x.png"]);
    }
}
