//! How much memory do so many connections take? What their contexts' allocators were asked for, times as many as there must be.
//!
//! With context takeover each connection keeps a context to compress with and one to decompress what comes in, for as long as it is
//! open. Without, nothing has to be kept between messages (RFC 7692 section 7.1.1), so that each core needs one of either, whatever
//! the number of connections. Both directions are taken to have the same setting. An application's own buffers, the kernel's, and what an
//! allocator loses between blocks come on top.
//!
//! Two things a sender may do make its contexts fewer, and leave those of its receivers as many as they are: to give back a context that
//! is idle, and to compress once what goes to many.

use lastmile_payload::message_codec::{Deflate, MessageCodec, MessageDecoder, MessageEncoder};
use lastmile_units::{Bytes, Probability};
use std::num::{NonZeroU16, NonZeroU64};

/// What one connection's contexts take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Contexts {
    /// Whether they have to be kept between messages.
    pub(super) takeover: bool,
    /// To compress what is sent.
    pub(super) compressing: Bytes,
    /// To decompress what is received.
    pub(super) decompressing: Bytes,
}

/// How many of the contexts to compress with are there at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Compressors {
    /// As many as there are to decompress with.
    All,
    /// That share of them, on average over many connections: the others have been given back.
    Share(Probability),
    /// One, for whatever goes to many connections.
    One,
}

/// What holds connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// How many connections it has open at once.
    pub connections: NonZeroU64,
    /// How many of them it computes for at once.
    pub cores: NonZeroU16,
}

impl Contexts {
    /// Both directions of a connection.
    pub(super) fn pair(self) -> Bytes {
        self.compressing + self.decompressing
    }

    /// How many pairs there must be.
    pub(super) fn pairs(self, holder: Holder) -> u64 {
        let connections = holder.connections.get();
        if self.takeover {
            connections
        } else {
            connections.min(u64::from(holder.cores.get()))
        }
    }

    /// What all of them take.
    pub(super) fn total(self, holder: Holder, compressors: Compressors) -> Bytes {
        let pairs = self.pairs(holder);
        let all = self.compressing.get().saturating_mul(pairs);
        let compressing = match compressors {
            Compressors::All => all,
            // Rounded up: less than an octet of a mean.
            Compressors::Share(share) => (all as f64 * share.get()).ceil() as u64,
            Compressors::One => self.compressing.get(),
        };
        Bytes::new(compressing.saturating_add(self.decompressing.get().saturating_mul(pairs)))
    }
}

/// What a context takes that decompresses messages of this setting: zlib makes its window with the first octet that it decompresses, and
/// nothing afterwards.
pub(super) fn decompressing(setting: Deflate) -> Bytes {
    let codec = MessageCodec::Deflate(setting);
    let known = "a setting of the grid can be had";
    let mut coded = Vec::new();
    MessageEncoder::new(&codec, None).expect(known).encode(b"a", &mut coded);
    let mut decoder = MessageDecoder::new(&codec, None).expect(known);
    decoder
        .decode(&coded, Bytes::new(1), &mut Vec::new())
        .expect("what was coded can be decoded");
    decoder.memory()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_payload::message_codec::WindowBits;

    #[test]
    fn with_takeover_every_connection_pays_for_both_directions_and_without_every_core_does() {
        let holder = Holder {
            connections: NonZeroU64::new(50_000).unwrap(),
            cores: NonZeroU16::new(4).unwrap(),
        };
        let kept = Contexts {
            takeover: true,
            compressing: Bytes::new(268_112),
            decompressing: Bytes::new(39_912),
        };
        let all = Compressors::All;
        assert_eq!(kept.total(holder, all), Bytes::new(50_000 * 308_024));
        let shared = Contexts {
            takeover: false,
            ..kept
        };
        assert_eq!(shared.total(holder, all), Bytes::new(4 * 308_024));
        let alone = Holder {
            connections: NonZeroU64::MIN,
            ..holder
        };
        assert_eq!(shared.total(alone, all), kept.total(alone, all));
        let share = Compressors::Share(Probability::new(0.05).unwrap());
        assert_eq!(
            kept.total(holder, share),
            Bytes::new(2_500 * 268_112 + 50_000 * 39_912),
            "a receiver does not know that it could forget"
        );
        assert_eq!(shared.total(holder, Compressors::One), Bytes::new(268_112 + 4 * 39_912));
    }

    #[test]
    fn a_decompressor_takes_its_window_and_its_state_whatever_else_is_set() {
        let deflate = |bits| Deflate {
            window_bits: WindowBits::new(bits).unwrap(),
            ..Deflate::default()
        };
        let state = decompressing(deflate(15)) - Bytes::new(1 << 15);
        for bits in 8..=15_u8 {
            assert_eq!(decompressing(deflate(bits)), state + Bytes::new(1 << bits.max(9)));
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
