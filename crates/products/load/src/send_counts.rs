//! How many requests were due, and how many were sent, in each millisecond of a run: bursts show here.

/// Counts by millisecond, of the first ten minutes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SendCounts {
    due: Vec<u32>,
    sent: Vec<u32>,
}

/// The number of milliseconds that are counted: our own choice, for bounded memory.
const MILLISECONDS_MAX: u64 = 600_000;
const NANOS_PER_MILLISECOND: u64 = 1_000_000;

impl SendCounts {
    /// Counts a request that was due at that time from the start, in nanoseconds.
    pub(crate) fn count_due(&mut self, nanos: u64) {
        count(&mut self.due, nanos);
    }

    /// Counts a request that was sent at that time.
    pub(crate) fn count_sent(&mut self, nanos: u64) {
        count(&mut self.sent, nanos);
    }

    /// Adds the counts of another thread.
    pub fn add(&mut self, other: &Self) {
        for (sum, counts) in [(&mut self.due, &other.due), (&mut self.sent, &other.sent)] {
            if sum.len() < counts.len() {
                sum.resize(counts.len(), 0);
            }
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }

    /// The most requests that were due in one millisecond.
    pub fn due_max(&self) -> u32 {
        self.due.iter().copied().max().unwrap_or(0)
    }

    /// The most requests that were sent in one millisecond.
    pub fn sent_max(&self) -> u32 {
        self.sent.iter().copied().max().unwrap_or(0)
    }
}

fn count(counts: &mut Vec<u32>, nanos: u64) {
    let millisecond = nanos / NANOS_PER_MILLISECOND;
    if millisecond >= MILLISECONDS_MAX {
        return;
    }
    let index = millisecond as usize;
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    counts[index] += 1;
}
