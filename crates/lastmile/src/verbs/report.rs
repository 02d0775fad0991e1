//! `lastmile report`: shows a run again.

use crate::cli::report::ReportArgs;
use crate::exit::Exit;
use crate::{output, run_store};

/// Shows a run.
///
/// # Errors
/// When the folder holds no run, is damaged, or cannot be written.
pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let folder = match (&args.run, &args.last) {
        (Some(run), _) => run_store::open_run(run)?,
        (None, study) => run_store::latest(study.as_deref().expect("clap asks for a run or a study"))?,
    };
    let kept = folder.read()?;
    run_store::note_missing_repeats(&folder, &kept)?;
    let run = run_store::record(&folder, &kept, &kept.study)?;
    if args.html {
        let page = run_store::write_page(&folder, &kept, &run)?;
        output::print_data(&format!("{}\n", page.display()))?;
    } else {
        output::print_record(&run, args.format.format())?;
    }
    Ok(Exit::Done)
}
