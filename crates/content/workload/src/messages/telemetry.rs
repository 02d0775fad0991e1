//! Binary telemetry of an instrument: one frame of readings per message, all of one layout, with little change from one to the next.
//!
//! A frame is, big endian: an identifier (2 bytes), a sequence counter (4), the time in milliseconds (8), then 2 bytes per channel. A
//! third of the channels are settings that hardly ever change, a third drift, a third are noise around a mean.

use super::{Timeline, sent};
use lastmile_codec::message::Kind;
use lastmile_traffic::messages::Message;
use lastmile_units::random::{below, between};
use lastmile_units::{Rng, Seed};
use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

/// Readings of an instrument: `{ kind = "telemetry", messages = 1000 }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// The number of frames.
    pub messages: NonZeroU32,
    /// The number of readings in a frame; 24 if not given, for a frame of 62 bytes.
    #[serde(default = "usual_channels")]
    pub channels: NonZeroU16,
}

fn usual_channels() -> NonZeroU16 {
    NonZeroU16::new(24).expect("24 is not 0")
}

/// The identifier that marks a frame: our own choice.
const IDENTIFIER: u16 = 0x1d0b;

/// Ten frames a second: our own choice, as are the shares and spreads below.
const PERIOD: Duration = Duration::from_millis(100);

impl Telemetry {
    pub(crate) fn generate(&self, seed: Seed) -> Vec<Message> {
        let mut rng = seed.derive("telemetry").rng();
        let mut channels: Vec<Channel> = (0..self.channels.get())
            .map(|index| Channel::new(index, &mut rng))
            .collect();
        let mut clock = Timeline::default();
        let mut frame = |sequence: u32| {
            clock.advance(PERIOD);
            let mut bytes = Vec::with_capacity(14 + 2 * channels.len());
            bytes.extend_from_slice(&IDENTIFIER.to_be_bytes());
            bytes.extend_from_slice(&sequence.to_be_bytes());
            bytes.extend_from_slice(&clock.milliseconds().to_be_bytes());
            for channel in &mut channels {
                bytes.extend_from_slice(&channel.read(&mut rng).to_be_bytes());
            }
            sent(clock, Kind::Binary, bytes)
        };
        (0..self.messages.get()).map(&mut frame).collect()
    }
}

struct Channel {
    behaviour: Behaviour,
    value: i16,
}

enum Behaviour {
    /// A setting, which changes now and then.
    Set,
    /// A drift in small steps.
    Drift,
    /// Noise around the value, this far at most.
    Noise(usize),
}

impl Channel {
    fn new(index: u16, rng: &mut Rng) -> Self {
        let behaviour = match index % 3 {
            0 => Behaviour::Set,
            1 => Behaviour::Drift,
            _ => Behaviour::Noise(between(rng, 2, 200)),
        };
        Self {
            behaviour,
            value: around(0, 20_000, rng),
        }
    }

    fn read(&mut self, rng: &mut Rng) -> i16 {
        match self.behaviour {
            Behaviour::Set if below(rng, 200) == 0 => self.value = around(0, 20_000, rng),
            Behaviour::Set => {}
            Behaviour::Drift => self.value = around(self.value, 1, rng),
            Behaviour::Noise(spread) => return around(self.value, spread, rng),
        }
        self.value
    }
}

/// A random number no farther from `centre` than `spread`.
fn around(centre: i16, spread: usize, rng: &mut Rng) -> i16 {
    let offset = between(rng, 0, 2 * spread) as i32 - spread as i32;
    // The means and spreads above leave more than half of the range unused; a drift that reaches its end stops there.
    (i32::from(centre) + offset).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}
