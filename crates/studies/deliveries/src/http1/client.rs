//! The client of objects: requests them in one HTTP/1.1 request, and decodes them as they arrive.

use super::plan::Plan;
use crate::cpu_charge::CpuCharge;
use bytes::Bytes;
use http::Request;
use http::header::{ACCEPT_ENCODING, HOST, USER_AGENT};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use lastmile_filter::decode;
use lastmile_testbed::cpu_cost_model::Operation;
use lastmile_units::{ByteCount, Instant};
use lastmile_world::Host;
use std::cell::Cell;
use std::error::Error;
use std::net::SocketAddrV4;
use std::rc::Rc;

/// Larger than any response of these workloads: a larger one is damaged.
const RESPONSE_SIZE_MAX: ByteCount = ByteCount::new(1 << 30);

/// The path of the objects.
pub(super) const PATH: &str = "/objects";

/// The result of one request.
pub(super) struct Download {
    /// When the client began to connect.
    pub(super) start: Instant,
    pub(super) connected: Instant,
    pub(super) first_byte: Instant,
    pub(super) last_object: Instant,
    /// The size of the content as transferred, before decompression.
    pub(super) response_bytes: u64,
    pub(super) objects: usize,
}

/// Requests the objects and decodes them.
pub(super) async fn extract<H: Host>(
    host: H,
    from: SocketAddrV4,
    objects: Plan,
    computing: CpuCharge<H>,
) -> Result<Download, Box<dyn Error>> {
    let start = host.now();
    let stream = host.connect(from).await?;
    let connected = host.now();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    host.spawn(async move {
        // The request sees an error here.
        let _ = connection.await;
    });
    let mut request = Request::get(PATH)
        .header(HOST, "server")
        .header(USER_AGENT, "Mozilla(MSIE)");
    if !objects.codec.is_identity() {
        request = request.header(ACCEPT_ENCODING, objects.codec.content_coding());
    }
    let response = sender.send_request(request.body(Empty::<Bytes>::new())?).await?;
    let first_byte = host.now();
    let carried = Rc::new(Cell::new(0));
    let counter = Rc::clone(&carried);
    let counted = response.map(|body| {
        body.map_frame(move |frame| {
            counter.set(counter.get() + frame.data_ref().map_or(0, |data| data.len() as u64));
            frame
        })
    });
    let mut body = decode(counted, RESPONSE_SIZE_MAX, computing.clone())?.into_body();
    let decoder = objects.workload.decoder();
    let mut decoder = decoder.expect("a plan of objects names no messages");
    let mut last_object = start;
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            let completed = decoder.feed(&data)?;
            let each = ByteCount::new(data.len() as u64 / completed.max(1) as u64);
            for _ in 0..completed {
                computing.charge_operation(Operation::ReadObject, each).await;
                last_object = host.now();
            }
        }
    }
    decoder.finish()?;
    Ok(Download {
        start,
        connected,
        first_byte,
        last_object,
        response_bytes: carried.get(),
        objects: decoder.completed(),
    })
}
