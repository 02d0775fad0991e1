//! The settings of a radio: their names, their values as text, and how each changes it.

use super::phy::{Phy, Preamble, Rate};
use super::spec::{Beacons, Fading, Interferer, PowerStates, RadioSpec, RateControl};
use crate::notation::{ValueGrammar, compact, inside, packets, print_exactly, read};
use lastmile_units::suggest::nearest;
use lastmile_units::{BitRate, Dbm, Decibels, Metres, Probability, duration};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// A setting of a radio: its name, how its value is printed, and how a text changes it.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    print: fn(&RadioSpec) -> String,
    change: fn(&mut RadioSpec, &str) -> Result<(), String>,
}

const NONE: &str = "none";
const ARF: &str = "arf";

/// A setting that is one field of [`RadioSpec`], printed by `$print` and parsed by `$read`.
macro_rules! field {
    ($name:literal, $($field:ident).+, $print:expr, $read:expr) => {
        Parameter {
            name: $name,
            print: |spec| $print(&spec.$($field).+),
            change: |spec, text| {
                spec.$($field).+ = $read(text)?;
                Ok(())
            },
        }
    };
}

/// All settings, in the order in which a radio prints them.
pub(crate) static PARAMETERS: [Parameter; 23] = [
    Parameter {
        name: "preamble",
        print: |spec| print_preamble(spec.phy),
        change: |spec, text| {
            spec.phy = read_preamble(text, spec.phy)?;
            Ok(())
        },
    },
    Parameter {
        name: "rate",
        print: |spec| match spec.rate {
            RateControl::Fixed(rate) => rate.to_string(),
            RateControl::Arf => ARF.to_owned(),
        },
        change: |spec, text| {
            spec.rate = match text {
                ARF => RateControl::Arf,
                _ => RateControl::Fixed(read_rate(text, spec.phy)?),
            };
            Ok(())
        },
    },
    Parameter {
        name: "highest_basic_rate",
        print: |spec| spec.highest_basic_rate.to_string(),
        change: |spec, text| {
            spec.highest_basic_rate = read_rate(text, spec.phy)?;
            Ok(())
        },
    },
    field!("transmit_power", transmit_power, Dbm::to_string, read),
    field!("distance", distance, Metres::to_string, read),
    field!("path_loss_exponent", path_loss.exponent, f64::to_string, read_exponent),
    field!("path_loss_reference", path_loss.reference, Decibels::to_string, read),
    field!("obstruction_loss", obstruction_loss, Decibels::to_string, read),
    field!("antennas", antennas, u32::to_string, read_antennas),
    field!("fading", fading, print_fading, read_fading),
    field!("coherence_time", coherence_time, print_time, read_time),
    field!("noise_figure", noise_figure, Decibels::to_string, read),
    field!("implementation_loss", implementation_loss, Decibels::to_string, read),
    field!("carrier_sense_threshold", carrier_sense_threshold, Dbm::to_string, read),
    field!(
        "energy_detection_threshold",
        energy_detection_threshold,
        Dbm::to_string,
        read
    ),
    field!("capture", capture, print_or_none, read_or_none),
    field!("short_retry_limit", short_retry_limit, u32::to_string, read_attempts),
    field!("long_retry_limit", long_retry_limit, u32::to_string, read_attempts),
    field!("rts_threshold", rts_threshold, print_or_none, read_or_none),
    field!("queue", queue_packets, print_queue, read_queue),
    field!("beacons", beacons, print_beacons, read_beacons),
    field!("interferer", interferer, print_interferer, read_interferer),
    field!("power_states", power_states, print_power_states, read_power_states),
];

impl Parameter {
    /// Finds a parameter by name; the error for an unknown one names the nearest and lists all.
    pub(crate) fn find(text: &str) -> Result<&'static Self, String> {
        let known = PARAMETERS.iter().find(|parameter| parameter.name == text);
        known.ok_or_else(|| {
            let names = PARAMETERS.each_ref().map(|parameter| parameter.name);
            unknown_name(text, "a setting of a radio", "settings", &names)
        })
    }

    /// The value in `spec` as text.
    pub(crate) fn printed(&self, spec: &RadioSpec) -> String {
        (self.print)(spec)
    }

    /// Changes `spec`; the error names the setting, and says what is wrong with the value, and what would be right. `spec` is then
    /// as it was.
    pub(crate) fn apply(&self, spec: &mut RadioSpec, text: &str) -> Result<(), String> {
        (self.change)(spec, text.trim()).map_err(|problem| format!("{}: {problem}", self.name))
    }
}

/// The error for a name that is not `what`: it suggests the nearest of `names`, and lists all.
pub(super) fn unknown_name(name: &str, what: &str, list: &str, names: &[&str]) -> String {
    let meant = nearest(name, names.iter().copied());
    let meant = meant.map_or_else(String::new, |name| format!("did you mean {name}? "));
    format!("{name:?} is not {what}; {meant}{list}: {}", names.join(", "))
}

/// No two settings have one name.
impl PartialEq for Parameter {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

fn print_or_none(value: &Option<impl fmt::Display>) -> String {
    value.as_ref().map_or_else(|| NONE.to_owned(), ToString::to_string)
}

fn print_preamble(phy: Phy) -> String {
    match phy {
        Phy::HighRateDsss(Preamble::Short) => "short".to_owned(),
        Phy::HighRateDsss(Preamble::Long) | Phy::Ofdm => "long".to_owned(),
    }
}

fn print_fading(fading: &Fading) -> String {
    match fading {
        Fading::None => NONE.to_owned(),
        Fading::Rayleigh => "rayleigh".to_owned(),
        Fading::Rician(line_of_sight) => format!("rician({line_of_sight})"),
    }
}

fn print_time(time: &Duration) -> String {
    duration::print(*time)
}

fn print_queue(packets: &usize) -> String {
    format!("{packets} packets")
}

fn print_beacons(beacons: &Option<Beacons>) -> String {
    print_or_none(&beacons.map(|beacons| duration::print(beacons.interval)))
}

fn print_interferer(interferer: &Option<Interferer>) -> String {
    print_or_none(&interferer.map(|interferer| {
        let period = duration::print(interferer.period);
        let share = print_exactly(interferer.duty_cycle);
        let power = interferer.received_power;
        format!("on(period={period}, duty_cycle={share}, power={power})")
    }))
}

fn print_power_states(states: &PowerStates) -> String {
    let PowerStates {
        transmit_watts,
        receive_watts,
        idle_watts,
    } = states;
    format!("draws(transmit={transmit_watts} W, receive={receive_watts} W, idle={idle_watts} W)")
}

fn read_or_none<T: FromStr>(text: &str) -> Result<Option<T>, String>
where
    T::Err: fmt::Display,
{
    if text == NONE { Ok(None) } else { read(text).map(Some) }
}

fn read_time(text: &str) -> Result<Duration, String> {
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
    read_within(text, 1.0..=10.0, "an exponent from 1 to 10", "3")
}

fn read_antennas(text: &str) -> Result<u32, String> {
    read_within(text, 1..=8, "a number of antennas from 1 to 8", "2")
}

fn read_attempts(text: &str) -> Result<u32, String> {
    read_within(text, 1..=255, "a number of attempts from 1 to 255", "7")
}

fn read_within<T>(text: &str, range: RangeInclusive<T>, what: &str, example: &str) -> Result<T, String>
where
    T: FromStr + PartialOrd,
{
    let value = text.parse().ok().filter(|value| range.contains(value));
    value.ok_or_else(|| format!("{text:?} is not {what}; write it like {example:?}"))
}

fn read_queue(text: &str) -> Result<usize, String> {
    let packets = packets(&compact(text)).and_then(|number| number.parse::<u32>().ok());
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

fn read_beacons(text: &str) -> Result<Option<Beacons>, String> {
    if text == NONE {
        return Ok(None);
    }
    read_time(text).map(|interval| Some(Beacons { interval }))
}

const INTERFERER: ValueGrammar = ValueGrammar {
    what: "an interferer",
    examples: "\"none\", \"on(power=-60 dBm)\", \"on(period=20 ms, duty_cycle=50 %, power=-60 dBm)\"",
};

fn read_interferer(text: &str) -> Result<Option<Interferer>, String> {
    if text == NONE {
        return Ok(None);
    }
    let all = compact(text);
    let error = |problem: &str| INTERFERER.error(text, problem).to_string();
    let arguments = inside(&all, "on").ok_or_else(|| error("it is neither \"none\" nor \"on(...)\""))?;
    let keys = ["period", "duty_cycle", "power"];
    let values = INTERFERER
        .arguments(text, arguments, keys)
        .map_err(|error| error.to_string())?;
    let [period, duty_cycle, power] = values;
    let default = Interferer::microwave_oven(read::<Dbm>(power.ok_or_else(|| error("its power is missing"))?)?);
    Ok(Some(Interferer {
        period: period.map_or(Ok(default.period), read_time)?,
        duty_cycle: duty_cycle.map_or(Ok(default.duty_cycle), read::<Probability>)?,
        ..default
    }))
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
