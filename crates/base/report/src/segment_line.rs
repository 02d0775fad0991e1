//! The record of one TCP segment, as `lastmile inspect --segments` prints it: as an object, and as a line of text.

#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A TCP segment that passed. Numbers of a direction count from its SYN, which is 0, so that its first byte of payload is 1; where
/// the capture begins later, the first byte that was captured or acknowledged is 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Segment {
    /// `lastmile/segment/1`.
    #[cfg_attr(feature = "testing", schemars(extend("const" = Segment::SCHEMA)))]
    pub schema: String,
    /// The number of its connection, from 1, in the order of their first segments.
    pub connection: u64,
    /// The sender of the SYN, or of the first segment where no SYN was captured.
    pub client: String,
    /// The other.
    pub server: String,
    /// When it passed, since the first segment of the capture.
    pub time_s: f64,
    /// `up` from the client, `down` from the server.
    pub direction: String,
    /// The flags that are set, in this order: F(IN), S(YN), R(ST), P(SH), A(CK), U(RG), E(CE), C(WR).
    pub flags: String,
    /// The number of its first byte.
    pub sequence: i64,
    /// Bytes of payload on the wire.
    pub length_bytes: u64,
    /// The number of the byte that is expected next from the other side; null without ACK.
    pub acknowledgement: Option<i64>,
    /// How many bytes may be sent from there; null where the handshake, which gives the scale, was not captured.
    pub window_bytes: Option<u64>,
    /// What was received beyond the acknowledgement: the first byte of each block, and the one after its last.
    pub selective_acknowledgements: Vec<[i64; 2]>,
    /// Whether it holds a byte that passed before, SYN and FIN counting as one byte each.
    pub resent: bool,
    /// The capture writer's comment on it: `dropped: full queue`.
    pub comments: Vec<String>,
}

impl Segment {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/segment/1";

    /// The columns of a segment as text.
    pub const COLUMNS: &str = "connection time_s direction flags sequence length acknowledgement window [sack=from-until,...] [resent] [; comment]";
}

/// One line, in the order of [`Segment::COLUMNS`]; `-` where there is no such number. The addresses are left out.
impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |number: Option<i64>| number.map_or("-".to_owned(), |number| number.to_string());
        write!(
            f,
            "{} {:.9} {:4} {} {} {} {} {}",
            self.connection,
            self.time_s,
            self.direction,
            if self.flags.is_empty() { "-" } else { &self.flags },
            self.sequence,
            self.length_bytes,
            number(self.acknowledgement),
            number(self.window_bytes.map(|window| window as i64)),
        )?;
        for (index, [from, until]) in self.selective_acknowledgements.iter().enumerate() {
            write!(f, "{}{from}-{until}", if index == 0 { " sack=" } else { "," })?;
        }
        if self.resent {
            f.write_str(" resent")?;
        }
        for comment in &self.comments {
            // A comment is foreign text: characters that could end the line, or move a terminal's cursor, are escaped.
            write!(f, " ; {}", comment.escape_debug())?;
        }
        Ok(())
    }
}

/// A sample of the record.
#[cfg(test)]
pub(crate) fn sample() -> Segment {
    Segment {
        schema: Segment::SCHEMA.to_owned(),
        connection: 1,
        client: "10.0.0.1:40000".to_owned(),
        server: "10.0.0.2:80".to_owned(),
        time_s: 0.25,
        direction: "up".to_owned(),
        flags: "A".to_owned(),
        sequence: 101,
        length_bytes: 0,
        acknowledgement: Some(1449),
        window_bytes: Some(64_128),
        selective_acknowledgements: vec![[2897, 4345], [7241, 8689]],
        resent: false,
        comments: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_one_line_of_text_whatever_is_remarked_on_it() {
        let line = "1 0.250000000 up   A 101 0 1449 64128 sack=2897-4345,7241-8689";
        assert_eq!(sample().to_string(), line);
        let dropped = Segment {
            direction: "down".to_owned(),
            flags: String::new(),
            acknowledgement: None,
            window_bytes: None,
            selective_acknowledgements: Vec::new(),
            resent: true,
            comments: vec!["dropped:\n\u{1b}[2J".to_owned()],
            ..sample()
        };
        assert_eq!(
            dropped.to_string(),
            "1 0.250000000 down - 101 0 - - resent ; dropped:\\n\\u{1b}[2J"
        );
    }
}
