//! A virtual CPU: each core serves one piece of work at a time, first come, first served.

use lastmile_units::Instant;
use std::time::Duration;

/// A CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuSpec {
    /// The number of its cores, each of which serves one piece of work at a time.
    pub cores: u16,
    /// The time that work takes, as a multiple of that on the core of the cost table. 1 is as fast.
    pub slow_down: f64,
    /// The share of every core that other programs use, from 0 to below 1. Work takes 1 / (1 - share) times as long.
    pub background_load: f64,
}

impl Default for CpuSpec {
    fn default() -> Self {
        Self {
            cores: 1,
            slow_down: 1.0,
            background_load: 0.0,
        }
    }
}

/// The number of a CPU of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuId(usize);

/// The CPUs of a world.
#[derive(Debug, Default)]
pub(super) struct Cpus {
    cpus: Vec<Cpu>,
}

#[derive(Debug)]
struct Cpu {
    spec: CpuSpec,
    /// The time at which each core is free.
    free_at: Vec<Instant>,
}

/// A piece of work that a core was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScheduledWork {
    pub(super) ends: Instant,
    /// The CPU time of the program: background load lengthens the wait, not this.
    pub(super) busy: Duration,
}

impl Cpus {
    pub(super) fn add(&mut self, spec: CpuSpec) -> CpuId {
        assert!(spec.cores > 0, "a CPU has at least one core");
        assert!(
            spec.slow_down > 0.0 && (0.0..1.0).contains(&spec.background_load),
            "{spec:?} must have a positive slow_down and a background_load from 0 to below 1"
        );
        self.cpus.push(Cpu {
            spec,
            free_at: vec![Instant::START; usize::from(spec.cores)],
        });
        CpuId(self.cpus.len() - 1)
    }

    /// Gives `work`, as measured on a reference core, to the core that is free first.
    pub(super) fn schedule(&mut self, cpu: CpuId, now: Instant, work: Duration) -> ScheduledWork {
        let cpu = &mut self.cpus[cpu.0];
        let busy = work.mul_f64(cpu.spec.slow_down);
        let taken = busy.div_f64(1.0 - cpu.spec.background_load);
        let core = cpu.free_at.iter_mut().min().expect("a CPU has at least one core");
        let ends = now.max(*core) + taken;
        *core = ends;
        ScheduledWork { ends, busy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn place_three(spec: CpuSpec) -> Vec<Duration> {
        let mut cpus = Cpus::default();
        let cpu = cpus.add(spec);
        (0..3)
            .map(|_| cpus.schedule(cpu, Instant::START, MS).ends.since_start())
            .collect()
    }

    #[test]
    fn work_waits_for_a_free_core() {
        assert_eq!(place_three(CpuSpec::default()), [MS, MS * 2, MS * 3]);
        assert_eq!(
            place_three(CpuSpec {
                cores: 2,
                ..CpuSpec::default()
            }),
            [MS, MS, MS * 2]
        );
    }

    #[test]
    fn a_slow_and_a_loaded_cpu_take_longer() {
        assert_eq!(
            place_three(CpuSpec {
                slow_down: 3.0,
                ..CpuSpec::default()
            })[0],
            MS * 3
        );
        assert_eq!(
            place_three(CpuSpec {
                background_load: 0.5,
                ..CpuSpec::default()
            })[0],
            MS * 2
        );
    }
}
