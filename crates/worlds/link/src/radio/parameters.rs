//! The settings of a radio: their names, their values as text, and how each changes it.

use super::phy::{Phy, Preamble, Rate};
use super::spec::{Beacons, Fading, Interferer, PowerStates, RadioSpec, RateControl};
use crate::notation::{ValueGrammar, compact, inside, print_exactly};
use lastmile_units::suggest::nearest;
use lastmile_units::{BitRate, ByteCount, Dbm, Decibels, Probability, duration};
use std::fmt;
use std::str::FromStr;

/// The parameter that a setting changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    Preamble,
    Rate,
    HighestBasicRate,
    TransmitPower,
    Distance,
    PathLossExponent,
    PathLossReference,
    ObstructionLoss,
    Antennas,
    Fading,
    CoherenceTime,
    NoiseFigure,
    ImplementationLoss,
    CarrierSenseThreshold,
    EnergyDetectionThreshold,
    Capture,
    ShortRetryLimit,
    LongRetryLimit,
    RtsThreshold,
    Queue,
    Beacons,
    Interferer,
    PowerStates,
}

const NONE: &str = "none";
const ARF: &str = "arf";

impl Parameter {
    /// In the order in which a radio prints them.
    pub(crate) const ALL: [Parameter; 23] = [
        Self::Preamble,
        Self::Rate,
        Self::HighestBasicRate,
        Self::TransmitPower,
        Self::Distance,
        Self::PathLossExponent,
        Self::PathLossReference,
        Self::ObstructionLoss,
        Self::Antennas,
        Self::Fading,
        Self::CoherenceTime,
        Self::NoiseFigure,
        Self::ImplementationLoss,
        Self::CarrierSenseThreshold,
        Self::EnergyDetectionThreshold,
        Self::Capture,
        Self::ShortRetryLimit,
        Self::LongRetryLimit,
        Self::RtsThreshold,
        Self::Queue,
        Self::Beacons,
        Self::Interferer,
        Self::PowerStates,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Preamble => "preamble",
            Self::Rate => "rate",
            Self::HighestBasicRate => "highest_basic_rate",
            Self::TransmitPower => "transmit_power",
            Self::Distance => "distance",
            Self::PathLossExponent => "path_loss_exponent",
            Self::PathLossReference => "path_loss_reference",
            Self::ObstructionLoss => "obstruction_loss",
            Self::Antennas => "antennas",
            Self::Fading => "fading",
            Self::CoherenceTime => "coherence_time",
            Self::NoiseFigure => "noise_figure",
            Self::ImplementationLoss => "implementation_loss",
            Self::CarrierSenseThreshold => "carrier_sense_threshold",
            Self::EnergyDetectionThreshold => "energy_detection_threshold",
            Self::Capture => "capture",
            Self::ShortRetryLimit => "short_retry_limit",
            Self::LongRetryLimit => "long_retry_limit",
            Self::RtsThreshold => "rts_threshold",
            Self::Queue => "queue",
            Self::Beacons => "beacons",
            Self::Interferer => "interferer",
            Self::PowerStates => "power_states",
        }
    }

    /// Parses a name; the error for an unknown one names the nearest and lists all.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|parameter| parameter.name() == text);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let meant = nearest(text, names).map_or_else(String::new, |name| format!("did you mean {name}? "));
            format!(
                "{text:?} is not a setting of a radio; {meant}settings: {}",
                names.join(", ")
            )
        })
    }

    /// The value in `spec` as text.
    pub(crate) fn printed(self, spec: &RadioSpec) -> String {
        fn or_none(value: Option<impl fmt::Display>) -> String {
            value.map_or_else(|| NONE.to_owned(), |value| value.to_string())
        }
        match self {
            Self::Preamble => match spec.phy {
                Phy::HighRateDsss(Preamble::Short) => "short".to_owned(),
                Phy::HighRateDsss(Preamble::Long) | Phy::Ofdm => "long".to_owned(),
            },
            Self::Rate => match spec.rate {
                RateControl::Fixed(rate) => rate.to_string(),
                RateControl::Arf => ARF.to_owned(),
            },
            Self::HighestBasicRate => spec.highest_basic_rate.to_string(),
            Self::TransmitPower => spec.transmit_power.to_string(),
            Self::Distance => spec.distance.to_string(),
            Self::PathLossExponent => spec.path_loss.exponent.to_string(),
            Self::PathLossReference => spec.path_loss.reference.to_string(),
            Self::ObstructionLoss => spec.obstruction_loss.to_string(),
            Self::Antennas => spec.antennas.to_string(),
            Self::Fading => match spec.fading {
                Fading::None => NONE.to_owned(),
                Fading::Rayleigh => "rayleigh".to_owned(),
                Fading::Rician(line_of_sight) => format!("rician({line_of_sight})"),
            },
            Self::CoherenceTime => duration::print(spec.coherence_time),
            Self::NoiseFigure => spec.noise_figure.to_string(),
            Self::ImplementationLoss => spec.implementation_loss.to_string(),
            Self::CarrierSenseThreshold => spec.carrier_sense_threshold.to_string(),
            Self::EnergyDetectionThreshold => spec.energy_detection_threshold.to_string(),
            Self::Capture => or_none(spec.capture),
            Self::ShortRetryLimit => spec.short_retry_limit.to_string(),
            Self::LongRetryLimit => spec.long_retry_limit.to_string(),
            Self::RtsThreshold => or_none(spec.rts_threshold),
            Self::Queue => format!("{} packets", spec.queue_packets),
            Self::Beacons => or_none(spec.beacons.map(|beacons| duration::print(beacons.interval))),
            Self::Interferer => or_none(spec.interferer.map(|interferer| {
                let period = duration::print(interferer.period);
                let share = print_exactly(interferer.duty_cycle);
                let power = interferer.received_power;
                format!("on(period={period}, duty_cycle={share}, power={power})")
            })),
            Self::PowerStates => {
                let PowerStates {
                    transmit_watts,
                    receive_watts,
                    idle_watts,
                } = spec.power_states;
                format!("draws(transmit={transmit_watts} W, receive={receive_watts} W, idle={idle_watts} W)")
            }
        }
    }

    /// Changes `spec`; the error says what is wrong with the value, and what would be right.
    pub(crate) fn apply(self, spec: &mut RadioSpec, text: &str) -> Result<(), String> {
        let text = text.trim();
        match self {
            Self::Preamble => spec.phy = read_preamble(text, spec.phy)?,
            Self::Rate if text == ARF => spec.rate = RateControl::Arf,
            Self::Rate => spec.rate = RateControl::Fixed(read_rate(text, spec.phy)?),
            Self::HighestBasicRate => spec.highest_basic_rate = read_rate(text, spec.phy)?,
            Self::TransmitPower => spec.transmit_power = read(text)?,
            Self::Distance => spec.distance = read(text)?,
            Self::PathLossExponent => spec.path_loss.exponent = read_exponent(text)?,
            Self::PathLossReference => spec.path_loss.reference = read(text)?,
            Self::ObstructionLoss => spec.obstruction_loss = read(text)?,
            Self::Antennas => spec.antennas = read_antennas(text)?,
            Self::Fading => spec.fading = read_fading(text)?,
            Self::CoherenceTime => spec.coherence_time = read_time(text)?,
            Self::NoiseFigure => spec.noise_figure = read(text)?,
            Self::ImplementationLoss => spec.implementation_loss = read(text)?,
            Self::CarrierSenseThreshold => spec.carrier_sense_threshold = read(text)?,
            Self::EnergyDetectionThreshold => spec.energy_detection_threshold = read(text)?,
            Self::Capture => spec.capture = read_unless_none::<Decibels>(text)?,
            Self::ShortRetryLimit => spec.short_retry_limit = read_attempts(text)?,
            Self::LongRetryLimit => spec.long_retry_limit = read_attempts(text)?,
            Self::RtsThreshold => spec.rts_threshold = read_unless_none::<ByteCount>(text)?,
            Self::Queue => spec.queue_packets = read_queue(text)?,
            Self::Beacons if text == NONE => spec.beacons = None,
            Self::Beacons => {
                let interval = read_time(text)?;
                spec.beacons = Some(Beacons { interval });
            }
            Self::Interferer if text == NONE => spec.interferer = None,
            Self::Interferer => spec.interferer = Some(read_interferer(text)?),
            Self::PowerStates => spec.power_states = read_power_states(text)?,
        }
        Ok(())
    }
}

fn read<T: FromStr>(text: &str) -> Result<T, String>
where
    T::Err: fmt::Display,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn read_unless_none<T: FromStr>(text: &str) -> Result<Option<T>, String>
where
    T::Err: fmt::Display,
{
    if text == NONE { Ok(None) } else { read(text).map(Some) }
}

fn read_time(text: &str) -> Result<std::time::Duration, String> {
    let time = duration::parse(text).map_err(|error| error.to_string())?;
    if time.is_zero() {
        return Err(format!("{text:?} is no time: it must be above 0"));
    }
    Ok(time)
}

fn read_preamble(text: &str, phy: Phy) -> Result<Phy, String> {
    match (text, phy) {
        ("long", Phy::HighRateDsss(_)) => Ok(Phy::HighRateDsss(Preamble::Long)),
        ("short", Phy::HighRateDsss(_)) => Ok(Phy::HighRateDsss(Preamble::Short)),
        (_, Phy::Ofdm) => Err("802.11a has one preamble; leave the setting out".to_owned()),
        _ => Err(format!("{text:?} is not a preamble; write \"long\" or \"short\"")),
    }
}

fn read_rate(text: &str, phy: Phy) -> Result<Rate, String> {
    let rate: BitRate = read(text)?;
    let known = phy.rates().iter().find(|known| known.bit_rate() == rate);
    known.copied().ok_or_else(|| {
        let rates: Vec<String> = phy.rates().iter().map(Rate::to_string).collect();
        format!(
            "{text:?} is not a rate of this radio; its rates are {}",
            rates.join(", ")
        )
    })
}

fn read_exponent(text: &str) -> Result<f64, String> {
    let exponent = text
        .parse::<f64>()
        .ok()
        .filter(|exponent| (1.0..=10.0).contains(exponent));
    exponent.ok_or_else(|| format!("{text:?} is not an exponent from 1 to 10; write it like \"3\""))
}

fn read_antennas(text: &str) -> Result<u32, String> {
    let antennas = text.parse::<u32>().ok().filter(|antennas| (1..=8).contains(antennas));
    antennas.ok_or_else(|| format!("{text:?} is not a number of antennas from 1 to 8; write it like \"2\""))
}

fn read_attempts(text: &str) -> Result<u32, String> {
    let attempts = text.parse::<u32>().ok().filter(|attempts| (1..=255).contains(attempts));
    attempts.ok_or_else(|| format!("{text:?} is not a number of attempts from 1 to 255; write it like \"7\""))
}

fn read_queue(text: &str) -> Result<usize, String> {
    let packets = compact(text);
    let packets = packets
        .strip_suffix("packets")
        .or_else(|| packets.strip_suffix("packet"))
        .and_then(|number| number.parse::<u32>().ok());
    let packets = packets.ok_or_else(|| format!("{text:?} is not a queue; write it like \"100 packets\""))?;
    Ok(packets as usize)
}

const FADING: ValueGrammar = ValueGrammar {
    what: "a kind of fading",
    examples: "\"none\", \"rayleigh\", \"rician(6 dB)\"",
};

fn read_fading(text: &str) -> Result<Fading, String> {
    match (text, inside(text, "rician")) {
        (NONE, _) => Ok(Fading::None),
        ("rayleigh", _) => Ok(Fading::Rayleigh),
        (_, Some(line_of_sight)) => read(line_of_sight).map(Fading::Rician),
        _ => Err(FADING.error(text, "it is unknown").to_string()),
    }
}

const INTERFERER: ValueGrammar = ValueGrammar {
    what: "an interferer",
    examples: "\"none\", \"on(power=-60 dBm)\", \"on(period=20 ms, duty_cycle=50 %, power=-60 dBm)\"",
};

fn read_interferer(text: &str) -> Result<Interferer, String> {
    let all = compact(text);
    let error = |problem: &str| INTERFERER.error(text, problem).to_string();
    let arguments = inside(&all, "on").ok_or_else(|| error("it is neither \"none\" nor \"on(...)\""))?;
    let keys = ["period", "duty_cycle", "power"];
    let values = INTERFERER
        .arguments(text, arguments, keys)
        .map_err(|error| error.to_string())?;
    let [period, duty_cycle, power] = values;
    let default = Interferer::microwave_oven(read::<Dbm>(power.ok_or_else(|| error("its power is missing"))?)?);
    Ok(Interferer {
        period: period.map_or(Ok(default.period), read_time)?,
        duty_cycle: duty_cycle.map_or(Ok(default.duty_cycle), read::<Probability>)?,
        ..default
    })
}

const POWER_STATES: ValueGrammar = ValueGrammar {
    what: "what a station draws",
    examples: "\"draws(transmit=1.3 W, receive=0.9 W, idle=0.7 W)\"",
};

fn read_power_states(text: &str) -> Result<PowerStates, String> {
    let all = compact(text);
    let error = |problem: &str| POWER_STATES.error(text, problem).to_string();
    let arguments = inside(&all, "draws").ok_or_else(|| error("it is not \"draws(...)\""))?;
    let keys = ["transmit", "receive", "idle"];
    let values = POWER_STATES
        .arguments(text, arguments, keys)
        .map_err(|error| error.to_string())?;
    let watts = |value: Option<&str>, default: f64| match value {
        None => Ok(default),
        Some(value) => {
            let number = value.strip_suffix('W').and_then(|number| number.parse::<f64>().ok());
            number
                .filter(|watts| (0.0..=1000.0).contains(watts))
                .ok_or_else(|| error("it has no number of watts"))
        }
    };
    let default = PowerStates::default();
    Ok(PowerStates {
        transmit_watts: watts(values[0], default.transmit_watts)?,
        receive_watts: watts(values[1], default.receive_watts)?,
        idle_watts: watts(values[2], default.idle_watts)?,
    })
}
