//! The body of a request, with limits on its time: a device that vanishes in mid-post must not hold its place.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// How long a body may stand still: our own choice.
const STALL: Duration = Duration::from_secs(60);
/// How long a body may take in all. 8 MiB take 20 minutes at 56 kbit/s: our own choice.
const WHOLE: Duration = Duration::from_secs(3600);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body that fails when it stands still, or takes too long.
pub(super) struct TimedBody<B> {
    inner: B,
    end: Instant,
    limit: Pin<Box<Sleep>>,
}

impl<B> TimedBody<B> {
    pub(super) fn new(inner: B) -> Self {
        let now = Instant::now();
        Self {
            inner,
            end: now + WHOLE,
            limit: Box::pin(tokio::time::sleep_until(now + STALL)),
        }
    }
}

impl<B> Body for TimedBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(context) {
            let limit = self.end.min(Instant::now() + STALL);
            self.limit.as_mut().reset(limit);
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        self.limit.as_mut().poll(context).map(|()| {
            let message = format!(
                "the body stood still for {} s, or took {} s in all",
                STALL.as_secs(),
                WHOLE.as_secs()
            );
            Some(Err(io::Error::new(io::ErrorKind::TimedOut, message).into()))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use http_body_util::{BodyExt as _, StreamBody};
    use std::time::Duration;

    fn whole(gap: Duration, frames: u64) -> Result<usize, BoxError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let frames = stream::unfold(0, |sent| async move {
                tokio::time::sleep(gap).await;
                (sent < frames).then(|| (Ok::<_, io::Error>(Frame::data(Bytes::from_static(b"x"))), sent + 1))
            });
            let body = TimedBody::new(StreamBody::new(Box::pin(frames)));
            Ok(body.collect().await?.to_bytes().len())
        })
    }

    #[test]
    fn a_slow_body_is_taken_and_one_that_stands_still_or_never_ends_is_not() {
        assert_eq!(whole(STALL - Duration::from_secs(1), 50).unwrap(), 50);
        assert!(whole(STALL + Duration::from_secs(1), 50).is_err());
        assert!(whole(STALL - Duration::from_secs(1), 100).is_err());
    }
}
