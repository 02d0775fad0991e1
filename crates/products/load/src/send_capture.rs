//! Send times of requests as the kernel stamps them, taken from packets, and how far they are from the schedule. Capturing takes root.
//!
//! A request that opens a connection is sent with the first SYN, another one with its first byte: what the generator's own clock counts, too.
// Packets are stamped by this machine's clock.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod packet;

use crate::plan::{Demand, Plan};
use crate::record::CapturedSchedule;
use lastmile_units::Seed;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg, setsockopt,
    socket, sockopt,
};
use nix::sys::time::{TimeSpec, TimeVal};
use packet::Segment;
use std::collections::HashMap;
use std::io::{self, IoSliceMut, Write};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A capture that is running.
#[derive(Debug)]
pub struct SendCapture {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<CapturedSends>>,
}

/// What a capture saw.
#[derive(Debug, Clone, Default)]
pub struct CapturedSends {
    /// When each request was sent, since the Unix epoch, in order.
    pub times: Vec<Duration>,
    /// Packets that the kernel had no room for.
    pub lost_packets: u64,
}

/// Memory for packets that are not read yet.
const BUFFER: usize = 32 << 20;
/// The most requests whose times are kept: our own choice, for bounded memory.
const REQUESTS_MAX: usize = 20_000_000;
/// How long the capture looks for late packets after its end, at least: our own choice.
const PATIENCE: i64 = 50_000;
/// The largest packet that is read whole; loopback's has 64 kB.
const PACKET_MAX: usize = 65_536;
/// The type of the loopback interface (`ARPHRD_LOOPBACK` of Linux), and of packets that leave (packet(7), `PACKET_OUTGOING`).
const LOOPBACK: u16 = 772;
const OUTGOING: u8 = 4;
/// The header of a pcap file with times in nanoseconds and packets that begin with IP (the pcap format's `LINKTYPE_RAW`).
const PCAP_HEADER: [u32; 6] = [0xa1b2_3c4d, 0x0004_0002, 0, 0, PACKET_MAX as u32, 101];

impl SendCapture {
    /// Captures what goes to and from `port`, on all interfaces of the calling thread's network namespace, from now on. The packets
    /// go to `file`, if there is one, behind what [`write_header`] wrote.
    ///
    /// # Errors
    /// When the user may not capture, or the file cannot be written.
    pub fn start(port: u16, file: Option<Box<dyn Write + Send>>) -> io::Result<Self> {
        let socket = socket(
            AddressFamily::Packet,
            SockType::Datagram,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::EthAll,
        )?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RxqOvfl, &1)?;
        // Without the privilege, the system's limit must suffice; what is lost is counted.
        setsockopt(&socket, sockopt::RcvBufForce, &BUFFER)
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &BUFFER))?;
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::new(0, PATIENCE))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("capture".to_owned())
            .spawn(move || receive(&socket, port, file, &stopped))?;
        Ok(Self { stop, thread })
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// When its file could not be written.
    pub fn finish(self) -> io::Result<CapturedSends> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// Writes the beginning of a pcap file.
///
/// # Errors
/// Those of the file.
pub fn write_header(file: &mut impl Write) -> io::Result<()> {
    PCAP_HEADER
        .iter()
        .try_for_each(|word| file.write_all(&word.to_ne_bytes()))
}

fn receive(
    socket: &OwnedFd,
    port: u16,
    mut file: Option<Box<dyn Write + Send>>,
    stop: &AtomicBool,
) -> io::Result<CapturedSends> {
    let mut sends = SendTracker::default();
    let mut buffer = vec![0; PACKET_MAX];
    let mut control = nix::cmsg_space!(TimeSpec, u32);
    loop {
        let is_ending = stop.load(Ordering::Relaxed);
        let mut pieces = [IoSliceMut::new(&mut buffer)];
        let Ok(received) = recvmsg::<LinkAddr>(socket.as_raw_fd(), &mut pieces, Some(&mut control), MsgFlags::empty())
        else {
            // Nothing for a while.
            if is_ending {
                break;
            }
            continue;
        };
        let (mut stamp, length) = (None, received.bytes);
        for message in received.cmsgs()? {
            match message {
                ControlMessageOwned::ScmTimestampns(at) => stamp = Some(Duration::from(at)),
                ControlMessageOwned::RxqOvfl(lost) => sends.captured.lost_packets = lost.into(),
                _ => {}
            }
        }
        // Loopback shows each packet as it leaves, and again as it arrives.
        let is_second = received
            .address
            .is_some_and(|from| from.hatype() == LOOPBACK && from.pkttype() != OUTGOING);
        let packet = &buffer[..length];
        let Some((stamp, segment)) = stamp.zip(Segment::parse(packet)).filter(|_| !is_second) else {
            continue;
        };
        if segment.destination == port {
            sends.on_segment(&segment, stamp);
        }
        if let Some(file) = file
            .as_mut()
            .filter(|_| [segment.source, segment.destination].contains(&port))
        {
            let header = [
                stamp.as_secs() as u32,
                stamp.subsec_nanos(),
                length as u32,
                length as u32,
            ];
            for word in header {
                file.write_all(&word.to_ne_bytes())?;
            }
            file.write_all(packet)?;
        }
    }
    if let Some(mut file) = file {
        file.flush()?;
    }
    sends.captured.times.sort_unstable();
    Ok(sends.captured)
}

/// Finds the beginnings of requests among the segments of many connections.
#[derive(Debug, Default)]
struct SendTracker {
    /// By the client's port.
    flows: HashMap<u16, Flow>,
    captured: CapturedSends,
}

#[derive(Debug, Default)]
struct Flow {
    /// The time of the first SYN, until a request follows.
    opened: Option<Duration>,
    /// The sequence number of the last request, so that a retransmission is known.
    last: Option<u32>,
}

impl SendTracker {
    fn on_segment(&mut self, segment: &Segment<'_>, at: Duration) {
        if segment.is_syn {
            let flow = self.flows.entry(segment.source).or_default();
            // A SYN that is sent again opens nothing.
            if flow.opened.is_none() || flow.last.is_some() {
                *flow = Flow {
                    opened: Some(at),
                    last: None,
                };
            }
        } else if segment.begins_request() && self.captured.times.len() < REQUESTS_MAX {
            let flow = self.flows.entry(segment.source).or_default();
            let is_new = flow
                .last
                .is_none_or(|last| (segment.sequence.wrapping_sub(last) as i32) > 0);
            if is_new {
                flow.last = Some(segment.sequence);
                self.captured.times.push(flow.opened.take().unwrap_or(at));
            }
        }
    }
}

impl CapturedSends {
    /// The deviation from the intended times of `plan`, whose first request was due at `start`, since the Unix epoch. None where the capture has
    /// not each request once, or the requests have no schedule of their own.
    pub fn deviation_from_plan(&self, plan: &Plan, seed: Seed, start: Duration) -> Option<CapturedSchedule> {
        let Demand::Open { arrivals, session } = &plan.demand else {
            return None;
        };
        if session.requests.get() > 1 {
            return None;
        }
        let intended: Vec<Duration> = arrivals
            .schedule(plan.duration, seed)
            .take(REQUESTS_MAX)
            .map(|nanos| start + Duration::from_nanos(nanos))
            .collect();
        if intended.len() != self.times.len() {
            return None;
        }
        let late = self.times.iter().zip(&intended);
        schedule(late.map(|(sent, due)| sent.saturating_sub(*due)).collect(), &self.times)
    }

    /// The deviation from an even grid, which begins so that no request is early. None of no request.
    pub fn deviation_from_grid(&self, interval: Duration) -> Option<CapturedSchedule> {
        let first = *self.times.first()?;
        let interval = interval.as_nanos() as i128;
        let offset =
            |(index, at): (usize, &Duration)| at.saturating_sub(first).as_nanos() as i128 - index as i128 * interval;
        let offsets: Vec<i128> = self.times.iter().enumerate().map(offset).collect();
        let earliest = *offsets.iter().min()?;
        let late = offsets
            .iter()
            .map(|offset| Duration::from_nanos((offset - earliest) as u64));
        schedule(late.collect(), &self.times)
    }
}

/// The schedule by these times, each of which was that late.
fn schedule(mut late: Vec<Duration>, times: &[Duration]) -> Option<CapturedSchedule> {
    late.sort_unstable();
    let at = |share: f64| {
        let late = late.get((late.len().saturating_sub(1) as f64 * share) as usize)?;
        Some(late.as_secs_f64())
    };
    Some(CapturedSchedule {
        requests: late.len() as u64,
        late_p50: at(0.5)?,
        late_p99: at(0.99)?,
        late_max: at(1.0)?,
        sent_per_ms_max: most_within(times, Duration::from_millis(1)),
    })
}

/// The most of these times, which ascend, that lie within any stretch of this length.
fn most_within(times: &[Duration], length: Duration) -> u64 {
    let (mut begin, mut most) = (0, 0);
    for (index, time) in times.iter().enumerate() {
        while *time - times[begin] >= length {
            begin += 1;
        }
        most = most.max(index - begin + 1);
    }
    most as u64
}

#[cfg(test)]
mod tests;
