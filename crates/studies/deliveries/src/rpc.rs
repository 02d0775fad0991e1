//! The delivery `rpc`: calls of text, a bibliography or ticks over the protocols of Ice and CORBA, or in frames of our own.
//!
//! Callers are beyond the link, and the callee is on its near side: calls go down the link, as the documents of a server or the events of
//! its feeds do. A repeat is one *transfer* of one or more calls over connections that stay open (`connection`); those before the first
//! that counts warm them up. `plan` reads the settings, `payload` makes the values, `wire` their bytes
//! (in HTTP by `http_framing`). Every call is compared with what was
//! sent, and decoded.
//!
//! Computing is charged no CPU time: at the rates of slow links a call waits for the link.

mod connection;
mod http_framing;
mod payload;
mod plan;
#[cfg(target_os = "linux")]
mod real_peer;
mod schema;
mod wire;

use crate::over_link::{LinkDelivery, Program, Setup};
use connection::{Session, Transfer};
use lastmile_codec::message::Dictionary;
use lastmile_study::delivery::Refusal;
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::Observation;
use lastmile_study::settings::{Call, Nagle, Payload, Route, Settings};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{TestbedWorld, TwoHostTestbed};
use lastmile_units::{ByteCount, Seed};
use plan::{Compression, Plan};
use std::rc::Rc;
use std::time::Duration;
use wire::{Caller, WireSpec};

/// The delivery `rpc`.
pub(crate) struct Rpc;

impl LinkDelivery for Rpc {
    const NAME: &'static str = "rpc";
    const CARRIES: &'static str = "calls, whose values the setting payload names";
    const ABOUT: &'static str = "Remote calls over connections that stay open, in the protocols of Ice and CORBA, in HTTP, or in frames of our own.";
    /// Ice and omniORB set TCP_NODELAY.
    const NAGLE: Nagle = Nagle::Off;
    type Plan = Plan;

    fn plan(&self, settings: &Settings) -> Result<Plan, Refusal> {
        if settings.delivered().is_some() {
            return Err(Refusal::Workload);
        }
        Ok(Plan::of(settings)?)
    }

    fn expected_time(&self, plan: &Plan) -> Duration {
        // Making, framing and simulating a call of a few kilobytes takes about 50 us: our own estimate.
        Duration::from_micros(50).saturating_mul(u32::try_from(plan.calls).unwrap_or(u32::MAX))
    }

    fn figures(&self, plan: &Plan) -> &'static [&'static Figure] {
        match plan.real {
            Some(_) => FIGURES_OF_PEERS,
            None => FIGURES,
        }
    }

    fn prepare<'a, W: TestbedWorld>(
        &'a self,
        plan: &'a Plan,
        testbed: &TwoHostTestbed<W>,
        setup: &Setup,
    ) -> Result<Program<'a, W>, Failure> {
        #[cfg(target_os = "linux")]
        if let Some(real) = &plan.real {
            let mut calls = real_peer::RealCalls::start(plan, real, testbed)?;
            return Ok(Box::new(move |testbed, _| calls.repeat(testbed)));
        }
        let spec = WireSpec::new(plan, dictionary(plan)?);
        let mut state = State {
            plan: Rc::new(plan.clone()),
            spec,
            seed: setup.workload,
            transfers: 0,
            session: None,
        };
        Ok(Box::new(move |testbed, _| state.repeat(testbed)))
    }
}

/// The figures of a transfer.
const FIGURES: &[&Figure] = &[
    figure::TRANSFER_TIME,
    figure::PREDICTED_TIME,
    figure::DELIVERY_TIME,
    figure::MESSAGES,
    figure::MESSAGE_BYTES,
    figure::SETUP_BYTES,
    figure::LINK_BYTES_DOWN,
    figure::LINK_BYTES_UP,
    figure::RETRANSMISSIONS,
    figure::QUEUE_DROPS,
    figure::LINK_LOSSES,
];

/// The figures of real programs.
const FIGURES_OF_PEERS: &[&Figure] = &[
    figure::TRANSFER_TIME,
    figure::PREDICTED_TIME,
    figure::MESSAGE_BYTES,
    figure::LINK_BYTES_DOWN,
    figure::LINK_BYTES_UP,
];

/// What the repeats in one world share.
struct State<W: TestbedWorld> {
    plan: Rc<Plan>,
    spec: WireSpec,
    seed: Seed,
    /// The transfers so far, which seed the values of the next.
    transfers: u64,
    /// The connections, once they are open.
    session: Option<Session<W::Host>>,
}

impl<W: TestbedWorld> State<W> {
    /// Runs one repeat: a transfer.
    fn repeat(&mut self, testbed: &TwoHostTestbed<W>) -> Result<Observation, Failure> {
        if self.session.is_none() {
            let (caller, callee) = (testbed.server.clone(), testbed.client.clone());
            let connections = match self.plan.route {
                Route::Direct => self.plan.back_ends,
                Route::Router => 1,
            };
            let opened = testbed.run(Session::open(caller, callee, self.spec.clone(), connections))??;
            self.session = Some(opened);
            for _ in 0..self.plan.warm_up {
                self.transfer(testbed)?;
            }
        }
        let before = testbed.counters();
        let transfer = self.transfer(testbed)?;
        let done = testbed.counters().since(before);
        let mut observation = Observation::default();
        if let Some(time) = self.plan.predicted_time(transfer.message_bytes) {
            observation.sample(figure::PREDICTED_TIME, time.as_secs_f64());
        }
        observation.sample_time(figure::TRANSFER_TIME, transfer.span);
        observation.sample(figure::MESSAGES, transfer.deliveries.len() as f64);
        for delivery in transfer.deliveries {
            observation.sample_time(figure::DELIVERY_TIME, delivery);
        }
        observation.sample(figure::MESSAGE_BYTES, transfer.message_bytes as f64);
        observation.sample(figure::SETUP_BYTES, transfer.setup_bytes as f64);
        observation.sample(figure::LINK_BYTES_DOWN, done.bytes_down as f64);
        observation.sample(figure::LINK_BYTES_UP, done.bytes_up as f64);
        observation.sample(figure::RETRANSMISSIONS, done.retransmissions as f64);
        observation.sample(figure::QUEUE_DROPS, done.queue_drops as f64);
        observation.sample(figure::LINK_LOSSES, done.link_losses as f64);
        if self.plan.values.payload != Payload::Text || self.plan.values.shuffles || self.plan.calls > 1 {
            observation.vary("content");
        }
        Ok(observation)
    }

    /// Makes the calls of the next transfer.
    fn transfer(&mut self, testbed: &TwoHostTestbed<W>) -> Result<Transfer, Failure> {
        let plan = Rc::clone(&self.plan);
        let calls = plan.values.calls(plan.calls, self.seed.derive_index(self.transfers))?;
        self.transfers += 1;
        let session = self.session.take();
        let mut session = session.ok_or_else(|| Failure::new("an earlier transfer failed"))?;
        let (session, transfer) = testbed.run(async move {
            let transfer = session.transfer(&plan, &calls).await;
            (session, transfer)
        })?;
        self.session = Some(session);
        transfer
    }
}

/// The dictionary of a plan that has one: trained on messages with other values of the same kind.
fn dictionary(plan: &Plan) -> Result<Option<Dictionary>, Failure> {
    let Compression::Frames { dictionary: true, .. } = plan.compression else {
        return Ok(None);
    };
    // The samples are messages of a connection without compression.
    let plain = Plan {
        compression: Compression::None,
        ..plan.clone()
    };
    let mut caller = Caller::new(&WireSpec::new(&plain, None))?;
    let seed = Seed::new(0).derive("rpc-dictionary");
    let calls = plan.values.calls(DICTIONARY_SAMPLES, seed)?;
    let messages: Vec<Vec<u8>> = match plan.call {
        Call::OneWay => calls
            .chunks(plan.batch.calls.get().min(DICTIONARY_SAMPLES))
            .map(|calls| caller.one_ways(calls))
            .collect(),
        Call::TwoWay | Call::Pipelined => calls.iter().map(|call| caller.two_way(call)).collect(),
    };
    let trained = Dictionary::train(&messages, DICTIONARY_SIZE);
    trained.map(Some).map_err(|error| {
        Failure::new(format!(
            "no dictionary can be trained on {} messages: {error}",
            messages.len()
        ))
    })
}

/// Our own choices.
const DICTIONARY_SAMPLES: usize = 500;
const DICTIONARY_SIZE: ByteCount = ByteCount::new(2048);

#[cfg(test)]
mod tests;
