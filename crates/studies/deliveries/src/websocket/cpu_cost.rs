//! The CPU time of compressing and decompressing messages in a cell, by the cost table.

use crate::messages::has_cost;
use lastmile_codec::message::MessageCodec;
use lastmile_study::observation::Observation;
use lastmile_testbed::cpu_cost_model::{CostTable, Operation};
use lastmile_testbed::messaging::{CpuCost, NoCpuCost, ScheduledMessage};
use lastmile_units::Seed;
use std::rc::Rc;
use std::time::Duration;

/// The costs of one repeat: one rank for each operation, so that a slow repeat is slow at every message.
struct MessageCosts {
    table: Rc<CostTable>,
    codec: MessageCodec,
    encode_rank: f64,
    decode_rank: f64,
}

/// The CPU costs of `codec` in a repeat, with ranks drawn by `seed`. Costs that the table lacks or estimates become doubts of the
/// observation.
pub(super) fn pricing(
    codec: MessageCodec,
    table: &Rc<CostTable>,
    seed: Seed,
    observation: &mut Observation,
) -> Rc<dyn CpuCost> {
    for operation in [Operation::EncodeMessage(codec), Operation::DecodeMessage(codec)] {
        if !has_cost(table, operation, observation) {
            return Rc::new(NoCpuCost);
        }
    }
    let mut rng = seed.rng();
    Rc::new(MessageCosts {
        table: Rc::clone(table),
        codec,
        encode_rank: CostTable::rank(&mut rng),
        decode_rank: CostTable::rank(&mut rng),
    })
}

impl MessageCosts {
    fn cost_of(&self, operation: Operation, message: &ScheduledMessage, rank: f64) -> Duration {
        let pieces = message.pieces.iter();
        pieces.map(|bytes| self.table.at_rank(operation, *bytes, rank)).sum()
    }
}

impl CpuCost for MessageCosts {
    fn encoding(&self, message: &ScheduledMessage) -> Duration {
        self.cost_of(Operation::EncodeMessage(self.codec), message, self.encode_rank)
    }

    fn decoding(&self, message: &ScheduledMessage) -> Duration {
        self.cost_of(Operation::DecodeMessage(self.codec), message, self.decode_rank)
    }
}
