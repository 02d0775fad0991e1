//! Checks on every page and link of the study `fidelity-pages`, and on `examples/shop.har`, that the recommended settings hold.
//!
//! ```text
//! cargo run -p lastmile --example check_recommendations [-- PAGE ...]
//! ```
//!
//! PAGE is the name of a workload of the study, or `shop`; without one, all of them are checked. Pages are loaded in simulation with the
//! options that `lastmile advise` has by default, over their recorded protocols and over HTTP/1.1, and over a modem, too. Two claims are
//! checked: no row of a table is faster than the recommended one beyond the noise of paired repeats, the rows with snippets as pasted among
//! them; and every setting of a snippet is recommended in a table, or its note names it. It prints one line per page and link, and ends with an error where a claim does not hold.

use anyhow::{Context as _, Result, bail, ensure};
use lastmile_advise::record::{Advice, LinkAdvice, Origin, Snippet};
use lastmile_advise::{Options, advise};
use lastmile_builtin_studies::STUDIES;
use lastmile_builtin_studies::fidelity::pages::STUDY;
use lastmile_link::LinkSpec;
use lastmile_page::LoadOptions;
use lastmile_report::model_error::ModelError;
use lastmile_report::number::quantity;
use lastmile_report::saving::Saving;
use lastmile_study::cell::{Cell, expand};
use lastmile_testbed::cpu_cost_model::{Choice, CostTable};
use lastmile_testbed::http::Version;
use lastmile_traffic::responses::Traffic;
use lastmile_workload::WorkloadSpec;
use std::collections::BTreeMap;
use std::path::Path;

/// The slowest of the links that an answer is usually asked about: here coincidences of single packets cost the most time.
const MODEM: &str = "published/dialup-56k";

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let builtin = STUDIES.iter().find(|builtin| builtin.name == STUDY);
    let study = builtin.context("the study is built in")?.study();
    let cells = expand(&study)?.cells;
    let mut links = links(&cells);
    links.push((MODEM.to_owned(), lastmile_link::resolve(MODEM)?));
    let costs = CostTable::load(&Choice::Reference)?;
    let mut pages = pages(&cells)?;
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop.har");
    pages.insert("shop".to_owned(), Traffic::open(shop)?);
    for name in &wanted {
        ensure!(
            pages.contains_key(name),
            "there is no page {name}; there are {:?}",
            pages.keys()
        );
    }
    let mut broken = 0;
    for (name, traffic) in &pages {
        if !wanted.is_empty() && !wanted.contains(name) {
            continue;
        }
        for (protocol, asked) in [("recorded", None), ("http/1.1", Some(Version::Http11))] {
            let options = Options {
                links: links.clone(),
                load: LoadOptions {
                    protocol: asked,
                    ..LoadOptions::default()
                },
                ..Options::default()
            };
            let advice = advise(traffic, &options, &costs, &mut |_| {})?;
            let page = format!("{name}, {protocol}");
            for link in &advice.links {
                broken += check_rows(&page, link, &advice.snippets);
            }
            broken += check_snippets(&page, &advice);
        }
    }
    ensure!(broken == 0, "{broken} claims do not hold");
    Ok(())
}

/// The links of the study, each once.
fn links(cells: &[Cell]) -> Vec<(String, LinkSpec)> {
    let mut links: Vec<(String, LinkSpec)> = Vec::new();
    for link in cells.iter().filter_map(|cell| cell.settings.link.as_ref()) {
        if links.iter().all(|(name, _)| *name != link.0.name()) {
            links.push((link.0.name(), link.0.clone()));
        }
    }
    links
}

/// The pages of the study, by name.
fn pages(cells: &[Cell]) -> Result<BTreeMap<String, Traffic>> {
    let mut pages = BTreeMap::new();
    for workload in cells.iter().filter_map(|cell| cell.settings.delivered()) {
        if !pages.contains_key(workload.name()) {
            let WorkloadSpec::Page(page) = workload.content() else {
                bail!("{} is no page", workload.name());
            };
            pages.insert(workload.name().to_owned(), page.traffic()?);
        }
    }
    Ok(pages)
}

/// Prints a line about a link, and returns the number of rows that are faster than the recommended one beyond the noise and the
/// model's error.
fn check_rows(page: &str, link: &LinkAdvice, snippets: &[Snippet]) -> usize {
    let rows = link
        .page
        .iter()
        .filter_map(|row| Some((row.setting.as_str(), row.recommended_saves.as_ref()?)));
    let screened = link
        .screened
        .iter()
        .map(|row| (row.setting.as_str(), &row.recommended_saves));
    let pasted = snippets.iter().flat_map(|snippet| &snippet.replays);
    let pasted = pasted.filter(|replay| replay.link == link.name);
    let pasted =
        pasted.filter_map(|replay| Some((replay.page.setting.as_str(), replay.page.recommended_saves.as_ref()?)));
    let rows: Vec<(&str, &Saving)> = rows.chain(screened).chain(pasted).collect();
    let nearest = rows.iter().min_by(|(_, a), (_, b)| a.mean_s.total_cmp(&b.mean_s));
    let nearest = nearest.map_or_else(String::new, |(setting, saves)| {
        let [low, high] = bounds(saves);
        format!(
            "{setting} {} ({} to {})",
            quantity(saves.mean_s, "s"),
            quantity(low, "s"),
            quantity(high, "s")
        )
    });
    let recommended = &link.page[0].page_time;
    let is_faster = |saves: &Saving| bounds(saves)[1] < 0.0 && -saves.share >= ModelError::OF_RATIOS;
    let faster: Vec<&(&str, &Saving)> = rows.iter().filter(|(_, saves)| is_faster(saves)).collect();
    println!(
        "{page:<27} {:<20} {:>3} rows, {:>2} repeats, {}, recommended {}, saves least against {nearest}{}",
        link.name,
        rows.len(),
        link.repeats,
        if link.clear { "clear" } else { "not clear" },
        quantity(recommended.mean, "s"),
        if faster.is_empty() { "" } else { "  SLOWER THAN A ROW" },
    );
    for (setting, saves) in &faster {
        println!("    {setting} is faster: {:?}", bounds(saves));
    }
    faster.len()
}

/// The interval of a saving, or where nothing varied the saving itself.
fn bounds(saving: &Saving) -> [f64; 2] {
    saving.mean_ci95_s.unwrap_or([saving.mean_s; 2])
}

/// The number of settings in snippets that no table recommends and no note names.
fn check_snippets(page: &str, advice: &Advice) -> usize {
    let mut unexplained = 0;
    for snippet in &advice.snippets {
        for setting in &snippet.settings {
            let is_recommended = setting.recommended_on.iter().any(|name| {
                let link = advice.links.iter().find(|link| link.name == *name);
                link.is_some_and(|link| recommends(link, setting.origin, &setting.setting))
            });
            if !is_recommended && !names(&snippet.note, &setting.setting) {
                println!(
                    "{page}: {:?} has {}, which nothing explains",
                    snippet.server, setting.setting
                );
                unexplained += 1;
            }
        }
        let settings = snippet.settings.iter().map(|setting| setting.setting.as_str());
        println!(
            "{page:<27} {:?}: {}",
            snippet.server,
            settings.collect::<Vec<_>>().join(", ")
        );
    }
    unexplained
}

/// Whether a note names a setting: `br:1` is not named by `br:11`.
fn names(note: &str, setting: &str) -> bool {
    let mut after = note.match_indices(setting).map(|(at, _)| &note[at + setting.len()..]);
    after.any(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
}

/// Whether a link's table recommends a setting for some kind of an origin.
fn recommends(link: &LinkAdvice, origin: Origin, setting: &str) -> bool {
    let mut kinds = link.kinds.iter().filter(|kind| kind.origin == origin);
    kinds.any(|kind| kind.recommended.setting == setting)
}
