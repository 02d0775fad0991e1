//! What was measured over one link.

use super::break_even::BreakEvenResult;
use super::mix::Mix;
use super::select::{ChosenSetting, MeasuredCandidate};
use crate::record::waterfall::Waterfall;
use lastmile_page::replay::PageLoad;

/// One link, measured.
#[derive(Debug)]
pub(super) struct LinkMeasurement {
    /// The mixes replayed in every repeat, with the repeats in which all of them loaded, so that they are paired.
    pub(super) pages: Vec<(Mix, Vec<PageLoad>)>,
    /// The recommended one, among `pages`.
    pub(super) recommended: usize,
    /// Those among `pages` that are neither faster nor slower than it, beyond the noise.
    pub(super) as_good: Vec<usize>,
    /// Whether more repeats could not change much.
    pub(super) clear: bool,
    /// How often each of `pages` was replayed.
    pub(super) repeats: u64,
    /// The repeat whose page time as recommended is the median; of an even number, the lower one.
    pub(super) median_repeat: u64,
    /// That repeat, request by request.
    pub(super) waterfall: Option<Waterfall>,
    /// The mixes replayed in the first repeats only, paired with the recommended one in these.
    pub(super) screened: Vec<(Mix, [Vec<PageLoad>; 2])>,
    /// The number of failed repeats, and the first failure.
    pub(super) failed: Option<(u64, String)>,
    /// For each group whose setting changes how it is sent: the page with this group as it is today, and as recommended, in pairs.
    pub(super) without: Vec<Option<[Vec<PageLoad>; 2]>>,
    /// For each group, the settings that were tried, in their order.
    pub(super) tried: Vec<Vec<MeasuredCandidate>>,
    /// For each group, the chosen setting.
    pub(super) chosen: Vec<ChosenSetting>,
    /// For each group, the break-even of the chosen setting; none where nothing is compressed.
    pub(super) break_even: Vec<Option<BreakEvenResult>>,
}

impl LinkMeasurement {
    /// The page loads of a mix; none where it was not replayed in every repeat.
    pub(super) fn loads(&self, mix: &Mix) -> Option<&[PageLoad]> {
        let page = self.pages.iter().find(|(of, _)| of == mix);
        page.map(|(_, loads)| loads.as_slice())
    }

    /// The recommended mix and its page loads.
    pub(super) fn recommended(&self) -> &(Mix, Vec<PageLoad>) {
        &self.pages[self.recommended]
    }
}
