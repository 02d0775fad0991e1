//! Converts our captures to pcap files of Ethernet frames, for programs that read neither pcapng nor raw IP.

use lastmile_capture::Packets;

/// The same packets with invented Ethernet headers, and times rounded down to microseconds.
pub(crate) fn ethernet_pcap(pcapng: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    for number in [0xa1b2_c3d4_u32, 2 | 4 << 16, 0, 0, 0x4_0000, 1] {
        file.extend(number.to_le_bytes());
    }
    let mut packets = Packets::open(pcapng, "capture").unwrap();
    while let Some(packet) = packets.next().unwrap() {
        let (seconds, nanoseconds) = (
            packet.at.as_nanos() / 1_000_000_000,
            packet.at.as_nanos() % 1_000_000_000,
        );
        let length = packet.bytes.len() as u32 + 14;
        for number in [seconds as u32, nanoseconds as u32 / 1000, length, length] {
            file.extend(number.to_le_bytes());
        }
        file.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        file.extend(packet.bytes);
    }
    file
}
