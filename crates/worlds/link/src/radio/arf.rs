//! Automatic Rate Fallback: a sender's rate towards one receiver, from the ACKs that come and those that do not.
//!
//! Kamerman and Monteban, "WaveLAN-II: a high-performance wireless LAN for the unlicensed band", Bell Labs Technical Journal 2(3), 1997,
//! as Lacage, Manshaei and Turletti describe it in "IEEE 802.11 rate adaptation: a practical approach", MSWiM 2004, section 3.1.

use super::phy::Rate;

/// The state of Automatic Rate Fallback towards one receiver.
///
/// Two missing ACKs in a row lower the rate. [`Arf::SUCCESSES`] ACKs in a row, or [`Arf::TIMER`] attempts since the last change, raise
/// it. The first frame at a raised rate is a probe: one missing ACK lowers the rate again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arf {
    /// The index of the rate.
    index: usize,
    successes: u32,
    failures: u32,
    attempts: u32,
    is_probe: bool,
}

impl Arf {
    /// The ACKs in a row after which the rate is raised (the paper's figure).
    pub const SUCCESSES: u32 = 10;
    /// The attempts after which the rate is raised in any case. The paper has a timer, whose time it does not state; this is the default
    /// of ns-3's `ArfWifiManager::TimerThreshold`.
    pub const TIMER: u32 = 15;

    /// Begins with the highest of `rates`.
    pub const fn new(rates: &[Rate]) -> Self {
        Self {
            index: rates.len() - 1,
            successes: 0,
            failures: 0,
            attempts: 0,
            is_probe: false,
        }
    }

    /// The rate of the next attempt, one of `rates`.
    pub fn rate(self, rates: &[Rate]) -> Rate {
        rates[self.index]
    }

    /// An ACK came.
    pub fn on_success(&mut self, rates: &[Rate]) {
        self.successes += 1;
        self.attempts += 1;
        self.failures = 0;
        self.is_probe = false;
        let is_due = self.successes >= Self::SUCCESSES || self.attempts >= Self::TIMER;
        if is_due && self.index + 1 < rates.len() {
            self.change_to(self.index + 1);
            self.is_probe = true;
        }
    }

    /// An ACK did not come.
    pub fn on_failure(&mut self) {
        self.failures += 1;
        self.attempts += 1;
        self.successes = 0;
        let lowers = self.is_probe || self.failures == 2;
        self.is_probe = false;
        if lowers {
            self.change_to(self.index.saturating_sub(1));
        }
    }

    fn change_to(&mut self, index: usize) {
        self.index = index;
        (self.successes, self.failures, self.attempts) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::{Phy, Preamble};

    const RATES: &[Rate] = Phy::HighRateDsss(Preamble::Long).rates();

    #[test]
    fn two_missing_acks_in_a_row_lower_the_rate_and_one_does_not() {
        let mut arf = Arf::new(RATES);
        arf.on_failure();
        arf.on_success(RATES);
        arf.on_failure();
        assert_eq!(arf.rate(RATES), Rate::Cck11);
        arf.on_failure();
        assert_eq!(arf.rate(RATES), Rate::Cck5);
        for _ in 0..10 {
            arf.on_failure();
        }
        assert_eq!(arf.rate(RATES), Rate::Dsss1);
    }

    #[test]
    fn ten_acks_in_a_row_raise_the_rate_and_a_lost_probe_lowers_it_at_once() {
        let mut arf = Arf::new(RATES);
        arf.on_failure();
        arf.on_failure();
        for _ in 0..9 {
            arf.on_success(RATES);
        }
        assert_eq!(arf.rate(RATES), Rate::Cck5);
        arf.on_success(RATES);
        assert_eq!(arf.rate(RATES), Rate::Cck11);
        arf.on_failure();
        assert_eq!(arf.rate(RATES), Rate::Cck5);
    }

    #[test]
    fn after_fifteen_attempts_the_next_ack_raises_the_rate() {
        let mut arf = Arf::new(RATES);
        arf.on_failure();
        arf.on_failure();
        for _ in 0..7 {
            arf.on_success(RATES);
            arf.on_failure();
        }
        assert_eq!(arf.rate(RATES), Rate::Cck5);
        arf.on_success(RATES);
        assert_eq!(arf.rate(RATES), Rate::Cck11);
    }
}
