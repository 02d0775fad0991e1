//! Close codes and reasons, and the payload of close frames (RFC 6455 section 7.4).

use std::fmt;

/// The number in a close frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The purpose of the connection is fulfilled.
    pub const NORMAL: Self = Self(1000);
    /// The endpoint goes away: a server shuts down, a page is left.
    pub const GOING_AWAY: Self = Self(1001);
    /// The other side broke the protocol.
    pub const PROTOCOL_ERROR: Self = Self(1002);
    /// A kind of data that the endpoint cannot accept.
    pub const UNSUPPORTED: Self = Self(1003);
    /// Stands for a close frame without a code. Never sent.
    pub const NONE: Self = Self(1005);
    /// Data that is invalid for its kind: text that is not UTF-8, compressed data that cannot be decompressed.
    pub const INVALID_DATA: Self = Self(1007);
    /// A message breaks the endpoint's rules.
    pub const POLICY: Self = Self(1008);
    /// A message is too large.
    pub const TOO_LARGE: Self = Self(1009);
    /// The endpoint met an unexpected condition of its own.
    pub const INTERNAL: Self = Self(1011);

    /// Whether a close frame may have it: 1000 to 1003, 1007 to 1014 (the last three by their registration with IANA), and 3000 to
    /// 4999 for frameworks and applications (RFC 6455 sections 7.4.1 and 7.4.2).
    pub const fn may_be_sent(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

impl fmt::Display for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.0 {
            1000 => "normal",
            1001 => "going away",
            1002 => "protocol error",
            1003 => "unsupported data",
            1005 => "no code",
            1006 => "no close frame",
            1007 => "invalid data",
            1008 => "policy violation",
            1009 => "message too large",
            1010 => "extension needed",
            1011 => "internal error",
            1012 => "service restart",
            1013 => "try again later",
            1014 => "bad gateway",
            _ => return write!(f, "{}", self.0),
        };
        write!(f, "{} ({words})", self.0)
    }
}

/// The contents of a close frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// The code; [`CloseCode::NONE`] where the frame has none.
    pub code: CloseCode,
    /// The reason in words, for humans; often empty. At most 123 bytes fit in a frame.
    pub reason: String,
}

/// A close frame's payload that breaks RFC 6455 sections 5.5.1 and 7.4.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloseError {
    /// Half a code.
    #[error("a close frame has 1 byte of payload; a close code has two (RFC 6455 section 5.5.1)")]
    HalfCode,
    /// A code that must not be sent.
    #[error("a close frame has the code {}, which must not be sent (RFC 6455 section 7.4)", .0.0)]
    Code(CloseCode),
    /// A reason that is not UTF-8.
    #[error("a close frame's reason is not UTF-8 (RFC 6455 section 5.5.1)")]
    Reason,
}

/// Bytes of a reason that fit in a control frame beside the code (RFC 6455 section 5.5).
const REASON_MAX: usize = 123;

impl Close {
    /// A code with a reason, cut to as many whole characters as fit in a frame.
    pub fn new(code: CloseCode, reason: &str) -> Self {
        let end = (0..=reason.len().min(REASON_MAX))
            .rev()
            .find(|&end| reason.is_char_boundary(end));
        Self {
            code,
            reason: reason[..end.unwrap_or(0)].to_owned(),
        }
    }

    /// Reads a close frame's payload.
    ///
    /// # Errors
    /// When it is not a valid payload of a close frame.
    pub fn read(payload: &[u8]) -> Result<Self, CloseError> {
        let (code, reason) = match payload {
            [] => return Ok(Self::new(CloseCode::NONE, "")),
            [_] => return Err(CloseError::HalfCode),
            [high, low, reason @ ..] => (CloseCode(u16::from_be_bytes([*high, *low])), reason),
        };
        if !code.may_be_sent() {
            return Err(CloseError::Code(code));
        }
        let reason = std::str::from_utf8(reason).map_err(|_| CloseError::Reason)?;
        Ok(Self {
            code,
            reason: reason.to_owned(),
        })
    }

    /// A close frame's payload: empty if the code is [`CloseCode::NONE`].
    pub fn payload(&self) -> Vec<u8> {
        if self.code == CloseCode::NONE {
            return Vec::new();
        }
        let mut payload = self.code.0.to_be_bytes().to_vec();
        payload.extend_from_slice(self.reason.as_bytes());
        payload
    }
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.fmt(f)?;
        if self.reason.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for close in [
            Close::new(CloseCode::NONE, ""),
            Close::new(CloseCode::NORMAL, ""),
            Close::new(CloseCode(4999), "überlastet"),
        ] {
            assert_eq!(Close::read(&close.payload()), Ok(close));
        }
    }

    #[test]
    fn codes_that_nobody_may_send_are_refused() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
            assert_eq!(
                Close::read(&u16::to_be_bytes(code)),
                Err(CloseError::Code(CloseCode(code)))
            );
        }
        assert_eq!(Close::read(&[3]), Err(CloseError::HalfCode));
        assert_eq!(Close::read(&[0x03, 0xe8, 0xff]), Err(CloseError::Reason));
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let close = Close::new(CloseCode::NORMAL, &"ü".repeat(100));
        assert_eq!(close.reason, "ü".repeat(61));
        assert!(close.payload().len() <= 125);
    }
}
