//! Generates the texts of a test report: sentences about steps and readings, of an exact length.
//!
//! Wording repeats (few actions, few quantities) and readings do not (times and measured digits), so that such text, by itself,
//! compresses poorly when short and better when long. The lists of words are our own.
//!
//! The resolution of times and readings, and the strictness of the line patterns, were adjusted until the report's cases compressed
//! to about the printed ratios: that they do is no evidence about the report's texts. How the ratio changes with the number
//! and size of objects is not determined by these choices.

use crate::vocabulary::pick_of;
use lastmile_units::random::{below, between, pick, shuffle};
use lastmile_units::{Rng, Seed};

/// The texts of one test execution and its procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportText {
    /// The test campaign.
    pub campaign: String,
    /// The model of the instrument that was tested.
    pub instrument_model: String,
    /// The set-up of the test.
    pub test_configuration: String,
    /// The operator who ran it.
    pub operator: String,
    /// The procedure's name.
    pub procedure: String,
    /// The procedure's description.
    pub description: String,
    /// The commands it sends.
    pub script: String,
    /// The outcome.
    pub verdict: String,
    /// The reviewer.
    pub reviewer: String,
    /// The log, line by line.
    pub log: String,
}

/// The longest total of the short texts (all but description, script and log), in characters.
pub(super) const SHORT_TEXTS: usize = 150;

/// The number of quantities that the generator knows.
pub(super) const QUANTITIES: usize = 20;

/// The script is at most this part of the long texts, and no longer than [`SCRIPT_LENGTH_MAX`]: our own choice. A procedure does not
/// grow with the logs of its executions.
const SCRIPT_SHARE: usize = 4;
const SCRIPT_LENGTH_MAX: usize = 900;
/// Likewise for the description.
const DESCRIPTION_SHARE: usize = 6;
const DESCRIPTION_LENGTH_MAX: usize = 400;

impl ReportText {
    /// Texts of `characters` in total, one byte each (at least [`SHORT_TEXTS`]), about that many quantities (at most
    /// [`QUANTITIES`]).
    pub(super) fn of_length(seed: Seed, quantities: usize, characters: usize) -> Self {
        let mut rng = seed.derive("report text").rng();
        let rng = &mut rng;
        let subject = Subject::draw(quantities, rng);
        let mut text = Self {
            campaign: format!("{} campaign {}", pick_of(rng, CAMPAIGNS), between(rng, 1, 9)),
            instrument_model: format!(
                "{} model",
                pick(rng, &["qualification", "flight", "flight spare", "avionics"])
            ),
            test_configuration: format!("{} {}", subject.part, between(rng, 1, 40)),
            operator: pick_of(rng, PEOPLE).to_owned(),
            procedure: format!("{} {}", subject.part, pick_of(rng, KINDS)),
            description: String::new(),
            script: String::new(),
            verdict: "passed".to_owned(),
            reviewer: pick_of(rng, PEOPLE).to_owned(),
            log: String::new(),
        };
        assert!(text.len() <= SHORT_TEXTS);
        let long = characters
            .checked_sub(text.len())
            .expect("the caller leaves room for the short texts");
        text.description = filled(
            rng,
            (long / DESCRIPTION_SHARE).min(DESCRIPTION_LENGTH_MAX),
            |rng, _, to| {
                subject.describe(rng, to);
            },
        );
        text.script = filled(rng, (long / SCRIPT_SHARE).min(SCRIPT_LENGTH_MAX), |rng, line, to| {
            subject.command(rng, line, to);
        });
        // From a seed of its own, so that a longer log of the same procedure begins like a shorter one.
        let mut rng = seed.derive("log").rng();
        let mut clock = Clock::start(&mut rng);
        text.log = filled(&mut rng, characters - text.len(), |rng, line, to| {
            subject.log_line(rng, line, &mut clock, to);
        });
        text
    }

    /// Total characters.
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

/// Text of exactly `length` bytes; the last piece is cut if it is too long.
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

/// The subject of a procedure: a part of the instrument, and some quantities that recur in its texts.
struct Subject {
    part: &'static str,
    quantities: Vec<Quantity>,
}

impl Subject {
    fn draw(quantities: usize, rng: &mut Rng) -> Self {
        let mut all = ALL_QUANTITIES;
        shuffle(rng, &mut all);
        Self {
            part: pick_of(rng, PARTS),
            quantities: all[..quantities].to_vec(),
        }
    }

    fn quantity(&self, rng: &mut Rng) -> Quantity {
        pick(rng, &self.quantities)
    }

    fn describe(&self, rng: &mut Rng, to: &mut String) {
        let verb = pick(rng, &["Verifies", "Measures", "Characterises", "Records", "Calibrates"]);
        let (measured, part, set) = (self.quantity(rng).name, self.part, self.quantity(rng).name);
        let level = pick(rng, &["nominal", "lowest", "highest", "reduced"]);
        to.push_str(&format!(
            "{verb} the {measured} of the {part} at {level} {set} {}. ",
            pick_of(rng, REMARKS)
        ));
    }

    fn command(&self, rng: &mut Rng, line: usize, to: &mut String) {
        let Quantity { name, unit, nominal } = self.quantity(rng);
        to.push_str(&match line % 3 {
            0 => format!("send {} {}\n", pick_of(rng, COMMANDS), between(rng, 0, 4095)),
            1 => format!("check {} {name} {nominal:.1} {unit}\n", self.part),
            _ => format!("wait {} s\n", between(rng, 1, 60)),
        });
    }

    fn log_line(&self, rng: &mut Rng, line: usize, clock: &mut Clock, to: &mut String) {
        clock.seconds += between(rng, 1, STEP_SECONDS_MAX);
        let (hours, minutes, seconds) = (clock.seconds / 3600 % 24, clock.seconds / 60 % 60, clock.seconds % 60);
        to.push_str(&format!("{hours:02}:{minutes:02}:{seconds:02} step {}: ", line + 1));
        // As in typical tests: a command, then the readings that it changed, now and then a wait or a remark.
        to.push_str(&match line % 6 {
            0 | 2 => format!("command {} accepted\n", pick_of(rng, COMMANDS)),
            1 | 3 => self.reading(rng),
            4 => format!("{} {} {}\n", self.part, self.quantity(rng).name, pick_of(rng, REMARKS)),
            _ => format!("waiting for {} {}\n", self.part, self.quantity(rng).name),
        });
    }

    fn reading(&self, rng: &mut Rng) -> String {
        let Quantity { name, unit, nominal } = self.quantity(rng);
        // Within a per cent of the nominal value.
        let value = nominal * (0.99 + below(rng, 2001) as f64 / 100_000.0);
        format!(
            "{} {name} is {value:.1} {unit}, nominal {nominal:.1} {unit}, passed\n",
            self.part
        )
    }
}

/// Steps of a test take up to this many seconds: our own choice.
const STEP_SECONDS_MAX: usize = 20;

/// A quantity that a test measures.
#[derive(Clone, Copy)]
struct Quantity {
    name: &'static str,
    unit: &'static str,
    nominal: f64,
}

const fn quantity(name: &'static str, unit: &'static str, nominal: f64) -> Quantity {
    Quantity { name, unit, nominal }
}

const CAMPAIGNS: &str = "cold verification; warm functional; thermal balance; integration; vibration; end to end";
const PEOPLE: &str =
    "R. Halloran; M. Oduya; S. Lindqvist; K. Marchetti; T. Wexford; J. Abara; P. Villeneuve; H. Sorensen";
const KINDS: &str = "functional test; load curve; noise test; scan test; health check; calibration";
const PARTS: &str = "bolometer array; cryogenic mechanism; long-wave detector; short-wave detector; calibration source; sorption \
     cooler; beam steering mirror; signal processor; power unit; thermal strap; readout chain; filter wheel; heat \
     switch; shutter; lock-in amplifier; harness";
const COMMANDS: &str = "SET_BIAS; SET_PHASE; START_SAMPLING; STOP_SAMPLING; SELECT_CHANNEL; MOVE_MIRROR; HEATER_ON; HEATER_OFF; \
     RESET_COUNTERS; DUMP_TABLE; SET_OFFSET; REPORT_HOUSEKEEPING";
const ALL_QUANTITIES: [Quantity; QUANTITIES] = [
    quantity("bias voltage", "mV", 31.2),
    quantity("bath temperature", "mK", 287.4),
    quantity("offset", "counts", 8192.0),
    quantity("noise density", "nV", 14.7),
    quantity("supply current", "mA", 118.5),
    quantity("phase", "deg", 212.0),
    quantity("sampling rate", "Hz", 18.6),
    quantity("pump temperature", "K", 40.1),
    quantity("mirror position", "um", 1530.0),
    quantity("heater power", "mW", 250.0),
    quantity("gate voltage", "V", 2.4),
    quantity("drain current", "uA", 530.0),
    quantity("reference level", "V", 5.0),
    quantity("packet count", "packets", 3600.0),
    quantity("frame loss", "frames", 12.0),
    quantity("gain", "dB", 47.9),
    quantity("motor current", "mA", 86.3),
    quantity("chop throw", "arcsec", 126.0),
    quantity("resistance", "kOhm", 6870.0),
    quantity("settling time", "ms", 420.0),
];
const REMARKS: &str = "within limits after settling; drifting slowly, no action taken; stable for two readings; compared with the \
     previous campaign; before the cooler was recycled; with all heaters off; as agreed at the test readiness review; \
     while the shutter was closed; repeated because of a late packet; with the spare harness";
