//! Starts a real server with the messages that it delivers.

use super::plan::Plan;
use super::schedule::Schedule;
use crate::server_under_test::{ServerJob, ServerUnderTest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lastmile_codec::message::Kind;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::messaging::{Clients, ConnectionOptions, ScheduledMessage};
use lastmile_testbed::testbed::{TestbedWorld, TwoHostTestbed};
use lastmile_units::Seed;
use std::time::Duration;

/// The number of warm-up connections. Our own choice.
const WARM_UP: usize = 20;

/// The file whose messages peers deliver.
const FILE: &str = "messages.jsonl";

/// Starts the server of the plan, with the messages to send. For a real server, connections are first opened over its own
/// loopback and dropped, since a just-in-time compiler needs some to settle.
pub(super) fn serve<W: TestbedWorld>(
    testbed: &TwoHostTestbed<W>,
    plan: &Plan,
    schedule: &Schedule,
) -> Result<ServerUnderTest, Failure> {
    let connections = &schedule.conversation.connections;
    let messages = || connections.iter().flat_map(|connection| &connection.down);
    let service = || {
        let is_timed = messages().any(|message| message.due.fixed_delay() > Duration::ZERO);
        let lines: String = messages()
            .map(|message| line(message, is_timed))
            .collect::<Result<_, _>>()?;
        Ok(ServerJob {
            operation: "deliver",
            file: (FILE, lines.into_bytes()),
            options: vec![("message_compression", plan.messages.codec.to_string())],
        })
    };
    ServerUnderTest::start(testbed, &testbed.server, &plan.server, service, |address| {
        let clients = Clients {
            host: testbed.server.clone(),
            address,
            options: ConnectionOptions::without_cpu_cost(plan.compression.clone()),
            seed: Seed::new(0),
        };
        async move { clients.open_sequentially(WARM_UP).await }
    })
}

/// A message in the format that peers read, one per line.
fn line(message: &ScheduledMessage, is_timed: bool) -> Result<String, Failure> {
    let mut fields = serde_json::Map::new();
    let (opcode, data) = match message.kind {
        Kind::Text => match std::str::from_utf8(&message.payload) {
            Ok(text) => (1, text.to_owned()),
            Err(error) => return Err(Failure::new(format!("a text message is not UTF-8: {error}"))),
        },
        Kind::Binary => (2, STANDARD.encode(&message.payload)),
    };
    fields.insert("opcode".to_owned(), opcode.into());
    fields.insert("data".to_owned(), data.into());
    if is_timed {
        fields.insert("time".to_owned(), message.due.fixed_delay().as_secs_f64().into());
    }
    Ok(serde_json::Value::Object(fields).to_string() + "\n")
}
