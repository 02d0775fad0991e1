//! How is what was found told? The record that is published, made of what was measured.

use super::candidates::{Candidate, delivery_today};
use super::choose::Tried;
use super::figures::{Figures, Runs};
use super::groups::Group;
use super::measure::{Measured, Setting, transfer_times};
use super::replay::Replayed;
use super::{Study, browser, doubts, exhibits, snippets, words};
use crate::http::Version;
use lastmile_link::{Jitter, LinkSpec, Reordering, describe};
use lastmile_payload::traffic::Origin;
use lastmile_report::advise as record;
use lastmile_units::Bytes;
use std::path::Path;

/// The advice.
pub(super) fn advice(study: &Study<'_>, measured: &[Measured]) -> record::Advice {
    let links: Vec<record::LinkAdvice> = measured
        .iter()
        .enumerate()
        .map(|(place, link)| of_link(study, place, link))
        .collect();
    record::Advice {
        schema: record::Advice::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: study.options.seed,
        cpu: study.costs.name().to_owned(),
        cpu_machine: study.costs.machine().to_owned(),
        traffic: traffic(study),
        options: options(study),
        answer: words::answer(&links),
        snippets: snippets::snippets(study, measured),
        findings: words::findings(study, &links),
        charts: exhibits::charts(study, measured),
        exhibits: exhibits::tables(study),
        doubts: doubts::of_all(study),
        links,
    }
}

fn traffic(study: &Study<'_>) -> record::Traffic {
    let items = || study.page.items.iter().enumerate();
    let today = || {
        items()
            .map(|(place, _)| delivery_today(place, study.traffic, &study.page, &study.sizes).size)
            .sum::<Bytes>()
    };
    let remarks = study.traffic.notes.iter().chain(&study.traffic.skipped);
    record::Traffic {
        source: study.traffic.source.clone(),
        kind: kind(study),
        responses: study.page.items.len() as u64,
        identity_bytes: items().map(|(_, item)| item.plain).sum::<Bytes>().get(),
        today_bytes: study.knows_today().then(|| today().get()),
        hosts: study.page.hosts as u64,
        notes: remarks
            .map(ToString::to_string)
            .chain(study.page.remarks(study.traffic))
            .collect(),
    }
}

fn kind(study: &Study<'_>) -> record::TrafficKind {
    let source = Path::new(&study.traffic.source);
    let timed = study
        .traffic
        .responses
        .iter()
        .any(|response| response.total.is_some() || response.http_version.is_some());
    match source.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl" | "ndjson") => record::TrafficKind::Jsonl,
        Some("har") => record::TrafficKind::Har,
        _ if source.is_dir() => record::TrafficKind::Folder,
        _ if timed => record::TrafficKind::Har,
        _ => record::TrafficKind::Jsonl,
    }
}

fn options(study: &Study<'_>) -> record::Options {
    let options = study.options;
    let (protocol, connections) = match options.protocol {
        Version::Http11 => (record::Protocol::Http11, browser::CONNECTIONS_HTTP11),
        Version::H2 => (record::Protocol::H2, browser::CONNECTIONS_H2),
    };
    record::Options {
        protocol,
        connections_per_host: connections as u64,
        tls: options.tls,
        connections: options.connections,
        repeats: options.repeats.get(),
        slow_client: options.slow_client,
    }
}

fn of_link(study: &Study<'_>, place: usize, measured: &Measured) -> record::LinkAdvice {
    let (name, link) = &study.options.links[place];
    let figures = Figures {
        varied: varied(study, link),
        seed: study.options.root().derive("intervals"),
    };
    let page = pages(&figures, measured);
    let kinds: Vec<record::KindAdvice> = (0..study.groups.len())
        .map(|group| of_kind(study, &figures, measured, group))
        .collect();
    record::LinkAdvice {
        name: name.clone(),
        description: description(link),
        summary: words::of_link(name, &page, &kinds),
        doubts: doubts::of_link(study, measured, !figures.varied.is_empty()),
        page,
        kinds,
    }
}

/// What is drawn at random in each repeat.
fn varied(study: &Study<'_>, link: &LinkSpec) -> Vec<String> {
    let directions = [&link.down, &link.up];
    let loses = directions.iter().any(|direction| direction.loss.rate().get() > 0.0);
    let jitters = directions.iter().any(|direction| direction.jitter != Jitter::None);
    let reorders = directions
        .iter()
        .any(|direction| direction.reordering != Reordering::None);
    let all = [
        (true, "start of requests"),
        (!study.costs.is_free(), "computing"),
        (loses, "random loss"),
        (jitters, "jitter"),
        (reorders, "reordering"),
    ];
    all.iter()
        .filter(|(does, _)| *does)
        .map(|(_, name)| (*name).to_owned())
        .collect()
}

/// What a link is, for a reader.
pub(crate) fn description(link: &LinkSpec) -> record::LinkDescription {
    let rate = |direction: &lastmile_link::DirectionSpec| match direction.capacity {
        lastmile_link::Capacity::Rate(rate) => Some(rate.bits_per_second() as f64),
        lastmile_link::Capacity::Unlimited | lastmile_link::Capacity::Trace(_) => None,
    };
    let queue = describe(link)
        .into_iter()
        .find(|row| row.what == "queue, down")
        .map(|row| row.value);
    record::LinkDescription {
        rate_down_bit_per_second: rate(&link.down),
        rate_up_bit_per_second: rate(&link.up),
        round_trip_s: link.round_trip().as_secs_f64(),
        loss: link.down.loss.rate().get(),
        queue: queue.unwrap_or_default(),
        source: link
            .profile()
            .map_or_else(|| "as it was asked for".to_owned(), |profile| profile.source.clone()),
    }
}

/// The page under every setting: the recommended mix first, then today, then all by one, the fastest first.
fn pages(figures: &Figures, measured: &Measured) -> Vec<record::PageOutcome> {
    let times = |setting: &Setting| {
        measured
            .pages
            .get(setting)
            .map(|pages| one_each(pages, |page| page.page_time.as_secs_f64()))
    };
    let identity =
        times(&Setting::All(lastmile_payload::codec::CodecSpec::IDENTITY)).expect("identity is always replayed");
    let today = times(&Setting::Today);
    let mut outcomes: Vec<(Setting, record::PageOutcome)> = measured
        .pages
        .iter()
        .map(|(setting, pages)| {
            let own = one_each(pages, |page| page.page_time.as_secs_f64());
            let is_identity = matches!(setting, Setting::All(codec) if codec.is_identity());
            let against_today = today.as_ref().filter(|_| *setting != Setting::Today);
            let outcome = record::PageOutcome {
                setting: words::setting(*setting),
                page_time: figures.figure("s", "page", &own),
                bytes_down: figures.figure("B", "page", &one_each(pages, |page| page.bytes_down.as_f64())),
                saving_against_identity: (!is_identity).then(|| figures.saving(&identity, &own)),
                saving_against_today: against_today.map(|today| figures.saving(today, &own)),
            };
            (*setting, outcome)
        })
        .collect();
    let rank = |setting: &Setting| match setting {
        Setting::Recommended => 0,
        Setting::Today => 1,
        Setting::All(_) => 2,
    };
    outcomes.sort_by(|(a, one), (b, other)| {
        let by_time = one.page_time.mean.total_cmp(&other.page_time.mean);
        rank(a).cmp(&rank(b)).then(by_time).then(a.cmp(b))
    });
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn one_each(pages: &[Replayed], figure: impl Fn(&Replayed) -> f64) -> Runs {
    pages.iter().map(|page| vec![figure(page)]).collect()
}

fn of_kind(study: &Study<'_>, figures: &Figures, measured: &Measured, place: usize) -> record::KindAdvice {
    let group = &study.groups[place];
    let (tried, chosen) = (&measured.tried[place], &measured.chosen[place]);
    let own = |wanted| {
        tried
            .iter()
            .find(|tried| tried.candidate.codec == wanted)
            .expect("what is chosen was tried")
    };
    let identity = own(lastmile_payload::codec::CodecSpec::IDENTITY);
    let used = own(chosen.codec);
    let today = measured
        .pages
        .get(&Setting::Today)
        .map(|pages| transfer_times(pages, &group.items));
    let mut frontier: Vec<record::Candidate> = tried
        .iter()
        .map(|one| of_candidate(figures, group, one, tried))
        .collect();
    frontier.sort_by_key(|candidate| candidate.compressed_bytes);
    record::KindAdvice {
        kind: group.kind.name().to_owned(),
        origin: match group.origin {
            Origin::Static => record::Origin::Static,
            Origin::Dynamic => record::Origin::Dynamic,
        },
        responses: group.items.len() as u64,
        identity_bytes: group.plain.get(),
        today: study.coding_today(group),
        frontier,
        recommended: record::Recommendation {
            setting: chosen.codec.to_string(),
            why: chosen.why.clone(),
            buys: figures.saving(&identity.times, &used.times),
            buys_against_today: today.map(|today| figures.saving(&today, &used.times)),
        },
        break_even: measured.break_even[place].as_ref().map(|search| search.record.clone()),
        doubts: doubts::of_kind(study, place, measured),
    }
}

fn of_candidate(figures: &Figures, group: &Group, tried: &Tried, all: &[Tried]) -> record::Candidate {
    let Candidate {
        codec,
        size,
        server,
        client,
        ..
    } = tried.candidate;
    record::Candidate {
        setting: codec.to_string(),
        compressed_bytes: size.get(),
        ratio: size.as_f64() / group.plain.as_f64(),
        server_cpu_s: server.as_secs_f64(),
        client_cpu_s: client.as_secs_f64(),
        transfer_time: figures.figure("s", "response", &tried.times),
        dominated: all.iter().any(|other| other.dominates(tried)),
    }
}

impl Study<'_> {
    /// What a group was recorded with, where the source says and all agree.
    fn coding_today(&self, group: &Group) -> Option<String> {
        let coding = |item: &usize| {
            let response = &self.traffic.responses[self.page.items[*item].response];
            response
                .content_encoding
                .clone()
                .unwrap_or_else(|| "identity".to_owned())
        };
        let first = coding(group.items.first()?);
        (self.knows_today() && group.items.iter().all(|item| coding(item) == first)).then_some(first)
    }
}
