//! Charges a host's CPU for the filter's and the programs' work by the cost table, which is free where real CPU time is used.

use lastmile_codec::content::CodecSpec;
use lastmile_filter::{CompressionStep, Compute, Operation as Coding};
use lastmile_testbed::cpu_cost_model::{CostTable, Operation};
use lastmile_units::{ByteCount, Rng, Seed};
use lastmile_world::Host;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// The CPU costs of one host's program. Clones share their draws.
#[derive(Clone)]
pub(super) struct CpuCharge<H> {
    host: H,
    costs: Rc<CostTable>,
    state: Rc<RefCell<State>>,
    /// The codec with its level, which a decoder is not told.
    codec: CodecSpec,
}

struct State {
    rng: Rng,
    /// The stream that is being compressed or decompressed: one at a time in these programs.
    stream: Option<Stream>,
}

/// A stream's cost is a fixed part and a part per byte; each piece is charged what it adds to the total.
struct Stream {
    rank: f64,
    bytes: ByteCount,
    charged: Duration,
}

impl<H: Host> CpuCharge<H> {
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

    /// Charges one operation on `bytes`.
    pub(super) fn charge_operation(
        &self,
        operation: Operation,
        bytes: ByteCount,
    ) -> impl Future<Output = ()> + 'static {
        let cost = self.costs.draw(&mut self.state.borrow_mut().rng, operation, bytes);
        self.host.compute(cost)
    }

    /// Charges `time` on a reference core.
    pub(super) fn charge_time(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        self.host.compute(time)
    }

    fn cost_of_piece(&self, work: CompressionStep) -> Duration {
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
                bytes: ByteCount::ZERO,
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

impl<H: Host> Compute for CpuCharge<H> {
    type Spent = Pin<Box<dyn Future<Output = ()>>>;

    fn spend(&self, work: CompressionStep) -> Self::Spent {
        Box::pin(self.host.compute(self.cost_of_piece(work)))
    }
}
