//! How long does it take to extract objects from a server, with and without a compression filter?
//!
//! The client opens a connection and asks for the objects in one HTTP/1.1 request; the server writes them as it makes them,
//! through the filter; the client decodes them as they arrive. Times run from opening the connection to the last object.

use super::computing::Computing;
use super::plan::Objects;
use super::site::Site;
use crate::cost::{CostTable, Operation};
use crate::figure;
use crate::observation::{Failure, Observation};
use bytes::Bytes as Octets;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, HOST, USER_AGENT};
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use lastmile_filter::{Buffering, CompressionLayer, Flush, MediaTypes, Policy, decode};
use lastmile_payload::workload::ObjectStream;
use lastmile_units::{Bytes, Seed};
use lastmile_world::sim::SimHost;
use lastmile_world::{Host, Listener};
use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::SocketAddrV4;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_layer::Layer;
use tower_service::Service;

const PORT: u16 = 80;
/// The media type of Java object streams.
const OBJECT_STREAM: &str = "application/x-java-serialized-object";
/// More than any response of these workloads: what would exceed it is damage.
const LARGEST_RESPONSE: Bytes = Bytes::new(1 << 30);

/// What one request gave.
struct Extracted {
    time: Duration,
    first_byte: Duration,
    handshake: Duration,
    /// The content as it was carried.
    response_bytes: u64,
    objects: usize,
}

/// Runs one repeat, delivering `stream`; `compute` seeds what computing costs.
pub(super) fn run(
    site: &Site,
    objects: &Objects,
    stream: ObjectStream,
    costs: &Rc<CostTable>,
    compute: Seed,
) -> Result<Observation, Failure> {
    let wanted = stream.objects.len();
    let before = site.tally();
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
    let serving = serve(site.server.clone(), objects.clone(), stream, at_server);
    site.spawn(async move {
        // What fails here is seen by the client, as a response that ends too soon.
        let _ = serving.await;
    });
    let address = site.server.address(PORT);
    let extracting = extract(site.client.clone(), address, objects.clone(), at_client);
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
    observation.sample(figure::SERVER_CPU_TIME, done.server_cpu.as_secs_f64());
    observation.sample(figure::CLIENT_CPU_TIME, done.client_cpu.as_secs_f64());
    if !costs.is_free() {
        observation.vary("calibration");
    }
    Ok(observation)
}

/// Serves one connection, as a servlet with the filter before it.
async fn serve(
    host: SimHost,
    objects: Objects,
    stream: ObjectStream,
    computing: Computing,
) -> Result<(), Box<dyn Error>> {
    let connection = host.listen(PORT)?.accept().await?;
    let policy = Policy {
        offered: vec![objects.codec],
        minimum_size: Bytes::ZERO,
        media_types: MediaTypes::matching([OBJECT_STREAM]),
        flush: if objects.whole { Flush::AtEnd } else { Flush::EachChunk },
        buffering: if objects.whole {
            Buffering::WholeResponse
        } else {
            Buffering::Stream
        },
    };
    let servlet = Servlet {
        objects: stream.objects.into(),
        object_time: objects.object_time,
        computing: computing.clone(),
    };
    let filtered = CompressionLayer::new(policy).with_compute(computing).layer(servlet);
    let service = hyper::service::service_fn(move |request| filtered.clone().call(request));
    hyper::server::conn::http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(connection), service)
        .await?;
    Ok(())
}

/// Answers every request with the objects.
#[derive(Clone)]
struct Servlet {
    objects: Rc<[Octets]>,
    object_time: Duration,
    computing: Computing,
}

impl Servlet {
    /// Makes the object at `index`.
    fn make(&self, index: usize) -> Making {
        let size = self.objects.get(index).map_or(0, Octets::len);
        let writing = self.computing.once(Operation::WriteObject, size.into());
        let working = self.computing.work(self.object_time);
        Box::pin(async move {
            working.await;
            writing.await;
        })
    }
}

/// An object being made.
type Making = Pin<Box<dyn Future<Output = ()>>>;

impl Service<Request<hyper::body::Incoming>> for Servlet {
    type Response = Response<ObjectBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    /// The head leaves with the first object, as from a servlet container, which holds it until something is flushed.
    fn call(&mut self, _: Request<hyper::body::Incoming>) -> Self::Future {
        let servlet = self.clone();
        Box::pin(async move {
            servlet.make(0).await;
            let mut response = Response::new(ObjectBody {
                servlet,
                next: 0,
                turn: Turn::Made,
            });
            response
                .headers_mut()
                .insert(CONTENT_TYPE, http::HeaderValue::from_static(OBJECT_STREAM));
            Ok(response)
        })
    }
}

/// The objects, each made when it is asked for, and flushed before the next is begun.
struct ObjectBody {
    servlet: Servlet,
    next: usize,
    turn: Turn,
}

/// What becomes of the next object.
enum Turn {
    /// The one before it is yet to be flushed.
    Flush,
    /// It is being made.
    Make(Making),
    /// It is ready.
    Made,
}

impl Body for ObjectBody {
    type Data = Octets;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Octets>, Infallible>>> {
        let this = &mut *self;
        let Some(object) = this.servlet.objects.get(this.next) else {
            return Poll::Ready(None);
        };
        if let Turn::Flush = this.turn {
            // A body that is not ready makes the server write out what it holds.
            this.turn = Turn::Make(this.servlet.make(this.next));
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Turn::Make(making) = &mut this.turn {
            std::task::ready!(making.as_mut().poll(context));
        }
        let object = object.clone();
        this.turn = Turn::Flush;
        this.next += 1;
        Poll::Ready(Some(Ok(Frame::data(object))))
    }
}

/// Asks for the objects and decodes them.
async fn extract(
    host: SimHost,
    from: SocketAddrV4,
    objects: Objects,
    computing: Computing,
) -> Result<Extracted, Box<dyn Error>> {
    let start = host.now();
    let stream = host.connect(from).await?;
    let handshake = host.now() - start;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    host.spawn(async move {
        // What fails here is seen by the request.
        let _ = connection.await;
    });
    let mut request = Request::get("/objects")
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
    let mut decoder = objects.workload.decoder();
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
