//! A model of the GZIPFilter report's faulty size meter.

use lastmile_units::ByteCount;

/// The size that the report's meter prints for a stream of `true_size`: half of it, rounded up.
///
/// The loop in its appendix A reads a byte to learn whether the stream has ended, discards that byte, reads another, and counts only
/// the second one. So it counts one of every two bytes. In a stream of odd length, the last byte is the one discarded, and the end
/// mark (-1, cast to a byte) is counted in its place. Hence rounding up.
///
/// Doubling a printed size gives the true size, except for one byte of parity. With true sizes, N(n) = 538 + n g holds exactly for the
/// cases with 1, 10 and 100 objects; with the printed sizes no such rule holds. A ratio of two sizes is hardly affected.
///
/// ```
/// use lastmile_workload::faulty_meter;
/// use lastmile_units::ByteCount;
/// assert_eq!(faulty_meter(ByteCount::new(55_538)), ByteCount::new(27_769));
/// assert_eq!(faulty_meter(ByteCount::new(3)), ByteCount::new(2));
/// ```
pub const fn faulty_meter(true_size: ByteCount) -> ByteCount {
    ByteCount::new(true_size.get().div_ceil(2))
}
