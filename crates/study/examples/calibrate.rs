//! Measures a cost table and prints it. Run alone on a quiet machine, this makes the table that ships:
//!
//! ```text
//! cargo run -p lastmile-study --example calibrate > reference.toml && mv reference.toml crates/study/src/cost/
//! ```

use lastmile_study::cost::{Choice, CostError, CostTable};

fn main() -> Result<(), CostError> {
    let table = CostTable::load(&Choice::Measured)?;
    print!("{}", table.to_toml());
    Ok(())
}
