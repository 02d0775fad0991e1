//! Replies to chunks as JSON.

use lastmile_events::uplink::{Durability, Reply};
use serde_json::{Value, json};

/// Replies as JSON, in the chunks' order.
pub fn to_json(replies: &[Reply]) -> Value {
    let replies: Vec<Value> = replies
        .iter()
        .map(|reply| match reply {
            Reply::Acknowledged { next, durability } => {
                json!({"status": "acknowledged", "next": next, "durability": durability.name()})
            }
            Reply::Gap { expected } => json!({"status": "gap", "expected": expected}),
            Reply::Full => json!({"status": "full"}),
            Reply::Refused => json!({"status": "refused"}),
        })
        .collect();
    json!({ "replies": replies })
}

/// Reads replies; `None` where the JSON is something else.
pub fn from_json(json: &Value) -> Option<Vec<Reply>> {
    let replies = json.get("replies")?.as_array()?.iter();
    replies
        .map(|reply| {
            Some(match reply.get("status")?.as_str()? {
                "acknowledged" => Reply::Acknowledged {
                    next: reply.get("next")?.as_u64()?,
                    durability: Durability::of_name(reply.get("durability")?.as_str()?)?,
                },
                "gap" => Reply::Gap {
                    expected: reply.get("expected")?.as_u64()?,
                },
                "full" => Reply::Full,
                "refused" => Reply::Refused,
                _ => return None,
            })
        })
        .collect()
}
