//! Every kind of doubt is one that some crate raises; each crate's own tests raise all of its kinds.

use lastmile_report::record::DoubtKind;
use std::collections::BTreeSet;

#[test]
fn every_kind_of_doubt_is_raised_by_some_crate() {
    let raised = [
        lastmile_testbed::doubt::DOUBTS,
        lastmile_study::doubt::DOUBTS,
        lastmile_deliveries::DOUBTS,
        lastmile_report::compare::DOUBTS,
        lastmile_report::link_summary::DOUBTS,
        lastmile_advise::DOUBTS,
        lastmile_tune::DOUBTS,
        lastmile_inspect::DOUBTS,
        lastmile_load::summary::DOUBTS,
    ];
    let raised: BTreeSet<DoubtKind> = raised.concat().into_iter().collect();
    let all: BTreeSet<DoubtKind> = DoubtKind::ALL.iter().copied().collect();
    assert_eq!(raised, all);
}
