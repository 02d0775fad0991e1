//! Which services listen on the machine's loopback address? The kernel's own list is read anew each time: services come and go.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The listening sockets of one network namespace.
#[derive(Debug)]
pub(super) struct Services {
    ipv4: File,
    /// None where the kernel has no IPv6.
    ipv6: Option<File>,
}

/// How `/proc/net/tcp` writes that a socket listens (proc_net_tcp.rst; `TCP_LISTEN` in the kernel's tcp_states.h).
const LISTENING: &str = "0A";

impl Services {
    /// Those of the network namespace that the calling thread is in now, wherever it goes later.
    pub(super) fn of_this_thread() -> io::Result<Self> {
        Ok(Self {
            ipv4: File::open("/proc/thread-self/net/tcp")?,
            ipv6: File::open("/proc/thread-self/net/tcp6").ok(),
        })
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            ipv4: self.ipv4.try_clone()?,
            ipv6: self.ipv6.as_ref().map(File::try_clone).transpose()?,
        })
    }

    /// Whether someone on the loopback address takes connections to `port`.
    pub(super) fn listen_on(&self, port: u16) -> bool {
        // What cannot be read is tried: the connection fails a little later then.
        let on_loopback = |list: &File| listens(list, port).unwrap_or(true);
        on_loopback(&self.ipv4) || self.ipv6.as_ref().is_some_and(on_loopback)
    }
}

fn listens(mut list: &File, port: u16) -> io::Result<bool> {
    list.rewind()?;
    for line in BufReader::new(list).lines().skip(1) {
        let line = line?;
        match listener(&line) {
            Some((address, at)) if at == port && takes_loopback(&address) => return Ok(true),
            Some(_) => {}
            // Those that listen come first.
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Address and port of a socket that listens; none where the line is about another.
fn listener(line: &str) -> Option<(Vec<u8>, u16)> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (address, port) = fields.next()?.split_once(':')?;
    if fields.nth(1)? != LISTENING {
        return None;
    }
    // Words of four bytes, each in the machine's own order.
    let word = |digits: &[u8]| {
        let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        Some(number.to_ne_bytes())
    };
    let words: Option<Vec<[u8; 4]>> = address.as_bytes().chunks(8).map(word).collect();
    Some((words?.concat(), u16::from_str_radix(port, 16).ok()?))
}

/// Whether a socket that listens there is found at 127.0.0.1 or ::1.
fn takes_loopback(address: &[u8]) -> bool {
    if let Ok(octets) = <[u8; 4]>::try_from(address) {
        return [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED].contains(&octets.into());
    }
    let Ok(octets) = <[u8; 16]>::try_from(address) else {
        return false;
    };
    let address = Ipv6Addr::from(octets);
    match address.to_ipv4_mapped() {
        Some(mapped) => takes_loopback(&mapped.octets()),
        None => [Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED].contains(&address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_service_is_found_for_as_long_as_it_listens() {
        let services = Services::of_this_thread().unwrap();
        let service = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = service.local_addr().unwrap().port();
        assert!(services.listen_on(port));
        drop(service);
        assert!(!services.listen_on(port));
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn what_listens_elsewhere_or_only_talks_is_no_service() {
        let line = |address: &str, state: &str| format!("   0: {address}:1F90 00000000:0000 {state} 00000000:00000000");
        assert_eq!(listener(&line("0100007F", "0A")), Some((vec![127, 0, 0, 1], 8080)));
        assert_eq!(listener(&line("0100007F", "01")), None);
        assert_eq!(listener("garbage"), None);
        assert!(takes_loopback(&[0; 4]) && takes_loopback(&[0; 16]));
        assert!(takes_loopback(&Ipv6Addr::LOCALHOST.octets()));
        assert!(takes_loopback(&Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets()));
        assert!(!takes_loopback(&[192, 168, 1, 5]));
    }
}
