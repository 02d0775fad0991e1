//! An HdrHistogram log, version 1.3: one line per run, with its start, its length, its longest response time and the histogram of all.
//!
//! The format is HdrHistogram's (`HistogramLogWriter`, and version 2 of its encoding), by hand: the library's own writer needs second versions
//! of two libraries that are here already.

use crate::measurement::Measurement;
use crate::record::LoadRun;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use hdrhistogram::Histogram;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Duration;

/// The first four bytes of an encoded histogram, and of a compressed one (version 2, counts of variable length).
const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;

/// The response times of runs, in nanoseconds, as if the runs followed each other. Each has its world and rate as its tag.
///
/// # Errors
/// None: the bytes go to memory.
pub fn hdr_log<'a>(
    runs: impl IntoIterator<Item = (&'a LoadRun, &'a Measurement)>,
    version: &str,
) -> io::Result<String> {
    let mut log = format!(
        "#[response times in ns; lastmile {version}]\n#[Histogram log format version 1.3]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    );
    let mut start = Duration::ZERO;
    for (run, measured) in runs {
        let rate = run.rate.map_or_else(|| "closed".to_owned(), |rate| rate.to_string());
        let histogram = measured.response.histogram();
        // The longest is in milliseconds, as the format's own tools write it.
        let max = histogram.max() as f64 / 1e6;
        let (begin, length) = (start.as_secs_f64(), measured.span.as_secs_f64());
        let text = STANDARD.encode(compress(&encode(histogram))?);
        let _ = writeln!(log, "Tag={}-{rate},{begin:.3},{length:.3},{max:.3},{text}", run.world);
        start += measured.span;
    }
    Ok(log)
}

fn compress(encoded: &[u8]) -> io::Result<Vec<u8>> {
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(encoded)?;
    let deflated = deflate.finish()?;
    let mut bytes = COMPRESSED_COOKIE.to_be_bytes().to_vec();
    bytes.extend((deflated.len() as u32).to_be_bytes());
    bytes.extend(deflated);
    Ok(bytes)
}

/// The head of 40 bytes, and the counts up to the last that is not 0: a run of `n` zeros as `-n`, each number in zigzag LEB128.
fn encode(histogram: &Histogram<u64>) -> Vec<u8> {
    let (mut counts, mut zeros, mut seen) = (Vec::new(), 0_i64, 0);
    for step in histogram.iter_all() {
        if seen == histogram.len() {
            break;
        }
        match step.count_at_value() {
            0 => zeros += 1,
            count => {
                if zeros > 0 {
                    push_number(&mut counts, if zeros == 1 { 0 } else { -zeros });
                    zeros = 0;
                }
                push_number(&mut counts, count as i64);
                seen += count;
            }
        }
    }
    let mut bytes = COOKIE.to_be_bytes().to_vec();
    bytes.extend((counts.len() as u32).to_be_bytes());
    // No values are shifted.
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(u32::from(histogram.sigfig()).to_be_bytes());
    bytes.extend(histogram.low().to_be_bytes());
    bytes.extend(histogram.high().to_be_bytes());
    bytes.extend(1.0_f64.to_be_bytes());
    bytes.extend(counts);
    bytes
}

/// Zigzag LEB128 of at most nine bytes, the last of which has eight bits (`ZigZagEncoding.java`).
fn push_number(bytes: &mut Vec<u8>, number: i64) {
    let mut left = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if left < 0x80 {
            break;
        }
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_format_says() {
        let written = |number| {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            bytes
        };
        assert_eq!(written(0), [0]);
        assert_eq!(written(-1), [1]);
        assert_eq!(written(1), [2]);
        assert_eq!(written(-64), [127]);
        assert_eq!(written(64), [0x80, 1]);
        assert_eq!(written(i64::MIN), [255; 9]);
    }

    #[test]
    fn a_histogram_is_its_head_and_its_counts() {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        for value in [1, 1, 3, 5] {
            histogram.record(value).unwrap();
        }
        let bytes = encode(&histogram);
        assert_eq!(bytes[..8], [0x1c, 0x84, 0x93, 0x13, 0, 0, 0, 6]);
        assert_eq!(bytes[12..16], [0, 0, 0, 3]);
        // Of the values 0 to 5: none, two, none, one, none, one.
        assert_eq!(bytes[40..], [0, 4, 0, 2, 0, 2]);
        histogram.record(10).unwrap();
        assert_eq!(
            encode(&histogram)[40..],
            [0, 4, 0, 2, 0, 2, 7, 2],
            "a run of four zeros"
        );
    }
}
