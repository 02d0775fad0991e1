//! A program that computes and emits events where a sensor is there for it: what `lastmile perturb` can be tried on.
//!
//! `observed_work ROUNDS` hashes for as many rounds, and emits an event after each.

use lastmile_events::{Emitter, EmitterSettings, FullRing, Subject, Value};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds: u64 = std::env::args().nth(1).ok_or("give a number of rounds")?.parse()?;
    let settings = EmitterSettings {
        full_ring: FullRing::Block,
        ..EmitterSettings::default()
    };
    let emitter = Emitter::from_environment("observed-work", settings)?;
    let subject = Subject::new("work.round")?;
    let mut state = 1_u64;
    for round in 0..rounds {
        // Steele, Lea and Flood's SplitMix64: work that no compiler leaves out.
        for _ in 0..10_000 {
            state = (state ^ (state >> 30))
                .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                .wrapping_add(round);
        }
        if let Some(emitter) = &emitter {
            emitter.emit(
                &subject,
                &[
                    ("round", Value::Integer(round as i64)),
                    ("state", Value::Integer(state as i64)),
                ],
            );
        }
    }
    println!("{state}");
    if let Some(emitter) = emitter {
        emitter.close();
    }
    Ok(())
}
