//! What does a site need of the emulated world?

use super::Laboratory;
use crate::doubt;
use crate::observation::Failure;
use crate::site::SiteSpec;
use crate::site::capture::CaptureFile;
use lastmile_link::{DirectionSpec, LinkSpec};
use lastmile_report::record::Doubt;
use lastmile_units::{Bytes, Seed};
use lastmile_world::LinkId;
use lastmile_world::emu::{Disturbance, EmuHost, Unavailable, World};
use std::io;
use std::time::Duration;

/// What a conversation may take beside its transfer: starting, opening, waiting for a queue that is full. Our own choice.
const SLACK: Duration = Duration::from_secs(60);
/// So many times what a transfer takes at its link's rate, or what its round trips take, it may: for losses, and for TCP that begins slowly.
/// Our own choice.
const PATIENCE: u32 = 10;
/// What a segment holds at least where there is enough to send: 1,500 octets without the headers of IPv6 and TCP, options among them.
const SEGMENT: u64 = 1400;

impl Laboratory for World {
    /// Our own choice: nothing of a planned run takes a tenth of it, and whoever asks for all of a study can wait.
    const LIMIT: Duration = Duration::from_secs(4 * 3600);

    /// Real time passes here, and somebody may be waiting for a peer that has got stuck: a minute, and ten times what it would take if
    /// every message, and every segment, waited for the one before.
    fn limit(link: &LinkSpec, messages: usize, bytes: Bytes) -> Duration {
        let serialised = [&link.down, &link.up].into_iter().filter_map(DirectionSpec::rate_mean);
        let serialised = serialised.map(|rate| bytes / rate).max().unwrap_or_default();
        let in_turn = messages as u64 + bytes.get() / SEGMENT;
        let waited = link
            .round_trip()
            .saturating_mul(u32::try_from(in_turn).unwrap_or(u32::MAX));
        let transfer = serialised.saturating_add(waited).saturating_mul(PATIENCE);
        SLACK.saturating_add(transfer).min(Self::LIMIT)
    }

    const IS_EXACT: bool = false;
    type Seen = Disturbance;

    fn with_hosts(spec: &SiteSpec, seed: Seed) -> Result<(Self, EmuHost, EmuHost), Failure> {
        let build = || -> Result<_, Unavailable> {
            let world = Self::new(seed)?;
            let server = world.host(spec.kernel.clone())?;
            let client = world.host(spec.kernel.clone())?;
            Ok((world, client, server))
        };
        build().map_err(|error| Failure::new(error.to_string()))
    }

    fn join(&self, link: &LinkSpec, client: &EmuHost, server: &EmuHost) -> LinkId {
        self.link(&link.down, &link.up, &[client], &[server])
    }

    fn capture_host(&self, host: &EmuHost, to: CaptureFile) -> io::Result<()> {
        self.capture(host, Box::new(to))
    }

    fn capture_drops_of(&self, link: LinkId, to: CaptureFile) -> io::Result<()> {
        self.capture_drops(link, Box::new(to))
    }

    fn capture_error(&self) -> Option<io::Error> {
        self.capture_error()
    }

    fn doubts_since(&self, seen: &mut Disturbance) -> Vec<Doubt> {
        let now = self.disturbance();
        let verdict = now.since(seen).verdict();
        *seen = now;
        verdict
            .err()
            .map(|invalid| doubt::disturbed(&invalid))
            .into_iter()
            .collect()
    }

    fn inside<T>(&self, host: &EmuHost, act: impl FnOnce() -> T) -> Result<T, Failure> {
        host.namespace()
            .enter(act)
            .map_err(|error| Failure::new(format!("the host cannot be entered: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_link::resolve;

    #[test]
    fn a_stuck_conversation_is_given_up_in_minutes_and_a_slow_one_is_not() {
        let limit = |link: &str, messages, bytes| World::limit(&resolve(link).unwrap(), messages, Bytes::new(bytes));
        // 28 ms of round trip (`wpt/cable`): 10 * (20 messages + 1 segment) * 28 ms, and 2,000 octets at 1 Mbit/s are 16 ms.
        let chat = limit("wpt/cable", 20, 2000);
        assert_eq!(chat, SLACK + Duration::from_millis(10 * (21 * 28 + 16)));
        let slow = limit("wpt/dial", 1, 25_000_000);
        assert_eq!(slow, World::LIMIT);
    }
}
