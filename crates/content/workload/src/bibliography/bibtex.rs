//! Bibliographies of users, in BibTeX or BibLaTeX.

use super::{Entry, Name, Pages};
use biblatex::{Bibliography, ChunksExt, Person};

/// Why a bibliography could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BibliographyError {
    /// It is no BibTeX.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A field of an entry cannot be held.
    #[error("entry {key:?}, field {field:?}: {value:?} {problem}")]
    Field {
        /// The entry's key.
        key: String,
        /// The field's name.
        field: &'static str,
        /// Its text.
        value: String,
        /// What is wrong, and the remedy.
        problem: &'static str,
    },
    /// It has no entries.
    #[error("there is no entry in it: an entry begins with @ and a type, as in @book{{key, title = {{...}}}}")]
    Empty,
}

/// Reads a bibliography; its entries are in the order of the file.
///
/// A missing field is empty or 0. Commands of LaTeX become the characters that they stand for; where an entry has editors alone, they
/// are its authors. A number such as `12A` or an unpaged `e17` counts by its first run of digits.
///
/// # Errors
/// When the text is no BibTeX, holds no entry, or a number does not fit into 16 bits.
pub fn from_bibtex(text: &str) -> Result<Vec<Entry>, BibliographyError> {
    let bibliography = Bibliography::parse(text).map_err(|error| BibliographyError::Syntax {
        line: 1 + text
            .bytes()
            .take(error.span.start)
            .filter(|&byte| byte == b'\n')
            .count(),
        problem: error.to_string(),
    })?;
    if bibliography.is_empty() {
        return Err(BibliographyError::Empty);
    }
    bibliography.iter().map(read_entry).collect()
}

fn read_entry(entry: &biblatex::Entry) -> Result<Entry, BibliographyError> {
    let text = |fields: &[&str]| {
        let found = fields.iter().find_map(|field| entry.get(field));
        found.map(ChunksExt::format_verbatim).unwrap_or_default()
    };
    let number = |field: &'static str, text: String| {
        let digits = text.split(|c: char| !c.is_ascii_digit()).find(|run| !run.is_empty());
        digits.map_or(Ok(0), |digits| {
            digits.parse::<i16>().map_err(|_| BibliographyError::Field {
                key: entry.key.clone(),
                field,
                value: text.clone(),
                problem: "does not fit into a short: the greatest is 32767; shorten it or leave it out",
            })
        })
    };
    let pages = text(&["pages"]);
    let (first, last) = pages.split_once(['-', '–']).unwrap_or((&pages, ""));
    let start = number("pages", first.to_owned())?;
    let end = number("pages", last.to_owned())?;
    let people = entry
        .author()
        .ok()
        .or_else(|| entry.editors().ok()?.into_iter().next().map(|(people, _)| people));
    Ok(Entry {
        authors: people.unwrap_or_default().iter().map(name).collect(),
        title: text(&["title"]),
        journal: text(&["journal", "journaltitle", "booktitle"]),
        year: number("year", text(&["year", "date"]))?,
        publisher: text(&["publisher", "institution", "school", "organization"]),
        location: text(&["address", "location"]),
        edition: text(&["edition"]),
        hyperlink: text(&["url", "doi"]),
        volume: number("volume", text(&["volume"]))?,
        issue: number("number", text(&["number", "issue"]))?,
        pages: Pages {
            start,
            end: if last.is_empty() { start } else { end },
        },
    })
}

fn name(person: &Person) -> Name {
    let initials = person
        .given_name
        .split_whitespace()
        .filter_map(|given| given.chars().next());
    let initials: Vec<String> = initials.map(|initial| format!("{initial}.")).collect();
    let parts = [&person.prefix, &person.name, &person.suffix];
    let parts: Vec<&str> = parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| part.as_str())
        .collect();
    Name {
        lastname: parts.join(" "),
        initials: initials.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_and_a_book_are_read_with_every_field() {
        let text = r#"
            % What was read last winter.
            @article{meyer98, author = {Meyer, Anna B. and van der Berg, Jan}, title = "The {Wire} of G{\"o}ttingen", journal = {Letters},
              year = 1998, volume = {12A}, number = 3, pages = {17--25}, url = {http://letters.example/3} }
            @book{smith, editor = {John Smith}, title = {All of It}, publisher = {Wray}, address = {London}, edition = {2}, date = {2004-05}}
        "#;
        let entries = from_bibtex(text).unwrap();
        assert_eq!(
            entries[0],
            Entry {
                authors: vec![
                    Name {
                        lastname: "Meyer".to_owned(),
                        initials: "A. B.".to_owned()
                    },
                    Name {
                        lastname: "van der Berg".to_owned(),
                        initials: "J.".to_owned()
                    }
                ],
                title: "The Wire of Göttingen".to_owned(),
                journal: "Letters".to_owned(),
                year: 1998,
                publisher: String::new(),
                location: String::new(),
                edition: String::new(),
                hyperlink: "http://letters.example/3".to_owned(),
                volume: 12,
                issue: 3,
                pages: Pages { start: 17, end: 25 },
            }
        );
        let book = &entries[1];
        assert_eq!(
            (book.year, book.location.as_str(), book.edition.as_str()),
            (2004, "London", "2")
        );
        assert_eq!(book.authors[0].lastname, "Smith");
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_place() {
        let error = from_bibtex("@book{a, title = {x}}\n@book{b, volume = {70000}}")
            .unwrap_err()
            .to_string();
        assert!(error.contains(r#"entry "b", field "volume": "70000""#), "{error}");
        let error = from_bibtex("@book{a, title = {x}}\n@book{b, title = {x}")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("line 2: "), "{error}");
        assert_eq!(from_bibtex("Dear sir,"), Err(BibliographyError::Empty));
    }
}
