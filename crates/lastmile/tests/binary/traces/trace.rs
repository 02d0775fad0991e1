//! In what do two traces of one exchange differ? Lines that `lastmile inspect --segments` prints, read and held against each other.

use std::fmt;
use std::time::Duration;

/// What passed, up to the last segment with data that the server sent.
pub(super) struct Trace<'a> {
    /// From the client.
    up: Vec<Segment<'a>>,
    /// From the server.
    down: Vec<Segment<'a>>,
}

/// A segment, as far as it is compared.
struct Segment<'a> {
    line: &'a str,
    /// Since the first segment.
    at: Duration,
    /// What it says.
    says: String,
}

/// Two traces that say the same.
pub(super) struct Compared {
    up: usize,
    down: usize,
    /// The largest difference between the times of two segments that say the same.
    pub(super) largest: Duration,
    line: String,
}

impl<'a> Trace<'a> {
    /// Reads the lines of one connection.
    pub(super) fn read(text: &'a str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let all: Vec<(bool, Segment<'_>)> = lines.map(Segment::read).collect();
        let ends = |(is_down, segment): &(bool, Segment<'_>)| *is_down && segment.has_data();
        let end = all.iter().rposition(ends).expect("the server sent data") + 1;
        let (down, up) = all.into_iter().take(end).partition::<Vec<_>, _>(|(is_down, _)| *is_down);
        let segments = |half: Vec<(bool, Segment<'a>)>| half.into_iter().map(|(_, segment)| segment).collect();
        Self {
            up: segments(up),
            down: segments(down),
        }
    }

    /// Holds another trace against this one; says where they first differ.
    pub(super) fn compared(&self, other: &Self) -> Result<Compared, String> {
        let halves = [("up", &self.up, &other.up), ("down", &self.down, &other.down)];
        let mut largest = (Duration::ZERO, "");
        for (name, ours, theirs) in halves {
            for (index, (one, other)) in ours.iter().zip(theirs).enumerate() {
                if one.says != other.says {
                    return Err(format!(
                        "segment {} {name} differs:\n    {}\n    {}",
                        index + 1,
                        one.line,
                        other.line
                    ));
                }
                largest = largest.max((one.at.abs_diff(other.at), one.line));
            }
            if ours.len() != theirs.len() {
                return Err(format!("{} segments {name}, and {}", ours.len(), theirs.len()));
            }
        }
        Ok(Compared {
            up: self.up.len(),
            down: self.down.len(),
            largest: largest.0,
            line: largest.1.to_owned(),
        })
    }
}

impl<'a> Segment<'a> {
    /// Reads a line; whether the server sent it.
    fn read(line: &'a str) -> (bool, Self) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, at, direction, flags, sequence, length, acknowledgement, _window, ..] = words[..] else {
            panic!("no line of a trace: {line}");
        };
        let flags = flags.replace('P', "");
        let rest = words[8..].join(" ");
        let segment = Self {
            line,
            at: Duration::from_secs_f64(at.parse().unwrap()),
            says: format!("{flags} {sequence} {length} {acknowledgement} {rest}"),
        };
        (direction == "down", segment)
    }

    fn has_data(&self) -> bool {
        self.says.split(' ').nth(2) != Some("0")
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} segments up, {} down; times differ by {:?} at most ({})",
            self.up, self.down, self.largest, self.line
        )
    }
}
