//! How is the recommendation written for real servers?
//!
//! A server has one setting for all of its clients, so that what is written is the one that is best over all links asked for: with the
//! least burden (see `choose`) relative to the best of each kind and link, kinds weighed by their bytes. Where a server cannot do
//! what is recommended, it gets the best of what it can.

mod apache;
mod caddy;
mod nginx;

use super::Study;
use super::choose::Tried;
use super::measure::Measured;
use lastmile_payload::codec::{CodecSpec, Coding};
use lastmile_payload::traffic::Origin;
use lastmile_report::advise::Snippet;
use std::collections::BTreeSet;

/// Bodies below this stay as they are: our own choice. A coding's own octets and a header outweigh what it saves on them.
const LEAST_LENGTH: u32 = 256;

/// What a server is told.
struct Wanted<'a> {
    study: &'a Study<'a>,
    measured: &'a [Measured],
}

/// One a server.
pub(super) fn snippets(study: &Study<'_>, measured: &[Measured]) -> Vec<Snippet> {
    let wanted = Wanted { study, measured };
    vec![
        nginx::snippet(&wanted),
        apache::snippet(&wanted),
        caddy::snippet(&wanted),
    ]
}

impl Wanted<'_> {
    /// The best of what a server can do, for all kinds of an origin together; none where that is nothing.
    fn best(&self, origin: Origin, can: impl Fn(CodecSpec) -> bool) -> Option<CodecSpec> {
        let burdens = self
            .study
            .settings
            .iter()
            .filter(|codec| codec.is_identity() || can(**codec));
        let best = burdens
            .map(|codec| (*codec, self.burden(origin, *codec)))
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(codec, _)| codec);
        best.filter(|codec| !codec.is_identity() && !self.types(origin).is_empty())
    }

    /// How much worse than the best of each kind and link a setting is, kinds weighed by their bytes.
    fn burden(&self, origin: Origin, codec: CodecSpec) -> f64 {
        let mut sum = 0.0;
        for measured in self.measured {
            for (group, tried) in self.study.groups.iter().zip(&measured.tried) {
                if group.origin != origin || group.left_as_is {
                    continue;
                }
                let burden = |tried: &Tried| tried.burden(group, self.study.options);
                let least = tried.iter().map(burden).fold(f64::INFINITY, f64::min);
                let own = tried
                    .iter()
                    .find(|tried| tried.candidate.codec == codec)
                    .map_or(f64::INFINITY, burden);
                sum += group.plain.as_f64() * own / least.max(f64::MIN_POSITIVE);
            }
        }
        sum
    }

    /// The media types of an origin's kinds that are compressed on some link. What an archive states is written into a configuration only
    /// where it is a media type.
    fn types(&self, origin: Origin) -> BTreeSet<&str> {
        let groups = self
            .study
            .groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.origin == origin);
        let compressed = groups.filter(|(place, _)| {
            self.measured
                .iter()
                .any(|link| !link.chosen[*place].codec.is_identity())
        });
        let items = compressed.flat_map(|(_, group)| &group.items);
        let types = items.filter_map(|item| {
            self.study.traffic.responses[self.study.page.items[*item].response]
                .media_type
                .as_deref()
        });
        types.filter(|media_type| is_media_type(media_type)).collect()
    }

    /// As one line, without `text/html` where a server has it anyway.
    fn types_line(&self, origin: Origin, but: &str) -> String {
        self.types(origin)
            .into_iter()
            .filter(|media_type| *media_type != but)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// What is recommended for an origin if a server could do everything, and what this server does instead; none where that is the same.
    fn instead(&self, server: &str, origin: Origin, does: Option<CodecSpec>) -> Option<String> {
        let ideal = self.best(origin, |_| true);
        let name = |codec: Option<CodecSpec>| codec.map_or_else(|| "no coding".to_owned(), |codec| codec.to_string());
        (ideal != does).then(|| {
            format!(
                " Over all links {} would be best for what is made on request; {} is the best of what {server} can do.",
                name(ideal),
                name(does)
            )
        })
    }

    /// The level to compress files with beforehand.
    fn beforehand(&self, coding: Coding) -> Option<CodecSpec> {
        self.best(Origin::Static, |codec| codec.coding() == coding)
    }

    /// How files are compressed beforehand, by the tools of their codings.
    fn beforehand_commands(&self, codings: &[Coding]) -> String {
        let command = |codec: CodecSpec| match codec.coding() {
            Coding::Gzip => Some(format!("gzip -{} --keep FILE", codec.level())),
            Coding::Brotli => Some(format!("brotli --quality={} --keep FILE", codec.level())),
            Coding::Zstd => Some(format!("zstd -{} --keep FILE", codec.level())),
            Coding::Identity | Coding::Deflate => None,
        };
        let commands: Vec<String> = codings
            .iter()
            .filter_map(|coding| command(self.beforehand(*coding)?))
            .collect();
        if commands.is_empty() {
            return String::new();
        }
        format!(" Compress files whenever they change: {}.", commands.join("; "))
    }
}

/// RFC 6838 section 4.2, in lower case, without the characters that configurations read otherwise.
fn is_media_type(text: &str) -> bool {
    let restricted = |name: &str| {
        let of_it = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || b"+-._".contains(&octet);
        (1..=127).contains(&name.len()) && name.as_bytes()[0].is_ascii_alphanumeric() && name.bytes().all(of_it)
    };
    text.split_once('/')
        .is_some_and(|(class, subtype)| restricted(class) && restricted(subtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_media_types_reach_a_configuration() {
        assert!(is_media_type("application/vnd.api+json"));
        for foreign in [
            "text/html; } evil",
            "text",
            "/",
            "text/",
            "a/b/c",
            "text/\nx",
            "text/*",
            "TEXT/html",
        ] {
            assert!(!is_media_type(foreign), "{foreign:?}");
        }
    }
}
