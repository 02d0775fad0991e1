//! Send times of requests as the kernel stamps them on the loopback interface, and how far they are from an even grid.

use anyhow::{Context as _, Result};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg, setsockopt, socket,
    sockopt,
};
use nix::sys::time::TimeVal;
use std::fmt;
use std::io::IoSliceMut;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A capture that is running.
pub(crate) struct Capture {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Duration>>>,
}

/// Memory for packets that are not read yet.
const BUFFER: usize = 32 << 20;
/// The beginning of a request.
const METHOD: &[u8] = b"GET ";
/// Ethernet's header, and IPv4's without options.
const ETHERNET: usize = 14;
const IPV4: usize = 20;

impl Capture {
    /// Captures requests to a port of the loopback interface from now on.
    pub(crate) fn start(port: u16) -> Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, SockProtocol::EthAll);
        let socket = socket.context("packets can be captured by root alone")?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RcvBufForce, &BUFFER)?;
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::new(0, 100_000))?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::spawn(move || receive(&socket, port, &told));
        Ok(Self { stop, thread })
    }

    /// The times at which the requests were sent, in order.
    pub(crate) fn finish(self) -> Result<Vec<Duration>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| anyhow::anyhow!("the capture's thread panicked"))?
    }
}

fn receive(socket: &OwnedFd, port: u16, stop: &AtomicBool) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    let mut packet = [0; 2048];
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
    while !stop.load(Ordering::Relaxed) {
        let mut pieces = [IoSliceMut::new(&mut packet)];
        let received = recvmsg::<nix::sys::socket::LinkAddr>(
            socket.as_raw_fd(),
            &mut pieces,
            Some(&mut control),
            MsgFlags::empty(),
        );
        let Ok(received) = received else { continue };
        let stamp = received.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(at) => Some(Duration::from(at)),
            _ => None,
        });
        let length = received.bytes;
        if let Some(stamp) = stamp
            && is_request(&packet[..length], port)
        {
            times.push(stamp);
        }
    }
    // Each packet of the loopback interface is seen as it leaves, and again as it arrives, with the same stamp or a later one.
    Ok(times.into_iter().step_by(2).collect())
}

fn is_request(frame: &[u8], port: u16) -> bool {
    let tcp = frame.get(ETHERNET + IPV4..).unwrap_or_default();
    let is_tcp = frame.get(ETHERNET + 9) == Some(&6);
    let data = tcp.get(12).map(|offset| usize::from(offset >> 4) * 4);
    let content = data.and_then(|data| tcp.get(data..)).unwrap_or_default();
    is_tcp && tcp.get(2..4) == Some(&port.to_be_bytes()[..]) && content.starts_with(METHOD)
}

/// How far send times are from an even grid.
pub(crate) struct Deviation {
    p50: f64,
    p99: f64,
    max: f64,
    per_millisecond: usize,
    requests: usize,
}

/// The deviation from a grid of this interval, in nanoseconds. The grid begins so that no request is early.
pub(crate) fn deviation(times: &[Duration], interval: f64) -> Option<Deviation> {
    let first = *times.first()?;
    let offsets: Vec<f64> = times
        .iter()
        .map(|time| time.saturating_sub(first).as_nanos() as f64)
        .collect();
    let mut late: Vec<f64> = (0_u32..)
        .zip(&offsets)
        .map(|(index, at)| at - f64::from(index) * interval)
        .collect();
    late.sort_by(f64::total_cmp);
    let earliest = *late.first()?;
    let at = |share: f64| (late[((late.len() - 1) as f64 * share) as usize] - earliest) / 1e3;
    let mut begin = 0;
    let mut most = 0;
    for (index, time) in offsets.iter().enumerate() {
        while time - offsets[begin] >= 1e6 {
            begin += 1;
        }
        most = most.max(index - begin + 1);
    }
    Some(Deviation {
        p50: at(0.5),
        p99: at(0.99),
        max: at(1.0),
        per_millisecond: most,
        requests: late.len(),
    })
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "p50 {:.1} us, p99 {:.0} us, max {:.0} us, most sends within any millisecond {} ({} requests)",
            self.p50, self.p99, self.max, self.per_millisecond, self.requests
        )
    }
}
