//! The printed figures of "Performance Test Report for GZIPFilter", Bo Li and Maohai Huang, SPIRE-NAO-NOT-002467, June 2005.

/// A case of the report: table 1 for the times, appendix G for the sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Response stream sizes as printed by the report's meter, in bytes, without and with the filter.
    pub(super) plain_bytes: u64,
    pub(super) gzip_bytes: u64,
    /// Mean extracting times in seconds, without and with the filter.
    pub(super) plain_time: f64,
    pub(super) gzip_time: f64,
}

/// Cases A to H.
pub(super) const CASES: [Case; 8] = [
    case("A", [337_745, 24_676], [56.704, 9.143]),
    case("B", [27_769, 513], [10.779, 1.854]),
    case("C", [40_708, 813], [6.596, 1.420]),
    case("D", [48_240, 1_315], [7.371, 1.218]),
    case("E", [50_126, 2_589], [9.232, 1.645]),
    case("F", [544, 337], [0.537, 0.535]),
    case("G", [3_019, 367], [1.530, 1.049]),
    case("H", [19_874, 3_260], [6.660, 4.136]),
];

const fn case(name: &'static str, bytes: [u64; 2], times: [f64; 2]) -> Case {
    Case {
        name,
        plain_bytes: bytes[0],
        gzip_bytes: bytes[1],
        plain_time: times[0],
        gzip_time: times[1],
    }
}

/// Case I (table 2): the link, and mean extracting times in seconds without and with the filter; the last of them is cut off in
/// the source, which leaves "57x" ms.
pub(super) const BANDWIDTHS: [(&str, f64, Option<f64>); 5] = [
    ("published/dialup-56k", 9.530, Some(5.475)),
    ("published/adsl-512k", 6.660, Some(4.136)),
    ("published/broadband-10m", 5.135, Some(3.589)),
    ("published/intranet-100m", 0.473, Some(0.479)),
    ("published/local-host", 0.583, None),
];
