//! The sentences, tables and charts on a load.

use crate::csv;
use crate::record::{Knee, Load, LoadRun, RateLimit, RunPurpose};
use crate::screen;
use lastmile_report::csv::Rows;
use lastmile_report::document::{Block, Detail, Grid, Note, Record, RowEmphasis};
use lastmile_report::number::{count, counted, interval, percent, quantity};
use lastmile_report::page::{Page, PageRecord};
use lastmile_report::record::DoubtKind;
use lastmile_report::screen::Screen;

impl Record for Load {
    fn blocks(&self, detail: Detail) -> Vec<Block> {
        let mut blocks = tables(self, detail);
        blocks.extend(doubts(self));
        blocks.extend(answers(self).into_iter().map(Block::Answer));
        blocks.push(Block::Text(provenance_text(self)));
        blocks
    }

    fn rows(&self) -> Rows {
        csv::load(self)
    }

    fn screen(&self) -> Option<Screen> {
        Some(screen::screen(self))
    }
}

/// What the server carries, in sentences. What failed or does not count comes first, and in the same paragraph as the rest.
pub(crate) fn answers(load: &Load) -> Vec<String> {
    let limits = load.limits.iter().map(limit_text);
    let knees = load.knees.iter().map(knee_text);
    let mut texts: Vec<String> = limits.chain(knees).chain(curves_without_knee(load)).collect();
    if load.limits.is_empty()
        && let [run] = &load.runs[..]
    {
        texts.push(run_text(run));
    }
    texts.extend(link_text(load));
    if let Some(failure) = failure_text(load) {
        texts.insert(0, failure);
        texts = vec![texts.join(" ")];
    }
    texts
}

/// What failed as a whole, and what does not count, with the cause of the first.
fn failure_text(load: &Load) -> Option<String> {
    let runs = load.answering_runs();
    let of_runs = |found: usize| {
        if runs.len() == 1 {
            String::new()
        } else {
            format!(" in {found} of {} runs", runs.len())
        }
    };
    let failed: Vec<&&LoadRun> = runs.iter().filter(|run| run.has_failed()).collect();
    if let [first, ..] = &failed[..] {
        let cause = first.errors.iter().max_by_key(|(_, count)| **count);
        let cause = cause.map(|(cause, _)| cause.as_str()).unwrap_or_default();
        let reasons = first.error_reasons.get(cause).into_iter().flatten();
        let reason = reasons
            .max_by_key(|(_, count)| **count)
            .map_or("", |(reason, _)| reason);
        let named = if reason.is_empty() {
            String::new()
        } else {
            format!(" ({reason})")
        };
        return Some(format!(
            "FAILED: every request failed{}: {cause}{named}; {}.",
            of_runs(failed.len()),
            remedy(cause, reason)
        ));
    }
    let invalid: Vec<&str> = runs.iter().filter_map(|run| run.why_invalid.as_deref()).collect();
    let first = invalid.first()?;
    let is_doubted = |kind: DoubtKind| load.doubts.iter().any(|doubt| doubt.kind == kind);
    let remedy = if is_doubted(DoubtKind::Interrupted) {
        "; let it run to its end"
    } else if is_doubted(DoubtKind::InconsistentFigures) {
        ""
    } else {
        "; lower the rate, or run it on a quieter machine"
    };
    Some(format!(
        "INVALID: the figures do not count{}: {first}{remedy}.",
        of_runs(invalid.len())
    ))
}

/// What helps where every request failed by this cause, and for this reason where one is known.
fn remedy(cause: &str, reason: &str) -> &'static str {
    match cause {
        "refused" => "start the server, or correct its port",
        "tls" if reason.contains("ALPN") => "leave out --http2",
        "tls" if reason.contains("not TLS") => "write http:// in the URL, or correct the port",
        "tls" if reason.starts_with("the certificate") => {
            "give the authority of its certificate with --ca FILE, or accept any certificate with --insecure"
        }
        "malformed" if reason.contains("answers in HTTP/1") => "leave out --http2, or correct the port",
        "status" => "correct the path or the server: see what it answers curl",
        "syn-lost" | "slow-tls" | "no-response" | "slow-head" | "slow-body" => {
            "see whether the server answers curl, or give a longer --timeout"
        }
        _ => "see what the server answers curl",
    }
}

/// Where a link is full: the lowest rate at which it is.
fn link_text(load: &Load) -> Option<String> {
    let full = load.runs.iter().filter(|run| run.fills_link());
    let run = full.min_by(|one, other| one.rate.unwrap_or(0.0).total_cmp(&other.rate.unwrap_or(0.0)))?;
    let link = run.link?;
    let at = match run.rate {
        Some(rate) if load.runs.len() > 1 => format!(" from {} on", quantity(rate, "1/s")),
        _ => String::new(),
    };
    let used = match run.exceeded_rates() {
        Some((due, carried)) => format!(
            "{} of responses are due, and it carries {}",
            quantity(due, "bit/s"),
            quantity(carried, "bit/s")
        ),
        None => format!("{} of its capacity is used", percent(link.utilisation()?)),
    };
    let drops = match link.drops() {
        0 => String::new(),
        drops => format!("; it dropped {} packets", count(drops)),
    };
    Some(format!("The link is full{at}: {used}{drops}."))
}

/// A sentence for each world whose runs at three rates or more have no knee.
fn curves_without_knee(load: &Load) -> Vec<String> {
    let mut worlds: Vec<&str> = Vec::new();
    for run in &load.runs {
        let is_new = !worlds.contains(&run.world.as_str()) && load.knees.iter().all(|knee| knee.world != run.world);
        if is_new {
            worlds.push(&run.world);
        }
    }
    let text = |world: &&str| {
        let sound = load.runs.iter().filter(|run| {
            run.world == **world && run.purpose == RunPurpose::Measurement && run.valid && !run.has_failed()
        });
        let mut rates: Vec<f64> = sound.filter_map(|run| run.rate).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        let highest = rates.last().filter(|_| rates.len() >= 3)?;
        Some(format!(
            "{}: no knee up to {}.",
            world_label(world),
            quantity(*highest, "1/s")
        ))
    };
    worlds.iter().filter_map(text).collect()
}

fn limit_text(limit: &RateLimit) -> String {
    let RateLimit {
        world,
        limit: rule,
        rate,
        ci95,
        repeats,
        is_lower_bound,
        broken_by,
        ..
    } = limit;
    let Some(rate) = rate else {
        let cause = broken_by
            .as_deref()
            .map_or_else(String::new, |cause| format!(": {cause}"));
        return format!(
            "{}: even the lowest rate breaks the limit {rule}{cause}.",
            world_label(world)
        );
    };
    let spread = match ci95 {
        Some(ends) => format!(" (95 % interval {}, {} repeats)", interval(*ends, "1/s"), repeats.len()),
        None => format!(" ({})", counted(repeats.len() as u64, "repeat")),
    };
    let above = match broken_by.as_deref() {
        None => " No higher rate was tried.".to_owned(),
        Some(cause) if *is_lower_bound => {
            format!(" Above it, the generator or this machine was at fault, so the server may carry more: {cause}.")
        }
        Some(cause) => format!(" Above it, the limit breaks: {cause}."),
    };
    format!(
        "{}: the highest rate within {rule} is {}{}{spread}.{above}",
        world_label(world),
        if *is_lower_bound { "at least " } else { "" },
        quantity(*rate, "1/s"),
    )
}

fn knee_text(knee: &Knee) -> String {
    let carried = knee.carried_rate_max.map_or_else(String::new, |rate| {
        format!(
            " Up to {}, at least 98 % of the requests were completed as fast as they came.",
            quantity(rate, "1/s")
        )
    });
    format!(
        "{}: the knee of the curve is at {}, with a mean response time of {}.{carried}",
        world_label(&knee.world),
        quantity(knee.rate, "1/s"),
        quantity(knee.response_time_mean, "s"),
    )
}

fn run_text(run: &LoadRun) -> String {
    let response = run.times.get("response").map_or_else(String::new, |times| {
        format!(
            "; response time p50 {}, p99 {}",
            quantity(times.p50, "s"),
            quantity(times.p99, "s")
        )
    });
    let few = if run.has_few_completions() && !run.has_failed() {
        " While requests were sent, too few were completed for a rate."
    } else {
        ""
    };
    format!(
        "{} requests due at {}: {} completed, {} failed{response}.{few}",
        count(run.intended),
        quantity(run.offered_rate, "1/s"),
        count(run.completed),
        count(run.failed),
    )
}

/// The doubts.
fn doubts(load: &Load) -> Option<Block> {
    (!load.doubts.is_empty()).then(|| Block::Doubts(load.doubts.iter().map(Note::from).collect()))
}

/// The tables of the runs. A search's own runs are shown where every row is.
fn tables(load: &Load, detail: Detail) -> Vec<Block> {
    let is_shown = |run: &&LoadRun| {
        detail == Detail::All || run.purpose == RunPurpose::Measurement || load.runs.len() <= RUNS_IN_SHORT
    };
    let shown: Vec<&LoadRun> = load.runs.iter().filter(is_shown).collect();
    let mut blocks = Vec::new();
    if shown.is_empty() {
        return blocks;
    }
    let grids = [
        Some(response_grid(&shown)),
        errors_grid(&shown),
        Some(phases_grid(&shown)),
        Some(self_check_grid(&shown)),
    ];
    let grids = grids.into_iter().flatten().map(Grid::without_empty_columns);
    blocks.extend(grids.map(Block::Grid));
    blocks
}

/// A terminal shows a search's own runs where there are no more than this. Our own choice.
const RUNS_IN_SHORT: usize = 24;

fn response_grid(runs: &[&LoadRun]) -> Grid {
    let has_link = runs.iter().any(|run| run.link.is_some());
    let mut note =
        "Response times are from when each request should have started; quantiles are of completed requests."
            .to_owned();
    if has_link {
        note += " The use of the link, headers included, and its drops are those while requests were sent.";
    }
    if runs.iter().any(|run| run.world == "machine") {
        note += " The world machine is real sockets of this machine: --world emu without a link.";
    }
    let mut grid = Grid::new("Load", note)
        .word_columns(["world", "size"])
        .figure_columns(["rate", "completed", "goodput"])
        .figure_columns(["mean", "p50", "p90", "p99", "max", "errors"])
        .figure_columns(has_link.then_some("link used"))
        .figure_columns(has_link.then_some("drops"));
    for run in runs {
        let mut cells = vec![
            run.world.clone(),
            size_text(run),
            rate_text(run),
            quantity(run.transaction_rate, "1/s"),
        ];
        cells.push(quantity(run.goodput_bit_per_s, "bit/s"));
        match run.times.get("response") {
            Some(times) => {
                cells.extend([times.mean, times.p50, times.p90, times.p99, times.max].map(|time| quantity(time, "s")));
            }
            None => cells.extend([const { String::new() }; 5]),
        }
        cells.push(run.error_rate.map_or_else(String::new, percent));
        if has_link {
            let used = run.link.and_then(|link| link.utilisation());
            cells.push(used.map_or_else(String::new, percent));
            cells.push(run.link.map_or_else(String::new, |link| count(link.drops())));
        }
        grid.row(cells, emphasis(run), &[]);
    }
    grid
}

fn errors_grid(runs: &[&LoadRun]) -> Option<Grid> {
    let note = "Failed requests by cause, and by reason where one is known.";
    let mut grid = Grid::new("Errors", note)
        .word_columns(["world", "size"])
        .figure_columns(["rate"])
        .word_columns(["cause"])
        .figure_columns(["requests", "share"])
        .word_columns(["reasons"]);
    for run in runs {
        for (cause, failed) in &run.errors {
            let share = *failed as f64 / run.intended.max(1) as f64;
            let cells = vec![
                run.world.clone(),
                size_text(run),
                rate_text(run),
                cause.clone(),
                count(*failed),
                percent(share),
                reasons_text(run, cause),
            ];
            grid.row(cells, RowEmphasis::Plain, &[]);
        }
    }
    (!grid.rows.is_empty()).then_some(grid)
}

/// What tells the failures of one cause apart, each with its number.
fn reasons_text(run: &LoadRun, cause: &str) -> String {
    let reasons = run.error_reasons.get(cause).into_iter().flatten();
    let lines: Vec<String> = reasons
        .map(|(reason, failed)| format!("{}: {reason}", count(*failed)))
        .collect();
    lines.join("\n")
}

fn phases_grid(runs: &[&LoadRun]) -> Grid {
    let note = "Where the time goes: median and 99th percentile of the handshake, of the first byte and of the rest of the response, and of how \
                long connections last.";
    // What only some loads have is left out where none has it.
    let has_tls = runs.iter().any(|run| run.times.contains_key("tls"));
    let has_drops = runs.iter().any(|run| run.listen_drops > Some(0));
    let phases = [
        ("connect", "connect"),
        ("TLS", "tls"),
        ("first byte", "first_byte"),
        ("transfer", "transfer"),
        ("wait for a connection", "local_queue"),
        ("connection lasts", "connection_duration"),
    ];
    let phases: Vec<_> = phases
        .into_iter()
        .filter(|(_, name)| has_tls || *name != "tls")
        .collect();
    let mut grid = Grid::new("Phases", note)
        .word_columns(["world", "size"])
        .figure_columns(["rate"])
        .figure_columns(phases.iter().map(|(title, _)| *title))
        .figure_columns(["connections"])
        .figure_columns(has_drops.then_some("drops at the backlog"));
    for run in runs {
        let mut cells = vec![run.world.clone(), size_text(run), rate_text(run)];
        for (_, name) in &phases {
            cells.push(run.times.get(*name).map_or_else(String::new, |times| {
                format!("{}\n{}", quantity(times.p50, "s"), quantity(times.p99, "s"))
            }));
        }
        cells.push(count(run.connections));
        if has_drops {
            cells.push(run.listen_drops.map_or_else(String::new, count));
        }
        grid.row(cells, RowEmphasis::Plain, &[]);
    }
    grid
}

fn self_check_grid(runs: &[&LoadRun]) -> Grid {
    let note = "How well the generator kept its own schedule: how late it sent (by its clock, and by the kernel's where there is a capture), the \
                most requests that it sent within a millisecond beside the most that were due, its CPU time, the requests that it did not send, and the \
                mean number in flight, counted and by Little's law (rate times response time).";
    let has_capture = runs.iter().any(|run| run.self_check.capture.is_some());
    let mut grid = Grid::new("Self-check", note)
        .word_columns(["world", "size"])
        .figure_columns(["rate", "late p50", "late p99", "late max"])
        .figure_columns(has_capture.then_some("by capture"))
        .figure_columns([
            "sent per ms",
            "due per ms",
            "CPU",
            "CPU per request",
            "skipped",
            "in flight",
        ]);
    grid = grid.word_columns(["figures"]);
    for run in runs {
        let check = &run.self_check;
        let mut cells = vec![run.world.clone(), size_text(run), rate_text(run)];
        match run.times.get("lateness") {
            Some(late) => cells.extend([late.p50, late.p99, late.max].map(|time| quantity(time, "s"))),
            None => cells.extend([const { String::new() }; 3]),
        }
        if has_capture {
            cells.push(check.capture.map_or_else(String::new, |late| {
                [late.late_p50, late.late_p99, late.late_max]
                    .map(|time| quantity(time, "s"))
                    .join("\n")
            }));
        }
        cells.extend([count(check.sent_per_ms_max), count(check.due_per_ms_max)]);
        cells.push(check.cpu_share.map_or_else(String::new, percent));
        cells.push(
            check
                .cpu_per_request_s
                .map_or_else(String::new, |time| quantity(time, "s")),
        );
        cells.push(count(run.skipped));
        let in_flight = [check.in_flight_mean, check.in_flight_by_law];
        let in_flight = in_flight.iter().flatten().map(|mean| quantity(*mean, "1"));
        cells.push(in_flight.collect::<Vec<_>>().join("\n"));
        cells.push(match &run.why_invalid {
            None => "count".to_owned(),
            Some(why) => format!("INVALID: {why}"),
        });
        grid.row(cells, emphasis(run), &[]);
    }
    grid
}

fn rate_text(run: &LoadRun) -> String {
    run.rate
        .map_or_else(|| "closed".to_owned(), |rate| quantity(rate, "1/s"))
}

fn size_text(run: &LoadRun) -> String {
    run.size.map_or_else(String::new, |size| quantity(size as f64, "B"))
}

fn emphasis(run: &LoadRun) -> RowEmphasis {
    if run.valid {
        RowEmphasis::Plain
    } else {
        RowEmphasis::Invalid
    }
}

pub(crate) fn world_label(world: &str) -> &str {
    match world {
        "sim" => "Simulated",
        "emu" => "Over real kernels and the emulated link",
        _ => "On this machine",
    }
}

/// How the figures came about.
fn provenance_text(load: &Load) -> String {
    let plan = &load.plan;
    let connections = match plan.requests_per_connection {
        None => "persistent connections".to_owned(),
        Some(1) => "a connection per request".to_owned(),
        Some(requests) => format!("{requests} requests per connection"),
    };
    let link = load
        .link
        .as_ref()
        .map_or_else(String::new, |link| format!(", over {link}"));
    let model = load.model.as_ref().map_or_else(String::new, |model| {
        format!(" The simulated server is a model: {model}.")
    });
    let http = match plan.max_concurrent_streams {
        None => String::new(),
        Some(streams) => format!(
            " by {}, at most {} streams per connection,",
            plan.http_version,
            count(streams)
        ),
    };
    let users = plan
        .users
        .filter(|users| *users != plan.clients)
        .map_or_else(String::new, |users| format!("{} users of ", count(users)));
    let planned = plan.duration_s - plan.warm_up_s;
    let stopped = load.runs.last().filter(|run| run.span_s < planned);
    let stopped = stopped.map_or_else(String::new, |run| {
        format!(" (stopped after {})", quantity(plan.warm_up_s + run.span_s, "s"))
    });
    format!(
        "{}{link}:{http} {} arrivals for {} per run{stopped}, {users}{} client{} with {connections}, at most {} each; timeout {}, of a handshake {}; seed {}; \
         lastmile {}.{model}",
        load.target,
        plan.arrivals,
        quantity(plan.duration_s, "s"),
        plan.clients,
        if plan.clients == 1 { "" } else { "s" },
        count(plan.connections_per_client),
        quantity(plan.timeout_s, "s"),
        quantity(plan.connect_timeout_s, "s"),
        load.seed,
        load.version,
    )
}

impl PageRecord for Load {
    fn page(&self) -> Page<'_> {
        let load = self;
        let mut summary: Vec<Block> = answers(load).into_iter().map(Block::Answer).collect();
        summary.extend(doubts(load));
        let mut facts = vec![load.target.clone()];
        facts.extend(load.link.clone());
        facts.extend([format!("seed {}", load.seed), format!("lastmile {}", load.version)]);
        Page {
            title: &load.target,
            kind: "load",
            question: "How much does this server carry, and how fast does it respond?",
            facts,
            sections: vec![
                ("In short".to_owned(), summary),
                (
                    "Charts".to_owned(),
                    load.charts.iter().cloned().map(Block::Chart).collect(),
                ),
                ("Figures".to_owned(), tables(load, Detail::All)),
            ],
            how: provenance_text(load),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures::load;
    use lastmile_report::testing::{check_page, check_record, check_schema, check_screen};

    #[test]
    fn the_screen_looks_like_this() {
        insta::assert_snapshot!(check_screen(&load()));
    }

    #[test]
    fn the_record_keeps_what_every_record_must() {
        check_schema("load", &load());
        check_record(&load(), &["measurement"]);
        check_page(&load(), &["measurement"], &[load().target]);
    }

    #[test]
    fn an_answer_begins_with_what_does_not_count() {
        let load = load();
        let [answer] = &answers(&load)[..] else {
            panic!("one paragraph: {:?}", answers(&load));
        };
        let said = "INVALID: the figures do not count in 1 of 2 runs: the run was stopped before its end; let it run to its end. Over real kernels";
        assert!(answer.starts_with(said), "{answer}");
    }

    #[test]
    fn a_search_without_a_rate_says_what_broke_the_limit_or_failed() {
        let mut load = load();
        load.runs.pop();
        load.runs[0].purpose = RunPurpose::Search;
        load.limits[0].rate = None;
        load.knees.clear();
        let said = "Over real kernels and the emulated link: even the lowest rate breaks the limit p99<300ms,errors<0.1%: p99.";
        assert_eq!(answers(&load), [said]);
        let run = &mut load.runs[0];
        (run.completed, run.failed) = (0, 500);
        run.errors = [("tls".to_owned(), 500)].into();
        let reasons = [("the certificate's issuer is not trusted".to_owned(), 500)];
        run.error_reasons = [("tls".to_owned(), reasons.into())].into();
        let failed = "FAILED: every request failed: tls (the certificate's issuer is not trusted); give the authority of its certificate with --ca \
                      FILE, or accept any certificate with --insecure.";
        assert_eq!(answers(&load), [format!("{failed} {said}")]);
    }

    #[test]
    fn a_link_is_full_where_more_is_due_or_hardly_any_time_is_left() {
        let mut load = load();
        assert_eq!(link_text(&load), None);
        load.runs[1].goodput_bit_per_s = 1.6e6;
        let exceeded = "The link is full from 150 /s on: 1.66 Mbit/s of responses are due, and it carries 1.60 Mbit/s.";
        assert_eq!(link_text(&load).as_deref(), Some(exceeded));
        load.runs.pop();
        if let Some(link) = &mut load.runs[0].link {
            link.up.utilisation = Some(0.98);
            link.down.lost = 7;
        }
        let used = "The link is full: 98 % of its capacity is used; it dropped 7 packets.";
        assert_eq!(link_text(&load).as_deref(), Some(used));
    }
}
