//! Tests of both formats: byte orders, accepted deviations, damage refused with its position, cut-off tails read up to the cut.

use super::*;
use crate::test_packets::*;

/// Every packet: nanoseconds, link type, bytes, length on the wire, comments.
type ReadPacket = (u64, u16, Vec<u8>, u32, Vec<String>);

fn read(file: &[u8]) -> (Vec<ReadPacket>, Packets<&[u8]>) {
    let mut packets = Packets::open(file, "crafted").unwrap();
    let mut all = Vec::new();
    while let Some(packet) = packets.next().unwrap() {
        let Packet {
            at,
            link_type,
            bytes,
            length,
            comments,
        } = packet;
        all.push((at.as_nanos(), link_type.0, bytes.to_vec(), length, comments.to_vec()));
    }
    (all, packets)
}

fn plain(nanoseconds: u64, link_type: u16, bytes: &[u8]) -> ReadPacket {
    (nanoseconds, link_type, bytes.to_vec(), bytes.len() as u32, Vec::new())
}

/// A reader that delivers one byte at a time, as a slow pipe may.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.0.len().min(room.len()).min(1);
        room[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn a_pcap_is_read_in_both_orders_and_both_units_of_time() {
    for put in [LITTLE, BIG] {
        for (magic, fraction) in [(0xa1b2_c3d4, 7), (0xa1b2_3c4d, 7000)] {
            let file = [pcap_head(put, magic, 1), record(put, 2, fraction, b"abc", 3)].concat();
            let (all, packets) = read(&file);
            assert_eq!(all, [plain(2_000_007_000, 1, b"abc")]);
            assert_eq!((packets.format(), packets.cut_off()), (Format::Pcap, None));
        }
        let mut patched = [pcap_head(put, 0xa1b2_cd34, 1), record(put, 2, 7, b"", 3)].concat();
        patched[24 + 8..24 + 12].copy_from_slice(&put(3));
        patched.extend([[9; 8].as_slice(), b"abc"].concat());
        assert_eq!(
            read(&patched).0,
            [plain(2_000_007_000, 1, b"abc")],
            "records with 8 more bytes"
        );
    }
}

#[test]
fn sections_have_orders_interfaces_and_clocks_of_their_own() {
    let clock = |put: Put, resolution: u8, offset: u32| {
        let offset = [put(0), put(offset)];
        let offset = if put(1) == LITTLE(1) {
            [offset[1], offset[0]]
        } else {
            offset
        };
        [option(put, 9, &[resolution]), option(put, 14, &offset.concat())].concat()
    };
    let mut file = Vec::new();
    for put in [LITTLE, BIG] {
        file.extend(section(put));
        file.extend(interface(put, 1, 0, &[]));
        file.extend(interface(put, 101, 96, &clock(put, 9, 100)));
        file.extend(interface(put, 101, 0, &clock(put, 0x80 | 10, 0)));
        file.extend(enhanced(put, 0, 3, b"a", 1, &[]));
        file.extend(enhanced(put, 1, 3, b"bcdef", 5, &[]));
        file.extend(enhanced(put, 2, 512, b"", 0, &[]));
    }
    let each = [
        plain(3000, 1, b"a"),
        plain(100_000_000_003, 101, b"bcdef"),
        plain(500_000_000, 101, b""),
    ];
    let (all, packets) = read(&file);
    assert_eq!(all, [each.clone(), each].concat());
    assert_eq!(packets.interfaces().len(), 6);
    let mut dripped = Packets::open(Drip(&file), "crafted").unwrap();
    let mut count = 0;
    while dripped.next().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, all.len(), "however the file is handed over");
}

#[test]
fn comments_are_kept_and_other_options_passed_over() {
    let options = [
        option(LITTLE, 2, &[0; 4]),
        option(LITTLE, 1, b"dropped: full queue"),
        option(LITTLE, 1, b"\xffoo"),
    ]
    .concat();
    let file = [
        nanosecond_pcapng(),
        enhanced(LITTLE, 0, 1, b"abc", 3, &[options, vec![0; 4]].concat()),
    ]
    .concat();
    assert_eq!(read(&file).0[0].4, ["dropped: full queue", "\u{fffd}oo"]);
}

#[test]
fn blocks_of_other_kinds_are_passed_over_however_long_they_are() {
    let file = [
        nanosecond_pcapng(),
        block(LITTLE, 5, &[1; 8]),
        block(LITTLE, 0xbad, &vec![7; 40 << 20]),
        enhanced(LITTLE, 0, 1, b"abc", 3, &[]),
    ]
    .concat();
    assert_eq!(read(&file).0, [plain(1, 101, b"abc")]);
}

#[test]
fn simple_and_obsolete_packet_blocks_are_read() {
    let simple = |bytes: &[u8], length: u32| block(LITTLE, 3, &[&LITTLE(length), bytes].concat());
    let obsolete = [
        [0, 0, 5, 0].as_slice(),
        &LITTLE(0),
        &LITTLE(9),
        &LITTLE(3),
        &LITTLE(3),
        b"xyz\0",
    ]
    .concat();
    let file = [
        section(LITTLE),
        interface(LITTLE, 1, 4, &[]),
        simple(b"abcd", 9),
        simple(b"ab", 2),
        block(LITTLE, 2, &obsolete),
    ]
    .concat();
    let cut = (0, 1, b"abcd".to_vec(), 9, Vec::new());
    assert_eq!(read(&file).0, [cut, plain(0, 1, b"ab"), plain(9000, 1, b"xyz")]);
}

#[test]
fn mild_deviations_are_taken() {
    // A packet that is not padded, an option that reaches beyond its block, a length below what was captured.
    let head = [0, 0, 1, 4, 2].map(LITTLE).concat();
    let block = block(LITTLE, 6, &[&head, b"abcd".as_slice(), &[1, 0, 99, 0]].concat());
    let (all, _) = read(&[nanosecond_pcapng(), block].concat());
    assert_eq!(all, [plain(1, 101, b"abcd")]);
    // A snap length in a pcap.
    let (all, _) = read(&[pcap_head(LITTLE, 0xa1b2_c3d4, 1), record(LITTLE, 0, 0, b"ab", 1500)].concat());
    assert_eq!(all, [(0, 1, b"ab".to_vec(), 1500, Vec::new())]);
}

#[test]
fn a_file_may_be_cut_off_anywhere_and_gives_what_is_whole() {
    let pcap = [
        pcap_head(BIG, 0xa1b2_c3d4, 1),
        record(BIG, 1, 0, b"abc", 3),
        record(BIG, 2, 0, b"defg", 4),
    ]
    .concat();
    let pcapng = [
        nanosecond_pcapng(),
        enhanced(LITTLE, 0, 1, b"abc", 3, &[]),
        enhanced(LITTLE, 0, 2, b"defg", 4, &[]),
    ]
    .concat();
    for (file, ends) in [(&pcap, [43, 63]), (&pcapng, [pcapng.len() - 36, pcapng.len()])] {
        for length in 12.max(file.len() - 60)..file.len() {
            if file == &pcap && length < 24 {
                continue;
            }
            let (all, packets) = read(&file[..length]);
            assert_eq!(all.len(), ends.iter().filter(|end| length >= **end).count(), "{length}");
            let clean =
                ends.contains(&length) || (file == &pcap && length == 24) || length == ends[0] - 36 && file == &pcapng;
            assert_eq!(packets.cut_off(), (!clean).then_some(length as u64), "{length}");
        }
    }
}

#[test]
fn what_is_no_capture_is_named_with_the_remedy() {
    assert!(refusal(b"").contains("crafted: is empty"));
    assert!(refusal(&[0x1f, 0x8b, 8, 0]).contains("1f 8b 08 00 (gzip's magic number); decompress it first (gunzip -c"));
    assert!(refusal(b"12:00:00 IP 10.0.0.1").contains("not the text that tcpdump prints"));
    assert!(refusal(&[0xca, 0xfe, 0xba, 0xbe]).contains("begins with ca fe ba be; convert it: editcap"));
    assert!(refusal(&pcap_head(LITTLE, 0xa1b2_c3d4, 1)).contains("holds no packet"));
    assert!(refusal(&nanosecond_pcapng()).contains("holds no packet"));
    assert!(
        refusal(&pcap_head(LITTLE, 0xa1b2_c3d4, 1)[..20])
            .contains("cut off at byte 20, before the end of its first packet")
    );
    assert!(refusal(&nanosecond_pcapng()[..30]).contains("cut off at byte 30, before the end of its first packet"));
}

#[test]
fn damage_is_told_with_its_place_and_what_stands_before_can_be_had() {
    let packet = enhanced(LITTLE, 0, 1, b"abc", 3, &[]);
    let begins = [nanosecond_pcapng(), packet.clone()].concat();
    let at = begins.len();
    let said = |rest: &[u8]| {
        let said = refusal(&[&begins, rest].concat());
        assert!(said.contains(&format!("damaged at byte {at}: ")), "{said}");
        assert!(said.contains(&format!("head -c {at} FILE")), "{said}");
        said
    };
    let with = |offset: usize, number: u32| {
        let mut damaged = packet.clone();
        damaged[offset..offset + 4].copy_from_slice(&LITTLE(number));
        damaged
    };
    assert!(said(&with(4, 7)).contains("the length of a block is 7"));
    assert!(said(&with(4, 1 << 30)).contains("at most 16 MiB"));
    assert!(said(&with(8, 9)).contains("the interface of a packet is 9, and must be below 1"));
    assert!(said(&with(20, 99)).contains("the length of a packet is 99, and must be at most 4"));
    assert!(said(&with(packet.len() - 4, 5)).contains("the length at the end of a block is 5"));
    assert!(said(&block(LITTLE, 0x0a0d_0d0a, &[1; 16])).contains("the byte order of a section"));
    assert_eq!(read(&begins).0.len(), 1);
    let record = record(LITTLE, 0, 0, &[0; 8], 8);
    let mut pcap = [pcap_head(LITTLE, 0xa1b2_c3d4, 1), record.clone(), record].concat();
    pcap[48 + 8..48 + 12].copy_from_slice(&LITTLE(1 << 31));
    assert!(refusal(&pcap).contains("damaged at byte 48: the length of a packet is 2147483648"));
}

#[test]
fn an_error_of_the_reader_is_told_with_its_place() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let begins = nanosecond_pcapng();
    let error = crate::analyse(begins.chain(Broken), "crafted").unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "crafted: cannot be read beyond byte {}: the disk is gone",
            nanosecond_pcapng().len()
        )
    );
}
