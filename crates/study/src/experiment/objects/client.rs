//! How does the client extract objects? It asks for them in one HTTP/1.1 request, and decodes them as they arrive.

use crate::cost::Operation;
use crate::experiment::computing::Computing;
use crate::experiment::plan::Objects;
use bytes::Bytes as Octets;
use http::Request;
use http::header::{ACCEPT_ENCODING, HOST, USER_AGENT};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use lastmile_filter::decode;
use lastmile_units::Bytes;
use lastmile_world::Host;
use std::cell::Cell;
use std::error::Error;
use std::net::SocketAddrV4;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// More than any response of these workloads: what would exceed it is damage.
const LARGEST_RESPONSE: Bytes = Bytes::new(1 << 30);

/// Where the objects are.
pub(super) const PATH: &str = "/objects";

/// What one request gave.
pub(super) struct Extracted {
    pub(super) time: Duration,
    pub(super) first_byte: Duration,
    pub(super) handshake: Duration,
    /// The content as it was carried.
    pub(super) response_bytes: u64,
    pub(super) objects: usize,
}

/// Asks for the objects and decodes them.
pub(super) async fn extract<H: Host>(
    host: H,
    from: SocketAddrV4,
    objects: Objects,
    computing: Computing<H>,
) -> Result<Extracted, Box<dyn Error>> {
    let start = host.now();
    let stream = host.connect(from).await?;
    let handshake = host.now() - start;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    host.spawn(async move {
        // What fails here is seen by the request.
        let _ = connection.await;
    });
    let mut request = Request::get(PATH)
        .header(HOST, "server")
        .header(USER_AGENT, "Mozilla(MSIE)");
    if !objects.codec.is_identity() {
        request = request.header(ACCEPT_ENCODING, objects.codec.content_coding());
    }
    let response = sender.send_request(request.body(Empty::<Octets>::new())?).await?;
    let first_byte = host.now() - start;
    let carried = Rc::new(Cell::new(0));
    let counted = response.map(|body| Counted {
        body,
        carried: Rc::clone(&carried),
    });
    let mut body = decode(counted, LARGEST_RESPONSE, computing.clone())?.into_body();
    let decoder = objects.workload.decoder();
    let mut decoder = decoder.expect("a plan of objects names no messages");
    let mut last_object = start;
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            let completed = decoder.feed(&data)?;
            let each = Bytes::new(data.len() as u64 / completed.max(1) as u64);
            for _ in 0..completed {
                computing.once(Operation::ReadObject, each).await;
                last_object = host.now();
            }
        }
    }
    decoder.finish()?;
    let time = last_object - start;
    Ok(Extracted {
        time,
        first_byte,
        handshake,
        response_bytes: carried.get(),
        objects: decoder.completed(),
    })
}

/// Counts the content as it is carried, before it is decoded.
struct Counted {
    body: hyper::body::Incoming,
    carried: Rc<Cell<u64>>,
}

impl Body for Counted {
    type Data = Octets;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Octets>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.carried.set(self.carried.get() + data.len() as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
