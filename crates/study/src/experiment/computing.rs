//! What does computing cost a host? The filter's work, charged to its CPU by the cost table, which is free where programs really compute.

use crate::cost::{CostTable, Operation};
use lastmile_filter::{Compute, Operation as Coding, Work};
use lastmile_payload::codec::CodecSpec;
use lastmile_units::{Bytes, Rng, Seed};
use lastmile_world::Host;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// The costs of one host's program. Clones share their draws.
#[derive(Clone)]
pub(super) struct Computing<H> {
    host: H,
    costs: Rc<CostTable>,
    state: Rc<RefCell<State>>,
    /// At which level a stream was coded, which decoding is not told.
    codec: CodecSpec,
}

struct State {
    rng: Rng,
    /// Of the stream that is being coded or decoded: one at a time in these programs.
    stream: Option<Stream>,
}

/// A stream's cost is a fixed part and a part an octet; pieces pay what they add to it.
struct Stream {
    rank: f64,
    bytes: Bytes,
    charged: Duration,
}

impl<H: Host> Computing<H> {
    pub(super) fn new(host: H, costs: Rc<CostTable>, codec: CodecSpec, seed: Seed) -> Self {
        let state = State {
            rng: seed.rng(),
            stream: None,
        };
        Self {
            host,
            costs,
            state: Rc::new(RefCell::new(state)),
            codec,
        }
    }

    /// Does one operation on `bytes`.
    pub(super) fn once(&self, operation: Operation, bytes: Bytes) -> impl Future<Output = ()> + 'static {
        let cost = self.costs.draw(&mut self.state.borrow_mut().rng, operation, bytes);
        self.host.compute(cost)
    }

    /// Works for as long as `time` on a reference core.
    pub(super) fn work(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        self.host.compute(time)
    }

    fn of_piece(&self, work: Work) -> Duration {
        let (operation, plain) = match work.operation {
            Coding::Encode(codec) => (Operation::Encode(codec), work.input),
            Coding::Decode(coding) if coding == self.codec.coding() => (Operation::Decode(self.codec), work.output),
            Coding::Decode(coding) => (Operation::Decode(CodecSpec::with_default_level(coding)), work.output),
        };
        let mut state = self.state.borrow_mut();
        let State { rng, stream } = &mut *state;
        if work.first || stream.is_none() {
            *stream = Some(Stream {
                rank: CostTable::rank(rng),
                bytes: Bytes::ZERO,
                charged: Duration::ZERO,
            });
        }
        let Some(stream) = stream else { return Duration::ZERO };
        stream.bytes += plain;
        let total = self.costs.at_rank(operation, stream.bytes, stream.rank);
        let due = total.saturating_sub(stream.charged);
        stream.charged += due;
        due
    }
}

impl<H: Host> Compute for Computing<H> {
    type Spent = Pin<Box<dyn Future<Output = ()>>>;

    fn spend(&self, work: Work) -> Self::Spent {
        Box::pin(self.host.compute(self.of_piece(work)))
    }
}
