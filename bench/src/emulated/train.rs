//! Sends a train of packets, and records when each arrives.

use super::path::Path;
use anyhow::{Context as _, Result, ensure};
use lastmile_world::emu;
use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;
use std::thread;
use std::time::{Duration, Instant};

/// A packet's times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// When a program sent it, since the train began.
    pub(crate) sent: Duration,
    /// When the receiver's kernel had it, by that kernel's calendar clock: only differences are meaningful.
    pub(crate) arrived: Duration,
    /// When the receiving program had it, since the train began.
    pub(crate) read: Duration,
}

/// IP and UDP headers (RFC 791, RFC 768).
const HEADERS: usize = 28;
const PORT: u16 = 9;
/// The buffer of a socket. Our own choice: room for every packet of the longest train.
const BUFFER: usize = 64 << 20;
/// How long the receiver waits for the next packet; longer than any gap.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends a packet of `size` bytes, including headers, at each time of `due` since the train began, and returns the times of each.
///
/// # Errors
/// When one is lost, or something cannot be opened.
pub(crate) fn send(path: &Path, size: usize, due: &[Duration]) -> Result<Vec<Arrival>> {
    let receiver = path.far.enter(|| UdpSocket::bind((path.far_address, PORT)))??;
    receiver.set_read_timeout(Some(PATIENCE))?;
    setsockopt(&receiver, sockopt::ReceiveTimestampns, &true)?;
    if setsockopt(&receiver, sockopt::RcvBufForce, &BUFFER).is_err() {
        setsockopt(&receiver, sockopt::RcvBuf, &BUFFER)?;
    }
    let sender = path.near.enter(|| UdpSocket::bind(("0.0.0.0", 0)))??;
    sender.connect((path.far_address, PORT))?;

    // Both threads have real-time priority where allowed: the question is when the path delivers, not when they get a core.
    emu::run_before_others();
    let begun = Instant::now();
    let count = due.len();
    let receiving = thread::spawn(move || {
        emu::run_before_others();
        receive(&receiver, count, begun)
    });
    let mut packet = vec![0; size - HEADERS];
    for due in due {
        thread::sleep(due.saturating_sub(begun.elapsed()));
        packet[..8].copy_from_slice(&(begun.elapsed().as_nanos() as u64).to_be_bytes());
        sender.send(&packet)?;
    }
    receiving.join().map_err(|_| anyhow::anyhow!("the receiver panicked"))?
}

fn receive(socket: &UdpSocket, count: usize, begun: Instant) -> Result<Vec<Arrival>> {
    let mut arrivals = Vec::with_capacity(count);
    let mut packet = [0; 1500];
    let mut control = cmsg_space!(TimeSpec);
    while arrivals.len() < count {
        let mut into = [IoSliceMut::new(&mut packet)];
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut into, Some(&mut control), MsgFlags::empty());
        let message = message.with_context(|| format!("{} of {count} packets arrived", arrivals.len()))?;
        let read = begun.elapsed();
        let stamp = message.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(at) => Some(Duration::from(at)),
            _ => None,
        });
        let arrived = stamp.context("the kernel stamps no packets")?;
        let sent = packet.first_chunk().map_or(0, |sent| u64::from_be_bytes(*sent));
        arrivals.push(Arrival {
            sent: Duration::from_nanos(sent),
            arrived,
            read,
        });
    }
    ensure!(
        arrivals.is_sorted_by_key(|arrival| arrival.sent),
        "packets overtook each other"
    );
    Ok(arrivals)
}
