//! Prints what emitting an event costs the thread that emits: the median over bursts that fit the ring, and the share that was dropped.

use lastmile_events::uplink::{Durability, Reply, Uplink};
use lastmile_events::{Chunk, Emitter, EmitterSettings, Source, Subject, Value};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Acknowledges whatever comes.
struct Nowhere;

impl Uplink for Nowhere {
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        Ok(Reply::Acknowledged {
            next: chunk.end(),
            durability: Durability::Memory,
        })
    }
}

const BURSTS: usize = 500;
const BURST: u32 = 1000;

fn main() -> io::Result<()> {
    let source = Source::new("cost", 1).map_err(io::Error::other)?;
    let emitter = Emitter::start(source, EmitterSettings::default(), Box::new(Nowhere))?;
    let subject = Subject::new("run.cell.done").map_err(io::Error::other)?;
    let mut nanoseconds = Vec::new();
    for burst in 0..BURSTS {
        let start = Instant::now();
        for i in 0..BURST {
            let fields = [
                ("cell", Value::Integer(burst as i64)),
                ("i", Value::Integer(i64::from(i))),
            ];
            emitter.emit(&subject, &fields);
        }
        nanoseconds.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(BURST));
        thread::sleep(Duration::from_millis(6));
    }
    nanoseconds.sort_by(f64::total_cmp);
    let account = emitter.close();
    let (median, most) = (nanoseconds[BURSTS / 2], nanoseconds[BURSTS * 99 / 100]);
    println!(
        "median {median:.1} ns an event, p99 of bursts {most:.1} ns, {} dropped of {}",
        account.dropped_full, account.numbered
    );
    Ok(())
}
