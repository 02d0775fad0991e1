//! The delivery `websocket`: a transcript's messages over WebSocket.
//!
//! Messages that the recording side sent go from the server to the client, those it received from the client to the server; each of the
//! transcript's connections is a WebSocket connection of its own (`lastmile_testbed::messaging`). `schedule` schedules the messages, `cpu_cost` is the
//! CPU time of compressing them, `peer` starts a real server. Every message is compared with the expected one: a lost or altered message
//! fails the repeat.
//!
//! Only compression and decompression are charged CPU time: masking, framing and the rest of a program are not in the cost table.

mod cpu_cost;
mod peer;
mod plan;
mod schedule;

use crate::over_link::{LinkDelivery, Program, Setup, observe_link, workload};
use crate::server_under_test::ServerUnderTest;
use lastmile_study::delivery::Refusal;
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::Observation;
use lastmile_study::settings::{Nagle, Settings};
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::messaging::{self, ConnectionOptions, ConnectionResult, Conversation, EndpointResult};
use lastmile_testbed::testbed::{TestbedWorld, TwoHostTestbed};
use lastmile_units::{ByteCount, Instant, Seed};
use lastmile_world::Host;
use plan::Plan;
use schedule::Schedule;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// The delivery `websocket`.
pub(crate) struct WebSocket;

impl LinkDelivery for WebSocket {
    const NAME: &'static str = "websocket";
    const CARRIES: &'static str = "messages";
    const ABOUT: &'static str = "Messages over WebSocket, with permessage-deflate or a codec of the application.";
    /// WebSocket libraries set TCP_NODELAY.
    const NAGLE: Nagle = Nagle::Off;
    type Plan = Plan;

    fn plan(&self, settings: &Settings) -> Result<Plan, Refusal> {
        if workload(settings)?.decoder().is_some() {
            return Err(Refusal::Workload);
        }
        Ok(Plan::of(settings)?)
    }

    fn expected_time(&self, plan: &Plan) -> Duration {
        plan.messages.expected_time()
    }

    fn figures(&self, _plan: &Plan) -> &'static [&'static Figure] {
        FIGURES
    }

    fn has_seeded_content(&self, plan: &Plan) -> bool {
        !plan.messages.is_recorded()
    }

    fn prepare<'a, W: TestbedWorld>(
        &'a self,
        plan: &'a Plan,
        testbed: &TwoHostTestbed<W>,
        setup: &Setup,
    ) -> Result<Program<'a, W>, Failure> {
        let schedule = Schedule::from_workload(plan, setup.workload)?;
        let served = peer::serve(testbed, plan, &schedule)?;
        let costs = Rc::clone(&setup.costs);
        Ok(Box::new(move |testbed, compute| {
            run(testbed, plan, &schedule, &served, &costs, compute)
        }))
    }
}

/// The figures of a conversation.
const FIGURES: &[&Figure] = &[
    figure::DELIVERY_TIME,
    figure::HANDSHAKE_TIME,
    figure::TRANSFER_TIME,
    figure::MESSAGES,
    figure::MESSAGE_BYTES,
    figure::COMPRESSED_BYTES,
    figure::COMPRESSION_RATIO,
    figure::LINK_BYTES,
    figure::LINK_BYTES_UP,
    figure::RETRANSMISSIONS,
    figure::QUEUE_DROPS,
    figure::LINK_LOSSES,
    figure::SERVER_CPU_TIME,
    figure::CLIENT_CPU_TIME,
];

/// Runs one repeat; `compute` seeds the CPU times, and the nonces and masks of clients.
fn run<W: TestbedWorld>(
    testbed: &TwoHostTestbed<W>,
    plan: &Plan,
    schedule: &Schedule,
    served: &ServerUnderTest,
    costs: &Rc<CostTable>,
    compute: Seed,
) -> Result<Observation, Failure> {
    let conversation = &schedule.conversation;
    let mut observation = Observation::default();
    let connection_options = ConnectionOptions {
        compression: plan.compression.clone(),
        cpu_cost: cpu_cost::pricing(plan.messages.codec, costs, compute.derive("coding"), &mut observation),
    };
    let (before, worked_before) = (testbed.counters(), served.cpu_time()?);
    let start = testbed.client.now();
    let connections = messaging::run_connections(
        testbed,
        conversation,
        &connection_options,
        served.port(),
        compute.derive("clients"),
    )?;
    let done = testbed.counters().since(before);
    observe(testbed, conversation, start, &connections, &mut observation);
    observe_link(&done, &mut observation);
    observation.sample(figure::LINK_BYTES_UP, done.bytes_up as f64);
    observation.sample(figure::LINK_LOSSES, done.link_losses as f64);
    let server_cpu = served.cpu_time_since(worked_before, done.server_cpu)?;
    observation.sample(figure::SERVER_CPU_TIME, server_cpu.as_secs_f64());
    observation.sample(figure::CLIENT_CPU_TIME, done.client_cpu.as_secs_f64());
    observation.doubts.extend(schedule.doubt(&plan.server));
    if !costs.is_free() {
        observation.vary("calibration");
    }
    Ok(observation)
}

/// Adds the figures that both ends measured.
fn observe<W: TestbedWorld>(
    testbed: &TwoHostTestbed<W>,
    conversation: &Conversation,
    start: Instant,
    connections: &[ConnectionResult],
    observation: &mut Observation,
) {
    let mut handshake = start..start;
    let mut last = start;
    let mut carried = ByteCount::ZERO;
    for (connection, seen) in conversation.connections.iter().zip(connections) {
        let at_client = seen.client.opening.at;
        if at_client.saturating_since(seen.began) > handshake.end - handshake.start {
            handshake = seen.began..at_client;
        }
        let mut deliver = |deliveries: &mut dyn Iterator<Item = Range<Instant>>, receiver: &EndpointResult| {
            deliveries.for_each(|delivery| observation.sample_time(figure::DELIVERY_TIME, delivery));
            last = receiver.complete.iter().copied().max().unwrap_or(last).max(last);
            carried += receiver.compressed_bytes;
        };
        match &seen.server {
            Some(server) => {
                deliver(&mut seen.client.deliveries(server), &seen.client);
                deliver(&mut server.deliveries(&seen.client), server);
            }
            None => {
                // A real server's end is not observed. It opened earlier than ours by the time of its response over an idle link.
                let earlier = testbed.idle_transit_time_down(seen.client.opening.head);
                let messages = connection.down.iter().zip(&seen.client.complete);
                let mut deliveries =
                    messages.map(|(message, complete)| at_client + message.due.fixed_delay()..*complete + earlier);
                deliver(&mut deliveries, &seen.client);
            }
        }
    }
    let plain = conversation.bytes();
    observation.sample_time(figure::HANDSHAKE_TIME, handshake);
    observation.sample_time(figure::TRANSFER_TIME, start..last);
    observation.sample(figure::MESSAGES, conversation.messages() as f64);
    observation.sample(figure::MESSAGE_BYTES, plain.as_f64());
    observation.sample(figure::COMPRESSED_BYTES, carried.as_f64());
    if plain > ByteCount::ZERO {
        observation.sample(figure::COMPRESSION_RATIO, carried.as_f64() / plain.as_f64());
    }
}

#[cfg(test)]
pub(crate) mod tests;
