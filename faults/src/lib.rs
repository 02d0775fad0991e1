//! Faults: seeded cases in which a monitor and a sensor are killed, fill their disks, or find a bit of their files flipped.
//!
//! Producers submit numbered events meanwhile and keep what was acknowledged. Then all is brought up again, and the answers of `query` and
//! `audit` are held against that: each acknowledged event is stored once and as it was submitted, or is told as lost, or `audit` exits with 99;
//! and no answer that is short of events says that it is complete.
//!
//! The checker knows lastmile by its command line, its sockets and its JSON alone. A seed gives the same plan each time: who submits what, who is
//! ended when, and which bit flips. What the machine makes of it, such as how far a file was written when its program was killed, differs.

mod case;
mod checker;
mod damage;
mod events;
mod plan;
mod producers;
mod programs;

pub use case::{Figures, Outcome, run};
pub use plan::{Kind, Plan};
pub use programs::has_namespaces;
