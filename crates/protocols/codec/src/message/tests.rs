use super::settings::Strategy;
use super::*;
use lastmile_units::{ByteCount, Rng, Seed};
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};
use rand_core::Rng as _;

mod context;

/// Every kind of codec, at very different settings, with takeover.
fn codecs() -> Vec<MessageCodec> {
    [
        "identity",
        "deflate",
        "deflate:0",
        "deflate:1/w8/m1",
        "deflate:9/w15/m9",
        "deflate:4/w10/m3/filtered",
        "deflate:6/w12/huffman-only",
        "deflate:6/rle",
        "deflate:6/w9/m1/fixed",
        "zlib-rs",
        "zlib-rs:0",
        "zlib-rs:1/w8/m1",
        "zlib-rs:9/w12/m5",
        "zstd:-3/w12",
        "zstd:1/w10",
        "zstd",
        "zstd:13/w17",
        "brotli:0/w10",
        "brotli:0/w18",
        "brotli:1/w10",
        "brotli:1/w18",
        "brotli:2/w12",
        "brotli:4/w18",
        "brotli",
        "brotli:9/w16",
        "lz4",
        "lz4:20",
        "lz4hc:2",
        "lz4hc:9",
        "lz4hc:12",
    ]
    .map(|text| text.parse().unwrap())
    .into()
}

/// The same codecs, with takeover and without.
fn codecs_both_ways() -> Vec<MessageCodec> {
    let with = codecs();
    let without = with.iter().map(|codec| codec.with_takeover(false));
    with.iter().copied().chain(without).collect()
}

/// Text like that of a chat: few words, often repeated.
fn chat(rng: &mut Rng, length: usize) -> Vec<u8> {
    const WORDS: [&[u8]; 8] = [
        b"{\"user\":\"",
        b"alice",
        b"bob",
        b"\",\"text\":\"",
        b"hello ",
        b"how are you ",
        b"\"}",
        b"good ",
    ];
    let mut text = Vec::with_capacity(length + 16);
    while text.len() < length {
        text.extend_from_slice(WORDS[rng.next_u32() as usize % WORDS.len()]);
    }
    text.truncate(length);
    text
}

fn noise(rng: &mut Rng, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    rng.fill_bytes(&mut bytes);
    bytes
}

fn rng(name: &str) -> Rng {
    Seed::new(1).derive(name).rng()
}

/// Messages of all sizes up to 2 MB, with and without repetition.
fn messages() -> Vec<Vec<u8>> {
    let mut rng = rng("messages");
    let mut all = vec![Vec::new(), b"Hello".to_vec(), Vec::new(), b"Hello".to_vec()];
    for length in [1, 2, 3, 7, 100, 256, 1000, 5000, 65_535, 65_536, 70_000, 140_000] {
        all.push(chat(&mut rng, length));
        all.push(noise(&mut rng, length));
    }
    all.push(all[10].clone());
    all.push(chat(&mut rng, 2_000_000));
    all.push(noise(&mut rng, 2_000_000));
    all.push(vec![0; 2_000_000]);
    all.push(b"after all that".to_vec());
    all
}

fn assert_turns_back(codec: &MessageCodec, dictionary: Option<&Dictionary>, messages: &[Vec<u8>]) {
    let mut encoder = MessageEncoder::new(codec, dictionary).unwrap();
    let mut decoder = MessageDecoder::new(codec, dictionary).unwrap();
    let (mut coded, mut decoded) = (b"before".to_vec(), b"before".to_vec());
    for (index, message) in messages.iter().enumerate() {
        coded.truncate(6);
        decoded.truncate(6);
        encoder.encode(message, &mut coded);
        let turned_back = decoder.decode(&coded[6..], ByteCount::from(message.len()), &mut decoded);
        assert_eq!(turned_back, Ok(()), "{codec}, message {index}");
        assert!(decoded[6..] == message[..], "{codec}, message {index}");
        assert_eq!(decoded[..6], *b"before");
    }
}

#[test]
fn what_a_codec_prints_is_read_back_as_the_same() {
    for codec in codecs_both_ways() {
        assert_eq!(codec.to_string().parse(), Ok(codec));
        assert_eq!(serde_json::to_string(&codec).unwrap(), format!("\"{codec}\""));
    }
    let printed = |text: &str| text.parse::<MessageCodec>().unwrap().to_string();
    assert_eq!(printed("deflate"), "deflate:6/w15/m8");
    assert_eq!(
        printed(" zlib-rs:1 / no-takeover / w8 / rle"),
        "zlib-rs:1/w8/m8/rle/no-takeover"
    );
    assert_eq!(printed("zstd:-3"), "zstd:-3/w17");
    assert_eq!(printed("brotli/w10"), "brotli:5/w10");
    assert_eq!(printed("lz4hc/takeover"), "lz4hc:9");
}

#[test]
fn text_that_is_no_codec_is_refused_with_what_would_be() {
    let refused = |text: &str| text.parse::<MessageCodec>().unwrap_err().to_string();
    assert_eq!(
        refused("deflat"),
        "\"deflat\" is not a message codec: no codec is called \"deflat\"; did you mean \"deflate\"? (one of identity, deflate, \
         zlib-rs, zstd, brotli, lz4, lz4hc)"
    );
    assert_eq!(
        refused("deflate:10"),
        "\"deflate:10\" is not a message codec: the deflate level 10 is out of range; use 0 to 9"
    );
    assert_eq!(
        refused("deflate/w7"),
        "\"deflate/w7\" is not a message codec: the window bits 7 are out of range; use 8 to 15"
    );
    assert_eq!(
        refused("zstd/m8"),
        "\"zstd/m8\" is not a message codec: it has no setting \"m8\"; write it like \"zstd:3/w17\", with /no-takeover"
    );
    assert_eq!(
        refused("lz4:fast"),
        "\"lz4:fast\" is not a message codec: \"fast\" is not a number that fits here; write it like \"lz4:1\" by acceleration, \"lz4hc:9\" \
         by level, with /no-takeover"
    );
    for text in [
        "",
        "identity:1",
        "identity/no-takeover",
        "lz4/w15",
        "zstd:0",
        "zstd:23",
        "brotli:12",
        "lz4:0",
        "lz4hc:1",
        "lz4hc:13",
    ] {
        assert!(text.parse::<MessageCodec>().is_err(), "{text}");
    }
}

#[test]
fn every_codec_turns_messages_of_all_sizes_back() {
    let messages = messages();
    for codec in codecs_both_ways() {
        assert_turns_back(&codec, None, &messages);
    }
}

#[test]
fn every_level_and_strategy_of_deflate_turns_messages_back() {
    let messages: Vec<Vec<u8>> = messages()
        .into_iter()
        .filter(|message| message.len() < 10_000)
        .collect();
    for level in 0..=9 {
        for strategy in Strategy::ALL {
            for takeover in [true, false] {
                let settings = Deflate {
                    takeover,
                    level,
                    strategy,
                    ..Deflate::default()
                };
                for codec in [MessageCodec::Deflate(settings), MessageCodec::ZlibRs(settings)] {
                    assert_turns_back(&codec, None, &messages);
                }
            }
        }
    }
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
            let mut encoder = MessageEncoder::new(&MessageCodec::Deflate(settings), None).unwrap();
            let window = window_bits.get().max(9);
            let formula = (1 << (window + 2)) + (1 << (mem_level + 9));
            assert_eq!(encoder.memory(), ByteCount::new(formula + 5968), "{settings}");
            assert_eq!(settings.zlib_memory(), ByteCount::new(formula + 5968), "{settings}");
            encoder.encode(&[1; 100_000], &mut Vec::new());
            assert_eq!(
                encoder.memory(),
                settings.zlib_memory(),
                "{settings} allocates no more for messages"
            );
        }
    }
}

/// What libbrotlienc 1.0.9 had requested from a counting allocator after each message, of some 50 bytes, was flushed: measured once, by ctypes.
#[test]
fn brotli_holds_what_the_reference_encoder_in_c_does() {
    let mut rng = rng("brotli");
    let messages: Vec<Vec<u8>> = (0..300).map(|_| chat(&mut rng, 50)).collect();
    for (codec, reference) in [
        ("brotli:4/w16", 729_004),
        ("brotli:5/w16", 729_004),
        ("brotli:7/w16", 729_004),
        ("brotli:5/w17", 1_417_132),
        ("brotli:5/w18", 1_679_276),
    ] {
        for suffix in ["", "/no-takeover"] {
            let codec: MessageCodec = format!("{codec}{suffix}").parse().unwrap();
            let mut encoder = MessageEncoder::new(&codec, None).unwrap();
            for message in &messages {
                encoder.encode(message, &mut Vec::new());
            }
            let ratio = encoder.memory().as_f64() / f64::from(reference);
            assert!((0.5..2.0).contains(&ratio), "{codec}: {} B", encoder.memory());
        }
    }
}

#[test]
fn what_a_library_holds_without_asking_for_it_counts_as_memory() {
    // At its lowest qualities, brotli allocates nothing besides its state between messages.
    for codec in ["brotli:0/w10", "brotli:1/w18"] {
        let codec = codec.parse().unwrap();
        let encoder = MessageEncoder::new(&codec, None).unwrap();
        let decoder = MessageDecoder::new(&codec, None).unwrap();
        assert!(
            encoder.memory() > ByteCount::new(1000) && decoder.memory() > ByteCount::new(1000),
            "{codec:?}"
        );
    }
}

#[test]
fn a_dictionary_of_either_kind_turns_messages_back_and_helps_the_first_message() {
    let mut rng = rng("dictionary");
    let samples: Vec<Vec<u8>> = (0..500).map(|_| chat(&mut rng, 120)).collect();
    let raw = Dictionary::raw(samples[..300].concat());
    let trained = Dictionary::train(&samples, ByteCount::new(4096)).unwrap();
    // Bytes that libzstd would read as a trained dictionary.
    let misleading = Dictionary::raw([&[0x37, 0xa4, 0x30, 0xec], &samples[..300].concat()[..]].concat());
    let messages = messages();
    let probe = chat(&mut rng, 150);
    for codec in codecs_both_ways() {
        for dictionary in [&raw, &trained, &misleading] {
            assert_turns_back(&codec, Some(dictionary), &messages[..20]);
            let with = MessageEncoder::new(&codec, Some(dictionary))
                .unwrap()
                .compressed_size(&probe);
            let without = MessageEncoder::new(&codec, None).unwrap().compressed_size(&probe);
            if finds_matches(&codec) {
                assert!(
                    with < without,
                    "{codec}: {with} B with a dictionary, {without} B without"
                );
            }
        }
    }
}

/// Whether the codec uses its history at all.
fn finds_matches(codec: &MessageCodec) -> bool {
    match codec {
        MessageCodec::Identity => false,
        MessageCodec::Deflate(settings) | MessageCodec::ZlibRs(settings) => {
            settings.level > 0 && !matches!(settings.strategy, Strategy::HuffmanOnly | Strategy::Rle)
        }
        // At lower qualities, nothing refers beyond its own block.
        MessageCodec::Brotli(settings) => settings.quality >= 2,
        MessageCodec::Zstd(_) | MessageCodec::Lz4(_) => true,
    }
}

#[test]
fn fragments_of_a_message_decode_as_one_and_end_where_they_are_said_to() {
    let mut rng = rng("fragments");
    let messages = [
        chat(&mut rng, 2500),
        Vec::new(),
        chat(&mut rng, 1000),
        chat(&mut rng, 10),
    ];
    for codec in codecs_both_ways() {
        let mut encoder = MessageEncoder::new(&codec, None).unwrap();
        let mut decoder = MessageDecoder::new(&codec, None).unwrap();
        for message in &messages {
            let (mut coded, mut ends, mut decoded) = (Vec::new(), Vec::new(), Vec::new());
            encoder.encode_fragmented(message, ByteCount::new(1000), &mut coded, &mut ends);
            assert!(ends.is_sorted(), "{codec}: {ends:?}");
            assert_eq!(ends.last(), Some(&coded.len()), "{codec}");
            if !matches!(codec, MessageCodec::Lz4(_)) {
                assert_eq!(ends.len(), message.len().div_ceil(1000).max(1), "{codec}");
            }
            decoder.decode(&coded, ByteCount::new(2500), &mut decoded).unwrap();
            assert_eq!(decoded, *message, "{codec}");
        }
    }
}

#[test]
fn messages_of_rfc_7692_section_7_2_3_decode() {
    let decode = |messages: &[&[u8]]| {
        let mut decoder = MessageDecoder::new(&"deflate".parse().unwrap(), None).unwrap();
        let mut out = Vec::new();
        for message in messages {
            decoder.decode(message, ByteCount::new(100), &mut out).unwrap();
        }
        out
    };
    // 7.2.3.1, in one piece; 7.2.3.2, with the window shared; 7.2.3.3, stored; 7.2.3.4, with a final block; 7.2.3.5, in two blocks.
    let one: &[u8] = &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    assert_eq!(decode(&[one, &[0xf2, 0x00, 0x11, 0x00, 0x00]]), b"HelloHello");
    assert_eq!(
        decode(&[&[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]]),
        b"Hello"
    );
    let with_final_block: &[u8] = &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
    assert_eq!(
        decode(&[with_final_block, &[0xf2, 0x00, 0x11, 0x00, 0x00]]),
        b"HelloHello",
        "a final block does not end the history"
    );
    assert_eq!(
        decode(&[&[
            0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00
        ]]),
        b"Hello"
    );
    assert_eq!(decode(&[&[0x00]]), b"");
}

#[test]
fn an_empty_message_is_one_byte_of_deflate_and_none_of_the_others() {
    for codec in codecs_both_ways() {
        let mut encoder = MessageEncoder::new(&codec, None).unwrap();
        let deflate = matches!(codec, MessageCodec::Deflate(_) | MessageCodec::ZlibRs(_));
        assert_eq!(encoder.compressed_size(b""), usize::from(deflate), "{codec}");
    }
}

#[test]
fn a_message_above_the_limit_is_refused_and_nothing_is_put_out() {
    let bomb = vec![0; 1_000_000];
    for codec in codecs_both_ways() {
        let mut coded = Vec::new();
        MessageEncoder::new(&codec, None).unwrap().encode(&bomb, &mut coded);
        let mut decoder = MessageDecoder::new(&codec, None).unwrap();
        let mut out = b"kept".to_vec();
        let limit = ByteCount::new(999_999);
        let length = ByteCount::from(coded.len());
        let refused = decoder.decode(&coded, limit, &mut out);
        assert_eq!(refused, Err(DecodeError::TooLarge { length, limit }), "{codec}");
        assert_eq!(out, b"kept");
        assert!(out.capacity() <= 4_100_000, "{codec} allocated {} B", out.capacity());
        assert_eq!(
            decoder.decode(&coded, limit, &mut out),
            Err(DecodeError::Lost),
            "{codec}"
        );
        decoder.reset();
        decoder.decode(&coded, ByteCount::new(1_000_000), &mut out).unwrap();
    }
}

#[test]
fn a_message_that_is_cut_off_is_told_from_a_whole_one() {
    let message = chat(&mut rng("cut"), 3000);
    for codec in codecs_both_ways() {
        let mut coded = Vec::new();
        MessageEncoder::new(&codec, None).unwrap().encode(&message, &mut coded);
        for length in 0..coded.len() {
            let mut decoder = MessageDecoder::new(&codec, None).unwrap();
            let mut out = Vec::new();
            let result = decoder.decode(&coded[..length], ByteCount::new(3000), &mut out);
            assert!(
                result.is_err() || out != message || length + 1 == coded.len(),
                "{codec} cut to {length}"
            );
            assert!(out.len() <= 3000);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_messages_turn_back(
        messages in proptest::collection::vec(proptest::collection::vec(0_u8..6, 0..400), 1..20),
        history in proptest::collection::vec(0_u8..6, 0..2000),
    ) {
        let dictionary = Dictionary::raw(history);
        for codec in codecs_both_ways() {
            assert_turns_back(&codec, None, &messages);
            assert_turns_back(&codec, Some(&dictionary), &messages);
        }
    }

    #[test]
    fn a_damaged_message_is_an_error_or_stays_within_the_limit(
        seed in any::<u64>(),
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut rng = Seed::new(seed).rng();
        let (before, message) = (chat(&mut rng, 500), chat(&mut rng, 800));
        for codec in codecs_both_ways() {
            let mut encoder = MessageEncoder::new(&codec, None).unwrap();
            let mut decoder = MessageDecoder::new(&codec, None).unwrap();
            let (mut first, mut coded, mut out) = (Vec::new(), Vec::new(), Vec::new());
            encoder.encode(&before, &mut first);
            encoder.encode(&message, &mut coded);
            decoder.decode(&first, ByteCount::new(500), &mut out).unwrap();
            for (index, byte) in &flips {
                let at = index.index(coded.len());
                coded[at] = *byte;
            }
            coded.truncate(cut.index(coded.len() + 1));
            let result = decoder.decode(&coded, ByteCount::new(1000), &mut out);
            prop_assert!(out.len() <= 1500, "{}", codec);
            prop_assert!(result.is_ok() || out == before, "{}", codec);
            // A reset works after any message.
            decoder.reset();
            out.clear();
            decoder.decode(&first, ByteCount::new(500), &mut out).unwrap();
            prop_assert!(out == before, "{}", codec);
        }
    }
}
