//! What does a site need of the emulated world?

use super::Laboratory;
use crate::doubt;
use crate::observation::Failure;
use crate::site::SiteSpec;
use crate::site::capture::CaptureFile;
use lastmile_link::LinkSpec;
use lastmile_report::record::Doubt;
use lastmile_units::Seed;
use lastmile_world::LinkId;
use lastmile_world::emu::{Disturbance, EmuHost, Unavailable, World};
use std::io;
use std::time::Duration;

impl Laboratory for World {
    /// Our own choice: nothing of a planned run takes a tenth of it, and whoever asks for all of a study can wait.
    const LIMIT: Duration = Duration::from_secs(4 * 3600);
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
