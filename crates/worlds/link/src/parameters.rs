//! The settings of a link, and how each changes it. One list of keys serves study files, profiles and the command line.

use crate::notation::read;
use crate::{Capacity, DeliveryTrace, DirectionSpec, Jitter, LinkError, Loss, Queue, Reordering};
use lastmile_units::suggest::nearest;
use lastmile_units::{ByteCount, duration};
use std::time::Duration;

/// The directions that a setting applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Both,
    Down,
    Up,
}

impl Side {
    /// The end of a setting's name.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Both => "",
            Self::Down => "_down",
            Self::Up => "_up",
        }
    }
}

/// The parameter that a setting changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    Rate,
    Trace,
    OneWayDelay,
    RoundTrip,
    Jitter,
    Reordering,
    Queue,
    Loss,
    FramingOverhead,
}

impl Parameter {
    /// All parameters with their names, in the order in which a link prints them.
    pub(crate) const NAMES: [(Self, &str); 9] = [
        (Self::Rate, "rate"),
        (Self::Trace, "trace"),
        (Self::OneWayDelay, "one_way_delay"),
        (Self::RoundTrip, "round_trip"),
        (Self::Jitter, "jitter"),
        (Self::Reordering, "reordering"),
        (Self::Queue, "queue"),
        (Self::Loss, "loss"),
        (Self::FramingOverhead, "framing_overhead"),
    ];

    /// The parameters that say the same thing in two ways: one of each pair is stated for a direction.
    pub(crate) const ALTERNATIVES: [(Self, Self); 2] =
        [(Self::Rate, Self::Trace), (Self::OneWayDelay, Self::RoundTrip)];

    pub(crate) const fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The value in `direction` as text; none where the direction has none (a rate where a trace is used).
    pub(crate) fn printed(self, direction: &DirectionSpec) -> Option<String> {
        match (self, &direction.capacity) {
            (Self::Rate, Capacity::Rate(rate)) => Some(rate.to_string()),
            (Self::Rate, Capacity::Unlimited) => Some("unlimited".to_owned()),
            (Self::Trace, Capacity::Trace(trace)) => Some(trace.name().to_owned()),
            (Self::Rate | Self::Trace | Self::RoundTrip, _) => None,
            (Self::OneWayDelay, _) => Some(duration::print(direction.one_way_delay)),
            (Self::Jitter, _) => Some(direction.jitter.to_string()),
            (Self::Reordering, _) => Some(direction.reordering.to_string()),
            (Self::Queue, _) => Some(direction.queue.to_string()),
            (Self::Loss, _) => Some(direction.loss.to_string()),
            (Self::FramingOverhead, _) => Some(direction.framing_overhead.to_string()),
        }
    }
}

/// The name of a setting: `rate`, `loss_up`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) parameter: Parameter,
    pub(crate) side: Side,
}

impl Key {
    /// Parses a key; the error for an unknown one names the nearest and lists all.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, side) = match (text.strip_suffix("_down"), text.strip_suffix("_up")) {
            (Some(name), _) => (name, Side::Down),
            (_, Some(name)) => (name, Side::Up),
            _ => (text, Side::Both),
        };
        let name = match name {
            "rtt" => "round_trip",
            "delay" => "one_way_delay",
            name => name,
        };
        let known = Parameter::NAMES.into_iter().find(|(_, known)| *known == name);
        match known.map(|(parameter, _)| parameter) {
            Some(Parameter::RoundTrip) if side != Side::Both => Err(format!(
                "{text:?} is not a setting: a round trip covers both directions; use one_way_delay_down or one_way_delay_up"
            )),
            Some(parameter) => Ok(Self { parameter, side }),
            None => {
                let names = Parameter::NAMES.map(|(_, name)| name);
                let meant = nearest(name, names);
                let meant = meant.map_or_else(String::new, |name| format!("did you mean {name}{}? ", side.suffix()));
                let names = names.join(", ");
                Err(format!(
                    "{text:?} is not a link setting; {meant}settings: {names}, each with _down or _up for one direction"
                ))
            }
        }
    }
}

/// A key with its value, parsed but not applied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    pub(crate) key: Key,
    value: Value,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Capacity(Capacity),
    /// The path of a trace that is not read yet.
    TracePath(String),
    OneWayDelay(Duration),
    RoundTrip(Duration),
    Jitter(Jitter),
    Reordering(Reordering),
    Queue(Queue),
    Loss(Loss),
    FramingOverhead(ByteCount),
}

/// Returns the text of the trace at a path, or the reason why not.
pub type TraceReader<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

impl Setting {
    /// Parses a value for `key`; the error says what is wrong with the value, and what would be right.
    pub(crate) fn parse(key: Key, text: &str) -> Result<Self, String> {
        let value = match key.parameter {
            Parameter::Rate if text.trim() == "unlimited" => Value::Capacity(Capacity::Unlimited),
            Parameter::Rate => Value::Capacity(Capacity::Rate(read(text)?)),
            Parameter::Trace if text.trim().is_empty() || text.contains('+') => {
                return Err(format!(
                    "{text:?} is not the path of a trace: it is empty or contains a \"+\""
                ));
            }
            Parameter::Trace => Value::TracePath(text.trim().to_owned()),
            Parameter::OneWayDelay => Value::OneWayDelay(duration::parse(text).map_err(|error| error.to_string())?),
            Parameter::RoundTrip => Value::RoundTrip(duration::parse(text).map_err(|error| error.to_string())?),
            Parameter::Jitter => Value::Jitter(read(text)?),
            Parameter::Reordering => Value::Reordering(read(text)?),
            Parameter::Queue => Value::Queue(read(text)?),
            Parameter::Loss => Value::Loss(read(text)?),
            Parameter::FramingOverhead => {
                let bytes: ByteCount = read(text)?;
                if bytes > FRAMING_OVERHEAD_MAX {
                    return Err(format!(
                        "{text:?} per packet is more than {FRAMING_OVERHEAD_MAX}; write it like \"18 B\""
                    ));
                }
                Value::FramingOverhead(bytes)
            }
        };
        Ok(Self { key, value })
    }

    /// Whether it states `parameter` for the direction of `side`.
    pub(crate) fn states(&self, parameter: Parameter, side: Side) -> bool {
        self.key.parameter == parameter && [Side::Both, side].contains(&self.key.side)
    }

    /// Applies the setting to `down` and `up`.
    pub(crate) fn apply(
        &self,
        down: &mut DirectionSpec,
        up: &mut DirectionSpec,
        read_trace: TraceReader<'_>,
    ) -> Result<(), LinkError> {
        let trace = match &self.value {
            Value::TracePath(path) => {
                let unread = |problem| LinkError(format!("delivery trace {path:?} cannot be read: {problem}"));
                Some(DeliveryTrace::parse(path, &read_trace(path).map_err(unread)?)?)
            }
            _ => None,
        };
        for (side, direction) in [(Side::Down, down), (Side::Up, up)] {
            if !self.states(self.key.parameter, side) {
                continue;
            }
            match &self.value {
                Value::Capacity(capacity) => direction.capacity.clone_from(capacity),
                Value::TracePath(_) => {
                    direction.capacity = Capacity::Trace(trace.clone().expect("read above, since the value is a path"));
                }
                Value::OneWayDelay(delay) => direction.one_way_delay = *delay,
                Value::RoundTrip(round_trip) => direction.one_way_delay = half_round_trip(*round_trip, side),
                Value::Jitter(jitter) => direction.jitter = *jitter,
                Value::Reordering(reordering) => direction.reordering = *reordering,
                Value::Queue(queue) => direction.queue = *queue,
                Value::Loss(loss) => direction.loss = *loss,
                Value::FramingOverhead(bytes) => direction.framing_overhead = *bytes,
            }
        }
        Ok(())
    }
}

/// More than any framing; our own choice, to catch a wrong unit.
const FRAMING_OVERHEAD_MAX: ByteCount = ByteCount::new(1500);

/// Half a round trip; an odd nanosecond goes down.
pub(crate) fn half_round_trip(round_trip: Duration, side: Side) -> Duration {
    let up = round_trip / 2;
    if side == Side::Up { up } else { round_trip - up }
}
