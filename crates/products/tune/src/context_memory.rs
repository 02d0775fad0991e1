//! The memory of all connections' contexts: what one context requests from its allocator, times the number of contexts needed.
//!
//! With context takeover each connection keeps one context to compress and one to decompress, for as long as it is open. Without takeover,
//! nothing is kept between messages (RFC 7692 section 7.1.1), so each core needs one of either, whatever the number of connections. Both
//! directions are assumed to have the same setting. The buffers of the application and the kernel, and the allocator's overhead between
//! blocks, come on top.
//!
//! A sender can reduce its own contexts, but not those of its receivers, in two ways: by freeing an idle context, and by compressing a message
//! to many once.

use lastmile_codec::message::{Deflate, MessageCodec, MessageDecoder, MessageEncoder};
use lastmile_units::{ByteCount, Probability};
use std::num::{NonZeroU16, NonZeroU64};

/// The memory of one connection's contexts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct ContextMemory {
    /// Whether they have to be kept between messages.
    pub(super) takeover: bool,
    /// To compress what is sent.
    pub(super) compressing: ByteCount,
    /// To decompress what is received.
    pub(super) decompressing: ByteCount,
}

/// How many compressing contexts exist at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CompressorCount {
    /// As many as decompressing contexts.
    PerConnection,
    /// This share of them, on average over many connections: the others have been freed.
    Fraction(Probability),
    /// One, shared by all connections that a message goes to.
    Shared,
}

/// The server that holds the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerProfile {
    /// How many connections it has open at once.
    pub connections: NonZeroU64,
    /// How many cores compress or decompress at once.
    pub cores: NonZeroU16,
}

impl ContextMemory {
    /// Both contexts of a connection.
    pub(super) fn pair(self) -> ByteCount {
        self.compressing + self.decompressing
    }

    /// How many pairs of contexts are needed.
    pub(super) fn pairs(self, holder: ServerProfile) -> u64 {
        let connections = holder.connections.get();
        if self.takeover {
            connections
        } else {
            connections.min(u64::from(holder.cores.get()))
        }
    }

    /// The memory of all of them.
    pub(super) fn total(self, holder: ServerProfile, compressors: CompressorCount) -> ByteCount {
        let pairs = self.pairs(holder);
        let all = self.compressing.get().saturating_mul(pairs);
        let compressing = match compressors {
            CompressorCount::PerConnection => all,
            // Rounded up, by less than a byte.
            CompressorCount::Fraction(share) => (all as f64 * share.get()).ceil() as u64,
            CompressorCount::Shared => self.compressing.get(),
        };
        ByteCount::new(compressing.saturating_add(self.decompressing.get().saturating_mul(pairs)))
    }
}

/// The memory of a context that decompresses messages of this setting. zlib allocates its window with the first byte that it decompresses,
/// and nothing afterwards.
pub(super) fn decompressing(setting: Deflate) -> ByteCount {
    let codec = MessageCodec::Deflate(setting);
    let known = "zlib supports every setting of the grid";
    let mut coded = Vec::new();
    MessageEncoder::new(&codec, None).expect(known).encode(b"a", &mut coded);
    let mut decoder = MessageDecoder::new(&codec, None).expect(known);
    decoder
        .decode(&coded, ByteCount::new(1), &mut Vec::new())
        .expect("what was compressed can be decompressed");
    decoder.memory()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_codec::message::WindowBits;

    #[test]
    fn with_takeover_every_connection_pays_for_both_directions_and_without_every_core_does() {
        let holder = ServerProfile {
            connections: NonZeroU64::new(50_000).unwrap(),
            cores: NonZeroU16::new(4).unwrap(),
        };
        let kept = ContextMemory {
            takeover: true,
            compressing: ByteCount::new(268_112),
            decompressing: ByteCount::new(39_912),
        };
        let all = CompressorCount::PerConnection;
        assert_eq!(kept.total(holder, all), ByteCount::new(50_000 * 308_024));
        let shared = ContextMemory {
            takeover: false,
            ..kept
        };
        assert_eq!(shared.total(holder, all), ByteCount::new(4 * 308_024));
        let alone = ServerProfile {
            connections: NonZeroU64::MIN,
            ..holder
        };
        assert_eq!(shared.total(alone, all), kept.total(alone, all));
        let share = CompressorCount::Fraction(Probability::new(0.05).unwrap());
        assert_eq!(
            kept.total(holder, share),
            ByteCount::new(2_500 * 268_112 + 50_000 * 39_912),
            "a receiver does not know that it could free its context"
        );
        assert_eq!(
            shared.total(holder, CompressorCount::Shared),
            ByteCount::new(268_112 + 4 * 39_912)
        );
    }

    #[test]
    fn a_decompressor_takes_its_window_and_its_state_whatever_else_is_set() {
        let deflate = |bits| Deflate {
            window_bits: WindowBits::new(bits).unwrap(),
            ..Deflate::default()
        };
        let state = decompressing(deflate(15)) - ByteCount::new(1 << 15);
        for bits in 8..=15_u8 {
            assert_eq!(decompressing(deflate(bits)), state + ByteCount::new(1 << bits.max(9)));
        }
        let other = Deflate {
            takeover: false,
            level: 1,
            mem_level: 1,
            ..deflate(15)
        };
        assert_eq!(decompressing(other), decompressing(deflate(15)));
    }
}
