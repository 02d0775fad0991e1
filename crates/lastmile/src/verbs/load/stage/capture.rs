//! The packets of runs over real sockets, and what their time stamps say about the schedule.

use anyhow::Context as _;
use lastmile_load::epoll::GeneratorRun;
use lastmile_load::plan::Plan;
use lastmile_load::record::CapturedSchedule;
use lastmile_load::send_capture::{CapturedSends, SendCapture, write_header};
use lastmile_units::Seed;
use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The file that captures go to, those of several runs one behind the other.
pub(in crate::verbs::load) struct CaptureFile(PathBuf);

impl CaptureFile {
    /// A new file, without packets.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let mut file =
            File::create(path).with_context(|| format!("--capture {}: it cannot be written", path.display()))?;
        write_header(&mut file).with_context(|| format!("--capture {}: it cannot be written", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// Captures what goes to and from `port` in the network namespace of this thread.
    pub(super) fn begin(&self, port: u16) -> anyhow::Result<SendCapture> {
        let name = self.0.display();
        let file = OpenOptions::new()
            .append(true)
            .open(&self.0)
            .with_context(|| format!("--capture {name}: it cannot be written"))?;
        SendCapture::start(port, Some(Box::new(BufWriter::new(file))))
            .with_context(|| format!("--capture {name}: only root may capture packets, or anybody behind --link"))
    }

    /// The end of a capture.
    pub(super) fn end(&self, capture: SendCapture) -> anyhow::Result<CapturedSends> {
        let name = self.0.display();
        capture
            .finish()
            .with_context(|| format!("--capture {name}: it cannot be written"))
    }
}

/// How late the requests of a run were, by the capture's time stamps; why that is not known, where it is not.
pub(super) fn schedule(
    sends: &CapturedSends,
    plan: &Plan,
    seed: Seed,
    run: &GeneratorRun,
) -> Result<CapturedSchedule, String> {
    sends.deviation_from_plan(plan, seed, run.start).ok_or_else(|| {
        format!(
            "the capture has {} requests, and {} were sent: it says nothing about their schedule (requests of HTTP/1.1 are found in clear text, and only \
             in an open loop without sessions each has a time of its own)",
            sends.times.len(),
            run.measurement.sent
        )
    })
}
