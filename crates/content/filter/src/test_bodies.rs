//! Scripted bodies for tests, and readers that record what comes out and when.

use crate::compute::{CompressionStep, Compute};
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A body that follows a script, step by step. It announces neither its length nor its end.
pub(crate) struct ScriptedBody(VecDeque<Step>);

#[derive(Clone)]
pub(crate) enum Step {
    Data(Vec<u8>),
    /// Not ready once; the next poll goes on.
    Pause,
    Trailers(HeaderMap),
    Fail(&'static str),
}

impl ScriptedBody {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self(steps.into_iter().collect())
    }

    /// The same bytes in chunks of this size.
    pub(crate) fn chunks(data: &[u8], size: usize) -> Self {
        Self(data.chunks(size).map(|chunk| Step::Data(chunk.to_vec())).collect())
    }
}

impl Body for ScriptedBody {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        Poll::Ready(match self.0.pop_front() {
            Some(Step::Data(data)) => Some(Ok(Frame::data(data.into()))),
            Some(Step::Trailers(trailers)) => Some(Ok(Frame::trailers(trailers))),
            Some(Step::Fail(error)) => Some(Err(error)),
            Some(Step::Pause) => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            None => None,
        })
    }
}

/// Everything that a body yielded.
#[derive(Debug)]
pub(crate) struct BodyOutput<E> {
    /// The exact size that was promised before the first frame.
    pub(crate) promised: Option<u64>,
    /// Each frame of data, in order.
    pub(crate) frames: Vec<Bytes>,
    /// Bytes yielded by the time of each poll that was not ready.
    pub(crate) pauses: Vec<usize>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) error: Option<E>,
}

impl<E> BodyOutput<E> {
    pub(crate) fn data(&self) -> Vec<u8> {
        self.frames.concat()
    }
}

/// Reads a body to its end, and once past it; checks that it matches its announced size and end.
pub(crate) fn read<B: Body<Data = Bytes>>(body: B) -> BodyOutput<B::Error> {
    let mut body = pin!(body);
    let promised = body.size_hint().exact();
    let mut given = BodyOutput {
        promised,
        frames: Vec::new(),
        pauses: Vec::new(),
        trailers: None,
        error: None,
    };
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        let (ended, hint) = (body.is_end_stream(), body.size_hint());
        match body.as_mut().poll_frame(&mut cx) {
            Poll::Pending => given.pauses.push(given.frames.iter().map(Bytes::len).sum()),
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => {
                assert!(!ended, "a body that said it had ended went on");
                match frame.map(Frame::into_data) {
                    Ok(Ok(data)) => {
                        assert!(!data.is_empty() && hint.upper().is_none_or(|upper| data.len() as u64 <= upper));
                        given.frames.push(data);
                    }
                    Ok(Err(frame)) => given.trailers = frame.into_trailers().ok(),
                    Err(error) => given.error = Some(error),
                }
            }
        }
    }
    assert!(matches!(body.as_mut().poll_frame(&mut cx), Poll::Ready(None)));
    let size = given.data().len() as u64;
    assert!(
        promised.is_none_or(|promised| promised == size),
        "the exact size was not the size"
    );
    given
}

/// Polls a future until it is ready, and counts the polls that were not.
pub(crate) fn finish<F: Future>(future: F) -> (F::Output, usize) {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for pauses in 0.. {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return (output, pauses);
        }
    }
    unreachable!("counting does not end")
}

/// Records all work; each piece takes `pauses` polls.
#[derive(Clone, Default)]
pub(crate) struct Meter {
    pub(crate) done: Rc<RefCell<Vec<CompressionStep>>>,
    pub(crate) pauses: usize,
    pub(crate) busy: Rc<Cell<bool>>,
}

impl Compute for Meter {
    type Spent = Pin<Box<dyn Future<Output = ()>>>;

    fn spend(&self, work: CompressionStep) -> Self::Spent {
        assert!(
            !self.busy.replace(true),
            "a piece of work began before the last was done"
        );
        let (meter, mut left) = (self.clone(), self.pauses);
        Box::pin(std::future::poll_fn(move |_| {
            if left > 0 {
                left -= 1;
                return Poll::Pending;
            }
            meter.busy.set(false);
            meter.done.borrow_mut().push(work);
            Poll::Ready(())
        }))
    }
}
