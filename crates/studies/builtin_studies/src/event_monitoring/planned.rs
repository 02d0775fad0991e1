//! The experiments that the slides plan, and slow links.

use crate::record_lookup::mean;
use lastmile_report::number::quantity;
use lastmile_report::record::Run;

/// What is lost, and whether all of it is accounted for.
pub(super) fn losses(run: &Run) -> Option<String> {
    let of = |policy, figure| {
        mean(
            run,
            "losses",
            &[("full_buffer", policy), ("event_buffer", "100")],
            figure,
        )
    };
    let unexplained: f64 = run
        .cells
        .iter()
        .filter_map(|cell| Some(cell.figures.get("losses_unexplained")?.mean))
        .sum();
    Some(format!(
        "Where 1,000 events per second do not fit the link, a buffer of 100 that drops loses {} of 10,000 events and the application takes {}; one that blocks loses {} and makes it take {}. \
         In all {} cells together {} lost events have no loss event that says where and why.",
        quantity(of("drop", "events_lost")?, ""),
        quantity(of("drop", "application_time")?, "s"),
        quantity(of("block", "events_lost")?, ""),
        quantity(of("block", "application_time")?, "s"),
        run.cells.len(),
        unexplained,
    ))
}
