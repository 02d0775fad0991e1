//! The system calls that have no safe wrapper, each made safe here. For all others `nix` is used.
#![allow(unsafe_code)]

use nix::libc;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

nix::ioctl_write_ptr_bad!(
    /// Gives an open `/dev/net/tun` an interface (Linux Documentation/networking/tuntap.rst).
    set_tun_interface,
    libc::TUNSETIFF,
    libc::ifreq
);

/// The device that makes TUN interfaces.
pub(super) const TUN_DEVICE: &str = "/dev/net/tun";

/// Makes a TUN interface called `name` in the calling thread's network namespace: reading the file gives the IP packets
/// that leave by the interface, and packets written to it arrive there. Reads and writes do not block.
///
/// # Errors
/// When the device cannot be opened, or this process may not make interfaces in this namespace.
pub(super) fn open_tun(name: &str) -> io::Result<File> {
    let tun = open_tun_device()?;
    let mut request = interface_request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request is a whole `ifreq` that outlives the call, as TUNSETIFF asks for.
    unsafe { set_tun_interface(tun.as_raw_fd(), &raw const request) }?;
    Ok(tun)
}

/// Opens the device that TUN interfaces are made with.
///
/// # Errors
/// When there is none, or this user may not.
pub(super) fn open_tun_device() -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(TUN_DEVICE)
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

/// Opens a non-blocking socket that reads every IPv4 packet that arrives at an interface of the calling thread's network namespace,
/// with its Ethernet header, and sends such packets there (packet(7)).
///
/// # Errors
/// When this process lacks CAP_NET_RAW, or the kernel is older than 4.20.
pub(super) fn open_packet_socket(interface: u32) -> io::Result<File> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    // Without a protocol it receives nothing until it is bound.
    let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)?;
    let on: libc::c_int = 1;
    for option in [
        // Otherwise packets written to the host would be read again.
        libc::PACKET_IGNORE_OUTGOING,
        // The kernel begins the queue of an interface some time after its carrier has come, and until then drops, without an error, what is
        // queued. Nothing need wait here.
        libc::PACKET_QDISC_BYPASS,
    ] {
        // SAFETY: the option is an int, which outlives the call.
        check(unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_PACKET,
                option,
                (&raw const on).cast(),
                size_of_val(&on) as libc::socklen_t,
            )
        })?;
    }
    // SAFETY: `sockaddr_ll` is plain data, of which all zeroes is a valid value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_IP as u16).to_be();
    address.sll_ifindex = interface as libc::c_int;
    // SAFETY: the address is a whole `sockaddr_ll` that outlives the call.
    check(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        )
    })?;
    Ok(File::from(socket))
}

/// What the kernel knows about a TCP connection (tcp(7)).
///
/// # Errors
/// When it is no TCP socket.
pub(super) fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<libc::tcp_info> {
    // SAFETY: this is the option's structure, and plain data.
    unsafe { socket_option(socket, libc::IPPROTO_TCP, libc::TCP_INFO) }
}

/// The number of packets lost to a full buffer of a packet socket since the last call.
///
/// # Errors
/// When it is no packet socket.
pub(super) fn packets_overflowed(socket: &File) -> io::Result<u64> {
    // SAFETY: this is the option's structure, and plain data.
    let statistics: libc::tpacket_stats =
        unsafe { socket_option(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS) }?;
    Ok(statistics.tp_drops.into())
}

/// Reads an option of a socket.
///
/// # Safety
/// `T` is plain data, of which all zeroes and whatever the kernel writes for the option are valid values.
unsafe fn socket_option<T>(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int) -> io::Result<T> {
    // SAFETY: all zeroes is a valid value, as the caller says.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut length = size_of_val(&value) as libc::socklen_t;
    let (to, room) = ((&raw mut value).cast(), &raw mut length);
    // SAFETY: the kernel writes at most `length` bytes, all of which are the value's; both outlive the call.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, to, room) })?;
    Ok(value)
}

nix::ioctl_readwrite_bad!(
    /// An ethtool request to an interface's driver (linux/ethtool.h).
    ethtool,
    libc::SIOCETHTOOL,
    libc::ifreq
);

/// An offload of an interface, by the number of the command that changes it (linux/ethtool.h).
#[derive(Debug, Clone, Copy)]
pub(super) enum Offload {
    /// Checksums of sent packets, `ETHTOOL_STXCSUM`.
    TransmitChecksum = 0x17,
    /// TCP segmentation by the interface, `ETHTOOL_STSO`.
    TransmitSegmentation = 0x1f,
    /// Segmentation just before the interface, `ETHTOOL_SGSO`.
    Segmentation = 0x24,
    /// Merging of received segments, `ETHTOOL_SGRO`.
    Merging = 0x2c,
}

/// Turns an offload of the interface `name` of the calling thread's network namespace off.
///
/// # Errors
/// When the driver refuses.
pub(super) fn turn_off(name: &str, offload: Offload) -> io::Result<()> {
    /// `struct ethtool_value` (linux/ethtool.h).
    #[repr(C)]
    struct Value {
        command: u32,
        data: u32,
    }
    let mut value = Value {
        command: offload as u32,
        data: 0,
    };
    let mut request = interface_request(name);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    // SAFETY: the request is a whole `ifreq`, and points to a whole `ethtool_value`; both outlive the call.
    unsafe { ethtool(socket.as_raw_fd(), &raw mut request) }?;
    Ok(())
}

/// The error of a system call that returned `result`, if it failed.
fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Gives the calling thread real-time priority (`SCHED_FIFO`).
///
/// # Errors
/// `PermissionDenied`, mostly for ordinary users.
pub(super) fn run_before_others() -> io::Result<()> {
    // SAFETY: `sched_param` is plain data, of which all zeroes is a valid value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // Every real-time priority precedes ordinary threads; the lowest is enough.
    parameters.sched_priority = 1;
    // SAFETY: the parameters outlive the call; thread 0 is the calling one.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })
}

/// Registers `descriptor` with tokio, which reports when it is readable.
///
/// # Errors
/// Those of the system.
pub(super) fn watch_for_reading(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` stays the same open descriptor for as long as it lives.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
    Ok(watched?)
}
