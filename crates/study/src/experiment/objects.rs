//! How long does it take to extract objects from a server, with and without a compression filter?
//!
//! The client opens a connection and asks for the objects in one HTTP/1.1 request; the server writes them as it makes them,
//! through the filter; the client decodes them as they arrive. Times run from opening the connection to the last object.

mod client;
mod servlet;

use super::computing::Computing;
use super::plan::Objects;
use super::served::{Served, Service};
use crate::cost::CostTable;
use crate::figure;
use crate::observation::{Failure, Observation};
use crate::site::{Laboratory, Site};
use lastmile_payload::workload::ObjectStream;
use lastmile_units::Seed;
use lastmile_world::Host;
use std::error::Error;
use std::rc::Rc;

const PORT: u16 = 80;
/// The media type of Java object streams.
const OBJECT_STREAM: &str = "application/x-java-serialized-object";

/// How many requests a real server answers before those that count. Our own choice: beyond it, Java servers' CPU time a response no
/// longer falls by much.
const WARM_UP: usize = 300;

/// Starts whoever `objects` asks for, with `stream` to serve. A real server first answers requests over its own loopback: what a
/// compiler at run time makes of a program takes hundreds of calls to settle.
pub(super) fn serve<W: Laboratory>(
    site: &Site<W>,
    objects: &Objects,
    stream: &ObjectStream,
) -> Result<Served, Failure> {
    let service = || {
        Ok(Service {
            operation: "get",
            file: (client::PATH.trim_start_matches('/'), stream.concat()),
            media_type: OBJECT_STREAM,
            compression: objects.codec,
            ..Service::default()
        })
    };
    let (server, asked) = (site.server.clone(), objects.clone());
    Served::start(site, &objects.server, service, |address| async move {
        for _ in 0..WARM_UP {
            let (costs, nobody) = (Rc::new(CostTable::free()), Seed::new(0));
            let computing = Computing::new(server.clone(), costs, asked.codec, nobody);
            let extracted = client::extract(server.clone(), address, asked.clone(), computing).await;
            extracted.map_err(|error| Failure::new(format!("the server does not serve: {error}")))?;
        }
        Ok(())
    })
}

/// Runs one repeat, delivering `stream`; `compute` seeds what computing costs.
pub(super) fn run<W: Laboratory>(
    site: &Site<W>,
    objects: &Objects,
    stream: ObjectStream,
    served: &Served,
    costs: &Rc<CostTable>,
    compute: Seed,
) -> Result<Observation, Failure> {
    let wanted = stream.objects.len();
    let (before, worked_before) = (site.tally(), served.cpu_time()?);
    let at_server = Computing::new(
        site.server.clone(),
        Rc::clone(costs),
        objects.codec,
        compute.derive("server"),
    );
    let at_client = Computing::new(
        site.client.clone(),
        Rc::clone(costs),
        objects.codec,
        compute.derive("client"),
    );
    if let Served::ByUs = served {
        let listener = site
            .server
            .listen(PORT)
            .map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
        let serving = servlet::serve(listener, objects.clone(), stream, at_server);
        site.server.spawn(async move {
            // What fails here is seen by the client, as a response that ends too soon.
            let _ = serving.await;
        });
    }
    let address = site.server.address(served.port().unwrap_or(PORT));
    let extracting = client::extract(site.client.clone(), address, objects.clone(), at_client);
    let failed = |error: Box<dyn Error>| Failure::new(format!("extracting failed: {error}"));
    let extracted = site.run(extracting)?.map_err(failed)?;
    if extracted.objects != wanted {
        return Err(Failure::new(format!(
            "{} of {wanted} objects were extracted",
            extracted.objects
        )));
    }
    let done = site.tally().since(before);
    let mut observation = Observation::default();
    observation.sample(figure::RESPONSE_BYTES, extracted.response_bytes as f64);
    observation.sample(figure::EXTRACT_TIME, extracted.time.as_secs_f64());
    observation.sample(figure::TRANSFER_RATE, wanted as f64 / extracted.time.as_secs_f64());
    observation.sample(figure::HANDSHAKE_TIME, extracted.handshake.as_secs_f64());
    observation.sample(figure::FIRST_BYTE_TIME, extracted.first_byte.as_secs_f64());
    observation.sample(figure::LINK_BYTES, done.bytes_down as f64);
    observation.sample(figure::RETRANSMISSIONS, done.retransmissions as f64);
    observation.sample(figure::QUEUE_DROPS, done.queue_drops as f64);
    let server_cpu = served.cpu_time_since(worked_before, done.server_cpu)?;
    observation.sample(figure::SERVER_CPU_TIME, server_cpu.as_secs_f64());
    observation.sample(figure::CLIENT_CPU_TIME, done.client_cpu.as_secs_f64());
    if !costs.is_free() {
        observation.vary("calibration");
    }
    Ok(observation)
}
