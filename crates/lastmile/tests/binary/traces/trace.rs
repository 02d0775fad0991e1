//! Compares two traces of one exchange, from the lines that `lastmile inspect --segments` prints.

use super::agreement::Agreement;
use std::fmt;
use std::time::Duration;

/// The segments up to the server's last one with data, or up to the last one that is compared.
pub(super) struct Trace<'a> {
    /// From the server.
    down: Vec<Segment<'a>>,
    /// From the client, all segments except pure acknowledgements of data in order.
    up: Vec<Segment<'a>>,
    /// From the client, how far each segment acknowledges: when, and to where.
    acknowledged: Vec<(Duration, u64)>,
}

/// The compared parts of a segment.
struct Segment<'a> {
    line: &'a str,
    /// Since the first segment.
    at: Duration,
    is_down: bool,
    /// Its content.
    says: String,
    length: u64,
    acknowledgement: Option<u64>,
    /// Whether it is a pure acknowledgement of data in order.
    is_plain: bool,
}

/// Two traces that agree.
pub(super) struct Compared {
    up: usize,
    down: usize,
    acknowledgements: usize,
    /// The largest difference between the times of two equal segments, and one of them.
    largest: (Duration, String),
}

impl<'a> Trace<'a> {
    /// Reads the lines of one connection, as far as they are compared.
    pub(super) fn read(text: &'a str, agreement: &Agreement) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut all: Vec<Segment<'_>> = lines.map(|line| Segment::read(line, agreement.blocks)).collect();
        let data = all
            .iter()
            .enumerate()
            .filter(|(_, segment)| segment.is_down && segment.length > 0);
        let last = data.map(|(sandbox, _)| sandbox).take(agreement.segments).last();
        all.truncate(last.expect("the server sent data") + 1);
        let (down, up): (Vec<_>, Vec<_>) = all.into_iter().partition(|segment| segment.is_down);
        let acknowledged = up
            .iter()
            .filter_map(|segment| Some((segment.at, segment.acknowledgement?)));
        Self {
            acknowledged: acknowledged.collect(),
            up: up.into_iter().filter(|segment| !segment.is_plain).collect(),
            down,
        }
    }

    /// Compares another trace with this one; returns where they first differ by more than allowed.
    pub(super) fn compared(&self, other: &Self, agreement: &Agreement) -> Result<Compared, String> {
        let largest = same(&self.down, &other.down, agreement)?.max(same(&self.up, &other.up, agreement)?);
        self.keeps_up_with(other, agreement)?;
        other.keeps_up_with(self, agreement)?;
        Ok(Compared {
            up: self.up.len(),
            down: self.down.len(),
            acknowledgements: self.acknowledged.len(),
            largest,
        })
    }

    /// A delayed acknowledgement may wait for any segment in order, but for one more segment at most (RFC 5681 section 4.2: at
    /// least every second is acknowledged): except for that segment, both clients acknowledge the same data, in time.
    fn keeps_up_with(&self, other: &Self, agreement: &Agreement) -> Result<(), String> {
        let ends = self.acknowledged.last().map_or(Duration::ZERO, |(at, _)| *at);
        for (at, until) in &other.acknowledged {
            let by = *at + agreement.time;
            let has = |(when, far): &(Duration, u64)| *when <= by && far + FULL_SEGMENT >= *until;
            // A trace lacks the acknowledgements after its end.
            if by < ends && !self.acknowledged.iter().any(has) {
                return Err(format!(
                    "{until} is acknowledged at {at:?}; the other is behind by more than a segment"
                ));
            }
        }
        Ok(())
    }
}

/// Payload of a full segment, with timestamps.
const FULL_SEGMENT: u64 = 1448;

/// Checks that segments are the same, in order and in time; returns the largest difference of times.
fn same(ours: &[Segment<'_>], theirs: &[Segment<'_>], agreement: &Agreement) -> Result<(Duration, String), String> {
    let mut largest = (Duration::ZERO, String::new());
    for (index, (one, other)) in ours.iter().zip(theirs).enumerate() {
        let difference = one.at.abs_diff(other.at);
        if one.says != other.says || difference > agreement.time {
            let (one, other, bound) = (one.line, other.line, agreement.time);
            return Err(format!(
                "pair {index}, {difference:?} apart of {bound:?} at most:\n    {one}\n    {other}"
            ));
        }
        largest = largest.max((difference, one.line.to_owned()));
    }
    let longer = if ours.len() > theirs.len() { ours } else { theirs };
    match longer.get(ours.len().min(theirs.len())) {
        Some(beyond) => Err(format!("one alone has {}", beyond.line)),
        None => Ok(largest),
    }
}

impl<'a> Segment<'a> {
    fn read(line: &'a str, blocks: bool) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [
            _,
            at,
            direction,
            flags,
            sequence,
            length,
            acknowledgement,
            _window,
            ref more @ ..,
        ] = words[..]
        else {
            panic!("no line of a trace: {line}");
        };
        let flags = flags.replace('P', "");
        let compared = more.iter().map(|word| match word.split_once('=') {
            Some((name, _)) if !blocks => name,
            _ => word,
        });
        let compared = compared.collect::<Vec<_>>().join(" ");
        Self {
            line,
            at: Duration::from_secs_f64(at.parse().unwrap()),
            is_down: direction == "down",
            length: length.parse().unwrap(),
            acknowledgement: acknowledgement.parse().ok(),
            is_plain: flags == "A" && length == "0" && more.is_empty(),
            says: format!("{flags} {sequence} {length} {acknowledgement} {compared}"),
        }
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} segments of the server, {} of the client and {} acknowledgements agree, to {:?} ({})",
            self.down, self.up, self.acknowledgements, self.largest.0, self.largest.1
        )
    }
}
