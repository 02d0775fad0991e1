//! Claims about codecs: decoding restores the input, sizes are exact, and foreign input is never trusted.

use super::*;
use lastmile_units::ByteCount;
use proptest::prelude::*;

const NO_LIMIT: ByteCount = ByteCount::new(u64::MAX);

/// Text like that of servers, without exact repetition.
fn telemetry(length: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(length + 64);
    let mut state = 1_u64;
    while text.len() < length {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let reading = state >> 45;
        text.extend_from_slice(format!("{{\"sensor\": {}, \"reading\": {reading}}}\n", reading % 13).as_bytes());
    }
    text.truncate(length);
    text
}

fn codec(text: &str) -> CodecSpec {
    text.parse().unwrap()
}

fn one_of_each() -> impl Iterator<Item = CodecSpec> {
    Coding::ALL.into_iter().map(CodecSpec::with_default_level)
}

#[test]
fn all_lists_every_level_of_every_codec_in_order() {
    let all: Vec<CodecSpec> = CodecSpec::all().collect();
    assert_eq!(all.len(), 1 + 9 + 9 + 12 + 22);
    assert!(all.is_sorted());
    for spec in all {
        assert_eq!(codec(&spec.to_string()), spec);
    }
}

#[test]
fn a_codec_without_a_level_has_its_codings_default() {
    let defaults = ["identity", "gzip", "deflate", "br", "zstd"].map(|text| codec(text).to_string());
    assert_eq!(defaults, ["identity", "gzip:6", "deflate:6", "br:5", "zstd:3"]);
    assert_eq!(codec("x-gzip:9").to_string(), "gzip:9");
}

#[test]
fn a_misspelt_codec_is_answered_with_the_nearest() {
    let error = |text: &str| text.parse::<CodecSpec>().unwrap_err().to_string();
    assert_eq!(
        error("gzpi:6"),
        "\"gzpi:6\" is not a codec: no content coding is called \"gzpi\"; did you mean \"gzip\"? \
         (one of identity, gzip, deflate, br, zstd)"
    );
    assert!(error("brotli:5").contains("did you mean \"br\"?"));
    assert!(!error("bzip3000").contains("did you mean"));
}

#[test]
fn a_level_that_a_coding_lacks_is_refused_with_its_range() {
    let error = |text: &str| text.parse::<CodecSpec>().unwrap_err().to_string();
    assert_eq!(
        error("gzip:10"),
        "\"gzip:10\" is not a codec: gzip has the levels 1 to 9; write it like \"gzip:6\""
    );
    assert!(error("gzip:0").contains("1 to 9"));
    assert!(error("zstd:-3").contains("1 to 22"));
    assert!(error("br:").contains("0 to 11"));
    assert!(error("identity:0").contains("identity has no levels"));
}

#[test]
fn serde_reads_and_writes_the_text_form() {
    assert_eq!(serde_json::to_string(&codec("br")).unwrap(), "\"br:5\"");
    assert_eq!(
        serde_json::from_str::<CodecSpec>("\"zstd:19\"").unwrap(),
        codec("zstd:19")
    );
}

#[test]
fn every_codec_and_level_gives_back_what_it_was_given_and_makes_text_smaller() {
    let text = telemetry(50_000);
    for spec in CodecSpec::all() {
        let coded = encode(spec, &text);
        assert_eq!(decode(spec.coding(), &coded, NO_LIMIT).unwrap(), text, "{spec}");
        assert!(
            spec.is_identity() || coded.len() < text.len() / 2,
            "{spec}: {} B",
            coded.len()
        );
    }
}

#[test]
fn an_empty_body_is_a_whole_stream_at_every_level() {
    for spec in CodecSpec::all() {
        let coded = encode(spec, b"");
        assert_eq!(decode(spec.coding(), &coded, ByteCount::ZERO).unwrap(), b"", "{spec}");
        assert_eq!(
            encoded_size(spec, [b"".as_slice(), b""]),
            ByteCount::from(coded.len()),
            "{spec}"
        );
    }
}

#[test]
fn a_size_is_that_of_the_bytes_at_every_level_however_the_input_is_cut() {
    let text = telemetry(400_000);
    for spec in CodecSpec::all() {
        let whole = encode(spec, &text);
        assert_eq!(
            encoded_size(spec, text.chunks(1_000)),
            ByteCount::from(whole.len()),
            "{spec}"
        );
        assert_eq!(
            encoded_size(spec, [text.as_slice()]),
            ByteCount::from(whole.len()),
            "{spec}"
        );
        let mut in_pieces = Vec::new();
        let mut encoder = Encoder::new(spec);
        for piece in text.chunks(70_001) {
            encoder.write(piece, &mut in_pieces);
        }
        encoder.finish(&mut in_pieces);
        assert!(
            in_pieces == whole,
            "{spec}: the same input cut otherwise gives other bytes"
        );
    }
}

#[test]
fn a_flush_makes_everything_written_so_far_readable() {
    let text = telemetry(3_000);
    for spec in CodecSpec::all() {
        let (mut encoder, mut decoder) = (Encoder::new(spec), Decoder::new(spec.coding(), NO_LIMIT));
        let mut read = Vec::new();
        for (index, piece) in text.chunks(700).enumerate() {
            let mut coded = Vec::new();
            encoder.write(piece, &mut coded);
            encoder.flush(&mut coded);
            decoder.write(&coded, &mut read).unwrap();
            assert_eq!(
                read,
                text[..text.len().min(700 * (index + 1))],
                "{spec} after flush {index}"
            );
        }
        let mut coded = Vec::new();
        encoder.finish(&mut coded);
        decoder.write(&coded, &mut read).unwrap();
        decoder.finish().unwrap();
        assert_eq!(read, text, "{spec}");
    }
}

#[test]
fn a_flush_with_nothing_new_says_nothing() {
    for spec in one_of_each() {
        let mut output = Vec::new();
        let mut encoder = Encoder::new(spec);
        encoder.flush(&mut output);
        assert_eq!(output.len(), 0, "{spec} before the first write");
        encoder.write(b"once", &mut output);
        encoder.flush(&mut output);
        let flushed = output.len();
        encoder.flush(&mut output);
        assert_eq!(output.len(), flushed, "{spec} flushed twice");
    }
}

#[test]
fn gzip_headers_hold_no_time_and_no_name() {
    let coded = encode(codec("gzip:6"), b"now");
    // RFC 1952 section 2.3: ID1, ID2, CM = deflate, FLG = none, MTIME = 0.
    assert_eq!(coded[..8], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
}

#[test]
fn deflate_is_the_zlib_format() {
    let coded = encode(codec("deflate:6"), b"zlib");
    // RFC 1950 section 2.2: CM = 8, CINFO = 7 (a window of 32 KiB), and the first two bytes are a multiple of 31.
    assert_eq!(coded[0], 0x78);
    assert_eq!(u16::from_be_bytes([coded[0], coded[1]]) % 31, 0);
}

#[test]
fn zstd_windows_stay_within_8_mib_at_every_level() {
    for level in 1..=22 {
        let coded = encode(CodecSpec::new(Coding::Zstd, level).unwrap(), b"window");
        // RFC 8878 section 3.1.1: magic number, frame header descriptor (bit 5: single segment), window descriptor.
        assert_eq!(coded[..4], [0x28, 0xb5, 0x2f, 0xfd]);
        assert_eq!(
            coded[4] & 0x20,
            0,
            "level {level} has a window descriptor, since its length was not known"
        );
        let (exponent, mantissa) = (coded[5] >> 3, u64::from(coded[5] & 7));
        let window = (1_u64 << (10 + exponent)) / 8 * (8 + mantissa);
        assert!(window <= 8 << 20, "level {level}: {window} B");
        assert!(
            level < 20 || window == 8 << 20,
            "level {level} uses what it may: {window} B"
        );
    }
}

#[test]
fn a_zstd_window_above_8_mib_is_refused() {
    // An empty frame with a window descriptor of exponent 14 (2^24 B), and one last, empty raw block.
    let coded = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3, 0x01, 0x00, 0x00];
    assert_eq!(
        decode(Coding::Zstd, &coded, NO_LIMIT).unwrap_err(),
        DecodeError::WindowTooLarge { coding: Coding::Zstd }
    );
    let mut at_the_limit = coded;
    at_the_limit[5] = 13 << 3;
    assert_eq!(decode(Coding::Zstd, &at_the_limit, NO_LIMIT).unwrap(), b"");
}

#[test]
fn brotli_uses_a_window_of_22_bits_and_refuses_large_windows() {
    // RFC 7932 section 9.1: WBITS 22 is the bits 1011 (low bits first: 0b1011), as the first four of the stream.
    assert_eq!(encode(codec("br:5"), &telemetry(10_000))[0] & 0x0f, 0b1011);
    // The large-window extension starts with the pattern that RFC 7932 reserves: 0b0010001.
    assert!(matches!(
        decode(Coding::Brotli, &[0x11, 0x1e, 0x03], NO_LIMIT),
        Err(DecodeError::Corrupt {
            coding: Coding::Brotli,
            ..
        })
    ));
}

#[test]
fn a_body_cut_off_anywhere_is_truncated() {
    let text = telemetry(2_000);
    for spec in one_of_each().filter(|spec| !spec.is_identity()) {
        let coded = encode(spec, &text);
        for length in 0..coded.len() {
            let expected = DecodeError::Truncated {
                coding: spec.coding(),
                length: ByteCount::from(length),
            };
            assert_eq!(
                decode(spec.coding(), &coded[..length], NO_LIMIT),
                Err(expected),
                "{spec}"
            );
        }
    }
}

#[test]
fn what_follows_the_end_is_an_error_that_says_where() {
    for spec in one_of_each().filter(|spec| !spec.is_identity()) {
        let mut coded = encode(spec, b"the end");
        let offset = coded.len() as u64;
        coded.extend_from_slice(b"<!-- padding -->");
        let expected = DecodeError::TrailingGarbage {
            coding: spec.coding(),
            offset,
        };
        assert_eq!(decode(spec.coding(), &coded, NO_LIMIT), Err(expected.clone()), "{spec}");

        let mut decoder = Decoder::new(spec.coding(), NO_LIMIT);
        let mut output = Vec::new();
        let outcome = coded.iter().try_for_each(|byte| decoder.write(&[*byte], &mut output));
        assert!(
            matches!(outcome, Err(DecodeError::TrailingGarbage { offset: at, .. }) if at >= offset && at < offset + 4),
            "{spec}, one byte at a time: {outcome:?}"
        );
        assert_eq!(decoder.finish(), outcome, "{spec}: a failed decoder stays failed");
    }
}

#[test]
fn a_checksum_that_does_not_hold_is_corruption_and_gives_no_output() {
    for coding in [Coding::Gzip, Coding::Deflate] {
        let mut coded = encode(CodecSpec::with_default_level(coding), &telemetry(2_000));
        let checksum = coded.len() - if coding == Coding::Gzip { 8 } else { 4 };
        coded[checksum] ^= 1;
        let mut output = b"before".to_vec();
        let outcome = Decoder::new(coding, NO_LIMIT).write(&coded, &mut output);
        assert!(
            matches!(outcome, Err(DecodeError::Corrupt { .. })),
            "{coding}: {outcome:?}"
        );
        assert_eq!(output, b"before");
    }
}

#[test]
fn a_body_in_another_format_is_corrupt() {
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
        let outcome = decode(coding, b"<!doctype html><title>not compressed</title>", NO_LIMIT);
        assert!(
            matches!(outcome, Err(DecodeError::Corrupt { .. })),
            "{coding}: {outcome:?}"
        );
    }
}

#[test]
fn a_bomb_stops_at_the_limit() {
    let zeros = vec![0_u8; 1 << 20];
    for spec in one_of_each() {
        let mut bomb = Vec::new();
        let mut encoder = Encoder::new(spec);
        (0..16).for_each(|_| encoder.write(&zeros, &mut bomb));
        encoder.finish(&mut bomb);
        let limit = ByteCount::new(100_000);
        let mut output = Vec::new();
        let outcome = Decoder::new(spec.coding(), limit).write(&bomb, &mut output);
        assert_eq!(
            outcome,
            Err(DecodeError::TooLarge {
                coding: spec.coding(),
                limit
            })
        );
        assert!(output.capacity() < 400_000, "{spec} held {} B", output.capacity());
        assert_eq!(
            decode(spec.coding(), &bomb, ByteCount::new(16 << 20)).unwrap().len(),
            16 << 20,
            "{spec} at its limit"
        );
    }
}

#[test]
fn gzip_members_and_zstd_frames_may_follow_each_other() {
    for spec in ["gzip:6", "zstd:3"].map(codec) {
        let mut coded = encode(spec, b"one, ");
        coded.extend(encode(spec, b""));
        coded.extend(encode(spec, b"two"));
        assert_eq!(decode(spec.coding(), &coded, NO_LIMIT).unwrap(), b"one, two", "{spec}");
        coded.pop();
        assert!(
            matches!(
                decode(spec.coding(), &coded, NO_LIMIT),
                Err(DecodeError::Truncated { .. })
            ),
            "{spec}"
        );
    }
}

#[test]
fn the_versions_of_back_ends_are_those_in_the_lock_file() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../Cargo.lock")).unwrap();
    for (package, version) in [("zlib-rs", deflate::VERSION), ("brotli", brotli::VERSION)] {
        assert!(
            lock.contains(&format!("name = \"{package}\"\nversion = \"{version}\"\n")),
            "{package} {version}"
        );
    }
    let libzstd = back_end(Coding::Zstd).unwrap().version;
    let (_, after) = lock.split_once("name = \"zstd-sys\"\nversion = \"").unwrap();
    assert!(after.split_once('"').unwrap().0.ends_with(&format!("+zstd.{libzstd}")));
    assert_eq!(back_end(Coding::Gzip).unwrap().to_string(), "zlib-rs 0.6.8");
    assert_eq!(back_end(Coding::Identity), None);
}

fn any_spec() -> impl Strategy<Value = CodecSpec> {
    // The slowest levels clear large tables for every stream; the tests above run them once.
    let all: Vec<CodecSpec> = CodecSpec::all()
        .filter(|spec| spec.coding() != Coding::Zstd || spec.level() < 16)
        .collect();
    proptest::sample::select(all)
}

/// Contents from all zeros to noise: bytes below a bound, some repeated.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    (1..=255_u8, 1..8_usize).prop_flat_map(|(bound, repeats)| {
        proptest::collection::vec(0..=bound, 0..20_000).prop_map(move |part| part.repeat(repeats))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_contents_survive_any_cutting_and_flushing(
        spec in any_spec(), contents in contents(), writes in 1..5_000_usize, reads in 1..5_000_usize, flush_every in 1..20_usize,
    ) {
        let mut coded = Vec::new();
        let mut encoder = Encoder::new(spec);
        for (index, piece) in contents.chunks(writes).enumerate() {
            encoder.write(piece, &mut coded);
            if index % flush_every == flush_every - 1 {
                encoder.flush(&mut coded);
            }
        }
        encoder.finish(&mut coded);
        let mut decoder = Decoder::new(spec.coding(), ByteCount::from(contents.len()));
        let mut read = Vec::new();
        for piece in coded.chunks(reads) {
            decoder.write(piece, &mut read).unwrap();
        }
        decoder.finish().unwrap();
        prop_assert!(read == contents);
    }

    #[test]
    fn sizes_do_not_depend_on_cutting(spec in any_spec(), contents in contents(), piece in 1..5_000_usize) {
        let whole = encode(spec, &contents);
        prop_assert!(encode(spec, &contents) == whole);
        prop_assert_eq!(encoded_size(spec, contents.chunks(piece)), ByteCount::from(whole.len()));
    }

    #[test]
    fn damage_never_panics_and_stays_within_the_limit(
        spec in any_spec(), contents in contents(), damage in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8),
    ) {
        let mut coded = encode(spec, &contents);
        for (at, value) in damage {
            let length = coded.len();
            if length > 0 {
                coded[at % length] = value;
            }
        }
        if let Ok(output) = decode(spec.coding(), &coded, ByteCount::new(1_000_000)) {
            prop_assert!(output.len() <= 1_000_000);
            if matches!(spec.coding(), Coding::Gzip | Coding::Deflate) {
                // Damage to header fields without content (time, system) goes unnoticed; a checksum protects the rest.
                prop_assert!(output == contents);
            }
        }
    }

    #[test]
    fn noise_never_panics(noise in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        for coding in Coding::ALL {
            let _ = decode(coding, &noise, ByteCount::new(1_000_000));
        }
    }
}
