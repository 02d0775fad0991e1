//! When are messages there, over a link, under the chosen setting, the usual one, and none?
//!
//! Each direction's busiest connection is delivered over WebSocket (`crate::websocket`), the beginning of it where it is long, in fresh
//! contexts: in the simulated world, where computing is charged as it was timed, by a message's share of the octets; in the emulated one,
//! where it takes its time by itself and so do messages, which bounds how many are sent (`budget`). What chance does to a link is the same
//! under every setting, so that settings are compared message by message. `outgoing` says which messages are sent, and when.

mod budget;
mod outgoing;

use super::candidate::{Candidate, USUAL};
use super::choose::choose;
use super::direction::Direction;
use super::kept::Key;
use super::recording::{End, Recording};
use super::{Options, Pace, Phase, TuneError, Work, answer, words};
use crate::advise::answer::description;
use crate::advise::figures::{Figures, Runs};
use crate::cost::this_machine;
use crate::observation::Failure;
use crate::settings::World;
use crate::site::{Laboratory, Site, SiteSpec};
use crate::websocket::{self, Ended, Seen, Server, Terms};
use lastmile_link::LinkSpec;
use lastmile_payload::message_codec::MessageCodec;
use lastmile_report::record::Doubt;
use lastmile_report::tune::{DeliveryOutcome, LinkDelivery};
use lastmile_units::Seed;
use lastmile_world::sim::{self, CpuSpec};
use outgoing::{Sending, Shares};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// No more messages of a connection are delivered: our own choice. The 95th percentile of so many is known to within some per cent.
const MESSAGES_MOST: usize = 1000;

/// Delivers every direction over every link, in every world that is asked for.
pub(super) fn deliver(
    recording: &Recording,
    directions: &[Direction<'_>],
    work: &mut Work<'_>,
) -> Result<Vec<LinkDelivery>, TuneError> {
    let options = work.options;
    let mut links = Vec::new();
    let mut steps = Steps {
        done: 0,
        all: options.links.len() * options.worlds.len() * directions.len(),
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
                chosen.push((answer::direction(direction.stream.direction), setting));
                let deliveries = Deliveries {
                    direction,
                    sender: recording.sender(direction.stream.direction),
                    name,
                    link,
                    steps,
                };
                deliveries.add_to(&mut delivery, *world, work)?;
                steps.done += 1;
            }
            delivery.summary = words::of_link(&place(name, *world, options), &delivery.outcomes, &chosen);
            links.push(delivery);
        }
    }
    Ok(links)
}

/// A link by its name, and by its world where that is not clear without.
fn place(name: &str, world: World, options: &Options) -> String {
    match world {
        World::Emulated => format!("{name}, emulated"),
        World::Simulated if options.worlds.contains(&World::Emulated) => format!("{name}, simulated"),
        World::Simulated => name.to_owned(),
    }
}

/// What makes a delivery suspect before it is begun.
fn doubts(directions: &[Direction<'_>], options: &Options, world: World) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let untimed = |direction: &Direction<'_>| !outgoing::are_timed(direction, direction.stream.busiest());
    if options.pace == Pace::Recorded && directions.iter().any(untimed) {
        doubts.push(doubt(
            "no-times",
            "the transcript does not say when messages were sent: each is sent once the one before has been decoded, and none waits \
             for another"
                .to_owned(),
        ));
    }
    if world == World::Emulated && options.slow_client != 1.0 {
        doubts.push(doubt(
            "fast-client",
            "both ends compute as fast as this machine: a slower client can be had in the simulated world alone"
                .to_owned(),
        ));
    }
    if world == World::Simulated && directions.iter().any(|own| own.stream.busiest().len() > MESSAGES_MOST) {
        doubts.push(doubt(
            "beginning-only",
            format!("only the first {MESSAGES_MOST} messages of a connection are delivered"),
        ));
    }
    doubts
}

fn doubt(kind: &str, text: String) -> Doubt {
    Doubt {
        kind: kind.to_owned(),
        text,
    }
}

/// Directions, links and worlds that have been delivered, and all.
#[derive(Debug, Clone, Copy)]
struct Steps {
    done: usize,
    all: usize,
}

/// One direction over one link.
struct Deliveries<'a, 'b> {
    direction: &'a Direction<'b>,
    sender: End,
    name: &'a str,
    link: &'a LinkSpec,
    steps: Steps,
}

/// What a run showed.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    /// Of each message: from when it was due until it was decoded, in seconds.
    times: Vec<f64>,
    /// What the link carried in the messages' direction, from the connection's beginning to its end.
    carried: f64,
    /// What makes it suspect.
    doubts: Vec<Doubt>,
}

impl Deliveries<'_, '_> {
    /// Delivers under every setting that is compared.
    fn add_to(&self, delivery: &mut LinkDelivery, world: World, work: &mut Work<'_>) -> Result<(), TuneError> {
        let (settings, among) = self.compared(work.options);
        let machine = (world == World::Emulated).then_some("machine");
        let chance: Vec<&str> = self.site(work.options).chance().chain(machine).collect();
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
                let among = self.fitting(&among, work.options)?;
                delivery.doubts.extend(self.left_out(&among, work.options));
                self.runs::<lastmile_world::emu::World>(&settings, &among, work.options.repeats.get(), work)?
            }
            #[cfg(not(target_os = "linux"))]
            World::Emulated => {
                return Err(TuneError::World(
                    "it is made of what Linux alone has; leave it out".to_owned(),
                ));
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
                    direction: answer::direction(self.direction.stream.direction),
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
        let direction = answer::direction(self.direction.stream.direction).name();
        options.root().derive("delivery").derive(self.name).derive(direction)
    }

    /// Two hosts that send short messages at once, as implementations of WebSocket have it (`TCP_NODELAY`).
    fn site(&self, options: &Options) -> SiteSpec {
        let mut spec = SiteSpec::sending_at_once(self.link.clone());
        spec.client_cpu = CpuSpec {
            slow_down: options.slow_client,
            ..CpuSpec::default()
        };
        spec
    }

    /// Identity, the usual setting, the chosen one of permessage-deflate and the chosen one of all, each once; and the messages that they
    /// are compared on, which no dictionary of theirs was learnt from.
    fn compared(&self, options: &Options) -> (Vec<Candidate>, Range<usize>) {
        let limits = options.limits();
        let (own, all) = (self.direction.candidates(), self.direction.all_candidates());
        let mut settings = vec![Candidate::identity()];
        settings.extend(own.iter().find(|candidate| candidate.is(USUAL)).cloned());
        settings.push(own[choose(&own, &limits)].clone());
        settings.push(all[choose(&all, &limits)].clone());
        let mut told = Vec::new();
        settings.retain(|setting| {
            let new = !told.contains(&setting.name());
            told.push(setting.name());
            new && outgoing::not_learnt_from(self.direction, setting).is_some()
        });
        let among = settings
            .iter()
            .filter_map(|setting| outgoing::not_learnt_from(self.direction, setting));
        let start = among.map(|among| among.start).max().unwrap_or_default();
        let end = self.direction.stream.busiest().end;
        (settings, start..end.min(start + MESSAGES_MOST))
    }

    fn sending(&self, options: &Options) -> Sending<'_, '_> {
        Sending {
            direction: self.direction,
            sender: self.sender,
            pace: options.pace,
        }
    }

    /// Who sends, and who receives.
    fn ends<'s>(&self, seen: &'s Seen) -> (&'s Ended, &'s Ended) {
        let server = seen.server.as_ref().expect("our own server says what it saw");
        match self.sender {
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

    /// Every run under every setting, setting by setting. They take turns, so that what changes meanwhile changes for all.
    fn runs<W: Laboratory>(
        &self,
        settings: &[Candidate],
        among: &Range<usize>,
        repeats: u64,
        work: &mut Work<'_>,
    ) -> Result<Vec<Vec<Run>>, TuneError> {
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); settings.len()];
        for repeat in 0..repeats {
            for (place, setting) in settings.iter().enumerate() {
                let own =
                    (repeat as usize * settings.len() + place) as f64 / (repeats as usize * settings.len()) as f64;
                work.tell(
                    Phase::Delivering,
                    (self.steps.done as f64 + own) / self.steps.all as f64,
                );
                if work.workers.interrupt.load(Ordering::Relaxed) {
                    return Err(TuneError::Interrupted);
                }
                let key = (!W::IS_EXACT).then(|| self.key(setting, among, repeat, work.options));
                // What takes real time is kept; what is simulated is made anew sooner than it is read.
                let run = match key.as_ref().and_then(|key| work.kept.find(key)) {
                    Some(run) => run,
                    None => {
                        let run = self.run::<W>(setting, among, repeat, work.options)?;
                        if let Some(key) = &key {
                            work.kept.keep(key, &run)?;
                        }
                        run
                    }
                };
                runs[place].push(run);
            }
        }
        Ok(runs)
    }

    fn key(&self, setting: &Candidate, among: &Range<usize>, repeat: u64, options: &Options) -> Key {
        let parameters = format!(
            "delivered, emulated: messages {among:?} of the {:?}, {}, pace {:?}, seed {}, repeat {repeat}, over {:?}",
            self.sender,
            setting.name(),
            options.pace,
            options.seed,
            self.link
        );
        let build = format!("{}; {}", super::direction::build(&setting.codec), this_machine());
        Key::new(self.direction.stream.content, &build, parameters)
    }

    /// Delivers once, in a world of its own; the same repeat of another setting has the same chance.
    fn run<W: Laboratory>(
        &self,
        setting: &Candidate,
        among: &Range<usize>,
        repeat: u64,
        options: &Options,
    ) -> Result<Run, TuneError> {
        let seed = self.seed(options).derive_index(repeat);
        let mut site =
            Site::<W>::build(&self.site(options), seed).map_err(|failure| TuneError::World(failure.to_string()))?;
        let sending = self.sending(options);
        let coding = sending.coding(setting);
        let terms = if W::IS_EXACT {
            Terms {
                coding,
                pricing: Rc::new(Shares::of(self.direction, setting)),
            }
        } else {
            Terms::unpriced(coding)
        };
        let conversation = Rc::new(sending.conversation(setting, among));
        let before = site.tally();
        let seen = websocket::converse(&site, &conversation, &terms, Server::Ours, seed.derive("clients"));
        let seen = seen.map_err(|failure| self.failed(&failure))?;
        let done = site.tally().since(before);
        let carried = match self.sender {
            End::Server => done.bytes_down,
            End::Client => done.bytes_up,
        };
        let (sender, receiver) = self.ends(&seen[0]);
        Ok(Run {
            times: receiver.delivery_times(sender).map(|time| time.as_secs_f64()).collect(),
            carried: carried as f64,
            doubts: site.doubts(),
        })
    }
}

/// That runs were disturbed, once, with what befell the first.
fn disturbances<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Option<Doubt> {
    let all = runs.clone().count();
    let disturbed: Vec<&Doubt> = runs
        .filter_map(|run| run.doubts.iter().find(|told| crate::doubt::invalidates(told)))
        .collect();
    let first = disturbed.first()?;
    Some(Doubt {
        text: format!("{} of {all} deliveries: {}", disturbed.len(), first.text),
        ..(*first).clone()
    })
}

#[cfg(test)]
mod tests;
