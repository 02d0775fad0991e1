//! Calls between real programs over the link of a cell: the server and the client of a peer, such as Ice or gRPC.
//!
//! The client runs on the far side of the link and the server on its near side, as our callers and callee do. A client says how long each call
//! took; bytes are those of a capture on the server's host, each counted once. A program of a few calls and one of many differ by those calls alone, so that
//! opening the connection does not count.

use super::plan::{Plan, RealPeer};
use lastmile_capture::analyse;
use lastmile_study::figure;
use lastmile_study::observation::Observation;
use lastmile_study::settings::Payload;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::peer::{Inputs, PeerSpec, Server};
use lastmile_testbed::testbed::{CLIENT, CaptureFile, TestbedWorld, TwoHostTestbed};
use lastmile_units::Seed;
use lastmile_workload::{bibliography, call_values, prose, ticks};
use lastmile_world::Host as _;
use serde_json::Value;
use std::collections::VecDeque;
use std::fs;
use std::io::{BufReader, Write as _};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// The port of peers: ports below 1024 need a privilege.
const PORT: u16 = 8080;
/// How many calls that count a client makes at a time.
const CALLS_MEASURED: u32 = 20;
/// The calls, and the ticks, of the program that the others are compared with.
const CALLS_FEW: u32 = 1;
const TICKS_FEW: usize = 10;
/// The longest time that a client may take: our own choice.
const LIMIT: Duration = Duration::from_secs(900);

/// A peer's server that runs, and what its clients measured.
pub(super) struct RealCalls {
    // Declared first, so that it is stopped before its folders are removed.
    _server: Server,
    folders: TempDir,
    peer: PeerSpec,
    plan: Plan,
    real: RealPeer,
    clients: u32,
    /// Of a run with few calls; none before it.
    few: Option<LinkTotals>,
    measured: VecDeque<f64>,
    per_transfer: LinkTotals,
    /// The packets at the server's host.
    capture: CaptureFile,
    /// The payload of earlier clients in it.
    captured: f64,
}

/// What the link carried.
#[derive(Debug, Clone, Copy, Default)]
struct LinkTotals {
    payload_down: f64,
    bytes_down: f64,
    bytes_up: f64,
}

impl LinkTotals {
    fn less(self, other: Self, transfers: f64) -> Self {
        Self {
            payload_down: (self.payload_down - other.payload_down) / transfers,
            bytes_down: (self.bytes_down - other.bytes_down) / transfers,
            bytes_up: (self.bytes_up - other.bytes_up) / transfers,
        }
    }
}

impl RealCalls {
    /// Starts the server on the callee's host.
    pub(super) fn start<W: TestbedWorld>(
        plan: &Plan,
        real: &RealPeer,
        testbed: &TwoHostTestbed<W>,
    ) -> Result<Self, Failure> {
        let folders = TempDir::with_prefix("lastmile-").map_err(Failure::from_error)?;
        let entries = bibliography::entries(bibliography::ENTRIES, Seed::new(1));
        for (folder, count) in [(FEW, TICKS_FEW), (MANY, plan.calls)] {
            let folder = folders.path().join(folder);
            fs::create_dir(&folder).map_err(Failure::from_error)?;
            let files = call_values::files(&prose::lines(), &entries, &ticks::ticks(count, Seed::new(1)));
            for (name, content) in files.map_err(Failure::from_error)? {
                fs::write(folder.join(name), content).map_err(Failure::from_error)?;
            }
        }
        let peer = PeerSpec::named(real.name.as_str()).map_err(Failure::from_error)?;
        let mut calls = Self::inputs(&folders, real, plan, "server", MANY)?;
        let address = testbed.client.address(PORT);
        (calls.host, calls.port) = (*address.ip(), PORT);
        let server = testbed
            .world
            .in_namespace_of(&testbed.client, || peer.start(&calls, &|_command| Ok(())))?
            .map_err(Failure::from_error)?;
        let capture = match testbed.capture_at(CLIENT) {
            Some(capture) => capture,
            None => {
                let capture = CaptureFile::create(&folders.path().join("calls.pcapng"));
                let capture = capture.map_err(Failure::from_error)?;
                let begun = testbed.world.capture(&testbed.client, Box::new(capture.clone()));
                begun.map_err(Failure::from_error)?;
                capture
            }
        };
        Ok(Self {
            _server: server,
            folders,
            capture,
            captured: 0.0,
            peer,
            plan: plan.clone(),
            real: real.clone(),
            clients: 0,
            few: None,
            measured: VecDeque::new(),
            per_transfer: LinkTotals::default(),
        })
    }

    fn inputs(folders: &TempDir, real: &RealPeer, plan: &Plan, state: &str, data: &str) -> Result<Inputs, Failure> {
        let state: PathBuf = folders.path().join(state);
        fs::create_dir(&state).map_err(Failure::from_error)?;
        let operation = match plan.values.payload {
            Payload::Text => "text",
            Payload::Bibliography => "bibliography",
            Payload::Ticks if plan.batch.calls.get() > 1 => "batch",
            Payload::Ticks => "ticks",
        };
        Ok(Inputs::new(operation, folders.path().join(data), state).with("message_compression", real.compression))
    }

    /// Runs a client to its end, and returns how long its calls took and what the link carried for it.
    fn client<W: TestbedWorld>(
        &mut self,
        testbed: &TwoHostTestbed<W>,
        calls: u32,
        data: &str,
    ) -> Result<(Vec<f64>, LinkTotals), Failure> {
        let state = format!("client-{}", self.clients);
        self.clients += 1;
        let mut inputs = Self::inputs(&self.folders, &self.real, &self.plan, &state, data)?.with("calls", &calls);
        let address = testbed.client.address(PORT);
        (inputs.host, inputs.port) = (*address.ip(), PORT);
        let peer = self.peer.clone();
        let before = testbed.world.link_counters(testbed.link);
        let output = testbed.world.run_in_namespace_of(&testbed.server, LIMIT, move || {
            peer.run_within(LIMIT, &inputs, &|_command| Ok(()))
        })?;
        let output = output.map_err(Failure::from_error)?;
        let after = testbed.world.link_counters(testbed.link);
        let down = (after.0.bytes_delivered - before.0.bytes_delivered).as_f64();
        let captured = self.payload_captured()?;
        let payload_down = captured - std::mem::replace(&mut self.captured, captured);
        let times = output.iter().filter(|event| event["event"] == "call");
        let seconds = |event: &Value| {
            let nanoseconds = event["dur_ns"].as_f64().filter(|_| event["ok"] == true);
            nanoseconds
                .map(|nanoseconds| nanoseconds / 1e9)
                .ok_or_else(|| Failure::new(format!("a call failed: {event}")))
        };
        Ok((
            times.map(seconds).collect::<Result<_, _>>()?,
            LinkTotals {
                payload_down,
                bytes_down: down,
                bytes_up: (after.1.bytes_delivered - before.1.bytes_delivered).as_f64(),
            },
        ))
    }

    /// The payload that all clients so far have sent to the server, in bytes; what was sent again counts once.
    fn payload_captured(&self) -> Result<f64, Failure> {
        let mut capture = self.capture.clone();
        capture.flush().map_err(Failure::from_error)?;
        let file = fs::File::open(self.capture.path()).map_err(Failure::from_error)?;
        let read = analyse(BufReader::new(file), "the capture of a real program");
        let flows = read.map_err(Failure::from_error)?.tcp;
        Ok(flows.iter().map(|flow| flow.up.payload_once.as_f64()).sum())
    }

    /// One transfer: a call of a document, or all ticks of a client.
    pub(super) fn repeat<W: TestbedWorld>(&mut self, testbed: &TwoHostTestbed<W>) -> Result<Observation, Failure> {
        let is_ticks = self.plan.values.payload == Payload::Ticks;
        let few = match self.few {
            Some(few) => few,
            None => self.client(testbed, CALLS_FEW, FEW)?.1,
        };
        self.few = Some(few);
        if self.measured.is_empty() {
            let warm_up = if is_ticks { 0 } else { self.plan.warm_up };
            let calls = if is_ticks { 1 } else { warm_up + CALLS_MEASURED };
            let (times, carried) = self.client(testbed, calls, MANY)?;
            let transfers = if is_ticks {
                1.0 - TICKS_FEW as f64 / self.plan.calls as f64
            } else {
                f64::from(calls - CALLS_FEW)
            };
            self.per_transfer = carried.less(few, transfers);
            self.measured.extend(times.iter().skip(warm_up as usize));
        }
        let time = self.measured.pop_front();
        let time = time.ok_or_else(|| Failure::new("the client reported no call"))?;
        let carried = self.per_transfer;
        let mut observation = Observation::default();
        if let Some(predicted) = self.plan.predicted_time(carried.payload_down.round() as u64) {
            observation.sample(figure::PREDICTED_TIME, predicted.as_secs_f64());
        }
        observation.sample(figure::TRANSFER_TIME, time);
        observation.sample(figure::MESSAGE_BYTES, carried.payload_down);
        observation.sample(figure::LINK_BYTES_DOWN, carried.bytes_down);
        observation.sample(figure::LINK_BYTES_UP, carried.bytes_up);
        Ok(observation)
    }
}

/// The folders of values.
const FEW: &str = "few";
const MANY: &str = "many";
