//! The time that one setting saves against another, in the records of products.

#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one setting saves compared with another, in pairs: same response or page, same repeat, same random choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Saving {
    /// How many pairs.
    pub pairs: u64,
    /// The mean of the differences; above 0 the setting is faster.
    pub mean_s: f64,
    /// 95 % interval of that mean; none where nothing varied.
    pub mean_ci95_s: Option<[f64; 2]>,
    /// The baseline's median less the setting's.
    pub median_s: f64,
    /// 95 % interval of that.
    pub median_ci95_s: Option<[f64; 2]>,
    /// The baseline's 95th percentile less the setting's: what the slow ones gain.
    pub p95_s: f64,
    /// 95 % interval of that.
    pub p95_ci95_s: Option<[f64; 2]>,
    /// `mean_s` as a share of the baseline's mean: 0.4 saves 40 %.
    pub share: f64,
    /// What varied between pairs, and so what the intervals are about.
    pub varied: Vec<String>,
}
