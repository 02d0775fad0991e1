//! Makes the published record from what was measured.

use super::candidates::Candidate;
use super::link_measurement::LinkMeasurement;
use super::measure::Measurement;
use super::mix::Mix;
use super::response_classes::{Group, origin_record};
use super::select::MeasuredCandidate;
use super::snippets::SnippetPlan;
use super::{PreparedReplay, doubts, extra_tables, prose, snippets, waterfall};
use crate::record;
use lastmile_codec::content::CodecSpec;
use lastmile_link::{Jitter, LinkSpec, Reordering};
use lastmile_page::replay::PageLoad;
use lastmile_page::{PageHost, ServedHost, connections_per_host};
use lastmile_report::paired_statistics::{Figures, Runs};
use lastmile_testbed::http::Version;
use lastmile_testbed::link_description::description;
use lastmile_traffic::responses::TrafficFormat;
use lastmile_units::ByteCount;
use std::collections::BTreeSet;

/// The advice.
pub(super) fn advice(prepared: &PreparedReplay<'_>, measured: &Measurement) -> record::Advice {
    let links: Vec<record::LinkAdvice> = measured
        .links
        .iter()
        .enumerate()
        .map(|(index, link)| link_advice(prepared, index, link))
        .collect();
    let model_error = prepared.options.model_error.clone();
    record::Advice {
        schema: record::Advice::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: prepared.options.seed,
        cpu: prepared.costs.name().to_owned(),
        cpu_machine: prepared.costs.machine().to_owned(),
        traffic: traffic(prepared),
        options: options(prepared),
        sizes: sizes(prepared),
        answer: prose::answer(&links, model_error.as_ref()),
        model_error,
        snippets: measured
            .snippets
            .iter()
            .filter_map(|plan| snippet(prepared, &measured.links, plan))
            .collect(),
        findings: prose::findings(prepared),
        charts: extra_tables::charts(prepared, &measured.links),
        exhibits: extra_tables::tables(prepared, &options(prepared).hosts),
        doubts: doubts::traffic_doubts(prepared),
        links,
    }
}

fn sizes(prepared: &PreparedReplay<'_>) -> record::CompressedSizes {
    let estimated = prepared.estimated_settings();
    let names = |estimates: bool| {
        let levels = prepared.options.levels.iter();
        let wanted = levels.filter(|codec| estimated.contains(codec) == estimates);
        wanted.map(ToString::to_string).collect()
    };
    record::CompressedSizes {
        exact: names(false),
        estimated: names(true),
    }
}

fn traffic(prepared: &PreparedReplay<'_>) -> record::Traffic {
    let items = &prepared.page.items;
    let today = || -> ByteCount { (0..items.len()).map(|item| prepared.recorded_delivery(item).size).sum() };
    let remarks = prepared.traffic.notes.iter().chain(&prepared.traffic.skipped);
    record::Traffic {
        source: prepared.traffic.source.clone(),
        kind: match prepared.traffic.format {
            TrafficFormat::Har => record::TrafficKind::Har,
            TrafficFormat::Folder => record::TrafficKind::Folder,
            TrafficFormat::JsonLines => record::TrafficKind::Jsonl,
        },
        responses: items.len() as u64,
        identity_bytes: items.iter().map(|item| item.plain).sum::<ByteCount>().get(),
        today_bytes: prepared.has_recorded_encoding().then(|| today().get()),
        hosts: prepared.page.hosts.len() as u64,
        notes: remarks
            .map(ToString::to_string)
            .chain(prepared.page.remarks(prepared.traffic))
            .collect(),
        recorded: waterfall::recorded_load(&prepared.page, prepared.traffic),
    }
}

fn options(prepared: &PreparedReplay<'_>) -> record::Options {
    let options = prepared.options;
    record::Options {
        protocol: options.load.protocol.map(protocol_record),
        hosts: hosts(prepared),
        tls: options.load.tls,
        connections: options.load.connections,
        repeats: options.repeats.get(),
        repeats_max: options.repeats_max.get(),
        encodings: prepared.encodings(),
        server: options.server,
        slow_client: options.load.slow_client,
    }
}

const fn protocol_record(version: Version) -> record::Protocol {
    match version {
        Version::Http11 => record::Protocol::Http11,
        Version::H2 => record::Protocol::H2,
    }
}

/// The hosts, and the protocol that each was replayed with.
fn hosts(prepared: &PreparedReplay<'_>) -> Vec<record::ReplayedHost> {
    let served = prepared.page.served_hosts(&prepared.options.load);
    let hosts = prepared.page.hosts.iter().zip(served).enumerate();
    let of_host = |(number, (host, served)): (usize, (&PageHost, ServedHost))| {
        let version = served.version;
        let items = prepared.page.items.iter().filter(|item| item.host == number);
        record::ReplayedHost {
            host: host.address.clone(),
            responses: items.count() as u64,
            recorded: host.recorded().map(|version| version.to_string()),
            protocol: protocol_record(version),
            connections: connections_per_host(version) as u64,
        }
    };
    hosts.map(of_host).collect()
}

fn link_advice(prepared: &PreparedReplay<'_>, index: usize, measured: &LinkMeasurement) -> record::LinkAdvice {
    let (name, link) = &prepared.options.links[index];
    let figures = figures(prepared, link);
    let kinds: Vec<record::KindAdvice> = (0..prepared.groups.len())
        .map(|group| kind_advice(prepared, &figures, measured, group))
        .collect();
    let mut link = record::LinkAdvice {
        name: name.clone(),
        description: description(link),
        summary: String::new(),
        ladder: ladder(prepared, &figures, measured),
        as_good_as: measured
            .as_good
            .iter()
            .map(|row| prose::mix_name(prepared, &measured.pages[*row].0))
            .collect(),
        repeats: measured.repeats,
        clear: measured.clear,
        doubts: doubts::link_doubts(measured, !figures.varied.is_empty()),
        page: pages(prepared, &figures, measured),
        screened: screened(prepared, &figures, measured),
        browser: None,
        waterfall: measured.waterfall.clone(),
        kinds,
    };
    link.summary = prose::link_summary(&link);
    link
}

/// A snippet with the page's replays under it.
fn snippet(prepared: &PreparedReplay<'_>, links: &[LinkMeasurement], plan: &SnippetPlan) -> Option<record::Snippet> {
    let replay = |((name, spec), measured): (&(String, LinkSpec), &LinkMeasurement)| {
        let (figures, server) = (figures(prepared, spec), plan.server.name().to_owned());
        Some(record::SnippetReplay {
            link: name.clone(),
            page: outcome(prepared, &figures, measured, server, measured.loads(&plan.mix)?),
        })
    };
    Some(record::Snippet {
        replays: prepared.options.links.iter().zip(links).filter_map(replay).collect(),
        ..snippets::snippet(prepared, links, plan)?
    })
}

fn figures(prepared: &PreparedReplay<'_>, link: &LinkSpec) -> Figures {
    Figures {
        varied: varied(prepared, link),
        seed: prepared.interval_seed(),
    }
}

/// What is random in each repeat.
fn varied(prepared: &PreparedReplay<'_>, link: &LinkSpec) -> Vec<String> {
    let directions = [&link.down, &link.up];
    let loses = directions.iter().any(|direction| direction.loss.rate().get() > 0.0);
    let jitters = directions.iter().any(|direction| direction.jitter != Jitter::None);
    let reorders = directions
        .iter()
        .any(|direction| direction.reordering != Reordering::None);
    let all = [
        (true, "request start times"),
        (!prepared.costs.is_free(), "CPU times"),
        (loses, "random loss"),
        (jitters, "jitter"),
        (reorders, "reordering"),
    ];
    all.iter()
        .filter(|(does, _)| *does)
        .map(|(_, name)| (*name).to_owned())
        .collect()
}

/// The page under every setting: the recommended mix first, then as recorded, then the others, the fastest first.
fn pages(prepared: &PreparedReplay<'_>, figures: &Figures, measured: &LinkMeasurement) -> Vec<record::PageOutcome> {
    let (recommended, best) = measured.recommended();
    let mut rows: Vec<record::PageOutcome> = measured
        .pages
        .iter()
        // The recommended mix has a row of its own, and another one only where it has another name.
        .filter(|(mix, _)| mix != recommended || prose::known_name(prepared, mix).is_some())
        .map(|(mix, loads)| outcome(prepared, figures, measured, prose::mix_name(prepared, mix), loads))
        .collect();
    let rank = |row: &record::PageOutcome| (row.setting != prose::TODAY, row.page_time.mean);
    rows.sort_by(|a, b| {
        let ((a_other, a_time), (b_other, b_time)) = (rank(a), rank(b));
        a_other
            .cmp(&b_other)
            .then(a_time.total_cmp(&b_time))
            .then(a.setting.cmp(&b.setting))
    });
    rows.insert(
        0,
        record::PageOutcome {
            recommended_saves: None,
            ..outcome(prepared, figures, measured, prose::RECOMMENDED.to_owned(), best)
        },
    );
    rows
}

/// A row of the page's table.
fn outcome(
    prepared: &PreparedReplay<'_>,
    figures: &Figures,
    measured: &LinkMeasurement,
    setting: String,
    loads: &[PageLoad],
) -> record::PageOutcome {
    let own = page_times(loads);
    let of = |mix: &Mix| measured.loads(mix).map(page_times);
    let identity = of(&prepared.uniform(CodecSpec::IDENTITY));
    let today = prepared.as_recorded().and_then(|mix| of(&mix));
    let against = |baseline: Option<Runs>, name: &str| {
        let baseline = baseline.filter(|_| setting != name);
        baseline.map(|baseline| figures.saving(&baseline, &own))
    };
    record::PageOutcome {
        page_time: figures.figure("s", "page", &own),
        bytes_down: figures.figure("B", "page", &one_each(loads, |page| page.bytes_down.as_f64())),
        saving_against_identity: against(identity, prose::IDENTITY),
        saving_against_today: against(today, prose::TODAY),
        recommended_saves: Some(figures.saving(&own, &page_times(&measured.recommended().1))),
        setting,
    }
}

/// The settings replayed in the first repeats only, the fastest first.
fn screened(
    prepared: &PreparedReplay<'_>,
    figures: &Figures,
    measured: &LinkMeasurement,
) -> Vec<record::ScreenedSetting> {
    let rows = measured.screened.iter().filter(|(_, [own, _])| !own.is_empty());
    let mut rows: Vec<record::ScreenedSetting> = rows
        .map(|(mix, [own, best])| record::ScreenedSetting {
            setting: prose::mix_name(prepared, mix),
            page_time: figures.figure("s", "page", &page_times(own)),
            recommended_saves: figures.saving(&page_times(own), &page_times(best)),
        })
        .collect();
    rows.sort_by(|a, b| {
        a.page_time
            .mean
            .total_cmp(&b.page_time.mean)
            .then(a.setting.cmp(&b.setting))
    });
    rows
}

/// The settings that a ladder's middle rung may have: the first of them that was replayed. Servers' ordinary ones, the most usual first.
const ORDINARY: [&str; 3] = ["gzip:6", "br:5", "zstd:3"];

/// The page as it is, with an ordinary setting for everything, and as recommended.
fn ladder(prepared: &PreparedReplay<'_>, figures: &Figures, measured: &LinkMeasurement) -> Vec<record::Rung> {
    let (recommended, best) = measured.recommended();
    let identity = prepared.uniform(CodecSpec::IDENTITY);
    let first = prepared
        .as_recorded()
        .filter(|mix| measured.loads(mix).is_some())
        .map_or((prose::IDENTITY, identity), |mix| (prose::TODAY, mix));
    let ordinary = ORDINARY.into_iter().filter_map(|name| {
        let codec = name.parse().ok().filter(|codec| prepared.settings.contains(codec))?;
        let mix = prepared.uniform(codec);
        (measured.loads(&mix).is_some() && mix != *recommended && mix != first.1).then_some((name, mix))
    });
    let mut rungs: Vec<(&str, &[PageLoad])> = Vec::new();
    rungs.push((first.0, measured.loads(&first.1).unwrap_or_default()));
    let middle: Vec<(&str, Mix)> = ordinary.take(1).collect();
    rungs.extend(
        middle
            .iter()
            .map(|(name, mix)| (*name, measured.loads(mix).unwrap_or_default())),
    );
    rungs.push((prose::RECOMMENDED, best));
    let start = page_times(rungs[0].1);
    let saved = |loads: &[PageLoad]| figures.saving(&start, &page_times(loads));
    let at_best = saved(best);
    let rung = |(setting, loads): &(&str, &[PageLoad])| {
        let saving = saved(loads);
        let start_mean = lastmile_statistics::mean(&start.concat()).unwrap_or_default();
        record::Rung {
            setting: (*setting).to_owned(),
            page_time: figures.figure("s", "page", &page_times(loads)),
            saved_share: saving.share,
            saved_share_ci95: saving
                .mean_ci95_s
                .filter(|_| start_mean > 0.0)
                .map(|interval| interval.map(|bound| bound / start_mean)),
            share_of_saving: (at_best.mean_s > 0.0).then(|| saving.mean_s / at_best.mean_s),
        }
    };
    rungs.iter().map(rung).collect()
}

fn page_times(loads: &[PageLoad]) -> Runs {
    one_each(loads, |page| page.page_time.as_secs_f64())
}

fn one_each(pages: &[PageLoad], figure: impl Fn(&PageLoad) -> f64) -> Runs {
    pages.iter().map(|page| vec![figure(page)]).collect()
}

fn kind_advice(
    prepared: &PreparedReplay<'_>,
    figures: &Figures,
    measured: &LinkMeasurement,
    index: usize,
) -> record::KindAdvice {
    let group = &prepared.groups[index];
    let (tried, chosen) = (&measured.tried[index], &measured.chosen[index]);
    let page_saves = measured.without[index]
        .as_ref()
        .map(|[without, with]| figures.saving(&page_times(without), &page_times(with)));
    let mut frontier: Vec<record::Candidate> = tried.iter().map(|one| candidate_record(group, one, tried)).collect();
    frontier.sort_by_key(|candidate| candidate.compressed_bytes);
    record::KindAdvice {
        kind: group.kind.name().to_owned(),
        origin: origin_record(group.origin),
        responses: group.items.len() as u64,
        identity_bytes: group.plain.get(),
        today: prepared.recorded_encoding(group),
        today_bytes: prepared
            .as_recorded()
            .map(|mix| prepared.group_bytes(&mix, index).get()),
        frontier,
        break_even: measured.break_even[index].as_ref().map(|search| search.record.clone()),
        doubts: doubts::kind_doubts(prepared, index, page_saves.as_ref()),
        recommended: record::Recommendation {
            setting: prose::kind_setting(chosen.setting),
            why: chosen.why.clone(),
            compressed_bytes: prepared.group_bytes(&measured.recommended().0, index).get(),
            page_saves,
        },
    }
}

fn candidate_record(group: &Group, tried: &MeasuredCandidate, all: &[MeasuredCandidate]) -> record::Candidate {
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
        isolated_time_s: tried.isolated_time,
        dominated: all.iter().any(|other| other.dominates(tried)),
    }
}

impl PreparedReplay<'_> {
    /// The levels whose sizes are not exact for every body.
    pub(super) fn estimated_settings(&self) -> BTreeSet<CodecSpec> {
        let estimated = self.candidates.iter().flatten().filter(|candidate| candidate.estimated);
        estimated.map(|candidate| candidate.codec).collect()
    }

    /// The codings considered, by their tokens.
    fn encodings(&self) -> Vec<String> {
        let codings: BTreeSet<_> = self.options.levels.iter().map(|codec| codec.coding()).collect();
        codings.into_iter().map(|coding| coding.token().to_owned()).collect()
    }

    /// The encoding that a group was recorded with, where the source says and all responses agree.
    fn recorded_encoding(&self, group: &Group) -> Option<String> {
        let coding = |item: &usize| {
            let coding = self.response(*item).content_encoding.clone();
            coding.unwrap_or_else(|| "identity".to_owned())
        };
        let first = coding(group.items.first()?);
        (self.has_recorded_encoding() && group.items.iter().all(|item| coding(item) == first)).then_some(first)
    }
}
