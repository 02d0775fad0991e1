//! The delivery `http/1.1`: objects from a server, with or without a compression filter.
//!
//! The client opens a connection and requests the objects in one HTTP/1.1 request; the server writes them as it makes them, through the
//! filter; the client decodes them as they arrive. Times run from opening the connection to the last object.

mod client;
mod plan;
mod servlet;

use crate::cpu_charge::CpuCharge;
use crate::over_link::{CPU_PER_REPEAT, LinkDelivery, Program, Setup, observe_link, workload};
use crate::server_under_test::{ServerJob, ServerUnderTest};
use lastmile_study::delivery::Refusal;
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::Observation;
use lastmile_study::settings::Settings;
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{TestbedWorld, TwoHostTestbed};
use lastmile_units::Seed;
use lastmile_workload::{ObjectStream, WorkloadSpec};
use lastmile_world::Host;
use plan::Plan;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

/// The delivery `http/1.1`.
pub(crate) struct Http1;

impl LinkDelivery for Http1 {
    const NAME: &'static str = "http/1.1";
    const CARRIES: &'static str = "objects";
    const ABOUT: &'static str =
        "Objects in the response to one HTTP/1.1 request, with or without a compression filter.";
    type Plan = Plan;

    fn plan(&self, settings: &Settings) -> Result<Plan, Refusal> {
        match workload(settings)? {
            content @ (WorkloadSpec::TestExecutions(_) | WorkloadSpec::TmPackets(_)) => {
                Ok(Plan::of(content, settings)?)
            }
            _ => Err(Refusal::Workload),
        }
    }

    fn expected_time(&self, plan: &Plan) -> Duration {
        // Any seed will do: sizes depend little on it. A workload that cannot be made fails at once when run.
        let seconds = plan.workload.generate(Seed::new(0)).map_or(0.0, |stream| {
            let bytes: usize = stream.objects.iter().map(bytes::Bytes::len).sum();
            bytes as f64 * SECONDS_PER_OBJECT_BYTE
        });
        CPU_PER_REPEAT + Duration::from_secs_f64(seconds)
    }

    fn figures(&self, _plan: &Plan) -> &'static [&'static Figure] {
        FIGURES
    }

    fn has_seeded_content(&self, _plan: &Plan) -> bool {
        true
    }

    fn prepare<'a, W: TestbedWorld>(
        &'a self,
        plan: &'a Plan,
        testbed: &TwoHostTestbed<W>,
        setup: &Setup,
    ) -> Result<Program<'a, W>, Failure> {
        let stream = plan.workload.generate(setup.workload).map_err(Failure::from_error)?;
        let served = serve(testbed, plan, &stream)?;
        let costs = Rc::clone(&setup.costs);
        Ok(Box::new(move |testbed, compute| {
            run(testbed, plan, stream.clone(), &served, &costs, compute)
        }))
    }
}

/// The figures of extracting objects.
const FIGURES: &[&Figure] = &[
    figure::RESPONSE_BYTES,
    figure::EXTRACT_TIME,
    figure::TRANSFER_RATE,
    figure::HANDSHAKE_TIME,
    figure::FIRST_BYTE_TIME,
    figure::LINK_BYTES,
    figure::RETRANSMISSIONS,
    figure::QUEUE_DROPS,
    figure::SERVER_CPU_TIME,
    figure::CLIENT_CPU_TIME,
];

/// The CPU time per byte of objects, which are made, written, compressed, carried and decoded. Measured with 200 repeats of cases A to
/// H, on the machine of the reference cost table: 12 to 37 ns per byte, the most where they are small. Losses and the codec are not
/// included; gzip:6 adds less than a third.
const SECONDS_PER_OBJECT_BYTE: f64 = 25e-9;

const PORT: u16 = 80;
/// The media type of Java object streams.
const OBJECT_STREAM: &str = "application/x-java-serialized-object";

/// The number of warm-up requests of a real server. Our own choice: beyond it, Java servers' CPU time per response no longer falls by
/// much.
const WARM_UP: usize = 300;

/// Starts the server that `objects` asks for, with `stream` to serve. A real server first answers requests over its own loopback, since
/// a just-in-time compiler needs hundreds of calls to settle.
fn serve<W: TestbedWorld>(
    testbed: &TwoHostTestbed<W>,
    objects: &Plan,
    stream: &ObjectStream,
) -> Result<ServerUnderTest, Failure> {
    let service = || {
        Ok(ServerJob {
            operation: "get",
            file: (client::PATH.trim_start_matches('/'), stream.concat()),
            options: vec![
                ("media_type", OBJECT_STREAM.to_owned()),
                ("compression", objects.codec.to_string()),
            ],
        })
    };
    let (server, asked) = (testbed.server.clone(), objects.clone());
    ServerUnderTest::start(
        testbed,
        &testbed.server,
        &objects.server,
        service,
        |address| async move {
            for _ in 0..WARM_UP {
                let (costs, nobody) = (Rc::new(CostTable::free()), Seed::new(0));
                let computing = CpuCharge::new(server.clone(), costs, asked.codec, nobody);
                let extracted = client::extract(server.clone(), address, asked.clone(), computing).await;
                extracted.map_err(|error| Failure::new(format!("the server does not serve: {error}")))?;
            }
            Ok(())
        },
    )
}

/// Runs one repeat, delivering `stream`; `compute` seeds the CPU times.
fn run<W: TestbedWorld>(
    testbed: &TwoHostTestbed<W>,
    objects: &Plan,
    stream: ObjectStream,
    served: &ServerUnderTest,
    costs: &Rc<CostTable>,
    compute: Seed,
) -> Result<Observation, Failure> {
    let wanted = stream.objects.len();
    let (before, worked_before) = (testbed.counters(), served.cpu_time()?);
    let at_server = CpuCharge::new(
        testbed.server.clone(),
        Rc::clone(costs),
        objects.codec,
        compute.derive("server"),
    );
    let at_client = CpuCharge::new(
        testbed.client.clone(),
        Rc::clone(costs),
        objects.codec,
        compute.derive("client"),
    );
    if let ServerUnderTest::Ours = served {
        let listener = testbed
            .server
            .listen(PORT)
            .map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
        let serving = servlet::serve(listener, objects.clone(), stream, at_server);
        testbed.server.spawn(async move {
            // The client sees an error here as a response that ends too soon.
            let _ = serving.await;
        });
    }
    let address = testbed.server.address(served.port().unwrap_or(PORT));
    let extracting = client::extract(testbed.client.clone(), address, objects.clone(), at_client);
    let failed = |error: Box<dyn Error>| Failure::new(format!("extracting failed: {error}"));
    let extracted = testbed.run(extracting)?.map_err(failed)?;
    if extracted.objects != wanted {
        return Err(Failure::new(format!(
            "{} of {wanted} objects were extracted",
            extracted.objects
        )));
    }
    let done = testbed.counters().since(before);
    let mut observation = Observation::default();
    observation.sample(figure::RESPONSE_BYTES, extracted.response_bytes as f64);
    let time = extracted.last_object - extracted.start;
    observation.sample_time(figure::EXTRACT_TIME, extracted.start..extracted.last_object);
    observation.sample(figure::TRANSFER_RATE, wanted as f64 / time.as_secs_f64());
    observation.sample_time(figure::HANDSHAKE_TIME, extracted.start..extracted.connected);
    observation.sample_time(figure::FIRST_BYTE_TIME, extracted.start..extracted.first_byte);
    observe_link(&done, &mut observation);
    let server_cpu = served.cpu_time_since(worked_before, done.server_cpu)?;
    observation.sample(figure::SERVER_CPU_TIME, server_cpu.as_secs_f64());
    observation.sample(figure::CLIENT_CPU_TIME, done.client_cpu.as_secs_f64());
    if !costs.is_free() {
        observation.vary("calibration");
    }
    Ok(observation)
}
