//! Prints lines of an access log as JSON lines: `cargo run -p lastmile-workload --example log_lines -- 10000 >log.jsonl`.

use lastmile_units::Seed;
use lastmile_workload::access_log;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).ok_or("usage: log_lines COUNT")?.parse()?;
    for line in access_log::lines(count, Seed::new(1)) {
        println!("{}", serde_json::to_string(&line)?);
    }
    Ok(())
}
