//! The settings of message codecs that are measured, and the extrapolation from them to other settings.
//!
//! Deflate has too many settings to measure them all (1,440 without the strategies). Those that a study published and those that differ
//! from the default in one setting are measured; the cost of others is extrapolated from them.

use lastmile_codec::message::{Deflate, MessageCodec, Strategy, WindowBits};

/// The settings that are measured, without duplicates.
pub(super) fn measured_settings() -> Vec<MessageCodec> {
    let usual = Deflate::default();
    let mut settings = vec![usual];
    // zlib treats 8 window bits as 9.
    settings.extend(
        WindowBits::all()
            .skip(1)
            .map(|window_bits| Deflate { window_bits, ..usual }),
    );
    settings.extend((0..=9).map(|level| Deflate { level, ..usual }));
    settings.extend((1..=9).map(|mem_level| Deflate { mem_level, ..usual }));
    settings.extend(Strategy::ALL.map(|strategy| Deflate { strategy, ..usual }));
    settings.push(Deflate {
        takeover: false,
        ..usual
    });
    // The two compromises between memory, ratio and time that were published in 2013 (hybi list, 15 October), and the first of them
    // without context takeover.
    let window_bits = WindowBits::new(11).expect("11 is from 8 to 15");
    let small = |mem_level| Deflate {
        window_bits,
        mem_level,
        ..usual
    };
    settings.extend([small(4), small(1)]);
    settings.push(Deflate {
        takeover: false,
        ..small(4)
    });
    let mut codecs: Vec<MessageCodec> = settings.into_iter().map(MessageCodec::Deflate).collect();
    let other = |text: &str| -> MessageCodec { text.parse().expect("each names a codec: a test reads them") };
    codecs.extend(OTHERS.map(other));
    let mut once: Vec<MessageCodec> = Vec::new();
    for codec in codecs {
        if !once.contains(&codec) {
            once.push(codec);
        }
    }
    once
}

/// Other codecs that are considered for short messages, for speed and for size.
const OTHERS: [&str; 8] = [
    "zlib-rs:1",
    "zlib-rs:6",
    "zstd:1",
    "zstd:3",
    "brotli:1",
    "brotli:5",
    "lz4:1",
    "lz4hc:4",
];

/// The setting that `codec` really runs with: deflate treats 8 window bits as 9.
pub(super) fn effective_setting(mut codec: MessageCodec) -> MessageCodec {
    if let MessageCodec::Deflate(deflate) | MessageCodec::ZlibRs(deflate) = &mut codec {
        deflate.window_bits = deflate.window_bits.runs_as();
    }
    codec
}

/// Deflate's default, and for each parameter in which `codec` differs from it, the default with that parameter changed. The cost of
/// `codec` is about the default's, multiplied by the ratio of each of those to the default. That parameters act independently is our
/// own assumption, and not exact. None for codecs other than stock zlib's.
pub(super) fn extrapolation(codec: MessageCodec) -> Option<(MessageCodec, Vec<MessageCodec>)> {
    let MessageCodec::Deflate(wanted) = effective_setting(codec) else {
        return None;
    };
    let usual = Deflate::default();
    let Deflate {
        takeover,
        window_bits,
        level,
        mem_level,
        strategy,
    } = wanted;
    let alone = [
        Deflate { takeover, ..usual },
        Deflate { window_bits, ..usual },
        Deflate { level, ..usual },
        Deflate { mem_level, ..usual },
        Deflate { strategy, ..usual },
    ];
    let alone = alone.into_iter().filter(|settings| *settings != usual);
    Some((MessageCodec::Deflate(usual), alone.map(MessageCodec::Deflate).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_deflate_is_put_together_from_measured_ones() {
        let sampled = measured_settings();
        let windows = WindowBits::all();
        for window_bits in windows {
            for (level, mem_level, takeover) in [(0, 1, true), (9, 9, false), (6, 8, true), (1, 4, false)] {
                for strategy in Strategy::ALL {
                    let wanted = Deflate {
                        takeover,
                        window_bits,
                        level,
                        mem_level,
                        strategy,
                    };
                    let (usual, alone) = extrapolation(MessageCodec::Deflate(wanted)).unwrap();
                    assert!(sampled.contains(&usual));
                    assert!(alone.iter().all(|codec| sampled.contains(codec)), "{alone:?}");
                }
            }
        }
    }

    #[test]
    fn none_is_measured_twice_and_none_that_runs_as_another() {
        let sampled = measured_settings();
        // The default, six other windows, nine levels, eight mem levels, four strategies, no takeover, three compromises.
        assert_eq!(sampled.len(), 1 + 6 + 9 + 8 + 4 + 1 + 3 + OTHERS.len());
        assert!(sampled.iter().all(|codec| effective_setting(*codec) == *codec));
    }
}
