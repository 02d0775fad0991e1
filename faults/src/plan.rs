//! Plans: what happens in a case, as its seed gives it.

use crate::damage::Damage;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use std::fmt;
use std::ops::Range;

/// What a case is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Kind {
    /// Programs are killed while events arrive.
    Kill,
    /// One bit of a file flips between the end of a program and its next start.
    Flip,
    /// A file is cut off or removed there.
    Cut,
    /// A folder's disk is full for a while.
    FullDisk,
    /// A folder has as many bytes as `--most` allows.
    FullStore,
}

impl Kind {
    /// All kinds, in the order in which seeds take turns.
    const TURNS: [Self; 10] = [
        Self::Kill,
        Self::Flip,
        Self::FullDisk,
        Self::Flip,
        Self::Kill,
        Self::Flip,
        Self::Cut,
        Self::FullDisk,
        Self::Flip,
        Self::FullStore,
    ];

    /// The kind of the case of a seed.
    pub const fn of_seed(seed: u64) -> Self {
        Self::TURNS[(seed % 10) as usize]
    }
}

/// One of the two programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Monitor,
    Sensor,
}

/// How events are submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    EmitToMonitor,
    EmitToSensor,
    Lines,
    Otlp,
}

/// Batches that one producer submits, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Submission {
    pub(crate) way: Way,
    /// The numbers of each batch.
    pub(crate) batches: Vec<Range<u64>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Start(Program),
    /// Ends it in good order.
    Stop(Program),
    Kill(Program),
    /// Damages a file of a program that does not run.
    Damage(Program, Damage),
    /// Starts producers, which go on beside the steps that follow.
    Submit(Vec<Submission>),
    /// Waits until all producers are done.
    Join,
    Wait {
        milliseconds: u64,
    },
    /// Makes the disk large; `--most` is, when its program starts again.
    Grow,
}

/// Who has little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shortage {
    pub(crate) program: Program,
    pub(crate) kib: u64,
}

/// A case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(crate) seed: u64,
    /// What it is about.
    pub kind: Kind,
    /// What the monitor's acknowledgements promise.
    pub(crate) durability: &'static str,
    pub(crate) shortage: Option<Shortage>,
    pub(crate) patience: &'static str,
    pub(crate) text_bytes: usize,
    /// The sensor runs from the beginning on.
    pub(crate) steps: Vec<Step>,
}

impl Plan {
    /// The plan of a seed.
    pub fn of_seed(seed: u64) -> Self {
        let kind = Kind::of_seed(seed);
        let mut draws = Draws {
            rng: ChaCha8Rng::seed_from_u64(seed),
            next_number: 0,
        };
        let is_full = matches!(kind, Kind::FullDisk | Kind::FullStore);
        let shortage = is_full.then(|| Shortage {
            program: draws.program(),
            kib: draws.pick(&[512, 1024, 2048]),
        });
        Self {
            seed,
            kind,
            durability: draws.pick(&["process", "process", "power"]),
            shortage,
            patience: if is_full { "150ms" } else { "2s" },
            text_bytes: if is_full { 400 } else { draws.pick(&[8, 40, 300]) },
            steps: match (kind, shortage) {
                (Kind::Kill, _) => draws.kills(),
                (_, Some(shortage)) => draws.shortage(kind, shortage),
                _ => draws.damage(kind),
            },
        }
    }
}

impl fmt::Display for Plan {
    /// One step a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (durability, text_bytes) = (self.durability, self.text_bytes);
        let shortage = self.shortage;
        writeln!(
            f,
            "  monitor --durability {durability}, texts of {text_bytes} bytes, {shortage:?}"
        )?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step:?}"))
    }
}

struct Draws {
    rng: ChaCha8Rng,
    next_number: u64,
}

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.rng.next_u64() % bound
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn program(&mut self) -> Program {
        self.pick(&[Program::Monitor, Program::Sensor])
    }

    fn submission(&mut self, way: Way, batches: u64, most_events: u64) -> Submission {
        let batches = (0..batches).map(|_| {
            let begin = self.next_number;
            self.next_number += 1 + self.below(most_events);
            begin..self.next_number
        });
        Submission {
            way,
            batches: batches.collect(),
        }
    }

    /// Some producers; without a monitor, of the sensor alone.
    fn producers(&mut self, has_monitor: bool) -> Step {
        let ways = [Way::Lines, Way::EmitToSensor, Way::Otlp, Way::EmitToMonitor];
        let ways = if has_monitor { &ways[..] } else { &ways[..3] };
        let count = 2 + self.below(2);
        let submissions = (0..count).map(|_| {
            let way = self.pick(ways);
            let batches = 1 + self.below(4);
            self.submission(way, batches, 60)
        });
        Step::Submit(submissions.collect())
    }

    fn begin(&mut self) -> (bool, Vec<Step>) {
        let has_monitor = !self.one_in(3);
        let mut steps = Vec::new();
        if has_monitor {
            steps.push(Step::Start(Program::Monitor));
        }
        (has_monitor, steps)
    }

    fn kills(&mut self) -> Vec<Step> {
        let (mut has_monitor, mut steps) = self.begin();
        for _ in 0..2 {
            steps.push(self.producers(has_monitor));
            for _ in 0..1 + self.below(3) {
                let milliseconds = self.below(40);
                steps.push(Step::Wait { milliseconds });
                let first = if has_monitor { self.program() } else { Program::Sensor };
                steps.push(Step::Kill(first));
                if has_monitor && self.one_in(3) {
                    let other = if first == Program::Monitor {
                        Program::Sensor
                    } else {
                        Program::Monitor
                    };
                    steps.extend([Step::Kill(other), Step::Start(other)]);
                }
                steps.push(Step::Start(first));
            }
            if !has_monitor {
                steps.push(Step::Start(Program::Monitor));
                has_monitor = true;
            }
            steps.push(Step::Join);
        }
        steps
    }

    fn damage(&mut self, kind: Kind) -> Vec<Step> {
        let program = self.program();
        // Where the sensor can forward all, its files hold little.
        let has_monitor = program == Program::Monitor || self.one_in(4);
        let mut steps = Vec::new();
        if has_monitor {
            steps.push(Step::Start(Program::Monitor));
        }
        steps.extend([self.producers(has_monitor), Step::Join]);
        if self.one_in(2) {
            // Of several lives, and with a database that has what the write-ahead log of the first life had.
            steps.extend([Step::Stop(program), Step::Start(program)]);
            steps.extend([self.producers(has_monitor), Step::Join]);
        }
        let end = if self.one_in(3) {
            Step::Stop(program)
        } else {
            Step::Kill(program)
        };
        let damage = Damage::draw(kind == Kind::Flip, |bound| self.below(bound));
        steps.extend([end, Step::Damage(program, damage), Step::Start(program)]);
        if !has_monitor {
            steps.push(Step::Start(Program::Monitor));
        }
        steps.extend([self.producers(true), Step::Join]);
        steps
    }

    fn shortage(&mut self, kind: Kind, shortage: Shortage) -> Vec<Step> {
        let program = shortage.program;
        let ways: &[Way] = match program {
            Program::Monitor => &[Way::EmitToMonitor, Way::Lines, Way::EmitToMonitor],
            Program::Sensor => &[Way::Lines, Way::EmitToSensor, Way::Otlp, Way::Lines],
        };
        let mut steps = Vec::new();
        if program == Program::Monitor {
            steps.push(Step::Start(Program::Monitor));
        }
        // Together half as much again as there is room for; an event has some 450 bytes.
        let batches = shortage.kib * 3 / 2 * 1024 / 450 / 75 / 3;
        let fill = (0..3).map(|_| {
            let way = self.pick(ways);
            self.submission(way, batches, 150)
        });
        steps.push(Step::Submit(fill.collect()));
        if self.one_in(2) {
            let milliseconds = self.below(300);
            steps.extend([Step::Wait { milliseconds }, Step::Kill(program), Step::Start(program)]);
        }
        steps.push(Step::Join);
        if self.one_in(2) {
            steps.extend([Step::Kill(program), Step::Start(program)]);
        }
        if program == Program::Sensor {
            steps.push(Step::Start(Program::Monitor));
        } else {
            steps.push(Step::Grow);
            if kind == Kind::FullStore || self.one_in(2) {
                steps.extend([Step::Kill(program), Step::Start(program)]);
            }
            steps.extend([self.producers(true), Step::Join]);
        }
        steps
    }
}
