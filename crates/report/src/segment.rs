//! What is published of one TCP segment by `lastmile inspect --segments`? A record a segment, and the same as a line of text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A TCP segment that passed. Numbers of a direction count from its SYN, which is 0, so that its first octet of payload is 1; where
/// the capture begins later, the first octet that is known of is 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    /// `lastmile/segment/1`.
    #[schemars(extend("const" = Segment::SCHEMA))]
    pub schema: String,
    /// Of which connection, from 1, in the order of their first segments.
    pub connection: u64,
    /// Who sent the SYN; where none was captured, who sent the first segment.
    pub client: String,
    /// The other.
    pub server: String,
    /// When it passed, since the first segment of the capture.
    pub time_s: f64,
    /// `up` from the client, `down` from the server.
    pub direction: String,
    /// F(IN), S(YN), R(ST), P(SH), A(CK), U(RG), E(CE), C(WR), those that are set, in this order.
    pub flags: String,
    /// The number of its first octet.
    pub sequence: i64,
    /// Octets of payload on the wire.
    pub length_bytes: u64,
    /// The number of the octet that is expected next of the other side; null without ACK.
    pub acknowledgement: Option<i64>,
    /// How many octets may be sent from there; null where the handshake, which says the unit, was not captured.
    pub window_bytes: Option<u64>,
    /// What was received beyond the acknowledgement: the first octet of each block, and the one after its last.
    pub selective_acknowledgements: Vec<[i64; 2]>,
    /// Whether it holds an octet that passed before, SYN and FIN counting as one.
    pub resent: bool,
    /// What the writer of the capture remarks on it: `dropped: full queue`.
    pub comments: Vec<String>,
}

impl Segment {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/segment/1";

    /// The columns of a segment as text.
    pub const COLUMNS: &str = "connection time_s direction flags sequence length acknowledgement window [sack=from-until,...] [resent] [; comment]";
}

/// One line, as [`Segment::COLUMNS`] has it; `-` where there is no such number. The addresses are left out.
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
            // A comment is anybody's text: what could end the line, or move a terminal's cursor, is shown as an escape.
            write!(f, " ; {}", comment.escape_debug())?;
        }
        Ok(())
    }
}

/// What a segment looks like.
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
