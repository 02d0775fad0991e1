//! Delivers messages over a link with the chosen setting, with zlib's default, and uncompressed, and measures delivery times.
//!
//! Each direction's busiest connection (its beginning, if it is long) is delivered over WebSocket (`lastmile_testbed::messaging`), in new contexts. The
//! simulated world charges the CPU time that was measured, in proportion to a message's bytes. The emulated world runs in real time, which
//! limits how many messages are sent (`real_time_budget`). The link's random events are the same under every setting, so settings are compared message
//! by message. `message_schedule` says which messages are sent, and when.

mod message_schedule;
mod real_time_budget;

use super::candidate::{Candidate, ZLIB_DEFAULT};
use super::measure_direction::Direction;
use super::recording::End;
use super::result_cache::Key;
use super::select::choose;
use super::{DELIVERING, Options, Pace, TuneContext, TuneError, prose};
use crate::record::{DeliveryOutcome, LinkDelivery};
use lastmile_codec::message::MessageCodec;
use lastmile_link::LinkSpec;
use lastmile_report::paired_statistics::{Figures, Runs};
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_testbed::cpu_cost_model::this_machine;
use lastmile_testbed::doubt::invalidates;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::link_description::description;
use lastmile_testbed::messaging::{self, ConnectionOptions, ConnectionResult, EndpointResult};
use lastmile_testbed::settings::World;
use lastmile_testbed::testbed::{MeasuredTimes, TestbedWorld, TwoHostSpec, TwoHostTestbed};
use lastmile_units::Seed;
use lastmile_world::sim::{self, CpuSpec};
use message_schedule::CpuCostBySize;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// The most messages of a connection that are delivered: our own choice. They give the 95th percentile to within a few per cent.
const MESSAGES_MAX: usize = 1000;

/// Delivers every direction over every link, in every world requested.
pub(super) fn deliver(
    directions: &[Direction<'_>],
    work: &mut TuneContext<'_>,
) -> Result<Vec<LinkDelivery>, TuneError> {
    let options = work.options;
    let mut links = Vec::new();
    let mut steps = ProgressTotals {
        done: 0,
        total: options.links.len() * options.worlds.len() * directions.len(),
    };
    for (name, link) in &options.links {
        for world in &options.worlds {
            let mut delivery = LinkDelivery {
                name: name.clone(),
                description: description(link),
                world: world.to_string(),
                summary: String::new(),
                outcomes: Vec::new(),
                doubts: doubts(directions, options, *world),
            };
            let mut chosen = Vec::new();
            for direction in directions {
                let candidates = direction.candidates();
                let setting = candidates[choose(&candidates, &options.limits())].name();
                chosen.push((direction.stream.direction, setting));
                let deliveries = LinkDeliveryRun {
                    direction,
                    name,
                    link,
                    steps,
                };
                deliveries.add_to(&mut delivery, *world, work)?;
                steps.done += 1;
            }
            delivery.summary = prose::link_summary(&link_label(name, *world, options), &delivery.outcomes, &chosen);
            links.push(delivery);
        }
    }
    Ok(links)
}

/// A link's name, with its world where the name alone is ambiguous.
fn link_label(name: &str, world: World, options: &Options) -> String {
    match world {
        World::Emulated => format!("{name}, emulated"),
        World::Simulated if options.worlds.contains(&World::Emulated) => format!("{name}, simulated"),
        World::Simulated => name.to_owned(),
    }
}

/// Doubts about a delivery that are known before it begins.
pub(super) fn doubts(directions: &[Direction<'_>], options: &Options, world: World) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let untimed = |direction: &Direction<'_>| !message_schedule::have_timestamps(direction, direction.stream.busiest());
    if options.pace == Pace::Recorded && directions.iter().any(untimed) {
        doubts.push(Doubt::new(
            DoubtKind::NoTimes,
            "the transcript does not say when messages were sent: each is sent once the previous one has been decoded, so that none \
             queues behind another"
                .to_owned(),
        ));
    }
    if world == World::Emulated && options.slow_client != 1.0 {
        doubts.push(Doubt::new(
            DoubtKind::FastClient,
            "both ends run at the speed of this machine: only the simulated world can model a slower client".to_owned(),
        ));
    }
    if world == World::Simulated && directions.iter().any(|own| own.stream.busiest().len() > MESSAGES_MAX) {
        doubts.push(Doubt::new(
            DoubtKind::BeginningOnly,
            format!("only the first {MESSAGES_MAX} messages of a connection are delivered"),
        ));
    }
    doubts
}

/// How many combinations of direction, link and world have been delivered, and how many there are.
#[derive(Debug, Clone, Copy)]
struct ProgressTotals {
    done: usize,
    total: usize,
}

/// One direction over one link.
struct LinkDeliveryRun<'a, 'b> {
    direction: &'a Direction<'b>,
    name: &'a str,
    link: &'a LinkSpec,
    steps: ProgressTotals,
}

/// The results of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    /// For each message, the time from when it was due until it was decoded, in seconds.
    times: Vec<f64>,
    /// Bytes carried in the messages' direction, from the connection's opening to its end.
    carried: f64,
    /// Doubts about the run.
    doubts: Vec<Doubt>,
}

impl LinkDeliveryRun<'_, '_> {
    /// Delivers with every setting that is compared.
    fn add_to(&self, delivery: &mut LinkDelivery, world: World, work: &mut TuneContext<'_>) -> Result<(), TuneError> {
        let (settings, among) = self.compared(work.options);
        let machine = (world == World::Emulated).then_some("machine");
        let chance: Vec<&str> = self.testbed(work.options).random_sources().chain(machine).collect();
        let runs = match world {
            World::Simulated => {
                let repeats = if chance.is_empty() {
                    1
                } else {
                    work.options.repeats.get()
                };
                self.runs::<sim::World>(&settings, &among, repeats, work)?
            }
            #[cfg(target_os = "linux")]
            World::Emulated => {
                let among = self.messages_within_budget(&among, work.options)?;
                delivery.doubts.extend(self.left_out(&among, work.options));
                self.runs::<lastmile_world::emu::World>(&settings, &among, work.options.repeats.get(), work)?
            }
            #[cfg(not(target_os = "linux"))]
            World::Emulated => {
                return Err(TuneError::World("it needs Linux; leave it out".to_owned()));
            }
        };
        delivery.doubts.extend(disturbances(runs.iter().flatten()));
        let figures = Figures {
            varied: chance.into_iter().map(str::to_owned).collect(),
            seed: self.seed(work.options).derive("intervals"),
        };
        let times = |runs: &[Run]| -> Runs { runs.iter().map(|run| run.times.clone()).collect() };
        let identity = times(&runs[0]);
        delivery
            .outcomes
            .extend(settings.iter().zip(&runs).map(|(setting, runs)| {
                let carried = runs.iter().map(|run| vec![run.carried]).collect();
                let times = times(runs);
                DeliveryOutcome {
                    direction: self.direction.stream.direction,
                    setting: setting.name(),
                    delivery_time: figures.figure("s", "message", &times),
                    link_bytes: figures.figure("B", "run", &carried),
                    saving_against_identity: (setting.codec != MessageCodec::Identity)
                        .then(|| figures.saving(&identity, &times)),
                }
            }));
        Ok(())
    }

    fn seed(&self, options: &Options) -> Seed {
        let direction = self.direction.stream.direction.name();
        options.root().derive("delivery").derive(self.name).derive(direction)
    }

    /// Two hosts that send short messages immediately, as WebSocket implementations do (`TCP_NODELAY`).
    fn testbed(&self, options: &Options) -> TwoHostSpec {
        let mut spec = TwoHostSpec::with_nodelay(self.link.clone());
        spec.client_cpu = CpuSpec {
            slow_down: options.slow_client,
            ..CpuSpec::default()
        };
        spec
    }

    /// Identity, zlib's default, the chosen setting of permessage-deflate and the chosen one of all codecs, without duplicates; and the
    /// messages that they are compared on, which none of their dictionaries was made from.
    fn compared(&self, options: &Options) -> (Vec<Candidate>, Range<usize>) {
        let limits = options.limits();
        let (own, all) = (self.direction.candidates(), self.direction.all_candidates());
        let mut settings = vec![Candidate::identity()];
        settings.extend(own.iter().find(|candidate| candidate.same_as(ZLIB_DEFAULT)).cloned());
        settings.push(own[choose(&own, &limits)].clone());
        settings.push(all[choose(&all, &limits)].clone());
        let mut names = BTreeSet::new();
        settings.retain(|setting| {
            names.insert(setting.name()) && message_schedule::outside_training_set(self.direction, setting).is_some()
        });
        let among = settings
            .iter()
            .filter_map(|setting| message_schedule::outside_training_set(self.direction, setting));
        let start = among.map(|among| among.start).max().unwrap_or_default();
        let end = self.direction.stream.busiest().end;
        (settings, start..end.min(start + MESSAGES_MAX))
    }

    /// The sending and the receiving end.
    fn ends<'s>(&self, seen: &'s ConnectionResult) -> (&'s EndpointResult, &'s EndpointResult) {
        let server = seen.server.as_ref().expect("our own server reports what it saw");
        match self.direction.stream.sender {
            End::Server => (server, &seen.client),
            End::Client => (&seen.client, server),
        }
    }

    fn failed(&self, failure: &Failure) -> TuneError {
        TuneError::Link {
            link: self.name.to_owned(),
            why: failure.to_string(),
        }
    }

    /// All runs, by setting. Settings take turns within each repeat, so that a change of the machine's state affects all of them.
    fn runs<W: TestbedWorld>(
        &self,
        settings: &[Candidate],
        among: &Range<usize>,
        repeats: u64,
        work: &mut TuneContext<'_>,
    ) -> Result<Vec<Vec<Run>>, TuneError> {
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); settings.len()];
        for repeat in 0..repeats {
            for (index, setting) in settings.iter().enumerate() {
                let own =
                    (repeat as usize * settings.len() + index) as f64 / (repeats as usize * settings.len()) as f64;
                work.report_progress(DELIVERING, (self.steps.done as f64 + own) / self.steps.total as f64);
                if work.workers.interrupt.load(Ordering::Relaxed) {
                    return Err(TuneError::Interrupted);
                }
                let key = (!W::IS_EXACT).then(|| self.key(setting, among, repeat, work.options));
                // Runs in real time are stored; a simulated run is faster to repeat than to read back.
                let run = match key.as_ref().and_then(|key| work.kept.find(key)) {
                    Some(run) => run,
                    None => {
                        let run = self.run::<W>(setting, among, repeat, work.options)?;
                        if let Some(key) = &key {
                            work.kept.store(key, &run)?;
                        }
                        run
                    }
                };
                runs[index].push(run);
            }
        }
        Ok(runs)
    }

    fn key(&self, setting: &Candidate, among: &Range<usize>, repeat: u64, options: &Options) -> Key {
        let parameters = format!(
            "delivered, emulated: messages {among:?} of the {:?}, {}, pace {:?}, seed {}, repeat {repeat}, over {:?}",
            self.direction.stream.sender,
            setting.name(),
            options.pace,
            options.seed,
            self.link
        );
        let build = format!("{}; {}", super::result_cache::build(&setting.codec), this_machine());
        Key::new(self.direction.stream.content, &build, parameters)
    }

    /// Delivers once, in a world of its own; the same repeat with another setting has the same random events.
    fn run<W: TestbedWorld>(
        &self,
        setting: &Candidate,
        among: &Range<usize>,
        repeat: u64,
        options: &Options,
    ) -> Result<Run, TuneError> {
        let seed = self.seed(options).derive_index(repeat);
        let mut testbed = TwoHostTestbed::<W>::build(&self.testbed(options), seed)
            .map_err(|failure| TuneError::World(failure.to_string()))?;
        let coding = message_schedule::compression(self.direction, setting);
        let connection_options = if W::IS_EXACT {
            ConnectionOptions {
                compression: coding,
                cpu_cost: Rc::new(CpuCostBySize::new(self.direction, setting)),
            }
        } else {
            ConnectionOptions::without_cpu_cost(coding)
        };
        let conversation = Rc::new(message_schedule::conversation(
            self.direction,
            options.pace,
            setting,
            among,
        ));
        let before = testbed.counters();
        let seen = messaging::run_connections(
            &testbed,
            &conversation,
            &connection_options,
            None,
            seed.derive("clients"),
        );
        let seen = seen.map_err(|failure| self.failed(&failure))?;
        let done = testbed.counters().since(before);
        let carried = match self.direction.stream.sender {
            End::Server => done.bytes_down,
            End::Client => done.bytes_up,
        };
        let (sender, receiver) = self.ends(&seen[0]);
        let deliveries = receiver.deliveries(sender).collect();
        Ok(Run {
            times: receiver.delivery_times(sender).map(|time| time.as_secs_f64()).collect(),
            carried: carried as f64,
            doubts: testbed.doubts_about(&MeasuredTimes::from([("delivery_time".to_owned(), deliveries)])),
        })
    }
}

/// One doubt for all disturbed runs, with the reason of the first.
fn disturbances<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Option<Doubt> {
    let all = runs.clone().count();
    let disturbed: Vec<&Doubt> = runs
        .filter_map(|run| run.doubts.iter().find(|doubt| invalidates(doubt)))
        .collect();
    let first = disturbed.first()?;
    Some(Doubt {
        text: format!("{} of {all} deliveries: {}", disturbed.len(), first.text),
        ..(*first).clone()
    })
}

#[cfg(test)]
mod tests;
