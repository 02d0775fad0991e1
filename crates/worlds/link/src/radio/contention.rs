//! Decides when a station may send, by its view of the medium and its back-off.
//!
//! Slots are counted in one step when the medium becomes busy or a time is asked for, never one by one (9.2.4 and 9.2.5 of IEEE Std
//! 802.11-2007). Times are in nanoseconds.

/// Never: later than any time.
pub(crate) const NEVER: u64 = u64::MAX;

/// The spaces between frames, and the slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spaces {
    pub(crate) slot: u64,
    pub(crate) difs: u64,
    pub(crate) eifs: u64,
}

/// A station's view of the medium. By default the medium has always been idle.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contender {
    /// How many signals it senses.
    sensed: u32,
    is_transmitting: bool,
    /// It owes an ACK or a CTS, or the data that a CTS permits.
    pub(crate) is_responding: bool,
    /// It waits for an ACK or a CTS.
    pub(crate) is_awaiting: bool,
    /// It has a packet to send.
    pub(crate) has_packet: bool,
    /// When the packet came, if it came to an empty queue; 0 otherwise.
    pub(crate) packet_since: u64,
    /// The slots that it waits before its beacon, which goes before packets.
    beacon_slots: Option<u32>,
    /// The slots that it waits before its packet.
    back_off: u32,
    /// When the present count of idle slots began or will begin; never while the medium is busy.
    counting_since: u64,
    /// Until when others have reserved the medium.
    reserved_until: u64,
    /// The last frame that it received had errors, so that an EIFS follows.
    is_extended: bool,
    /// The frame that its receiver works on, by its serial number; 0 where there is none.
    pub(crate) receives: u64,
    /// The mean power of that frame, and when it began.
    pub(crate) receives_power: f64,
    pub(crate) receives_since: u64,
    accounted_until: u64,
    transmitting_time: u64,
    receiving_time: u64,
}

impl Contender {
    /// When it will send if nothing changes.
    #[inline]
    pub(crate) fn access_at(&self, spaces: Spaces) -> u64 {
        let is_free = self.counting_since != NEVER && !self.is_responding && !self.is_awaiting;
        match self.beacon_slots {
            _ if !is_free => NEVER,
            Some(slots) => self.counting_since + u64::from(slots) * spaces.slot,
            None if self.has_packet => {
                (self.counting_since + u64::from(self.back_off) * spaces.slot).max(self.packet_since)
            }
            None => NEVER,
        }
    }

    /// Whether a packet that comes at `at` must wait for a back-off, were there none yet: the medium is busy, or reserved, or the station
    /// is in an exchange of frames.
    #[inline]
    pub(crate) const fn must_defer(&self, at: u64) -> bool {
        self.counting_since == NEVER || self.is_responding || self.is_awaiting || self.reserved_until > at
    }

    /// Whether the medium is reserved by others at `at`.
    #[inline]
    pub(crate) const fn is_reserved(&self, at: u64) -> bool {
        self.reserved_until > at
    }

    #[inline]
    pub(crate) const fn is_transmitting(&self) -> bool {
        self.is_transmitting
    }

    /// Whether its turn may come sooner than it seems: a good frame ends the wait of an EIFS, and the beacon of another station spares it its own.
    #[inline]
    pub(crate) const fn may_come_sooner(&self) -> bool {
        self.is_extended || self.beacon_slots.is_some()
    }

    pub(crate) const fn has_beacon(&self) -> bool {
        self.beacon_slots.is_some()
    }

    /// The slots still to wait at `at`, before a packet.
    #[inline]
    pub(crate) fn remaining_slots(&mut self, at: u64, spaces: Spaces) -> u32 {
        self.count_slots(at, spaces);
        self.back_off
    }

    /// The slots of its back-off that are left at `at` or later, at least: what it has counted since may be known only later.
    #[inline]
    pub(crate) const fn slots_left_at(&self, at: u64) -> u32 {
        // One that awaits an ACK may draw again.
        let is_known = self.counting_since == NEVER || (self.counting_since >= at && !self.is_awaiting);
        if is_known { self.back_off } else { 0 }
    }

    /// Waits this number of slots before the next packet.
    pub(crate) const fn set_back_off(&mut self, slots: u32) {
        self.back_off = slots;
    }

    /// Waits this number of slots before a beacon, from `at` on. The back-off of packets stands still meanwhile.
    pub(crate) fn set_beacon(&mut self, at: u64, slots: u32, spaces: Spaces) {
        self.count_slots(at, spaces);
        self.beacon_slots = Some(slots);
        if self.counting_since != NEVER {
            self.counting_since = self.counting_since.max(at);
        }
    }

    /// Another station has sent the beacon, or this one does.
    pub(crate) const fn cancel_beacon(&mut self) {
        self.beacon_slots = None;
    }

    /// Subtracts the idle slots that have passed.
    #[inline]
    fn count_slots(&mut self, at: u64, spaces: Spaces) {
        if self.counting_since == NEVER || at <= self.counting_since {
            return;
        }
        let waiting = self.beacon_slots.as_mut().unwrap_or(&mut self.back_off);
        if *waiting == 0 {
            return;
        }
        let idle = at - self.counting_since;
        let all = u64::from(*waiting) * spaces.slot;
        // A division costs more than all the rest, and one of 64 bits thrice as much.
        let passed = if idle >= all {
            *waiting
        } else {
            match (u32::try_from(idle), u32::try_from(spaces.slot)) {
                (Ok(idle), Ok(slot)) => idle / slot,
                _ => (idle / spaces.slot) as u32,
            }
        };
        *waiting -= passed;
        self.counting_since += u64::from(passed) * spaces.slot;
    }

    /// Another signal is sensed from `at` on.
    #[inline]
    pub(crate) fn begin_sensing(&mut self, at: u64, spaces: Spaces) {
        if self.sensed == 0 {
            self.account(at);
            self.stop_counting(at, spaces);
        }
        self.sensed += 1;
    }

    /// One signal fewer is sensed from `at` on.
    #[inline]
    pub(crate) fn end_sensing(&mut self, at: u64, spaces: Spaces) {
        if self.sensed == 1 {
            self.account(at);
        }
        self.sensed -= 1;
        self.begin_counting(at, spaces);
    }

    /// It begins to send.
    #[inline]
    pub(crate) fn begin_transmitting(&mut self, at: u64, spaces: Spaces) {
        self.account(at);
        self.stop_counting(at, spaces);
        self.is_transmitting = true;
        self.receives = 0;
    }

    /// It has sent.
    #[inline]
    pub(crate) fn end_transmitting(&mut self, at: u64, spaces: Spaces) {
        self.account(at);
        self.is_transmitting = false;
        self.is_extended = false;
        self.begin_counting(at, spaces);
    }

    /// Its receiver has ended the frame that it worked on, with or without errors.
    #[inline]
    pub(crate) const fn end_receiving(&mut self, is_good: bool) {
        self.receives = 0;
        self.is_extended = !is_good;
    }

    /// Others reserve the medium until `until`.
    #[inline]
    pub(crate) fn reserve(&mut self, until: u64) {
        self.reserved_until = self.reserved_until.max(until);
    }

    /// An ACK or a CTS did not come: a DIFS of idle medium counts from `at` on.
    pub(crate) fn restart_counting(&mut self, at: u64, spaces: Spaces) {
        if self.counting_since != NEVER {
            self.counting_since = self.counting_since.max(at + spaces.difs);
        }
    }

    #[inline]
    fn stop_counting(&mut self, at: u64, spaces: Spaces) {
        self.count_slots(at, spaces);
        self.counting_since = NEVER;
    }

    #[inline]
    fn begin_counting(&mut self, at: u64, spaces: Spaces) {
        if self.sensed == 0 && !self.is_transmitting {
            let space = if self.is_extended { spaces.eifs } else { spaces.difs };
            self.counting_since = at.max(self.reserved_until) + space;
        }
    }

    #[inline]
    fn account(&mut self, at: u64) {
        let time = at - self.accounted_until;
        self.accounted_until = at;
        if self.is_transmitting {
            self.transmitting_time += time;
        } else if self.sensed > 0 {
            self.receiving_time += time;
        }
    }

    /// How long it has been sending, and sensing others, until `at`.
    pub(crate) fn times(&self, at: u64) -> (u64, u64) {
        let mut until = self.clone();
        until.account(at);
        (until.transmitting_time, until.receiving_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACES: Spaces = Spaces {
        slot: 20,
        difs: 50,
        eifs: 364,
    };

    fn with_packet(slots: u32) -> Contender {
        let mut station = Contender {
            has_packet: true,
            ..Contender::default()
        };
        station.set_back_off(slots);
        station
    }

    #[test]
    fn a_back_off_stands_still_while_the_medium_is_busy() {
        let mut station = with_packet(5);
        assert_eq!(station.access_at(SPACES), 100);
        // Two slots have passed, and most of a third.
        station.begin_sensing(59, SPACES);
        assert_eq!(station.access_at(SPACES), NEVER);
        station.end_sensing(1000, SPACES);
        assert_eq!(station.access_at(SPACES), 1000 + 50 + 3 * 20);
    }

    #[test]
    fn after_a_damaged_frame_it_waits_an_eifs_and_after_a_good_one_a_difs() {
        let mut station = with_packet(1);
        station.begin_sensing(0, SPACES);
        station.end_receiving(false);
        station.end_sensing(100, SPACES);
        assert_eq!(station.access_at(SPACES), 100 + 364 + 20);
        station.begin_sensing(200, SPACES);
        station.end_receiving(true);
        station.end_sensing(300, SPACES);
        assert_eq!(station.access_at(SPACES), 300 + 50 + 20);
    }

    #[test]
    fn a_reservation_keeps_it_silent_though_the_medium_is_idle() {
        let mut station = with_packet(0);
        station.begin_sensing(0, SPACES);
        station.reserve(400);
        station.end_sensing(100, SPACES);
        assert!(station.must_defer(399) && !station.must_defer(400));
        assert_eq!(station.access_at(SPACES), 450);
    }

    #[test]
    fn a_beacon_goes_before_packets_whose_back_off_waits() {
        let mut station = with_packet(10);
        station.set_beacon(100, 2, SPACES);
        assert_eq!(station.access_at(SPACES), 140);
        station.begin_sensing(130, SPACES);
        station.cancel_beacon();
        station.end_sensing(200, SPACES);
        assert_eq!(station.access_at(SPACES), 200 + 50 + 5 * 20);
    }

    #[test]
    fn times_are_those_of_each_state() {
        let mut station = Contender::default();
        station.begin_sensing(10, SPACES);
        station.begin_sensing(15, SPACES);
        station.end_sensing(20, SPACES);
        station.end_sensing(30, SPACES);
        station.begin_transmitting(40, SPACES);
        station.begin_sensing(42, SPACES);
        station.end_transmitting(45, SPACES);
        assert_eq!(station.times(50), (5, 20 + 5));
    }
}
