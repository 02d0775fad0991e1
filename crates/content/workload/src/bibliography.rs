//! Bibliographies: structured records of strings and small numbers, generated from a seed or read from BibTeX.
//!
//! The types are those of ZeroC's "Slow Connections Performance Tests" (2008), whose bibliography of 73 entries is not published. The
//! generated one is of invented works. Its texts have the lengths that the published sizes imply: 13.3 kB in Ice and 17.2 kB in CDR.

mod bibtex;

pub use bibtex::{BibliographyError, from_bibtex};

use crate::vocabulary::pick_of;
use lastmile_units::random::{below, between, pick};
use lastmile_units::{Rng, Seed};
use serde::{Deserialize, Serialize};

/// A work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// In the order of the title page.
    pub authors: Vec<Name>,
    /// Its title.
    pub title: String,
    /// Where it appeared. Empty for books.
    pub journal: String,
    /// When it appeared. 0 where that is unknown.
    pub year: i16,
    /// Who published it.
    pub publisher: String,
    /// Where the publisher is.
    pub location: String,
    /// Such as `2nd`. Mostly empty.
    pub edition: String,
    /// Where it can be read.
    pub hyperlink: String,
    /// Of the journal. 0 for books.
    pub volume: i16,
    /// Of the volume. 0 for books.
    pub issue: i16,
    /// Within the issue. 0 to 0 for books.
    pub pages: Pages,
}

/// An author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// The family name.
    pub lastname: String,
    /// Such as `A. B.`
    pub initials: String,
}

/// The pages of an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// The first.
    pub start: i16,
    /// The last.
    pub end: i16,
}

/// The number of entries of the published bibliography.
pub const ENTRIES: usize = 73;

/// As many invented entries; the same for the same seed, and a longer bibliography begins as a shorter one.
pub fn entries(count: usize, seed: Seed) -> Vec<Entry> {
    let seed = seed.derive("bibliography");
    (0..count as u64)
        .map(|index| entry(&mut seed.derive_index(index).rng()))
        .collect()
}

fn entry(rng: &mut Rng) -> Entry {
    let authors = (0..pick(rng, &[1, 1, 1, 2, 2, 2, 3, 4])).map(|_| name(rng)).collect();
    let (publisher, location, domain) = pick(rng, &PUBLISHERS);
    let year = between(rng, 1978, 2008) as i16;
    let title = title(rng);
    let file: String = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() > 3)
        .take(1)
        .map(str::to_lowercase)
        .collect::<Vec<_>>()
        .join("-");
    let article = below(rng, 5) < 2;
    let first_page = between(rng, 1, 900) as i16;
    Entry {
        authors,
        title,
        journal: if article {
            pick_of(rng, JOURNALS).to_owned()
        } else {
            String::new()
        },
        year,
        publisher: publisher.to_owned(),
        location: location.to_owned(),
        edition: if article {
            ""
        } else {
            pick(rng, &["", "", "1st", "2nd", "3rd"])
        }
        .to_owned(),
        hyperlink: format!(
            "http://www.{domain}.example/{year}/{file}-{}.html",
            between(rng, 100, 999)
        ),
        volume: if article { between(rng, 1, 60) as i16 } else { 0 },
        issue: if article { between(rng, 1, 12) as i16 } else { 0 },
        pages: if article {
            Pages {
                start: first_page,
                end: first_page + between(rng, 1, 40) as i16,
            }
        } else {
            Pages { start: 0, end: 0 }
        },
    }
}

fn name(rng: &mut Rng) -> Name {
    let initial = |rng: &mut Rng| char::from(b'A' + below(rng, 26) as u8);
    let first = initial(rng);
    Name {
        lastname: pick_of(rng, SURNAMES).to_owned(),
        initials: if below(rng, 4) == 0 {
            format!("{first}. {}.", initial(rng))
        } else {
            format!("{first}.")
        },
    }
}

fn title(rng: &mut Rng) -> String {
    let (adjective, subject, object) = (pick_of(rng, ADJECTIVES), pick_of(rng, SUBJECTS), pick_of(rng, OBJECTS));
    match below(rng, 6) {
        0 => format!("The {adjective} {subject}: A Guide to {object}"),
        1 => format!("{object} and the {adjective} {subject}"),
        2 => format!("On {adjective} {subject}s for {object}"),
        3 => format!("{adjective} {object}, Volume {}: The {subject}", between(rng, 1, 4)),
        4 => format!("A {subject} for {object}: Ten Years Later"),
        _ => format!("{object} with the {adjective} {subject}"),
    }
}

const SURNAMES: &str = "Abendroth; Achterberg; Bellamy; Birkenhead; Castellane; Chaudhary; Dahlgren; Donnelly; Eklund; Esterhazy; \
     Farquhar; Fontaine; Gallagher; Grunwald; Halvorsen; Hernandez; Ibrahim; Iversen; Jankowski; Johansson; Kawasaki; \
     Kowalczyk; Lindqvist; Lombardi; Macready; Mwangi; Nakamura; Novotny; Oduya; Okonkwo; Papadakis; Pemberton; \
     Quigley; Radcliffe; Rosenbaum; Santangelo; Schroeder; Takahashi; Thornbury; Ullmann; Valentin; Vasquez; Whitlock; \
     Wojcik; Yamaguchi; Yilmaz; Zachary; Zuckermann";

const PUBLISHERS: [(&str, &str, &str); 14] = [
    ("Meridian Technical Press", "Boston, MA", "meridian"),
    ("Hollis and Wray", "London", "holliswray"),
    ("Association for Message Systems", "New York, NY", "ams"),
    ("Northern Universities Press", "Uppsala", "nup"),
    ("Lindenhof Verlag", "Heidelberg", "lindenhof"),
    ("Open Middleware Consortium", "Needham, MA", "omc"),
    ("Office of Public Standards", "Geneva", "standards"),
    ("Cape Institute of Technology", "Cape Town", "cape"),
    ("Three Rivers Software", "Pittsburgh, PA", "threerivers"),
    ("Society of Telegraph Engineers", "London", "telegraph"),
    ("Kestrel Books", "Sebastopol, CA", "kestrel"),
    ("Editions du Pont Neuf", "Paris", "pontneuf"),
    ("Granite State Publishing", "Concord, NH", "granite"),
    ("Eastern Computing Review", "Singapore", "ecr"),
];

const JOURNALS: &str = "Journal of Remote Procedure; Messages and Methods; Transactions on Slow Networks; The Middleware Report; \
     Proceedings of the Wire; Computing at a Distance; Annals of Interface Design; Letters on Protocols; Software in \
     the Field; Distributed Objects Quarterly";

const ADJECTIVES: &str = "Adaptive; Reliable; Portable; Typed; Concurrent; Persistent; Modular; Secure; Transparent; Layered; Incremental; \
     Embedded; Generic; Dynamic; Scalable; Formal; Minimal; Asynchronous; Replicated; Mobile; Fault-Tolerant; \
     Efficient; Object-Oriented; Modern";

const SUBJECTS: &str = "Interface; Protocol; Gateway; Compiler; Naming Service; Event Channel; Thread Pool; Type System; Mapping; Broker; \
     Repository; Scheduler; Transport; Firewall; Session; Cache; Language; Pattern; Framework; Specification; Adapter; \
     Proxy; Marshaller; Dispatcher";

const OBJECTS: &str = "Distributed Systems; Network Programming; Remote Objects; Financial Messaging; Telephone Exchanges; Client and \
     Server; Software Engineering; Programs in C++; Concurrent Programs; Shared Memory; Data Encoding; Wireless \
     Networks; Operating Systems; Message Passing; Data Compression; Real-Time Control; Transaction Processing; Large \
     Databases; Industrial Automation; Web Applications; Garbage Collection; Heterogeneous Platforms";

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_wire_formats::{cdr, ice};

    #[test]
    fn the_bibliography_is_within_five_percent_of_the_published_sizes() {
        let entries = entries(ENTRIES, Seed::new(1));
        let within =
            |size: usize, printed: f64| assert!((size as f64 / printed - 1.0).abs() < 0.05, "{size} for {printed}");
        within(ice::to_vec(&entries).unwrap().len(), 13_300.0);
        within(cdr::to_vec(&entries).unwrap().len(), 17_200.0);
    }

    #[test]
    fn a_longer_bibliography_begins_as_a_shorter_one() {
        assert_eq!(entries(1_000, Seed::new(1))[..ENTRIES], entries(ENTRIES, Seed::new(1)));
        assert_ne!(entries(3, Seed::new(2)), entries(3, Seed::new(1)));
    }
}
