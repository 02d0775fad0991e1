//! Measures how far a path's rate and delay are from those requested.

use super::path::Path;
use super::train::{self, Arrival};
use anyhow::{Context as _, Result};
use lastmile_units::{BitRate, ByteCount, Seed};
use std::time::Duration;

/// IP bytes of a packet that fills a frame.
const FULL: u64 = 1500;
/// IP bytes of a packet that measures a delay.
const SMALL: usize = 100;
/// The mean gap between those packets, and their number: ten of them are beyond the 99th percentile.
const GAP: Duration = Duration::from_millis(1);
const COUNT: usize = 1000;
/// How much faster than its rate a path is offered packets, so that it always has some to send.
const PRESSURE: f64 = 1.25;

/// How far the rate at which `frames` full packets arrive is from `rate`, in per cent. A `header` that the path charges for each
/// packet counts; the `burst` that passes at once in the beginning does not.
///
/// # Errors
/// When packets are lost.
pub(crate) fn rate_error(
    path: &Path,
    rate: BitRate,
    frames: usize,
    header: ByteCount,
    burst: ByteCount,
) -> Result<f64> {
    let gap = (ByteCount::new(FULL) / rate).div_f64(PRESSURE);
    let size = ByteCount::new(FULL) + header;
    let skipped = (burst.get() / size.get()) as usize;
    let due: Vec<_> = (0..(frames + skipped) as u32).map(|index| gap * index).collect();
    let arrivals = train::send(path, FULL as usize, &due)?;
    let counted = &arrivals[skipped..];
    let (first, last) = (
        counted.first().context("a packet")?,
        counted.last().context("a packet")?,
    );
    let bits = size.get() as f64 * 8.0 * (counted.len() - 1) as f64;
    let measured = bits / (last.arrived - first.arrived).as_secs_f64();
    Ok((measured / rate.bits_per_second() as f64 - 1.0).abs() * 100.0)
}

/// How late small packets arrive over a path with this `delay`, from program to program, in microseconds: at each of `quantiles`.
///
/// # Errors
/// When packets are lost.
pub(crate) fn lateness<const N: usize>(path: &Path, delay: Duration, quantiles: [f64; N]) -> Result<[f64; N]> {
    let due = at_random(COUNT);
    let arrivals = train::send(path, SMALL, &due)?;
    let late = |arrival: &Arrival| (arrival.read - arrival.sent).as_secs_f64() - delay.as_secs_f64();
    let mut late: Vec<_> = arrivals.iter().map(late).collect();
    late.sort_by(f64::total_cmp);
    Ok(quantiles.map(|quantile| late[(quantile * (late.len() - 1) as f64) as usize] * 1e6))
}

/// `count` times of a Poisson process, with a mean gap of [`GAP`]: with even gaps, and a delay that is a multiple of them, every packet
/// would arrive while another is sent, and the programs at both ends would delay each other (RFC 2330, section 11.1.1).
fn at_random(count: usize) -> Vec<Duration> {
    let seed = Seed::new(1).derive("gaps");
    let uniform = |index| seed.derive_index(index).get() as f64 / 2f64.powi(64);
    let gap = |index| GAP.mul_f64(-(1.0 - uniform(index)).ln());
    let since_start = |at: &mut Duration, gap: Duration| {
        *at += gap;
        Some(*at)
    };
    (0..count as u64).map(gap).scan(Duration::ZERO, since_start).collect()
}
