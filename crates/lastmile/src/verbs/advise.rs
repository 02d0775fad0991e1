//! `lastmile advise`: recommends compression for given traffic on given links.

use crate::cli::advise::{AdviseArgs, LINKS};
use crate::exit::Exit;
#[cfg(target_os = "linux")]
use crate::exit::UnavailableError;
use crate::report_file::{ReportFile, print_with_report};
use crate::{cost_table, fail_on, interrupt, links, output, privileges, progress, run_store};
use anyhow::Context as _;
use lastmile_advise::record::Advice;
use lastmile_advise::{self as advise, AdviseError, Options, Phase, Progress, har};
use lastmile_builtin_studies::fidelity;
use lastmile_codec::content::CodecSpec;
use lastmile_page::LoadOptions;
#[cfg(target_os = "linux")]
use lastmile_page::chromium::{self, BrowserError, BrowserOptions};
#[cfg(target_os = "linux")]
use lastmile_page::{Page, playback::Playback};
use lastmile_report::connections::Connections;
use lastmile_report::screen::STANDARD_INPUT;
use lastmile_study::run_folder::RunFolder;
use lastmile_testbed::settings::World;
use lastmile_traffic::responses::Traffic;
use std::io;
use std::path::Path;

/// Replays traffic, and prints the recommendation.
///
/// # Errors
/// When the traffic, a link or an option is not understood, there is nothing to replay or to compress, or the report cannot be written.
pub(crate) fn advise(args: &AdviseArgs) -> anyhow::Result<Exit> {
    refuse_address(&args.traffic)?;
    let links = links::list_or(&args.link, LINKS)?;
    let traffic = if args.traffic == Path::new("-") {
        Traffic::read(io::stdin(), STANDARD_INPUT)
    } else {
        Traffic::open(&args.traffic)
    }?;
    let costs = cost_table::load(&args.cpu)?;
    if args.world.contains(&World::Emulated) {
        check_browser(&traffic)?;
    }
    // The report's folder is made first, so that a wrong path does not cost a long calculation.
    let report = (!args.no_report).then(|| report_file(args)).transpose()?;
    let archives = args.har.as_deref().map(open_archives).transpose()?;
    links::note_default(&args.link, LINKS);
    let defaults = Options::default();
    let tried = |codec: &CodecSpec| args.encodings.is_empty() || args.encodings.contains(&codec.coding());
    let options = Options {
        links,
        load: LoadOptions {
            protocol: args.protocol,
            tls: !args.no_tls,
            connections: if args.warm {
                Connections::Warm
            } else {
                Connections::Cold
            },
            slow_client: args.slow_client.unwrap_or(defaults.load.slow_client),
            ..defaults.load
        },
        #[cfg(target_os = "linux")]
        browser: args.world.contains(&World::Emulated).then(|| {
            let defaults = BrowserOptions::default();
            BrowserOptions {
                protocol: args.protocol,
                repeats: args.browser_repeats.unwrap_or(defaults.repeats),
                ..defaults
            }
        }),
        repeats: args.repeats.unwrap_or(defaults.repeats),
        repeats_max: args.repeats.unwrap_or(defaults.repeats_max),
        levels: defaults.levels.iter().copied().filter(tried).collect(),
        server: args.server,
        partial: args.partial,
        seed: args.seed,
        // Where Chromium loads this page, its own times stand beside the simulated ones.
        model_error: fidelity::pages::recorded()
            .model_error()
            .filter(|_| !args.world.contains(&World::Emulated)),
        threads: args.threads.unwrap_or(defaults.threads),
        interrupt: interrupt::install_handler(
            "stopping; press Ctrl-C again to stop at once",
            "stopped at once".to_owned(),
        )?,
        ..defaults
    };
    let bar = progress::bar("steps");
    let mut on_progress = |progress: Progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(phase_label(progress.phase));
    };
    let advised = advise::advise(&traffic, &options, &costs, &mut on_progress);
    bar.finish_and_clear();
    let advice = match advised {
        Ok(mut advice) => {
            advice.exhibits.push(fidelity::accuracy_table());
            advice
        }
        Err(error) => {
            if let Some(report) = report {
                // Fails where the folder holds other files, which stay.
                let _ = std::fs::remove_dir(report.folder.path());
            }
            if let Some(folder) = archives {
                let _ = std::fs::remove_dir(folder.path());
            }
            if error == AdviseError::Interrupted {
                output::note("stopped; nothing was kept");
                return Ok(Exit::Interrupted);
            }
            return Err(error.into());
        }
    };
    let written = archives.map_or(Ok(()), |folder| write_archives(&folder, &advice, &traffic));
    print_with_report(&advice, report.as_ref(), args.format.format(), false)?;
    written?;
    Ok(fail_on::advice_exit(&args.fail_on, &advice))
}

/// The folder that `--har` names.
fn open_archives(path: &Path) -> anyhow::Result<RunFolder> {
    let named = || format!("--har {}: name a folder that can be made", path.display());
    RunFolder::at(path).with_context(named)
}

fn write_archives(folder: &RunFolder, advice: &Advice, traffic: &Traffic) -> anyhow::Result<()> {
    let archives = har::archives(advice, traffic);
    for (name, content) in &archives {
        folder.write_whole(name, content.as_bytes())?;
    }
    output::note(&format!("{} HAR files in {}", archives.len(), folder.path().display()));
    Ok(())
}

/// Checks that Chromium can load the traffic here. Acquires the right to make the emulated world, before any thread is started.
#[cfg_attr(
    not(target_os = "linux"),
    expect(unused_variables, reason = "Chromium is loaded on Linux only")
)]
fn check_browser(traffic: &Traffic) -> anyhow::Result<()> {
    privileges::acquire("loading pages in Chromium", "use --world sim")?;
    #[cfg(target_os = "linux")]
    {
        chromium::is_installed().map_err(|missing| UnavailableError(format!("{missing}; or use --world sim")))?;
        let page = Page::from_traffic(traffic);
        if Playback::new(&page, traffic, &[]).document().is_none() {
            anyhow::bail!("{}: {}; or use --world sim", traffic.source, BrowserError::NoDocument);
        }
    }
    Ok(())
}

/// Refuses a web address, and says how to make a recording of it.
fn refuse_address(traffic: &Path) -> anyhow::Result<()> {
    let name = traffic.to_string_lossy();
    anyhow::ensure!(
        !name.starts_with("http://") && !name.starts_with("https://"),
        "{name}: this is an address, and advise reads a recording; `lastmile record {name}` makes one with an installed Chromium; or load the page in a \
         browser with the network panel open and caches off, \"Save all as HAR with content\", and give that file's path"
    );
    Ok(())
}

const fn phase_label(phase: Phase) -> &'static str {
    match phase {
        Phase::Compressing => "compressing the bodies at every level",
        Phase::Choosing => "replaying each response under each setting",
        Phase::Replaying => "replaying the page under each setting",
        Phase::Improving => "replaying the page with mixes of settings",
        Phase::Checking => "replaying the page more often with the best settings",
        Phase::LoadingInChromium => "loading the page in Chromium",
        Phase::BreakEven => "searching the bandwidth at which settings stop paying",
    }
}

/// The file that was named, or else report.html in a folder of its own under `runs/`.
fn report_file(args: &AdviseArgs) -> anyhow::Result<ReportFile> {
    const REMEDY: &str = "a report needs a folder; name its file with --report FILE, or use --no-report";
    match &args.report {
        Some(path) => ReportFile::at(path, "--report"),
        None => Ok(ReportFile::in_folder(run_store::create_dated("advise", REMEDY)?)),
    }
}
