//! `lastmile report`: a run is shown again.

use crate::cli::report::ReportArgs;
use crate::exit::Exit;
use crate::{output, runs};

/// Shows a run.
///
/// # Errors
/// When the folder holds no run, is damaged, or cannot be written.
pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Exit> {
    let folder = runs::existing(&args.run)?;
    let kept = folder.read()?;
    runs::remark_on_lacking(&folder, &kept)?;
    let run = runs::record(&folder, &kept, &kept.study)?;
    if args.html {
        let page = runs::write_page(&folder, &kept, &run)?;
        output::data(&format!("{}\n", page.display()))?;
    } else {
        output::record(&run, args.format.format)?;
    }
    Ok(Exit::Done)
}
