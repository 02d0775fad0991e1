//! HTTP/2 of the modelled server, by the crate `h2`: the streams of a connection wait for workers independently of each other.

use super::{NewConnection, PIECE, Serving};
use bytes::Bytes;
use h2::SendStream;
use h2::server::SendResponse;
use lastmile_world::Host;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use tokio::io::{AsyncRead, AsyncWrite};

impl Serving {
    pub(super) async fn serve_http2<H: Host>(
        self: &Rc<Self>,
        host: &H,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        new: NewConnection,
    ) -> io::Result<()> {
        let mut connection = h2::server::handshake(stream).await.map_err(io::Error::other)?;
        let new = Rc::new(new);
        while let Some(request) = connection.accept().await {
            let (_, respond) = request.map_err(io::Error::other)?;
            if !self.model.keep_alive {
                connection.graceful_shutdown();
            }
            let (serving, new, worker_host) = (Rc::clone(self), Rc::clone(&new), host.clone());
            host.spawn(async move {
                serving.serve(&worker_host, &new).await;
                // A client that has given up the request is no fault of the server.
                let _ = serving.respond(respond).await;
            });
        }
        Ok(())
    }

    async fn respond(&self, mut respond: SendResponse<Bytes>) -> Result<(), h2::Error> {
        let mut left = self.model.body.get();
        let head = http::Response::builder().header(http::header::CONTENT_LENGTH, left);
        // A status of 200 and a number are valid.
        let Ok(head) = head.body(()) else { return Ok(()) };
        let mut stream = respond.send_response(head, left == 0)?;
        let body = Bytes::from(vec![b'x'; left.min(PIECE as u64) as usize]);
        while left > 0 {
            let room = room(&mut stream, left.min(PIECE as u64) as usize).await?;
            left -= room as u64;
            stream.send_data(body.slice(..room), left == 0)?;
        }
        Ok(())
    }
}

/// Waits until the client's windows have room for some bytes, up to `wanted`, which is above 0; returns how many.
async fn room(stream: &mut SendStream<Bytes>, wanted: usize) -> Result<usize, h2::Error> {
    stream.reserve_capacity(wanted);
    loop {
        let room = stream.capacity().min(wanted);
        if room > 0 {
            return Ok(room);
        }
        match poll_fn(|context| stream.poll_capacity(context)).await {
            Some(changed) => changed?,
            None => return Err(h2::Reason::CANCEL.into()),
        };
    }
}
