//! How far simulated page loads are from those of a real browser, where a study measured it.

use crate::number::percent;
#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far simulated page times are from those of a real browser behind the same links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct ModelError {
    /// The study that measured it.
    pub study: String,
    /// How many page loads it compared.
    pub pages: u64,
    /// The median of `|simulated / real - 1|`.
    pub median: f64,
    /// The largest of these.
    pub worst: f64,
}

impl ModelError {
    /// Every ratio between page times under two compressed codings is as close as this to a browser's, in the recorded run of
    /// `fidelity-pages`: of many settings, one that is faster by less is no better.
    pub const OF_RATIOS: f64 = 0.1;

    /// The sentence about it, in an answer about a page that it was not measured with.
    pub fn sentence(&self) -> String {
        format!(
            "How close simulated times of this page are to a browser's was not measured: --world sim,emu does that. Over {} loads of other pages \
             ({}) they differ by {} in the median and by {} in the worst; a page unlike those can differ more.",
            self.pages,
            self.study,
            percent(self.median),
            percent(self.worst),
        )
    }
}
