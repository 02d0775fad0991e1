//! How sure is a ratio that was found in a sample?
/// Where a figure lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// No less than this.
    pub low: f64,
    /// No more than this.
    pub high: f64,
}
