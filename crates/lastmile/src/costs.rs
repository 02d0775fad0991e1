//! Which cost table is used? The one that `--cpu` names, or else the one that ships with lastmile.

use crate::cli::CpuArg;
use crate::output;
use lastmile_study::cost::{Choice, CostError, CostTable};

/// Loads the table; measuring one takes its time, and that is said.
///
/// # Errors
/// When its file cannot be read, or is no cost table.
pub(crate) fn load(asked: &CpuArg) -> Result<CostTable, CostError> {
    let choice = asked.cpu.as_ref().unwrap_or(&Choice::Reference);
    if *choice == Choice::Measured {
        output::remark("measuring what computing costs here, for about twenty seconds; the less else runs, the better");
    }
    CostTable::load(choice)
}

/// What the table of that choice is called, without loading it.
pub(crate) fn name(choice: &Choice) -> String {
    match choice {
        Choice::Reference => "reference".to_owned(),
        Choice::Measured => "measured".to_owned(),
        Choice::Free => "free".to_owned(),
        Choice::File(path) => path.display().to_string(),
    }
}
