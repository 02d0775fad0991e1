//! The notation of queues: `20 packets`, `64 kB`, `codel`.

use super::{ParsePartError, ValueGrammar, compact, inside};
use crate::{CoDel, Queue};
use lastmile_units::{ByteCount, duration};
use std::fmt;
use std::str::FromStr;

const QUEUE: ValueGrammar = ValueGrammar {
    what: "a queue",
    examples: r#""20 packets", "64 kB", "unlimited", "auto", "codel" or "codel(target=5 ms, interval=100 ms, limit=1000 packets)""#,
};

impl FromStr for Queue {
    type Err = ParsePartError;

    fn from_str(found: &str) -> Result<Self, Self::Err> {
        let text = compact(found);
        match text.as_str() {
            "auto" => return Ok(Self::Auto),
            "unlimited" => return Ok(Self::Unlimited),
            "codel" => return Ok(Self::CoDel(CoDel::default())),
            _ => {}
        }
        let count = |text: &str| {
            let count = packets(text).and_then(|count| count.parse().ok());
            count.ok_or_else(|| QUEUE.error(found, format!("{text:?} is not a whole number of packets")))
        };
        if let Some(arguments) = inside(&text, "codel") {
            let [target, interval, limit] = QUEUE.arguments(found, arguments, ["target", "interval", "limit"])?;
            let default = CoDel::default();
            let time = |text: Option<&str>, default| {
                text.map_or(Ok(default), |text| QUEUE.argument(found, duration::parse(text)))
            };
            let codel = CoDel {
                target: time(target, default.target)?,
                interval: time(interval, default.interval)?,
                limit: limit.map_or(Ok(default.limit), count)?,
            };
            if codel.interval.is_zero() {
                return Err(QUEUE.error(found, "its interval is 0"));
            }
            return Ok(Self::CoDel(codel));
        }
        if packets(&text).is_some() {
            return count(&text).map(Self::Packets);
        }
        QUEUE.argument(found, text.parse::<ByteCount>()).map(Self::Bytes)
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Unlimited => f.write_str("unlimited"),
            Self::Packets(1) => f.write_str("1 packet"),
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::CoDel(codel) if *codel == CoDel::default() => f.write_str("codel"),
            Self::CoDel(CoDel {
                target,
                interval,
                limit,
            }) => {
                let (target, interval) = (duration::print(*target), duration::print(*interval));
                write!(f, "codel(target={target}, interval={interval}, limit={limit} packets)")
            }
        }
    }
}

/// A count of packets: `20packets`, `1packet`.
pub(crate) fn packets(text: &str) -> Option<&str> {
    text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"))
}
