//! The plan of a test-executions workload: the number and sizes of objects, and the variation between them.

use super::{GROWTH_WITHOUT_TEXT, HEADER_AND_CLASSES, TestExecution, sizes};
use crate::report_text::{QUANTITIES, ReportText, SHORT_TEXTS};
use crate::{OBJECTS_MAX, WorkloadError};
use lastmile_units::random::{below, between};
use lastmile_units::{ByteCount, Seed};
use rand_core::Rng as _;

/// The variation from one object to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// Nothing varies: equal objects, though never the same instance.
    Nothing,
    /// The identifier, which counts up. The default: the report's objects are stored ones, so each has an identity, and all objects of a
    /// case have the same size, like copies of one object.
    #[default]
    Id,
    /// The identifier, and the start and end times of the execution.
    IdAndTimes,
    /// All of these, and every text is new.
    FreshText,
}

/// A case of the report that sends test executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Case {
    /// 372 objects of many sizes.
    A,
    /// 100 objects of "1.06 kB".
    B,
    /// 53 objects of "2.01 kB".
    C,
    /// 23 objects of "4.69 kB".
    D,
    /// 6 objects of "16.7 kB".
    E,
    /// 1 object of "1.06 kB".
    F,
    /// 10 objects of "1.06 kB".
    G,
}

/// A workload of test executions. In a study file either a case of the report, `{ kind = "test-executions", case = "B" }`, or its own
/// numbers: `objects` with `growth = "550 B"` (what each adds to the stream) or with `total = "675490 B"` (the whole stream), which is
/// split evenly, or with `mixed = true` by a bounded Pareto distribution.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestExecutions {
    /// A case of the report; excludes the numbers below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Case>,
    /// The number of objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<usize>,
    /// How many bytes each adds to the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<ByteCount>,
    /// The size of the whole stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<ByteCount>,
    /// Whether the objects have mixed sizes.
    #[serde(default)]
    pub mixed: bool,
    /// The variation between objects.
    #[serde(default)]
    pub variation: Variation,
    /// The number of procedures, each with its own texts; executions of one procedure follow each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub procedures: Option<usize>,
    /// The number of quantities (voltages, temperatures ...) that a procedure is about, 1 to 20; 6 if not given. With fewer
    /// quantities, its texts repeat themselves more.
    #[serde(default = "default_quantities")]
    pub quantities: usize,
}

/// Inferred from the printed compressed sizes, since the report says nothing about the texts: with 6, every case from B to G is within
/// 0.03 of the printed ratio for each of twenty seeds. It matters little: from 1 to 20 quantities the ratio of the most sensitive
/// case (F, one object) falls by 0.03, while variation of the objects lowers B's by 0.18.
fn default_quantities() -> usize {
    6
}

/// The sizes of a plan's objects, before they are drawn.
enum Sizes {
    Each(ByteCount),
    Even(ByteCount),
    Mixed(ByteCount),
}

impl TestExecutions {
    /// A case of the report.
    pub fn of_case(case: Case) -> Self {
        Self {
            case: Some(case),
            objects: None,
            growth: None,
            total: None,
            mixed: false,
            variation: Variation::default(),
            procedures: None,
            quantities: default_quantities(),
        }
    }

    /// Variants of the same case with one parameter changed at a time, and the description of the change: each variation, and the
    /// number of quantities from fewest to most. Their ratios show how much depends on parameters that the report does not state.
    pub fn sensitivity(case: Case) -> Vec<(String, Self)> {
        let variations = [
            (Variation::Nothing, "nothing varies"),
            (Variation::Id, "the identifier varies"),
            (Variation::IdAndTimes, "identifier and times vary"),
            (Variation::FreshText, "every text is fresh"),
        ];
        let base = Self::of_case(case);
        let varied = variations.into_iter().map(|(variation, said)| {
            (
                said.to_owned(),
                Self {
                    variation,
                    ..base.clone()
                },
            )
        });
        let quantities = [1, 3, 6, 12, QUANTITIES];
        let worded = quantities.into_iter().map(|quantities| {
            (
                format!("texts about {quantities} quantities"),
                Self {
                    quantities,
                    ..base.clone()
                },
            )
        });
        varied.chain(worded).collect()
    }

    /// Generates the executions, the same for the same seed.
    ///
    /// # Errors
    /// When the numbers contradict each other, or an object is too small for its texts.
    pub fn generate(&self, seed: Seed) -> Result<Vec<TestExecution>, WorkloadError> {
        let (objects, sizes, procedures) = self.resolve()?;
        let growths = match sizes {
            Sizes::Each(growth) => vec![growth; objects],
            Sizes::Even(total) => sizes::even(objects, growth_in(total)?),
            Sizes::Mixed(total) => sizes::mixed(objects, growth_in(total)?, seed.derive("sizes"))?,
        };
        let mut rng = seed.derive("test executions").rng();
        // A database's object identifier, and a start in the first half of 2005.
        let first_identifier = (rng.next_u64() >> 24) as i64;
        let mut start_time = 1_483_000_000_000_000 + below(&mut rng, 15_000_000) as i64 * 1_000_000;
        let mut duration = between(&mut rng, 60_000_000, 7_200_000_000) as i64;
        let mut executions = Vec::with_capacity(objects);
        for (index, growth) in growths.into_iter().enumerate() {
            let fresh = self.variation == Variation::FreshText;
            let text_seed = match fresh {
                true => seed.derive("fresh texts").derive_index(index as u64),
                false => seed
                    .derive("procedures")
                    .derive_index((index * procedures / objects) as u64),
            };
            if index > 0 && matches!(self.variation, Variation::IdAndTimes | Variation::FreshText) {
                start_time += duration + between(&mut rng, 1_000_000, 3_600_000_000) as i64;
                duration = between(&mut rng, 60_000_000, 7_200_000_000) as i64;
            }
            let text = text_for(growth, self.quantities, text_seed)?;
            executions.push(TestExecution {
                identifier: first_identifier
                    + if self.variation == Variation::Nothing {
                        0
                    } else {
                        index as i64
                    },
                completed: true,
                start_time,
                end_time: start_time + duration,
                steps_passed: text.log.lines().count() as i32,
                steps_failed: 0,
                version: 1,
                text,
            });
        }
        Ok(executions)
    }

    fn resolve(&self) -> Result<(usize, Sizes, usize), WorkloadError> {
        let wrong = |problem: &str| Err(WorkloadError::spec("test-executions", problem.to_owned()));
        let (objects, sizes, procedures) = match self {
            Self {
                case: Some(case),
                objects: None,
                growth: None,
                total: None,
                mixed: false,
                ..
            } => case.numbers(),
            Self { case: Some(_), .. } => {
                return wrong("a case fixes objects, growth, total and mixed; give the case or the numbers, not both");
            }
            Self {
                objects: Some(objects),
                growth: Some(growth),
                total: None,
                mixed: false,
                ..
            } => (*objects, Sizes::Each(*growth), 1),
            Self {
                objects: Some(objects),
                growth: None,
                total: Some(total),
                mixed,
                ..
            } => (
                *objects,
                if *mixed {
                    Sizes::Mixed(*total)
                } else {
                    Sizes::Even(*total)
                },
                1,
            ),
            _ => {
                return wrong(
                    "give a case (\"A\" to \"G\"), or objects with growth (\"550 B\") or total (\"55538 B\", optionally with mixed = true)",
                );
            }
        };
        let procedures = self.procedures.unwrap_or(procedures);
        if objects == 0 || procedures == 0 || procedures > objects {
            return wrong("objects must be at least 1, and procedures from 1 to objects");
        }
        if objects > OBJECTS_MAX {
            return wrong("objects must be at most 1000000");
        }
        if self.quantities == 0 || self.quantities > QUANTITIES {
            return wrong("quantities must be from 1 to 20");
        }
        Ok((objects, sizes, procedures))
    }
}

impl Case {
    /// Objects, sizes and procedures. [`faulty_meter`](crate::faulty_meter) explains the true sizes.
    fn numbers(self) -> (usize, Sizes, usize) {
        match self {
            // Twice the printed 337,745. The number of procedures is inferred from the printed compressed size.
            Self::A => (372, Sizes::Mixed(ByteCount::new(675_490)), PROCEDURES_OF_A),
            Self::B => (100, Sizes::Each(ByteCount::new(550)), 1),
            Self::C => (53, Sizes::Each(ByteCount::new(1_526)), 1),
            // Twice the printed 48,240 is not 538 + 23 g for a whole g: objects differ by a byte, for example by a reading with one
            // digit more. Their single-stream size is then 4,709 B = 4.59 KiB, truncated (not rounded) to two decimals like
            // the report's other sizes (2.0156 is printed 2.01): we take the printed 4.69 for a misprint of 4.59.
            Self::D => (23, Sizes::Even(ByteCount::new(96_480)), 1),
            Self::E => (6, Sizes::Each(ByteCount::new(16_619)), 1),
            Self::F => (1, Sizes::Each(ByteCount::new(550)), 1),
            Self::G => (10, Sizes::Each(ByteCount::new(550)), 1),
        }
    }
}

/// Inferred: see [`Case::numbers`].
const PROCEDURES_OF_A: usize = 30;

fn growth_in(total: ByteCount) -> Result<u64, WorkloadError> {
    total.get().checked_sub(HEADER_AND_CLASSES.get()).ok_or_else(|| {
        WorkloadError::spec(
            "test-executions",
            format!("total is {total}, but the header and class descriptors alone are {HEADER_AND_CLASSES}"),
        )
    })
}

fn text_for(growth: ByteCount, quantities: usize, seed: Seed) -> Result<ReportText, WorkloadError> {
    let characters = (growth.get() as usize)
        .checked_sub(GROWTH_WITHOUT_TEXT)
        .filter(|&left| left >= SHORT_TEXTS);
    let Some(characters) = characters else {
        let least = ByteCount::from(GROWTH_WITHOUT_TEXT + SHORT_TEXTS);
        let problem = format!("an object would add {growth} to the stream; the minimum is {least}");
        return Err(WorkloadError::spec("test-executions", problem));
    };
    // Strings of 64 KiB and more have a longer length field, which the count above does not include.
    if characters > 0xffff {
        let problem = format!("an object would add {growth} to the stream; the maximum is 65 kB");
        return Err(WorkloadError::spec("test-executions", problem));
    }
    Ok(ReportText::of_length(seed, quantities, characters))
}
