//! Loads the cost table: the one that `--cpu` names, or else the one that ships with lastmile.

use crate::cli::CpuArg;
use crate::output;
use lastmile_testbed::cpu_cost_model::{Choice, CostError, CostTable};

/// Loads the table; measuring one takes time, which a note announces.
///
/// # Errors
/// When its file cannot be read, or is not a cost table.
pub(crate) fn load(asked: &CpuArg) -> Result<CostTable, CostError> {
    let choice = asked.cpu.as_ref().unwrap_or(&Choice::Reference);
    if *choice == Choice::Measured {
        output::note(
            "measuring this machine's CPU times, for about twenty seconds; the fewer other programs run, the better",
        );
    }
    CostTable::load(choice)
}

/// The name of that choice's table, without loading it.
pub(crate) fn table_name(choice: &Choice) -> String {
    match choice {
        Choice::Reference => "reference".to_owned(),
        Choice::Measured => "measured".to_owned(),
        Choice::Free => "free".to_owned(),
        Choice::File(path) => path.display().to_string(),
    }
}
