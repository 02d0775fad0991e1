//! Configuration snippets for real servers: what each sends, and the lines to paste.
//!
//! A server has one setting for all of its clients: one for files, which are compressed beforehand, and one for dynamic responses. Both are
//! chosen as in the table (`select`), by replays of the page over all links at once, among the settings that the table recommends on some
//! link and the server supports; where it supports none of these, among the nearest that it does. Clients without that coding get gzip, at
//! the level that is chosen among the levels of gzip alone, from 6 on.
//!
//! A snippet adds compression and never switches it off: where nothing of an origin was worth compressing, it has no lines about it.

mod apache;
mod caddy;
mod nginx;

use super::candidates::LENGTH_MIN;
use super::isolated_transfer::IsolatedTransferTimes;
use super::link_measurement::LinkMeasurement;
use super::mix::{KindSetting, Mix};
use super::replays::Replays;
use super::response_classes::origin_record;
use super::search::{LinkChoice, by_isolated_cost};
use super::select::{Row, choose};
use super::{AdviseError, Phase, PreparedReplay, Progress};
use crate::record::{Server, Snippet, SnippetSetting, SnippetUse};
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_traffic::responses::Origin;
use std::collections::{BTreeMap, BTreeSet};

/// The servers, in the order of their snippets.
pub(super) const SERVERS: [Server; 3] = [Server::Nginx, Server::Apache, Server::Caddy];

/// The media types of files that servers compress on request where they are asked to: a directive of ours replaces that of an outer block, and must not
/// leave these plain. They include what Apache compresses as Debian configures it, and what nginx calls a file of XML.
const TEXT_TYPES: [&str; 13] = [
    "application/ecmascript",
    "application/javascript",
    "application/json",
    "application/rss+xml",
    "application/wasm",
    "application/x-javascript",
    "application/xml",
    "image/svg+xml",
    "text/css",
    "text/html",
    "text/javascript",
    "text/plain",
    "text/xml",
];

/// The files to compress beforehand, as an extended regular expression: formats that are not compressed inside.
const TEXT_FILES: &str = r".*\.(css|html|ico|js|json|map|mjs|otf|svg|ttf|txt|wasm|webmanifest|xml)";

/// The level at which Apache compresses unasked, as Debian configures it: clients that accept gzip alone must not get more bytes than before.
const FALLBACK_LEVEL_MIN: u8 = 6;

/// The command zstd refuses higher levels without `--ultra`.
const ZSTD_LEVEL_MAX: u8 = 19;

/// The settings tried for one origin in a snippet: our own choice.
const TRIED_MAX: usize = 2;

/// Whether a server supports a setting for an origin.
pub(super) fn supports(server: Server, origin: Origin, codec: CodecSpec) -> bool {
    match (server, codec.coding()) {
        (_, Coding::Identity | Coding::Gzip) => true,
        (_, Coding::Deflate) => false,
        (Server::Nginx | Server::Apache, Coding::Brotli) => true,
        (Server::Nginx | Server::Apache, Coding::Zstd) => false,
        (Server::Caddy, Coding::Brotli) => origin == Origin::Static,
        (Server::Caddy, Coding::Zstd) => origin == Origin::Static || caddy::level(codec).is_some(),
    }
}

/// What a snippet makes a server do.
pub(super) struct SnippetPlan {
    pub(super) server: Server,
    /// For files, compressed beforehand; none where no lines are about them.
    of_files: Option<CodecSpec>,
    /// For dynamic responses, compressed on request; none where no lines are about them.
    on_request: Option<CodecSpec>,
    /// For clients that accept neither.
    fallback: Option<CodecSpec>,
    /// What clients get that accept everything.
    pub(super) mix: Mix,
}

impl SnippetPlan {
    /// The setting that clients get who accept it.
    fn first(&self, origin: Origin) -> Option<CodecSpec> {
        match origin {
            Origin::Static => self.of_files,
            Origin::Dynamic => self.on_request,
        }
    }

    /// The settings of an origin, the one that the server prefers first.
    fn codecs(&self, origin: Origin) -> Vec<CodecSpec> {
        let first = self.first(origin);
        let lacks_gzip = first.is_some_and(|codec| codec.coding() != Coding::Gzip);
        first.into_iter().chain(self.fallback.filter(|_| lacks_gzip)).collect()
    }

    /// The setting of a coding.
    fn codec(&self, origin: Origin, coding: Coding) -> Option<CodecSpec> {
        self.codecs(origin).into_iter().find(|codec| codec.coding() == coding)
    }
}

/// Plans the snippets of all servers that were asked for, by replays over all links.
pub(super) fn plans(
    replays: &mut Replays<'_>,
    prepared: &PreparedReplay<'_>,
    alone: &IsolatedTransferTimes,
    choices: &[LinkChoice],
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<SnippetPlan>, AdviseError> {
    let table = Table {
        prepared,
        alone,
        choices,
    };
    let mut gzip: Vec<CodecSpec> = prepared
        .settings
        .iter()
        .copied()
        .filter(|codec| codec.coding() == Coding::Gzip)
        .collect();
    if gzip.iter().any(|codec| codec.level() >= FALLBACK_LEVEL_MIN) {
        gzip.retain(|codec| codec.level() >= FALLBACK_LEVEL_MIN);
    }
    let levels: Vec<Mix> = gzip.iter().map(|codec| prepared.uniform(*codec)).collect();
    let fallback = table.choose(replays, &levels, progress)?.map(|chosen| gzip[chosen]);
    let mut plans = Vec::new();
    for server in SERVERS {
        if prepared.options.server.is_some_and(|asked| asked != server) {
            continue;
        }
        let mut pairs = Vec::new();
        for of_files in table.candidates(server, Origin::Static) {
            for on_request in table.candidates(server, Origin::Dynamic) {
                pairs.push((of_files, on_request));
            }
        }
        let mixes: Vec<Mix> = pairs.iter().map(|pair| table.mix(*pair)).collect();
        let chosen = table.choose(replays, &mixes, progress)?.unwrap_or_default();
        let (of_files, on_request) = pairs[chosen];
        plans.push(SnippetPlan {
            server,
            of_files,
            on_request,
            fallback,
            mix: mixes[chosen].clone(),
        });
    }
    Ok(plans)
}

/// What was chosen on each link, as the choice of a snippet needs it.
struct Table<'a> {
    prepared: &'a PreparedReplay<'a>,
    alone: &'a IsolatedTransferTimes,
    choices: &'a [LinkChoice],
}

impl Table<'_> {
    /// The groups of an origin whose formats are not compressed already.
    fn groups(&self, origin: Origin) -> impl Iterator<Item = usize> {
        let groups = self.prepared.groups.iter().enumerate();
        groups
            .filter(move |(_, group)| group.origin == origin && !group.already_compressed)
            .map(|(index, _)| index)
    }

    /// Whether a group is compressed on some link.
    fn is_compressed(&self, group: usize) -> bool {
        let mut settings = self.choices.iter().map(|choice| choice.mix().0[group]);
        settings.any(|setting| match setting {
            KindSetting::AsRecorded => self.prepared.recorded_cpu[group].is_some(),
            KindSetting::Codec(codec) => !codec.is_identity(),
        })
    }

    /// The settings to try for an origin: those of the table, or else the nearest that the server supports. None is no setting at all.
    fn candidates(&self, server: Server, origin: Origin) -> Vec<Option<CodecSpec>> {
        let compressed: Vec<usize> = self.groups(origin).filter(|group| self.is_compressed(*group)).collect();
        if compressed.is_empty() {
            return vec![None];
        }
        let can = |codec: &CodecSpec| supports(server, origin, *codec) && self.prepared.options.can(origin, *codec);
        // By the number of groups and links that have it, the most first.
        let mut votes: BTreeMap<CodecSpec, usize> = BTreeMap::new();
        for choice in self.choices {
            for group in &compressed {
                if let Some(codec) = choice.mix().0[*group].codec().filter(can) {
                    *votes.entry(codec).or_default() += 1;
                }
            }
        }
        let mut recommended: Vec<CodecSpec> = votes.keys().copied().collect();
        recommended.sort_by_key(|codec| std::cmp::Reverse(votes[codec]));
        let mut candidates = if recommended.is_empty() {
            self.nearest(&compressed, &can)
        } else {
            recommended
        };
        candidates.truncate(TRIED_MAX);
        if candidates.is_empty() {
            return vec![None];
        }
        candidates.into_iter().map(Some).collect()
    }

    /// The settings that a server supports, those with the least cost in isolation over all links first, relative to the best of each group.
    fn nearest(&self, groups: &[usize], can: &impl Fn(&CodecSpec) -> bool) -> Vec<CodecSpec> {
        let mut costs: BTreeMap<CodecSpec, f64> = BTreeMap::new();
        for link in 0..self.choices.len() {
            for group in groups {
                let all = by_isolated_cost(self.prepared, self.alone, link, *group);
                let least = all
                    .first()
                    .map_or(f64::MIN_POSITIVE, |(_, cost)| cost.max(f64::MIN_POSITIVE));
                for (codec, cost) in all.iter().filter(|(codec, _)| can(codec) && !codec.is_identity()) {
                    *costs.entry(*codec).or_default() += self.prepared.groups[*group].plain.as_f64() * cost / least;
                }
            }
        }
        let mut sorted: Vec<(CodecSpec, f64)> = costs.into_iter().collect();
        sorted.sort_by(|(a, cost), (b, other)| cost.total_cmp(other).then(a.cmp(b)));
        sorted.into_iter().map(|(codec, _)| codec).collect()
    }

    /// The mix of a setting per origin, for the groups that are compressed on some link.
    fn mix(&self, (of_files, on_request): (Option<CodecSpec>, Option<CodecSpec>)) -> Mix {
        let mut mix = self.prepared.by_origin(of_files, on_request);
        for group in (0..mix.0.len()).filter(|group| !self.is_compressed(*group)) {
            mix.0[group] = KindSetting::IDENTITY;
        }
        mix
    }

    /// Chooses among mixes over all links at once, each link's times relative to those of its recommended mix; none among none.
    fn choose(
        &self,
        replays: &mut Replays<'_>,
        mixes: &[Mix],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<usize>, AdviseError> {
        if mixes.len() < 2 {
            return Ok((!mixes.is_empty()).then_some(0));
        }
        let (prepared, first) = (self.prepared, self.prepared.options.repeats.get());
        let links = 0..self.choices.len();
        let wanted = links
            .clone()
            .flat_map(|link| mixes.iter().map(move |mix| (link, mix.clone())));
        replays.ensure(wanted, first, Phase::Checking, progress)?;
        let mut over_all: Vec<Row> = Vec::new();
        for link in links {
            let mut with_base = mixes.to_vec();
            with_base.push(self.choices[link].mix().clone());
            let mut rows = replays.paired(link, &with_base, first).rows(link)?;
            let base = rows.pop().map_or(1.0, |row| row.mean().max(f64::MIN_POSITIVE));
            for row in &mut rows {
                row.times.iter_mut().for_each(|time| *time /= base);
                row.delay_of_others /= base * self.choices.len() as f64;
            }
            if over_all.is_empty() {
                over_all = rows;
                continue;
            }
            for (row, more) in over_all.iter_mut().zip(rows) {
                row.times.extend(more.times);
                row.delay_of_others += more.delay_of_others;
            }
        }
        Ok(Some(choose(&over_all, prepared.interval_seed()).chosen))
    }
}

/// What a snippet is written from.
struct SnippetRequest<'a> {
    prepared: &'a PreparedReplay<'a>,
    links: &'a [LinkMeasurement],
    plan: &'a SnippetPlan,
}

/// The snippet of a plan, without replays; none where it would say nothing.
pub(super) fn snippet(prepared: &PreparedReplay<'_>, links: &[LinkMeasurement], plan: &SnippetPlan) -> Option<Snippet> {
    let request = SnippetRequest { prepared, links, plan };
    let (text, note) = match plan.server {
        Server::Nginx => nginx::snippet(&request),
        Server::Apache => apache::snippet(&request),
        Server::Caddy => caddy::snippet(&request),
    };
    (!text.is_empty()).then(|| Snippet {
        server: plan.server,
        text,
        note: note + &request.origin_notes(),
        settings: request.settings(),
        replays: Vec::new(),
    })
}

impl SnippetRequest<'_> {
    /// The media types of what the snippet compresses on request: all that it compresses, as a file may have no compressed one beside it, and those of
    /// files in general. Text from an archive is written into a configuration only if it is a valid media type.
    fn types(&self) -> BTreeSet<&str> {
        let groups = self.prepared.groups.iter().zip(&self.plan.mix.0);
        let compressed = groups.filter(|(_, setting)| setting.codec().is_some());
        let items = compressed.flat_map(|(group, _)| &group.items);
        let types = items.filter_map(|item| self.prepared.response(*item).media_type.as_deref());
        let types = types.filter(|media_type| is_media_type(media_type));
        types.chain(TEXT_TYPES).collect()
    }

    /// A comment that names the files which the snippet serves in the place of others, and has a line with the command for each.
    fn files_comment(&self) -> String {
        let codecs = self.plan.codecs(Origin::Static);
        let names: Vec<String> = codecs
            .iter()
            .map(|codec| format!("app.js.{}", extension(codec.coding())))
            .collect();
        let mut text = format!(
            "# Files, compressed beforehand: {} beside app.js. In the folder of the files, whenever they change:\n",
            names.join(" and ")
        );
        for codec in codecs {
            let level = codec.level();
            let command = match codec.coding() {
                Coding::Brotli => format!("brotli --quality={level}"),
                Coding::Zstd => format!("zstd{} -{level}", if level > ZSTD_LEVEL_MAX { " --ultra" } else { "" }),
                // The name of the file would go into every response.
                _ => format!("gzip -{level} --no-name"),
            };
            text += &format!(
                "#   find . -type f -size +{}c -regextype egrep -regex '{TEXT_FILES}' -exec {command} --keep --force {{}} +\n",
                LENGTH_MIN.get() - 1
            );
        }
        text
    }

    /// A comment above the lines about what is compressed on request.
    fn on_request_comment(&self) -> &'static str {
        if self.plan.on_request.is_some() {
            "\n# Dynamic responses, and files without a compressed one beside them, compressed on request.\n"
        } else {
            "\n# Files without a compressed one beside them, compressed on request.\n"
        }
    }

    /// The settings that the table recommends for an origin, with the links that each is recommended on.
    fn recommended(&self, origin: Origin) -> BTreeMap<String, BTreeSet<&str>> {
        let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for ((name, _), link) in self.prepared.options.links.iter().zip(self.links) {
            for (group, chosen) in self.prepared.groups.iter().zip(&link.chosen) {
                if group.origin == origin && !group.already_compressed && chosen.setting != KindSetting::IDENTITY {
                    found
                        .entry(super::prose::kind_setting(chosen.setting))
                        .or_default()
                        .insert(name);
                }
            }
        }
        found
    }

    fn settings(&self) -> Vec<SnippetSetting> {
        let origins = [Origin::Static, Origin::Dynamic];
        let of_origin = |origin: Origin| {
            let recommended = self.recommended(origin);
            let codecs = self.plan.codecs(origin).into_iter().enumerate();
            codecs.map(move |(index, codec)| SnippetSetting {
                origin: origin_record(origin),
                setting: codec.to_string(),
                usage: if index == 0 {
                    SnippetUse::First
                } else {
                    SnippetUse::Fallback
                },
                recommended_on: recommended
                    .get(&codec.to_string())
                    .map(|links| links.iter().map(|link| (*link).to_owned()).collect())
                    .unwrap_or_default(),
            })
        };
        origins.into_iter().flat_map(of_origin).collect()
    }

    /// How the settings relate to those of the table, and what the snippet leaves alone.
    fn origin_notes(&self) -> String {
        let mut notes = String::new();
        for (origin, word) in [(Origin::Static, "static"), (Origin::Dynamic, "dynamic")] {
            let has_origin = self.prepared.groups.iter().any(|group| group.origin == origin);
            let recommended = self.recommended(origin);
            match self.plan.first(origin) {
                None if !recommended.is_empty() => {
                    notes += &format!(
                        " {} can do none of the settings that were tried on {word} responses.",
                        self.server_name()
                    );
                }
                None if has_origin && origin == Origin::Dynamic => {
                    notes += " No dynamic response of this page was worth compressing, so there are no lines about them: what you have \
                              set for them stays.";
                }
                None => {}
                Some(codec) => {
                    let has_several_links = self.links.len() > 1;
                    let other: Vec<String> = recommended
                        .iter()
                        .filter(|(setting, _)| **setting != codec.to_string())
                        .map(|(setting, links)| {
                            if has_several_links {
                                format!("{setting} on {}", links.iter().copied().collect::<Vec<_>>().join(", "))
                            } else {
                                setting.clone()
                            }
                        })
                        .collect();
                    if recommended.contains_key(&codec.to_string()) && !other.is_empty() {
                        let and_links = if has_several_links { " and links" } else { "" };
                        notes += &format!(
                            " {codec} is the one setting for all {word} responses{and_links}; the table also has {}.",
                            other.join(" and ")
                        );
                    } else if !other.is_empty() {
                        notes += &format!(
                            " The table has {} for {word} responses; {codec} is the nearest that {} can do.",
                            other.join(" and "),
                            self.server_name()
                        );
                    }
                }
            }
        }
        let falls_back = |origin: &Origin| self.plan.codecs(*origin).len() > 1;
        if let Some(gzip) = self
            .plan
            .fallback
            .filter(|_| [Origin::Static, Origin::Dynamic].iter().any(falls_back))
        {
            notes += &format!(" {gzip} is for clients that do not accept the other coding.");
        }
        notes
    }

    fn server_name(&self) -> &'static str {
        self.plan.server.name()
    }

    /// The setting to compress files with beforehand.
    fn beforehand(&self, coding: Coding) -> Option<CodecSpec> {
        self.plan.codec(Origin::Static, coding)
    }

    /// The settings to compress with on request, the one that the server prefers first. Where the traffic has no dynamic responses, these are for files
    /// without a compressed one beside them; where it has and none was worth compressing, there are none, as they would be compressed too.
    fn on_request_codecs(&self) -> Vec<CodecSpec> {
        if self.plan.of_files.is_some() && self.prepared.groups.iter().all(|group| group.origin == Origin::Static) {
            return self.plan.fallback.into_iter().collect();
        }
        self.plan.codecs(Origin::Dynamic)
    }

    /// The one of them with a coding.
    fn on_request(&self, coding: Coding) -> Option<CodecSpec> {
        let mut codecs = self.on_request_codecs().into_iter();
        codecs.find(|codec| codec.coding() == coding)
    }
}

/// The extension of a file that was compressed with a coding.
fn extension(coding: Coding) -> &'static str {
    match coding {
        Coding::Brotli => "br",
        Coding::Zstd => "zst",
        Coding::Gzip | Coding::Deflate | Coding::Identity => "gz",
    }
}

/// Whether `text` is a media type by RFC 6838 section 4.2, in lower case, without characters that have a meaning in configurations.
fn is_media_type(text: &str) -> bool {
    let restricted = |name: &str| {
        let of_it = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-._".contains(&byte);
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
