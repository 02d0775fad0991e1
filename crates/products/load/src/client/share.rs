//! Which part of a load a thread carries.

/// The share of a load that one of several threads carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The number of the thread.
    pub index: u32,
    /// The number of threads.
    pub of: u32,
}

impl Share {
    /// The whole load.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Whether this thread carries the arrival of that number.
    pub(super) fn has(self, arrival: u64, clients: u32) -> bool {
        // The threads share one client's arrivals, or else the clients.
        let part = if clients == 1 {
            arrival
        } else {
            arrival % u64::from(clients)
        };
        part % u64::from(self.of) == u64::from(self.index)
    }

    /// How many of `all` belong to this thread.
    pub(super) fn of_count(self, all: u32) -> u32 {
        let end = |index: u32| u64::from(all) * u64::from(index) / u64::from(self.of);
        (end(self.index + 1) - end(self.index)) as u32
    }
}
