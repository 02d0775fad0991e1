//! Makes the reference cost table anew, and says whether a measured one is fit for use.

use lastmile_study::cost::{Choice, CostTable};

/// Run it alone on a quiet machine: `cargo test -p lastmile-study --test calibrate -- --ignored`.
#[test]
#[ignore = "it measures for ten seconds and writes src/cost/reference.toml, which changes every figure that rests on it"]
fn write_the_reference_table() {
    let table = CostTable::load(&Choice::Measured).unwrap();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cost/reference.toml");
    std::fs::write(folder, table.to_toml()).unwrap();
    CostTable::parse("reference", &table.to_toml()).unwrap();
}
