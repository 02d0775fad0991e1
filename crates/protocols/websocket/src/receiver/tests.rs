use super::*;
use lastmile_codec::message::{MessageCodec, MessageEncoder, WindowBits};

const LIMIT: ByteCount = ByteCount::new(1 << 20);

fn takeover(takeover: bool) -> Option<CompressorParameters> {
    Some(CompressorParameters {
        takeover,
        window_bits: WindowBits::MAX,
    })
}

/// What a client reads from a server's bytes.
fn read(compressor: Option<CompressorParameters>, bytes: &[u8]) -> Result<Vec<Received>, Violation> {
    let mut receiver = Receiver::new(false, compressor, LIMIT).unwrap();
    let mut received = Vec::new();
    receiver.receive(bytes, &mut |one| received.push(one))?;
    // Byte by byte it is the same.
    let mut again = Vec::new();
    let mut receiver = Receiver::new(false, compressor, LIMIT).unwrap();
    for byte in bytes {
        receiver.receive(&[*byte], &mut |one| again.push(one)).unwrap();
    }
    assert_eq!(received, again);
    Ok(received)
}

fn texts(compressor: Option<CompressorParameters>, bytes: &[u8]) -> Vec<String> {
    let messages = read(compressor, bytes).unwrap().into_iter().map(|one| match one {
        Received::Message(message) => String::from_utf8(message.payload).unwrap(),
        other => panic!("{other:?}"),
    });
    messages.collect()
}

/// RFC 6455 section 5.7.
#[test]
fn the_examples_of_rfc_6455_say_hello() {
    assert_eq!(texts(None, b"\x81\x05Hello"), ["Hello"]);
    assert_eq!(texts(None, b"\x01\x03Hel\x80\x02lo"), ["Hello"]);
    let between = read(None, b"\x01\x03Hel\x89\x05Hello\x8a\x05Hello\x80\x02lo").unwrap();
    assert_eq!(between[0], Received::Ping(b"Hello".to_vec()));
    assert_eq!(between[1], Received::Pong(b"Hello".to_vec()));
    assert!(matches!(&between[2], Received::Message(message) if message.payload == b"Hello" && message.frames == 2));
    let mut receiver = Receiver::new(true, None, LIMIT).unwrap();
    let masked = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
    let mut payload = Vec::new();
    let mut sink = |one| {
        if let Received::Message(message) = one {
            payload = message.payload;
        }
    };
    receiver.receive(masked, &mut sink).unwrap();
    assert_eq!(payload, b"Hello");
}

/// RFC 7692 section 7.2.3, all five, each as the messages of one connection.
#[test]
fn the_examples_of_rfc_7692_say_hello() {
    let examples: [&[u8]; 6] = [
        // 7.2.3.1, in one frame and in two.
        b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00",
        b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00",
        // 7.2.3.3: a block without compression.
        b"\xc1\x0b\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00",
        // 7.2.3.4: a block with BFINAL set.
        b"\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00",
        // 7.2.3.5: two blocks in one message.
        b"\xc1\x0d\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00",
        b"\x81\x05Hello",
    ];
    for example in examples {
        for compressor in [takeover(true), takeover(false)] {
            assert_eq!(texts(compressor, example), ["Hello"], "{example:x?}");
        }
    }
    let all: Vec<u8> = examples.concat();
    for compressor in [takeover(true), takeover(false)] {
        assert_eq!(texts(compressor, &all), ["Hello"; 6]);
    }
    // 7.2.3.2: the second refers to the first.
    let shared = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00";
    assert_eq!(texts(takeover(true), shared), ["Hello", "Hello"]);
    // 7.2.3.6: nothing.
    assert_eq!(texts(takeover(true), b"\xc1\x01\x00"), [""]);
}

#[test]
fn messages_uncompressed_between_compressed_ones_leave_the_history_alone() {
    let between = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\x81\x02hi\xc1\x05\xf2\x00\x11\x00\x00";
    assert_eq!(texts(takeover(true), between), ["Hello", "hi", "Hello"]);
}

#[test]
fn every_broken_rule_fails_with_its_code() {
    let cases: [(&[u8], u16); 24] = [
        (b"\xc1\x00", 1002), // RSV1 where nothing is negotiated
        (b"\xa1\x00", 1002), // RSV2
        (b"\x91\x00", 1002), // RSV3
        (b"\x83\x00", 1002), // reserved opcodes
        (b"\x8b\x00", 1002),
        (b"\x09\x00", 1002),         // a ping in fragments
        (b"\x89\x7e\x00\x7e", 1002), // a ping of 126 bytes
        (b"\x88\x01\x03", 1002),     // half a code
        (b"\x88\x02\x03\xed", 1002), // 1005
        (b"\x88\x03\x03\xe8\xff", 1007),
        (b"\x81\x80", 1002),     // a masked frame of a server
        (b"\x80\x00", 1002),     // a continuation of nothing
        (b"\x01\x00\x01", 1002), // cut off: see below
        (b"\x01\x00\x81\x00", 1002),
        (b"\x81\x7e\x00\x05", 1002), // a length that is not minimal
        (b"\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xff", 1002),
        (b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 1002),
        (b"\x82\x7f\x00\x00\x00\x00\x00\x10\x00\x01", 1009),
        (b"\x02\x7f\x00\x00\x00\x00\x00\x10\x00\x00", 1009), // cut off: see below
        (b"\x81\x02\xc3\x28", 1007),
        (b"\x81\x01\xc3", 1007),
        (b"\x01\x04\xf4\x90", 1007), // before the frame is whole
        (b"\x01\x01\xc3\x80\x01\x28", 1007),
        (b"\x01\x01\xc3\x80\x00", 1007),
    ];
    for (bytes, code) in cases {
        let is_cut_off = matches!(bytes, [1, 0, 1] | [2, 0x7f, .., 0, 0]);
        match read(None, bytes) {
            Err(violation) => assert_eq!(violation.close_code(), CloseCode(code), "{bytes:x?}: {violation}"),
            Ok(received) => assert!(is_cut_off && received.is_empty(), "{bytes:x?}: {received:?}"),
        }
    }
}

#[test]
fn with_deflate_rsv1_may_stand_on_first_frames_of_messages_alone() {
    for bytes in [
        &b"\xc9\x00"[..],
        b"\xc8\x00",
        b"\x41\x01\x00\xc0\x00",
        b"\x01\x01a\xc0\x01\x00",
    ] {
        let violation = read(takeover(true), bytes).unwrap_err();
        assert!(matches!(violation, Violation::ReservedBit { bit: 1, .. }), "{bytes:x?}");
        assert_eq!(violation.close_code(), CloseCode::PROTOCOL_ERROR);
    }
}

#[test]
fn what_does_not_decompress_is_invalid_data() {
    // Block type 3; a reference before the start; a message that ends within a block; text that is not UTF-8 once decompressed.
    for bytes in [
        &b"\xc1\x02\x06\x00"[..],
        b"\xc1\x05\xf2\x00\x11\x00\x00",
        b"\xc1\x02\xf2\x48",
        b"\xc1\x08\x00\x02\x00\xfd\xff\xc3\x28\x00",
    ] {
        let violation = read(takeover(true), bytes).unwrap_err();
        assert_eq!(
            violation.close_code(),
            CloseCode::INVALID_DATA,
            "{bytes:x?}: {violation}"
        );
    }
}

fn frame(is_compressed: bool, payload: &[u8]) -> Vec<u8> {
    let header = FrameHeader {
        rsv1: is_compressed,
        ..FrameHeader::new(Opcode::Binary, payload.len() as u64)
    };
    let mut bytes = Vec::new();
    header.write_with(payload, &mut bytes);
    bytes
}

#[test]
fn a_decompression_bomb_is_too_large_and_the_limit_itself_is_not() {
    let coded = |length: u64| {
        let mut coded = Vec::new();
        let codec = MessageCodec::Deflate(Deflate::default());
        MessageEncoder::new(&codec, None)
            .unwrap()
            .encode(&vec![0; length as usize], &mut coded);
        frame(true, &coded)
    };
    assert!(coded(LIMIT.get()).len() < 2000);
    let most = read(takeover(true), &coded(LIMIT.get())).unwrap();
    assert!(matches!(&most[0], Received::Message(message) if ByteCount::from(message.payload.len()) == LIMIT));
    let violation = read(takeover(true), &coded(LIMIT.get() + 1)).unwrap_err();
    assert_eq!(violation, Violation::TooLarge(LIMIT));
    assert_eq!(violation.close_code(), CloseCode::TOO_LARGE);
}

#[test]
fn fragments_add_up_to_the_limit() {
    let mut receiver = Receiver::new(false, None, ByteCount::new(5)).unwrap();
    let violation = receiver.receive(b"\x02\x03abc\x80\x03", &mut |_| {}).unwrap_err();
    assert_eq!(violation, Violation::TooLarge(ByteCount::new(5)));
    assert!(receiver.is_over());
}

#[test]
fn what_follows_a_close_frame_is_passed_over() {
    let received = read(None, b"\x88\x02\x03\xe8\x81\x05Hello").unwrap();
    assert_eq!(received, [Received::Close(Close::new(CloseCode::NORMAL, ""))]);
}

#[test]
fn a_hole_within_a_frame_costs_its_message_and_with_takeover_the_compressed_ones_after_it() {
    let hello = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00";
    for (takes_over, after) in [
        (true, Received::Lost(Kind::Text)),
        (false, read(takeover(false), hello).unwrap().remove(0)),
    ] {
        let mut receiver = Receiver::new(false, takeover(takes_over), LIMIT).unwrap();
        let mut received = Vec::new();
        let mut sink = |one| received.push(one);
        receiver.receive(&hello[..4], &mut sink).unwrap();
        assert!(receiver.skip_unseen(5, &mut sink).unwrap());
        receiver.receive(hello, &mut sink).unwrap();
        receiver.receive(b"\x81\x02hi", &mut sink).unwrap();
        // From one frame into the next: the position of the next header is unknown.
        receiver.receive(b"\x81\x02h", &mut sink).unwrap();
        assert!(!receiver.skip_unseen(2, &mut sink).unwrap());
        receiver.receive(b"\x81\x02hi", &mut sink).unwrap();
        assert_eq!(received[0], Received::Lost(Kind::Text));
        assert_eq!(received[1], after);
        assert!(matches!(&received[2], Received::Message(message) if message.payload == b"hi"));
        assert_eq!(received.len(), 3);
    }
}
