//! Looks up cells and figures in the record of a run, and makes tables of them.

use lastmile_report::record::{Cell, Run, Table};

/// The cell of `part` that has all of `levels`, where the run has a valid one.
pub(crate) fn cell<'a>(run: &'a Run, part: &str, levels: &[(&str, &str)]) -> Option<&'a Cell> {
    let has = |cell: &Cell, key: &str, level: &str| cell.levels.get(key).is_some_and(|found| found == level);
    run.cells
        .iter()
        .filter(|cell| cell.valid && cell.part.as_deref() == Some(part))
        .find(|cell| levels.iter().all(|(key, level)| has(cell, key, level)))
}

/// The mean of a figure in such a cell.
pub(crate) fn mean(run: &Run, part: &str, levels: &[(&str, &str)], figure: &str) -> Option<f64> {
    Some(cell(run, part, levels)?.figures.get(figure)?.mean)
}

/// The levels of a factor that occur in a part, in the order of the run's cells.
pub(crate) fn levels_of<'a>(run: &'a Run, part: &str, factor: &str) -> Vec<&'a str> {
    let mut levels: Vec<&str> = Vec::new();
    for cell in run.cells.iter().filter(|cell| cell.part.as_deref() == Some(part)) {
        if let Some(level) = cell.levels.get(factor)
            && !levels.contains(&level.as_str())
        {
            levels.push(level);
        }
    }
    levels
}

/// A table, unless it has no rows.
pub(crate) fn table(title: &str, note: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Option<Table> {
    (!rows.is_empty()).then(|| Table {
        title: title.to_owned(),
        note: note.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
        rows,
    })
}
