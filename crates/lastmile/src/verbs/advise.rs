//! `lastmile advise`: which compression should this traffic have, on these links?

use crate::cli::advise::{AdviseArgs, Protocol};
use crate::clock::Utc;
use crate::exit::Exit;
use crate::{costs, interrupt, links, output, progress, runs};
use lastmile_payload::traffic::Traffic;
use lastmile_report::advise::{Advice, Connections};
use lastmile_report::page::{self, Provenance};
use lastmile_study::advise::{self, AdviseError, Options, Phase, Progress};
use lastmile_study::cost::this_machine;
use lastmile_study::http::Version;
use lastmile_study::run_folder::RunFolder;
use std::path::PathBuf;

/// Replays traffic, and says what to use.
///
/// # Errors
/// When the traffic, a link or an option is not understood, there is nothing to replay, or the report cannot be written.
pub(crate) fn advise(args: &AdviseArgs) -> anyhow::Result<Exit> {
    let links = links::list(&args.link)?;
    let traffic = Traffic::open(&args.traffic)?;
    let costs = costs::load(&args.cpu)?;
    // The place of the report is made first: what takes long is not done in vain.
    let page = if args.no_report { None } else { Some(Page::open(args)?) };
    let defaults = Options::default();
    let options = Options {
        links: links.into_iter().map(|link| (link.name(), link)).collect(),
        protocol: match args.protocol {
            Protocol::Http11 => Version::Http11,
            Protocol::H2 => Version::H2,
        },
        tls: !args.no_tls,
        connections: if args.warm {
            Connections::Warm
        } else {
            Connections::Cold
        },
        repeats: args.repeats.unwrap_or(defaults.repeats),
        seed: args.seed,
        slow_client: args.slow_client.unwrap_or(defaults.slow_client),
        threads: args.threads.unwrap_or(defaults.threads),
        interrupt: interrupt::listen(
            "stopping; press Ctrl-C again to stop at once",
            "stopped at once".to_owned(),
        )?,
        ..defaults
    };
    let bar = progress::bar("steps");
    let mut on_progress = |progress: Progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(doing(progress.phase));
    };
    let advised = advise::advise(&traffic, &options, &costs, &mut on_progress);
    bar.finish_and_clear();
    let advice = match advised {
        Ok(advice) => advice,
        Err(error) => {
            if let Some(page) = page {
                page.give_up();
            }
            if error == AdviseError::Interrupted {
                output::remark("stopped; nothing was kept");
                return Ok(Exit::Interrupted);
            }
            return Err(error.into());
        }
    };
    if let Some(page) = page {
        page.write(&advice)?;
    }
    output::record(&advice, args.format.format)?;
    Ok(Exit::Done)
}

const fn doing(phase: Phase) -> &'static str {
    match phase {
        Phase::Coding => "coding the bodies at every level",
        Phase::Choosing => "replaying each response under each setting",
        Phase::Replaying => "replaying the page under each setting",
        Phase::Checking => "replaying it with what is recommended",
        Phase::BreakEven => "searching the bandwidth at which they stop paying",
    }
}

/// Where the report goes.
struct Page {
    folder: RunFolder,
    name: String,
}

impl Page {
    /// The file that was named, or else report.html in a folder of its own under `runs/`.
    fn open(args: &AdviseArgs) -> anyhow::Result<Self> {
        const NAME: &str = "report.html";
        let Some(path) = &args.report else {
            return Ok(Self {
                folder: runs::create_dated(
                    "advise",
                    "a report goes into a folder; name its file with --report FILE, or say --no-report",
                )?,
                name: NAME.to_owned(),
            });
        };
        let (folder, name) = runs::named(path, "--report")?;
        Ok(Self { folder, name })
    }

    fn path(&self) -> PathBuf {
        runs::within(&self.folder, &self.name)
    }

    fn write(&self, advice: &Advice) -> anyhow::Result<()> {
        let provenance = Provenance {
            command: runs::typed(),
            machine: this_machine(),
            finished: Some(Utc::now().words()),
            study: None,
        };
        self.folder
            .write_whole(&self.name, page::advice_page(advice, &provenance).as_bytes())?;
        output::remark(&format!("report: {}", self.path().display()));
        Ok(())
    }

    /// There will be no report: a folder that was made for it goes, where nothing else is in it.
    fn give_up(self) {
        let _ = std::fs::remove_dir(self.folder.path());
    }
}
