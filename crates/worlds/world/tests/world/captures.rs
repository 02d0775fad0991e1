//! Claims about captures: blocks, lengths and checksums, and that tshark reads them, where it is installed.

use crate::support::{Pair, Recording, content, direction};
use lastmile_link::{DirectionSpec, Loss, Queue};
use lastmile_units::Probability;
use lastmile_world::World as _;
use lastmile_world::{Host, Listener};
use std::io::{self, Write};
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A conversation with losses, so that it holds every kind of segment: SYN, data, blocks, FIN.
fn capture() -> Vec<u8> {
    let lossy = DirectionSpec {
        queue: Queue::Packets(8),
        loss: Loss::Bernoulli(Probability::new(0.02).unwrap()),
        ..direction("2 Mbit/s", Duration::from_millis(30))
    };
    let (pair, recording) = (Pair::new(5, &lossy), Recording::default());
    pair.world.capture(&pair.client, Box::new(recording.clone())).unwrap();
    let mut listener = pair.server.listen(80).unwrap();
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    pair.world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        stream.write_all(&content(4, 200_001)).await.unwrap();
    });
    let got = pair.world.run(async move {
        let mut stream = client.connect(address).await.unwrap();
        stream.write_u8(1).await.unwrap();
        let mut got = Vec::new();
        stream.read_to_end(&mut got).await.unwrap();
        drop(stream);
        client.sleep_until(client.now() + Duration::from_secs(2)).await;
        got
    });
    assert_eq!(got.unwrap(), content(4, 200_001));
    recording.bytes()
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The blocks, as type and body; each ends with its length, as it began.
fn blocks(mut bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        let length = u32_at(bytes, 4);
        assert_eq!((length % 4, u32_at(bytes, length - 4)), (0, length));
        blocks.push((u32_at(bytes, 0), &bytes[8..length - 4]));
        bytes = &bytes[length..];
    }
    blocks
}

/// The packets of a capture, from their IPv4 headers on.
pub(crate) fn packets(capture: &[u8]) -> Vec<Vec<u8>> {
    const ENHANCED_PACKET_BLOCK: usize = 6;
    let blocks = blocks(capture).into_iter();
    blocks
        .filter(|(kind, _)| *kind == ENHANCED_PACKET_BLOCK)
        .map(|(_, body)| body[20..20 + u32_at(body, 12)].to_vec())
        .collect()
}

/// RFC 1071: with its checksum in place, everything sums to all ones.
fn sums_to_ones(parts: &[&[u8]]) -> bool {
    let mut sum = 0_u64;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum == 0xffff
}

#[test]
fn blocks_lengths_and_checksums_are_right() {
    let bytes = capture();
    let blocks = blocks(&bytes);
    assert_eq!((blocks[0].0, u32_at(blocks[0].1, 0)), (0x0a0d_0d0a, 0x1a2b_3c4d));
    assert_eq!(
        (blocks[1].0, u32_at(blocks[1].1, 0)),
        (1, 228),
        "one interface, of raw IPv4"
    );
    assert!(blocks.len() > 200);
    let mut before = 0;
    for (kind, body) in &blocks[2..] {
        assert_eq!(*kind, 6);
        let time = (u32_at(body, 4) as u64) << 32 | u32_at(body, 8) as u64;
        assert!(time >= before, "packets are in the order of time");
        before = time;
        let (captured, original) = (u32_at(body, 12), u32_at(body, 16));
        assert_eq!((captured, body.len()), (original, 20 + captured.next_multiple_of(4)));
        let (ip, tcp) = body[20..20 + captured].split_at(20);
        assert_eq!((ip[0], usize::from(ip[2]) << 8 | usize::from(ip[3])), (0x45, captured));
        assert!(sums_to_ones(&[ip]));
        let pseudo_header = [&ip[12..20], &[0, 6], &(tcp.len() as u16).to_be_bytes()].concat();
        assert!(sums_to_ones(&[&pseudo_header, tcp]));
        assert!(usize::from(tcp[12] >> 4) * 4 <= tcp.len());
    }
}

#[test]
fn tshark_finds_nothing_wrong() {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("tshark is not installed: reading our captures with it was not checked");
        return;
    }
    let mut file = tempfile::NamedTempFile::with_suffix(".pcapng").unwrap();
    file.write_all(&capture()).unwrap();
    let tshark = |arguments: &[&str]| {
        let checks = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"];
        let output = Command::new("tshark")
            .arg("-r")
            .arg(file.path())
            .args(checks)
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let bad = "ip.checksum.status==0 || tcp.checksum.status==0 || _ws.malformed || _ws.expert.severity==error";
    assert_eq!(tshark(&["-Y", bad]), "");
    let good = tshark(&["-Y", "ip.checksum.status==1 && tcp.checksum.status==1"]);
    assert_eq!(good.lines().count(), tshark(&[]).lines().count());
    assert!(
        !tshark(&["-Y", "tcp.options.sack_le"]).is_empty(),
        "selective acknowledgements are understood"
    );
    // What the client's side sees lost and resent, tshark does as well.
    assert!(!tshark(&["-Y", "tcp.analysis.retransmission || tcp.analysis.out_of_order"]).is_empty());
    assert_eq!(
        tshark(&["-Y", "tcp.analysis.ack_lost_segment || tcp.analysis.zero_window"]),
        ""
    );
}

/// Takes a little, and then no more.
struct FullDisk(usize);

impl Write for FullDisk {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(from.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(from.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_capture_that_cannot_be_written_stops_and_is_told_of_while_the_world_goes_on() {
    let pair = Pair::new(1, &direction("2 Mbit/s", Duration::from_millis(30)));
    assert!(pair.world.capture(&pair.client, Box::new(FullDisk(4))).is_err());
    pair.world.capture(&pair.client, Box::new(FullDisk(200))).unwrap();
    let _listener = pair.server.listen(80).unwrap();
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    pair.world
        .run(async move { client.connect(address).await.map(drop) })
        .unwrap()
        .unwrap();
    assert_eq!(pair.world.capture_error().unwrap().kind(), io::ErrorKind::StorageFull);
    assert!(pair.world.capture_error().is_none(), "it is told once");
}
