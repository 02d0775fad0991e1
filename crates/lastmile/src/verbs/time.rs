//! `lastmile time`: runs a command behind links in turn, and compares its times.

mod summary;

use crate::cli::time::TimeArgs;
use crate::exit::{Exit, UnavailableError};
use crate::report_file::{ReportFile, print_with_report};
use crate::{fail_on, interrupt, links, output, progress};
use anyhow::{Context as _, bail};
use lastmile_link::LinkSpec;
use lastmile_report::doubt::DoubtKind;
use lastmile_report::link_summary::LinkRunSummary;
use lastmile_report::number::quantity;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use summary::{LinkRuns, Rule};

/// The lines of a failed command's stderr that are shown.
const STDERR_LINES: usize = 5;

/// Times a command behind each link.
///
/// # Errors
/// When a link or a rule is not understood, the command fails, or this machine has no network namespaces for this user.
pub(crate) fn time(args: &TimeArgs) -> anyhow::Result<Exit> {
    let links = links::list(&args.link)?;
    let rules: Vec<Rule> = args
        .fail_on
        .iter()
        .map(|text| Rule::parse(text))
        .collect::<Result<_, _>>()?;
    let report = args
        .report
        .as_deref()
        .map(|path| ReportFile::at(path, "--report"))
        .transpose()?;
    let stop = interrupt::install_handler(
        "stopping; press Ctrl-C again to stop at once",
        "stopped at once; nothing was kept".to_owned(),
    )?;
    let mut runs: Vec<LinkRuns> = links.iter().map(|(name, _)| LinkRuns::new(name)).collect();
    let bar = progress::bar("runs");
    let rounds = args.warmup + args.repeats.get();
    bar.set_length(rounds * links.len() as u64);
    'rounds: for round in 0..rounds {
        for ((_, link), runs) in links.iter().zip(&mut runs) {
            if stop.load(Ordering::Relaxed) {
                break 'rounds;
            }
            bar.set_message(link.name());
            let ended = run_behind(link, args, args.seed.wrapping_add(round))?;
            // Ctrl-C on a terminal ends the command as well.
            if stop.load(Ordering::Relaxed) {
                break 'rounds;
            }
            ended.check(args, link)?;
            if round >= args.warmup {
                runs.push(ended.summary);
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let is_interrupted = stop.load(Ordering::Relaxed);
    if runs.iter().all(LinkRuns::is_empty) {
        output::note("stopped before a first run had ended; nothing was measured");
        return Ok(Exit::Interrupted);
    }
    let command: Vec<String> = args
        .command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let run = summary::run(&runs, &command, args.seed, &rules, is_interrupted);
    print_with_report(&run, report.as_ref(), args.format.format(), false)?;
    let mut holds = true;
    for rule in &rules {
        let nothing = "no run was measured";
        holds &= fail_on::report_rule(
            &rule.to_string(),
            &run.thresholds,
            |found| quantity(found, rule.unit()),
            nothing,
        );
    }
    Ok(if is_interrupted {
        Exit::Interrupted
    } else {
        Exit::of_check(holds)
    })
}

/// A run that has ended.
struct EndedRun {
    summary: LinkRunSummary,
    /// What the command wrote to stderr.
    stderr: String,
}

impl EndedRun {
    /// Refuses a failed run, unless failures count.
    fn check(&self, args: &TimeArgs, link: &LinkSpec) -> anyhow::Result<()> {
        let code = self.summary.exit_code.unwrap_or_default();
        if code == 0 || args.ignore_failure {
            return Ok(());
        }
        let lines: Vec<&str> = self.stderr.lines().collect();
        let last = lines[lines.len().saturating_sub(STDERR_LINES)..].join("\n");
        let wrote = if last.is_empty() {
            String::new()
        } else {
            format!("; it wrote:\n{last}")
        };
        let nothing = self
            .summary
            .doubts
            .iter()
            .find(|doubt| doubt.kind == DoubtKind::NoPackets);
        let hint = nothing.map_or_else(String::new, |doubt| format!("; {}", doubt.text));
        bail!(
            "behind {}, {} ended with exit code {code}{hint}; --ignore-failure times such runs, too{wrote}",
            link.name(),
            args.command[0].to_string_lossy()
        )
    }
}

/// Runs the command once behind a link, as `lastmile link` does.
fn run_behind(link: &LinkSpec, args: &TimeArgs, seed: u64) -> anyhow::Result<EndedRun> {
    let mut command = Command::new(std::env::current_exe().context("lastmile cannot find its own program")?);
    command
        .args([
            "link",
            &link.to_string(),
            "--format",
            "json",
            "--seed",
            &seed.to_string(),
        ])
        .args(args.allow_net.then_some("--allow-net"))
        .arg("--")
        .args(&args.command)
        .stdin(Stdio::null())
        .stdout(if args.show_output {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stderr(Stdio::piped());
    let ended = command.output().context("lastmile cannot be started again")?;
    let written = String::from_utf8_lossy(&ended.stderr);
    let (stderr, last) = written.trim_end().rsplit_once('\n').unwrap_or(("", written.trim_end()));
    let Ok(summary) = serde_json::from_str(last) else {
        let why = written.trim().trim_start_matches("error: ").to_owned();
        return Err(UnavailableError(why).into());
    };
    if args.show_output {
        output::note(&(String::from_utf8_lossy(&ended.stdout) + stderr));
    }
    let stderr = stderr.to_owned();
    Ok(EndedRun { summary, stderr })
}
