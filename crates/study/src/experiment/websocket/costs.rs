//! What does coding a message cost in a cell? By the cost table; a pass over a transcript that is slow is slow at every message.

use crate::cost::{CostTable, Coverage, Operation};
use crate::doubt;
use crate::observation::Observation;
use crate::websocket::{Free, Outgoing, Pricing};
use lastmile_payload::message_codec::MessageCodec;
use lastmile_units::Seed;
use std::rc::Rc;
use std::time::Duration;

/// The costs of one repeat.
struct Costs {
    table: Rc<CostTable>,
    codec: MessageCodec,
    encode_rank: f64,
    decode_rank: f64,
}

/// What coding by `codec` costs in a repeat, `seed` drawing how slow it is; what the table does not know of it is said in the
/// observation.
pub(super) fn pricing(
    codec: MessageCodec,
    table: &Rc<CostTable>,
    seed: Seed,
    observation: &mut Observation,
) -> Rc<dyn Pricing> {
    for operation in [Operation::EncodeMessage(codec), Operation::DecodeMessage(codec)] {
        match table.coverage(operation) {
            Coverage::None => {
                observation.doubts.push(doubt::no_cost(table.name(), &operation));
                return Rc::new(Free);
            }
            Coverage::Estimated => observation.doubts.push(doubt::estimated_cost(&operation)),
            Coverage::Sampled => (),
        }
    }
    let mut rng = seed.rng();
    Rc::new(Costs {
        table: Rc::clone(table),
        codec,
        encode_rank: CostTable::rank(&mut rng),
        decode_rank: CostTable::rank(&mut rng),
    })
}

impl Costs {
    fn of(&self, operation: Operation, message: &Outgoing, rank: f64) -> Duration {
        let pieces = message.pieces.iter();
        pieces.map(|bytes| self.table.at_rank(operation, *bytes, rank)).sum()
    }
}

impl Pricing for Costs {
    fn encoding(&self, message: &Outgoing) -> Duration {
        self.of(Operation::EncodeMessage(self.codec), message, self.encode_rank)
    }

    fn decoding(&self, message: &Outgoing) -> Duration {
        self.of(Operation::DecodeMessage(self.codec), message, self.decode_rank)
    }
}
