//! Measures a cost table and prints it. Run on an otherwise idle machine, this makes the table that ships:
//!
//! ```text
//! cargo run -p lastmile-testbed --example calibrate > reference.toml && mv reference.toml crates/worlds/testbed/src/cpu_cost_model/
//! ```

use lastmile_testbed::cpu_cost_model::{Choice, CostError, CostTable};

fn main() -> Result<(), CostError> {
    let table = CostTable::load(&Choice::Measured)?;
    print!("{}", table.to_toml());
    Ok(())
}
