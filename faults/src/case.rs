//! A case: the steps of its plan, then all is brought up again and checked.

use crate::checker::{Answer, Audit, Evidence};
use crate::damage::Damage;
use crate::events::{Events, KINDS, SUBJECTS};
use crate::plan::{Kind, Plan, Program, Step};
use crate::producers::{self, Receipt};
use crate::programs::{Disk, Running, Start, Workspace};
use std::collections::BTreeSet;
use std::io;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What was counted in a case, or in several.
#[derive(Debug, Default, Clone, Copy)]
pub struct Figures {
    /// Events that producers submitted.
    pub submitted: u64,
    /// Those that were acknowledged: they are stored, told as lost, or told by no more than an exit code.
    pub acknowledged: u64,
    /// Acknowledged events that a query of all has.
    pub stored: u64,
    /// Acknowledged events that `audit` counts as lost.
    pub reported_lost: u64,
    /// Acknowledged events of which `audit` or `salvage` tells only by exiting with 99, or a program by refusing to start.
    pub unreadable: u64,
    /// Events that a full sensor said that it dropped.
    pub dropped: u64,
    /// Audits that exited with 99.
    pub broken_audits: u64,
    /// Starts that were refused.
    pub refusals: u64,
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.submitted += other.submitted;
        self.acknowledged += other.acknowledged;
        self.stored += other.stored;
        self.reported_lost += other.reported_lost;
        self.unreadable += other.unreadable;
        self.dropped += other.dropped;
        self.broken_audits += other.broken_audits;
        self.refusals += other.refusals;
    }
}

/// How a case ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was counted.
    pub figures: Figures,
    /// What broke a claim; empty where all held.
    pub faults: Vec<String>,
    /// What happened, for a reader who looks for the cause.
    pub history: Vec<String>,
}

/// Runs a plan with this binary in an empty folder.
pub fn run(binary: &Path, plan: &Plan, folder: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    let ended = Case::new(binary, plan, folder).and_then(|mut case| {
        let ended = case.run(&mut outcome);
        outcome.history.append(&mut case.history);
        ended
    });
    if let Err(error) = ended {
        outcome.faults.push(error.to_string());
    }
    outcome
}

struct Case<'a> {
    plan: &'a Plan,
    workspace: Workspace,
    events: Events,
    disk: Option<Disk>,
    /// Who may use no more than so many bytes.
    most: Option<(Program, u64)>,
    monitor: Side,
    sensor: Side,
    producers: Vec<JoinHandle<io::Result<Vec<Receipt>>>>,
    receipts: Vec<Receipt>,
    told_elsewhere: bool,
    refusals: u64,
    history: Vec<String>,
}

/// A program with its folder.
struct Side {
    folder: PathBuf,
    running: Option<Running>,
}

/// The numbers of events that are submitted at the end begin here.
const LAST: u64 = 1 << 32;
/// How often the end is awaited.
const ATTEMPTS: u64 = 40;

impl<'a> Case<'a> {
    fn new(binary: &Path, plan: &'a Plan, folder: &Path) -> io::Result<Self> {
        let mut workspace = Workspace::new(binary, folder, plan.seed)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        let disk = match plan.shortage {
            Some(shortage) if plan.kind == Kind::FullDisk => Some(Disk::mount(&mut workspace, shortage.kib)?),
            _ => None,
        };
        let most = plan.shortage.filter(|_| plan.kind == Kind::FullStore);
        let side = |program, name: &str| {
            let small = disk.is_some() && plan.shortage.is_some_and(|shortage| shortage.program == program);
            Side {
                folder: if small {
                    folder.join("disk").join(name)
                } else {
                    folder.join(name)
                },
                running: None,
            }
        };
        Ok(Self {
            plan,
            events: Events {
                seed: plan.seed,
                text_bytes: plan.text_bytes,
                begin: now.as_nanos() as i64,
            },
            monitor: side(Program::Monitor, "monitor"),
            sensor: side(Program::Sensor, "sensor"),
            workspace,
            disk,
            most: most.map(|shortage| (shortage.program, shortage.kib * 1024)),
            producers: Vec::new(),
            receipts: Vec::new(),
            told_elsewhere: false,
            refusals: 0,
            history: Vec::new(),
        })
    }

    fn run(&mut self, outcome: &mut Outcome) -> io::Result<()> {
        self.start(Program::Sensor)?;
        for step in &self.plan.steps {
            self.take(step)?;
        }
        self.join()?;
        self.recover()?;
        self.settle(outcome)
    }

    fn side(&mut self, program: Program) -> &mut Side {
        match program {
            Program::Monitor => &mut self.monitor,
            Program::Sensor => &mut self.sensor,
        }
    }

    fn take(&mut self, step: &Step) -> io::Result<()> {
        match step {
            Step::Start(program) => self.start(*program)?,
            Step::Stop(program) => self.stop(*program)?,
            Step::Kill(program) => {
                if let Some(running) = self.side(*program).running.take() {
                    let said = running.kill();
                    self.history
                        .push(format!("{program:?} was killed, and had said: {said}"));
                }
            }
            Step::Damage(program, damage) => self.damage(*program, *damage)?,
            Step::Submit(submissions) => {
                for submission in submissions.clone() {
                    let (workspace, events, patience) = (self.workspace.clone(), self.events, self.plan.patience);
                    let work = move || producers::submit(&workspace, events, &submission, patience);
                    self.producers.push(thread::spawn(work));
                }
            }
            Step::Join => self.join()?,
            Step::Wait { milliseconds } => thread::sleep(Duration::from_millis(*milliseconds)),
            Step::Grow => self.grow()?,
        }
        Ok(())
    }

    fn join(&mut self) -> io::Result<()> {
        for producer in self.producers.drain(..) {
            self.receipts.extend(producer.join().expect("producers do not panic")?);
        }
        Ok(())
    }

    fn grow(&mut self) -> io::Result<()> {
        self.most = None;
        self.disk.as_ref().map_or(Ok(()), |disk| disk.grow(&self.workspace))
    }

    fn damage(&mut self, program: Program, damage: Damage) -> io::Result<()> {
        let done = damage.apply(&self.side(program).folder)?;
        self.history.push(done);
        Ok(())
    }

    fn stop(&mut self, program: Program) -> io::Result<()> {
        if let Some(running) = self.side(program).running.take() {
            let said = running.stop()?;
            self.history
                .push(format!("{program:?} was stopped, and had said: {said}"));
        }
        Ok(())
    }

    /// Starts a program that does not run. Where it refuses its folder, a new one gets what `salvage` takes out of it.
    fn start(&mut self, program: Program) -> io::Result<()> {
        let mut has_grown = self.disk.is_none();
        while self.side(program).running.is_none() {
            let folder = self.side(program).folder.clone();
            let most = self.most.filter(|(short, _)| *short == program);
            let words = program.words(
                &self.workspace,
                &folder,
                self.plan.durability,
                most.map(|(_, bytes)| bytes),
            );
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match Running::start(&self.workspace, &words)? {
                Start::Running(running) => self.side(program).running = Some(running),
                Start::Refused(code, said) => {
                    self.refusals += 1;
                    self.history
                        .push(format!("{program:?} refused to start ({code:?}): {said}"));
                    if code.is_none() || !said.contains(folder.to_string_lossy().as_ref()) {
                        return Err(io::Error::other(format!("{program:?} ended with {code:?}: {said}")));
                    }
                    if std::mem::replace(&mut has_grown, true) {
                        self.salvage(program, &folder)?;
                    } else {
                        self.grow()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn salvage(&mut self, program: Program, folder: &Path) -> io::Result<()> {
        let new = folder.with_file_name(format!("{program:?}-{}", self.refusals));
        let words = ["salvage", &folder.display().to_string(), &new.display().to_string()];
        let output = self.workspace.run(&words, "")?;
        let (code, said) = (output.status.code(), String::from_utf8_lossy(&output.stderr));
        self.history.push(format!("salvage ended with {code:?}: {said}"));
        self.told_elsewhere |= code != Some(0);
        self.side(program).folder = new;
        if matches!(code, Some(0 | 2 | 99)) && !said.contains("panicked") && self.refusals < 5 {
            Ok(())
        } else {
            Err(io::Error::other(format!("salvage ended with {code:?}: {said}")))
        }
    }

    /// Brings both up, and submits until each takes events again.
    fn recover(&mut self) -> io::Result<()> {
        self.start(Program::Monitor)?;
        self.start(Program::Sensor)?;
        for attempt in 0..ATTEMPTS {
            let numbers = LAST + 3 * attempt..LAST + 3 * attempt + 3;
            let (acknowledged, dropped) = producers::lines(&self.workspace, self.events, numbers.clone())?;
            self.receipts.push(Receipt {
                way: crate::plan::Way::Lines,
                numbers,
                acknowledged,
                dropped,
            });
            if acknowledged == 3 {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(250));
        }
        Err(io::Error::other(
            "the sensor takes no events, though its monitor is there",
        ))
    }

    /// Waits until the sensor has passed on all, and checks what the monitor says once it has started again.
    fn settle(&mut self, outcome: &mut Outcome) -> io::Result<()> {
        let mut faults = Vec::new();
        for attempt in 0..4 {
            self.start(Program::Sensor)?;
            self.stop(Program::Sensor)?;
            // Killed or stopped: what it says must come from its files.
            if (self.plan.seed + attempt).is_multiple_of(2) {
                self.take(&Step::Kill(Program::Monitor))?;
            }
            self.stop(Program::Monitor)?;
            self.start(Program::Monitor)?;
            faults = self.check(&mut outcome.figures)?;
            if faults.is_empty() {
                break;
            }
        }
        outcome.faults.extend(faults);
        Ok(())
    }

    fn query(&self, words: &[&str]) -> io::Result<Answer> {
        let url = self.workspace.url();
        let words = [&["query", "--monitor", &url], words].concat();
        Ok(Answer::of(&self.workspace.run(&words, "")?, self.events))
    }

    fn check(&self, figures: &mut Figures) -> io::Result<Vec<String>> {
        let all = self.query(&[])?;
        let audit = Audit::of(
            &self
                .workspace
                .run(&["audit", "--monitor", &self.workspace.url(), "--format", "json"], "")?,
        );
        let evidence = Evidence {
            receipts: &self.receipts,
            all: &all,
            audit: &audit,
            told_elsewhere: self.told_elsewhere,
        };
        let mut faults = evidence.judge("", &all, |_| true);
        faults.extend(evidence.judge_audit());
        for subject in SUBJECTS {
            let answer = self.query(&[subject])?;
            faults.extend(evidence.judge(subject, &answer, |number| self.events.subject(number) == subject));
        }
        let answer = self.query(&["fault.*", "--since", "1h"])?;
        faults.extend(evidence.judge("fault.* --since 1h", &answer, |number| {
            self.events.subject(number) != SUBJECTS[2]
        }));
        let answer = self.query(&["--since", "1h", "--where", "k = 1"])?;
        faults.extend(evidence.judge("--since 1h --where k = 1", &answer, |number| number % KINDS == 1));
        if let Some((_, cursor)) = all.order.get(all.order.len() / 2) {
            let rest: BTreeSet<u64> = all.order[all.order.len() / 2 + 1..]
                .iter()
                .map(|(number, _)| *number)
                .collect();
            let answer = self.query(&["--from", cursor])?;
            faults.extend(evidence.judge("--from CURSOR", &answer, |number| rest.contains(&number)));
        }
        let balance = evidence.balance(&all, |_| true);
        *figures = Figures {
            submitted: self
                .receipts
                .iter()
                .map(|receipt| receipt.numbers.end - receipt.numbers.start)
                .sum(),
            acknowledged: self.receipts.iter().map(|receipt| receipt.acknowledged).sum(),
            stored: balance.stored,
            reported_lost: balance.reported_lost,
            unreadable: balance.untold,
            dropped: self.receipts.iter().map(|receipt| receipt.dropped).sum(),
            broken_audits: audit.is_broken.into(),
            refusals: self.refusals,
        };
        Ok(faults)
    }
}
