//! A capture made by hand: one WebSocket connection in clear text, of raw IPv4 packets in a pcap file.

/// Key and answer are those of RFC 6455 section 1.3.
const REQUEST: &str = "GET /chat HTTP/1.1\r\nHost: example.org\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
const RESPONSE: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// A pcap file without a packet (draft-ietf-opsawg-pcap section 4): little endian, microseconds, LINKTYPE_RAW.
pub(super) fn empty() -> Vec<u8> {
    let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0]);
    file.extend([0; 8]);
    file.extend(65_535_u32.to_le_bytes());
    file.extend(101_u32.to_le_bytes());
    file
}

/// This many text messages in each direction, in turns.
pub(crate) fn of_messages(count: u32) -> Vec<u8> {
    without_question(count, None)
}

/// The same without the packet of one of the client's messages, which was sent but not captured.
pub(super) fn without_question(count: u32, missing: Option<u32>) -> Vec<u8> {
    let mut wire = Wire {
        file: empty(),
        packets: 0,
        // The next sequence number of each side, the client's first.
        next: [1_000, 9_000],
    };
    const SYN: u8 = 0x02;
    const ACK: u8 = 0x10;
    const FIN: u8 = 0x01;
    wire.send(0, SYN, b"");
    wire.send(1, SYN | ACK, b"");
    wire.send(0, ACK, REQUEST.as_bytes());
    wire.send(1, ACK, RESPONSE.as_bytes());
    for n in 0..count {
        let captured = wire.file.len();
        wire.send(0, ACK, &frame(true, &format!("question number {n}")));
        if missing == Some(n) {
            wire.file.truncate(captured);
        }
        wire.send(1, ACK, &frame(false, &format!("answer number {n}")));
    }
    wire.send(0, ACK | FIN, b"");
    wire.send(1, ACK | FIN, b"");
    wire.file
}

/// An unfragmented text frame (RFC 6455 section 5.2); a client's is masked, by a key of zeros.
fn frame(is_masked: bool, text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len())
        .ok()
        .filter(|length| *length < 126)
        .expect("messages are short");
    let mut frame = vec![0x81, length | if is_masked { 0x80 } else { 0 }];
    if is_masked {
        frame.extend([0; 4]);
    }
    frame.extend(text.as_bytes());
    frame
}

struct Wire {
    file: Vec<u8>,
    packets: u32,
    next: [u32; 2],
}

impl Wire {
    fn send(&mut self, side: usize, flags: u8, payload: &[u8]) {
        let ports: [u16; 2] = [40_000, 80];
        let addresses = [[10, 0, 0, 1], [10, 0, 0, 2]];
        let mut packet = vec![0x45, 0];
        packet.extend((40 + payload.len() as u16).to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend(addresses[side]);
        packet.extend(addresses[1 - side]);
        packet.extend(ports[side].to_be_bytes());
        packet.extend(ports[1 - side].to_be_bytes());
        packet.extend(self.next[side].to_be_bytes());
        packet.extend(self.next[1 - side].to_be_bytes());
        packet.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        packet.extend(payload);
        // SYN and FIN use one sequence number each.
        self.next[side] += payload.len() as u32 + u32::from(flags & 0x02 != 0) + u32::from(flags & 0x01 != 0);
        self.packets += 1;
        self.file.extend((1_700_000_000 + self.packets / 10).to_le_bytes());
        self.file.extend((self.packets % 10 * 100_000).to_le_bytes());
        let length = (packet.len() as u32).to_le_bytes();
        self.file.extend(length);
        self.file.extend(length);
        self.file.extend(packet);
    }
}
