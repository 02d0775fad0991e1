//! Our own server of objects: a servlet that writes and flushes one after another, behind the compression filter.

use super::OBJECT_STREAM;
use super::plan::Plan;
use crate::cpu_charge::CpuCharge;
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use hyper_util::rt::TokioIo;
use lastmile_filter::{Buffering, CompressionLayer, Flush, MediaTypes, Policy};
use lastmile_testbed::cpu_cost_model::Operation;
use lastmile_units::ByteCount;
use lastmile_workload::ObjectStream;
use lastmile_world::{Host, Listener};
use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_layer::Layer;
use tower_service::Service;

/// Serves one connection.
pub(super) async fn serve<H: Host>(
    mut listener: H::Listener,
    objects: Plan,
    stream: ObjectStream,
    computing: CpuCharge<H>,
) -> Result<(), Box<dyn Error>> {
    let connection = listener.accept().await?;
    drop(listener);
    let policy = Policy {
        offered: vec![objects.codec],
        minimum_size: ByteCount::ZERO,
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
struct Servlet<H> {
    objects: Rc<[Bytes]>,
    object_time: Duration,
    computing: CpuCharge<H>,
}

impl<H: Host> Servlet<H> {
    /// Makes the object at `index`.
    fn make(&self, index: usize) -> impl Future<Output = ()> + 'static {
        let size = self.objects.get(index).map_or(0, Bytes::len);
        let writing = self.computing.charge_operation(Operation::WriteObject, size.into());
        let working = self.computing.charge_time(self.object_time);
        async move {
            working.await;
            writing.await;
        }
    }

    /// The objects, each made when it is polled for, and flushed before the next is begun. The first is made.
    fn body(self) -> ObjectBody {
        let objects = stream::unfold((self, 0), |(servlet, index)| async move {
            let object = servlet.objects.get(index)?.clone();
            if index > 0 {
                let making = servlet.make(index);
                flush().await;
                making.await;
            }
            Some((Ok(Frame::data(object)), (servlet, index + 1)))
        });
        Box::pin(StreamBody::new(objects))
    }
}

/// A body that is not ready makes the server write out what it holds.
async fn flush() {
    let mut is_first_poll = true;
    poll_fn(|context| {
        if std::mem::take(&mut is_first_poll) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

type ObjectBody = Pin<Box<dyn Body<Data = Bytes, Error = Infallible>>>;

impl<H: Host> Service<Request<hyper::body::Incoming>> for Servlet<H> {
    type Response = Response<ObjectBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    /// The head is sent with the first object, as by a servlet container, which holds it until the first flush.
    fn call(&mut self, _: Request<hyper::body::Incoming>) -> Self::Future {
        let servlet = self.clone();
        Box::pin(async move {
            servlet.make(0).await;
            let mut response = Response::new(servlet.body());
            response
                .headers_mut()
                .insert(CONTENT_TYPE, http::HeaderValue::from_static(OBJECT_STREAM));
            Ok(response)
        })
    }
}
