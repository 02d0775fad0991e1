//! Which system calls have no safe wrapper? Those few, each made safe here; everything else is `nix`'s business.
#![allow(unsafe_code)]

use nix::libc;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

nix::ioctl_write_ptr_bad!(
    /// Gives an open `/dev/net/tun` an interface (Linux Documentation/networking/tuntap.rst).
    set_tun_interface,
    libc::TUNSETIFF,
    libc::ifreq
);

/// Where interfaces are made.
pub(super) const TUN_DEVICE: &str = "/dev/net/tun";

/// Makes a TUN interface called `name` in the calling thread's network namespace: whoever reads the file gets the IP packets
/// that leave by the interface, and what is written to it arrives. Reads and writes do not block.
///
/// # Errors
/// When the device cannot be opened, or this process may not make interfaces in this namespace.
pub(super) fn open_tun(name: &str) -> io::Result<File> {
    let tun = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(TUN_DEVICE)?;
    let mut request = interface_request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request is a whole `ifreq` that outlives the call, as TUNSETIFF asks for.
    unsafe { set_tun_interface(tun.as_raw_fd(), &raw const request) }?;
    Ok(tun)
}

/// A request about the interface `name`; all else in it is zero.
fn interface_request(name: &str) -> libc::ifreq {
    // SAFETY: `ifreq` is plain data, of which all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    assert!(name.len() < request.ifr_name.len(), "interface names of ours are short");
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

/// Lets the calling thread run before every ordinary one (`SCHED_FIFO`).
///
/// # Errors
/// `PermissionDenied`, for those who may not: ordinary users mostly.
pub(super) fn run_before_others() -> io::Result<()> {
    // SAFETY: `sched_param` is plain data, of which all zeroes is a valid value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // Any priority is before every ordinary thread; the lowest is enough.
    parameters.sched_priority = 1;
    // SAFETY: the parameters outlive the call; thread 0 is the calling one.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets tokio say when `descriptor` can be read from.
///
/// # Errors
/// Those of the system.
pub(super) fn watch_for_reading(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` stays the same open descriptor for as long as it lives.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
    Ok(watched?)
}
