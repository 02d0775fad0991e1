//! Parses what the forwarder needs of a packet: its destination, and whether it opens a connection.

use std::net::{Ipv4Addr, SocketAddrV4};

/// The destination of an IPv4 packet; none if the bytes are not one.
pub(super) fn destination(packet: &[u8]) -> Option<Ipv4Addr> {
    let header = packet.get(..IPV4_HEADER)?;
    (header[0] >> 4 == 4).then(|| Ipv4Addr::new(header[16], header[17], header[18], header[19]))
}

/// The destination of the connection that a packet requests; none if it requests none.
pub(super) fn requested_connection(packet: &[u8]) -> Option<SocketAddrV4> {
    let address = destination(packet)?;
    let header = usize::from(packet[0] & 0xf) * 4;
    let tcp = packet.get(header..header + TCP_HEADER)?;
    let is_request = packet[9] == TCP && tcp[13] & (SYN | ACK) == SYN;
    is_request.then(|| SocketAddrV4::new(address, u16::from_be_bytes([tcp[2], tcp[3]])))
}

/// Without options (RFC 791 section 3.1).
const IPV4_HEADER: usize = 20;
/// Without options (RFC 9293 section 3.1).
const TCP_HEADER: usize = 20;
const TCP: u8 = 6;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flags: u8) -> Vec<u8> {
        let mut packet = vec![0; 40];
        (packet[0], packet[9]) = (0x45, TCP);
        packet[16..20].copy_from_slice(&[10, 0, 0, 2]);
        packet[22..24].copy_from_slice(&80u16.to_be_bytes());
        packet[33] = flags;
        packet
    }

    #[test]
    fn a_syn_asks_for_a_connection_and_its_answer_does_not() {
        assert_eq!(requested_connection(&packet(SYN)), Some("10.0.0.2:80".parse().unwrap()));
        assert_eq!(requested_connection(&packet(SYN | ACK)), None);
        assert_eq!(requested_connection(&packet(ACK)), None);
    }

    #[test]
    fn what_is_cut_off_or_of_another_version_goes_nowhere() {
        for length in 0..20 {
            assert_eq!(destination(&packet(SYN)[..length]), None);
        }
        assert_eq!(destination(&[0x60; 40]), None);
        assert_eq!(requested_connection(&packet(SYN)[..39]), None);
    }
}
