//! Runs the monitor's client on hosts of a world: subscribers, to which events are pushed, and clients that ask for events.

use super::application::instant;
use super::plan::Plan;
use super::runtime::HostRuntime;
use lastmile_monitor::client::{Client as MonitorClient, Lines, MonitorUrl};
use lastmile_monitor::event_json::{AnswerEnd, EventLine};
use lastmile_study::settings::Persistent;
use lastmile_testbed::failure::Failure;
use lastmile_units::Instant;
use lastmile_world::Host;
use std::net::SocketAddrV4;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// What a subscriber received.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// The number of the client, from 0 on.
    pub(super) client: usize,
    /// The events that it stands for: one, or those that a loss event states as lost.
    pub(super) span: u64,
    pub(super) is_loss: bool,
    pub(super) created: Instant,
    pub(super) at: Instant,
    /// What noting the arrival took.
    pub(super) timing: Duration,
}

/// A client on its host.
pub(super) struct Client<H> {
    pub(super) host: H,
    pub(super) number: usize,
    plan: Plan,
    monitor: MonitorClient<HostRuntime<H>>,
}

impl<H: Host> Client<H> {
    pub(super) fn new(host: H, number: usize, monitor: SocketAddrV4, plan: Plan) -> Result<Self, Failure> {
        let url = MonitorUrl::from_str(&format!("http://{monitor}")).map_err(failure)?;
        let runtime = HostRuntime::of_client(host.clone());
        Ok(Self {
            host,
            number,
            monitor: MonitorClient::with_runtime(runtime, url, None).with_codec(plan.codec),
            plan,
        })
    }

    /// Begins a subscription to what comes.
    pub(super) async fn subscribe(&mut self) -> Result<Lines, Failure> {
        let path = format!("/v1/subscribe?from=now&client=client-{}", self.number);
        self.monitor.open_lines(&path).await.map_err(failure)
    }

    /// Asks for `events` events, and reads them; the time that it took, and how many there were.
    pub(super) async fn query(&mut self, events: u64) -> Result<(Range<Instant>, u64), Failure> {
        let begun = self.host.now();
        if self.plan.settings.persistent() == Persistent::Off {
            self.monitor = self.monitor.again();
        }
        let path = format!("/v1/events?limit={events}&client=client-{}", self.number);
        let mut lines = self.monitor.open_lines(&path).await.map_err(failure)?;
        let mut received = 0;
        while let Some(line) = lines.next_line().await.map_err(failure)? {
            if AnswerEnd::parse(&line).is_some_and(|end| !end.complete || end.events != received) {
                return Err(Failure::new("the answer to a query is not whole"));
            }
            if EventLine::parse(&line).map_err(failure)?.is_some() {
                self.host.compute(self.plan.settings.client_cpu_time().0).await;
                received += 1;
            }
        }
        Ok((begun..self.host.now(), received))
    }

    /// Tells of every event that a subscription brings, for ever.
    pub(super) async fn receive(self, mut lines: Lines, tell: UnboundedSender<Arrival>) -> Result<(), Failure> {
        while let Some(line) = lines.next_line().await.map_err(failure)? {
            let Some(event) = EventLine::parse(&line).map_err(failure)? else {
                continue;
            };
            self.host.compute(self.plan.settings.client_cpu_time().0).await;
            let at = self.host.now();
            let mut arrival = Arrival {
                client: self.number,
                span: event.span,
                is_loss: event.subject == lastmile_events::loss::SUBJECT,
                created: instant(event.time_ns),
                at,
                timing: Duration::ZERO,
            };
            arrival.timing = self.host.now().saturating_since(at);
            if tell.send(arrival).is_err() {
                return Ok(());
            }
        }
        Err(Failure::new("a subscription has ended"))
    }
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("a client of the monitor: {error}"))
}
