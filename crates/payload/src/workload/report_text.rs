//! What does a test report say? Sentences about steps and readings, of an exact length.
//!
//! Wording repeats (few actions, some dozens of parameters) and readings do not (times and measured digits): that is what makes
//! such text, alone, shrink little when short and better when long. The lists of words are our own.

use super::draw::{below, between, pick, shuffle};
use lastmile_units::{Rng, Seed};

/// The texts of one test execution and its procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportText {
    /// The test campaign.
    pub campaign: String,
    /// Which model of the instrument was tested.
    pub instrument_model: String,
    /// The set-up of the test.
    pub test_configuration: String,
    /// Who ran it.
    pub operator: String,
    /// The procedure's name.
    pub procedure: String,
    /// What the procedure is for.
    pub description: String,
    /// The commands it sends.
    pub script: String,
    /// How it ended.
    pub verdict: String,
    /// Who reviewed it.
    pub reviewer: String,
    /// What happened, line by line.
    pub log: String,
}

/// The most that the short texts (all but description, script and log) take together, in characters.
pub(super) const SHORT_TEXTS: usize = 150;

/// The script is at most this part of the long texts, and no longer than [`SCRIPT_MOST`]: our own choice. A procedure
/// does not grow with what its executions log.
const SCRIPT_SHARE: usize = 4;
const SCRIPT_MOST: usize = 900;
/// As for the script.
const DESCRIPTION_SHARE: usize = 6;
const DESCRIPTION_MOST: usize = 400;

impl ReportText {
    /// Texts of `characters` in all, one byte each; at least [`SHORT_TEXTS`] of them.
    pub(super) fn of_length(seed: Seed, characters: usize) -> Self {
        let mut rng = seed.derive("report text").rng();
        let rng = &mut rng;
        let subject = Subject::draw(rng);
        let mut text = Self {
            campaign: format!("{} campaign {}", pick(rng, &CAMPAIGNS), between(rng, 1, 9)),
            instrument_model: format!(
                "{} model",
                pick(rng, &["qualification", "flight", "flight spare", "avionics"])
            ),
            test_configuration: format!("{} {}", subject.part(rng), between(rng, 1, 40)),
            operator: (*pick(rng, &PEOPLE)).to_owned(),
            procedure: format!("{} {}", subject.part(rng), pick(rng, &KINDS)),
            description: String::new(),
            script: String::new(),
            verdict: "passed".to_owned(),
            reviewer: (*pick(rng, &PEOPLE)).to_owned(),
            log: String::new(),
        };
        debug_assert!(text.len() <= SHORT_TEXTS);
        let long = characters
            .checked_sub(text.len())
            .expect("the caller leaves room for the short texts");
        text.description = filled(rng, (long / DESCRIPTION_SHARE).min(DESCRIPTION_MOST), |rng, _, to| {
            subject.describe(rng, to);
        });
        text.script = filled(rng, (long / SCRIPT_SHARE).min(SCRIPT_MOST), |rng, line, to| {
            subject.command(rng, line, to);
        });
        // From a seed of its own, so that a longer log of the same procedure begins as a shorter one does.
        let mut rng = seed.derive("log").rng();
        let mut clock = Clock::start(&mut rng);
        text.log = filled(&mut rng, characters - text.len(), |rng, line, to| {
            subject.log_line(rng, line, &mut clock, to);
        });
        text
    }

    /// Characters in all.
    pub fn len(&self) -> usize {
        self.all().iter().map(|text| text.len()).sum()
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn all(&self) -> [&String; 10] {
        [
            &self.campaign,
            &self.instrument_model,
            &self.test_configuration,
            &self.operator,
            &self.procedure,
            &self.description,
            &self.script,
            &self.verdict,
            &self.reviewer,
            &self.log,
        ]
    }
}

/// Text of exactly `length` bytes; what is too long for it is cut.
fn filled(rng: &mut Rng, length: usize, mut more: impl FnMut(&mut Rng, usize, &mut String)) -> String {
    let mut text = String::with_capacity(length + 128);
    for line in 0.. {
        if text.len() >= length {
            break;
        }
        more(rng, line, &mut text);
    }
    text.truncate(length);
    text
}

/// The time of day that log lines carry.
struct Clock {
    seconds: usize,
}

impl Clock {
    fn start(rng: &mut Rng) -> Self {
        Self {
            seconds: between(rng, 6 * 3600, 9 * 3600),
        }
    }
}

/// What a procedure tests: a few parts of the instrument and a few of their parameters, to which its texts return again and
/// again. How few is inferred from the printed compressed sizes.
struct Subject {
    parts: Vec<&'static str>,
    parameters: Vec<Parameter>,
}

const PARTS_OF_A_SUBJECT: usize = 1;
const PARAMETERS_OF_A_SUBJECT: usize = 6;

impl Subject {
    fn draw(rng: &mut Rng) -> Self {
        let (mut parts, mut parameters) = (PARTS, PARAMETERS);
        shuffle(rng, &mut parts);
        shuffle(rng, &mut parameters);
        let (parts, parameters) = (&parts[..PARTS_OF_A_SUBJECT], &parameters[..PARAMETERS_OF_A_SUBJECT]);
        Self {
            parts: parts.to_vec(),
            parameters: parameters.to_vec(),
        }
    }

    fn part(&self, rng: &mut Rng) -> &'static str {
        self.parts[below(rng, self.parts.len())]
    }

    fn parameter(&self, rng: &mut Rng) -> Parameter {
        *pick(rng, &self.parameters)
    }

    fn describe(&self, rng: &mut Rng, to: &mut String) {
        let verb = pick(rng, &["Verifies", "Measures", "Characterises", "Records", "Calibrates"]);
        let (measured, part, set) = (self.parameter(rng).name, self.part(rng), self.parameter(rng).name);
        let level = pick(rng, &["nominal", "lowest", "highest", "reduced"]);
        to.push_str(&format!(
            "{verb} the {measured} of the {part} at {level} {set} {}. ",
            pick(rng, &REMARKS)
        ));
    }

    fn command(&self, rng: &mut Rng, line: usize, to: &mut String) {
        let Parameter { name, unit, nominal } = self.parameter(rng);
        to.push_str(&match line % 3 {
            0 => format!("send {} {}\n", pick(rng, &COMMANDS), between(rng, 0, 4095)),
            1 => format!("check {} {name} {nominal:.1} {unit}\n", self.part(rng)),
            _ => format!("wait {} s\n", between(rng, 1, 60)),
        });
    }

    fn log_line(&self, rng: &mut Rng, line: usize, clock: &mut Clock, to: &mut String) {
        clock.seconds += between(rng, 1, LONGEST_STEP);
        let (hours, minutes, seconds) = (clock.seconds / 3600 % 24, clock.seconds / 60 % 60, clock.seconds % 60);
        to.push_str(&format!("{hours:02}:{minutes:02}:{seconds:02} step {}: ", line + 1));
        // As tests go: a command, then what it changed, now and then a wait or a remark.
        to.push_str(&match line % 6 {
            0 | 2 => format!("command {} accepted\n", pick(rng, &COMMANDS)),
            1 | 3 => self.reading(rng),
            4 => format!(
                "{} {} {}\n",
                self.part(rng),
                self.parameter(rng).name,
                pick(rng, &REMARKS)
            ),
            _ => format!("waiting for {} {}\n", self.part(rng), self.parameter(rng).name),
        });
    }

    fn reading(&self, rng: &mut Rng) -> String {
        let Parameter { name, unit, nominal } = self.parameter(rng);
        // Within a per cent of the nominal value.
        let value = nominal * (0.99 + below(rng, 2001) as f64 / 100_000.0);
        format!(
            "{} {name} is {value:.1} {unit}, nominal {nominal:.1} {unit}, passed\n",
            self.part(rng)
        )
    }
}

/// Steps of a test take up to this many seconds: our own choice.
const LONGEST_STEP: usize = 20;

/// A quantity that a test measures.
#[derive(Clone, Copy)]
struct Parameter {
    name: &'static str,
    unit: &'static str,
    nominal: f64,
}

const fn parameter(name: &'static str, unit: &'static str, nominal: f64) -> Parameter {
    Parameter { name, unit, nominal }
}

const CAMPAIGNS: [&str; 6] = [
    "cold verification",
    "warm functional",
    "thermal balance",
    "integration",
    "vibration",
    "end to end",
];
const PEOPLE: [&str; 8] = [
    "R. Halloran",
    "M. Oduya",
    "S. Lindqvist",
    "K. Marchetti",
    "T. Wexford",
    "J. Abara",
    "P. Villeneuve",
    "H. Sorensen",
];
const KINDS: [&str; 6] = [
    "functional test",
    "load curve",
    "noise test",
    "scan test",
    "health check",
    "calibration",
];
const PARTS: [&str; 16] = [
    "bolometer array",
    "cryogenic mechanism",
    "long-wave detector",
    "short-wave detector",
    "calibration source",
    "sorption cooler",
    "beam steering mirror",
    "signal processor",
    "power unit",
    "thermal strap",
    "readout chain",
    "filter wheel",
    "heat switch",
    "shutter",
    "lock-in amplifier",
    "harness",
];
const COMMANDS: [&str; 12] = [
    "SET_BIAS",
    "SET_PHASE",
    "START_SAMPLING",
    "STOP_SAMPLING",
    "SELECT_CHANNEL",
    "MOVE_MIRROR",
    "HEATER_ON",
    "HEATER_OFF",
    "RESET_COUNTERS",
    "DUMP_TABLE",
    "SET_OFFSET",
    "REPORT_HOUSEKEEPING",
];
const PARAMETERS: [Parameter; 20] = [
    parameter("bias voltage", "mV", 31.2),
    parameter("bath temperature", "mK", 287.4),
    parameter("offset", "counts", 8192.0),
    parameter("noise density", "nV", 14.7),
    parameter("supply current", "mA", 118.5),
    parameter("phase", "deg", 212.0),
    parameter("sampling rate", "Hz", 18.6),
    parameter("pump temperature", "K", 40.1),
    parameter("mirror position", "um", 1530.0),
    parameter("heater power", "mW", 250.0),
    parameter("gate voltage", "V", 2.4),
    parameter("drain current", "uA", 530.0),
    parameter("reference level", "V", 5.0),
    parameter("packet count", "packets", 3600.0),
    parameter("frame loss", "frames", 12.0),
    parameter("gain", "dB", 47.9),
    parameter("motor current", "mA", 86.3),
    parameter("chop throw", "arcsec", 126.0),
    parameter("resistance", "kOhm", 6870.0),
    parameter("settling time", "ms", 420.0),
];
const REMARKS: [&str; 10] = [
    "within limits after settling",
    "drifting slowly, no action taken",
    "stable for two readings",
    "compared with the previous campaign",
    "before the cooler was recycled",
    "with all heaters off",
    "as agreed at the test readiness review",
    "while the shutter was closed",
    "repeated because of a late packet",
    "with the spare harness",
];
