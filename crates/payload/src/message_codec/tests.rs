use super::*;

const LIMIT: Bytes = Bytes::new(4_000_000);

fn round_trip(codec: &MessageCodec, messages: &[&[u8]]) {
    let mut encoder = MessageEncoder::new(codec, None).unwrap();
    let mut decoder = MessageDecoder::new(codec, None).unwrap();
    for message in messages {
        let (mut coded, mut decoded) = (Vec::new(), Vec::new());
        encoder.encode(message, &mut coded);
        decoder.decode(&coded, LIMIT, &mut decoded).unwrap();
        assert_eq!(decoded, *message, "{codec}");
    }
}

#[test]
fn the_default_of_text_is_zlibs_own() {
    assert_eq!("deflate".parse(), Ok(MessageCodec::Deflate(Deflate::default())));
}

#[test]
fn stock_zlib_holds_what_its_formula_says_and_its_state() {
    for window_bits in WindowBits::all() {
        for mem_level in 1..=9 {
            let settings = Deflate {
                window_bits,
                mem_level,
                ..Deflate::default()
            };
            let encoder = MessageEncoder::new(&MessageCodec::Deflate(settings), None).unwrap();
            assert_eq!(encoder.memory(), settings.zlib_memory(), "{settings}");
        }
    }
}

#[test]
fn every_level_and_strategy_turns_back() {
    let long = b"a message that repeats itself, and repeats itself. ".repeat(3000);
    let noise: Vec<u8> = (0..3000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    for level in 0..=9 {
        for strategy in Strategy::ALL {
            for takeover in [true, false] {
                let settings = Deflate {
                    level,
                    strategy,
                    takeover,
                    ..Deflate::default()
                };
                for codec in [MessageCodec::Deflate(settings), MessageCodec::ZlibRs(settings)] {
                    round_trip(&codec, &[b"", b"Hello", b"", b"Hello", &long, &noise, b"x", &noise]);
                }
            }
        }
    }
}
