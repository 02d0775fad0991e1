//! An HTTP server in a world.

use super::tls::ServerTls;
use super::{Io, Version, WorldExecutor, date};
use http::header::{DATE, HeaderValue};
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use lastmile_world::{Host, Listener};
use std::error::Error;
use std::io;
use std::rc::Rc;

/// Whether a server's connections are encrypted.
#[derive(Clone)]
pub enum Encryption {
    /// No encryption.
    None,
    /// TLS 1.3.
    Tls(ServerTls),
}

/// Listens on `port` of `host`, and answers every connection with `service` for as long as the world runs. Each response gets a
/// `Date` of virtual time unless it has one. A connection that fails does not affect the others.
///
/// # Errors
/// When something listens on that port already.
pub fn serve<H, S, B>(host: &H, port: u16, version: Version, encryption: Encryption, service: S) -> io::Result<()>
where
    H: Host,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut listener = host.listen(port)?;
    let executor = WorldExecutor(Rc::new(host.clone()));
    host.spawn(async move {
        while let Ok(plain) = listener.accept().await {
            let (service, encryption, executor) = (service.clone(), encryption.clone(), executor.clone());
            let host = Rc::clone(&executor.0);
            Rc::clone(&host).spawn(async move {
                let stream: Box<dyn Io> = match encryption {
                    Encryption::None => Box::new(plain),
                    Encryption::Tls(tls) => match tls.accept(plain).await {
                        Ok(stream) => {
                            host.compute(tls.cost()).await;
                            Box::new(stream)
                        }
                        Err(_) => return,
                    },
                };
                answer(stream, version, executor, service).await;
            });
        }
    });
    Ok(())
}

async fn answer<H, S, B>(stream: Box<dyn Io>, version: Version, executor: WorldExecutor<H>, service: S)
where
    H: Host,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let host = Rc::clone(&executor.0);
    let dated = service_fn(move |request| {
        let (service, host) = (service.clone(), Rc::clone(&host));
        async move {
            let mut response = service.call(request).await?;
            let date = || HeaderValue::from_str(&date(host.now())).expect("a date is plain ASCII");
            response.headers_mut().entry(DATE).or_insert_with(date);
            Ok::<_, S::Error>(response)
        }
    });
    let io = TokioIo::new(stream);
    // The client reports how the connection ended.
    match version {
        Version::Http11 => {
            let mut builder = http1::Builder::new();
            builder.auto_date_header(false).header_read_timeout(None);
            drop(builder.serve_connection(io, dated).await);
        }
        Version::H2 => {
            let mut builder = http2::Builder::new(executor);
            builder.auto_date_header(false);
            drop(builder.serve_connection(io, dated).await);
        }
    }
}
