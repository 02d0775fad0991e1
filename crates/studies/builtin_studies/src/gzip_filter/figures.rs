//! Looks up the figures of this study in the record of a run.

pub(super) use crate::record_lookup::{cell, levels_of, mean};

use lastmile_report::record::Run;

/// The two codecs that the study compares.
pub(super) const PLAIN: &str = "identity";
pub(super) const GZIP: &str = "gzip:6";

/// The mean extracting time in such a cell, in seconds.
pub(super) fn time(run: &Run, part: &str, levels: &[(&str, &str)]) -> Option<f64> {
    mean(run, part, levels, "extract_time")
}

/// The part in which case I runs over a link.
pub(super) fn part_of_link(link: &str) -> &'static str {
    match link {
        "published/dialup-56k" => "dial-up",
        "published/intranet-100m" => "intranet",
        "published/local-host" => "local-host",
        _ => "bandwidths",
    }
}

/// The extracting times of a case of the `mechanisms` part, which split the filter's saving into that of buffering alone and the rest.
pub(super) struct Split {
    pub(super) per_object: f64,
    pub(super) buffered: f64,
    pub(super) filtered: f64,
}

impl Split {
    pub(super) fn from_run(run: &Run, case: &str, round_trip: &str, nagle: &str) -> Option<Self> {
        let common = [("case", case), ("round_trip", round_trip), ("nagle", nagle)];
        let time = |codec, writes| {
            let levels = [common.as_slice(), &[("codec", codec), ("writes", writes)]].concat();
            time(run, "mechanisms", &levels)
        };
        Some(Self {
            per_object: time(PLAIN, "per-object")?,
            buffered: time(PLAIN, "buffered")?,
            filtered: time(GZIP, "per-object")?,
        })
    }

    /// The share of the filter's saving that buffering alone would give; none where the filter saves nothing.
    pub(super) fn share_of_buffering(&self) -> Option<f64> {
        let saved = self.per_object - self.filtered;
        (saved > 0.0).then(|| (self.per_object - self.buffered) / saved)
    }

    pub(super) fn etdr(&self) -> f64 {
        1.0 - self.filtered / self.per_object
    }
}

/// A setting of the `reproductions` part, and how far its times are from the printed ones.
pub(super) struct Reproduction<'a> {
    pub(super) receive_window: &'a str,
    pub(super) object_time: &'a str,
    /// The geometric standard distance without and with the filter: 1 is equal, 2 a factor of two, up or down.
    pub(super) plain: f64,
    pub(super) gzip: f64,
    pub(super) both: f64,
}

/// Every setting of the `reproductions` part that has all cases, the nearest to the printed times first.
pub(super) fn reproductions(run: &Run) -> Vec<Reproduction<'_>> {
    let part = "reproductions";
    let mut found = Vec::new();
    for receive_window in levels_of(run, part, "receive_window") {
        for object_time in levels_of(run, part, "object_time") {
            let distance = |case: &super::reference_values::Case, codec, printed: f64| {
                let levels = [
                    ("case", case.name),
                    ("codec", codec),
                    ("receive_window", receive_window),
                    ("object_time", object_time),
                ];
                time(run, part, &levels).map(|ours| libm::log(ours / printed))
            };
            let of = |codec, printed: fn(&super::reference_values::Case) -> f64| {
                super::reference_values::CASES
                    .iter()
                    .map(|case| distance(case, codec, printed(case)))
                    .collect::<Option<Vec<_>>>()
            };
            let (Some(plain), Some(gzip)) = (of(PLAIN, |case| case.plain_time), of(GZIP, |case| case.gzip_time)) else {
                continue;
            };
            let both = [plain.as_slice(), &gzip].concat();
            let geometric = |logs: &[f64]| {
                libm::exp(libm::sqrt(
                    logs.iter().map(|log| log * log).sum::<f64>() / logs.len() as f64,
                ))
            };
            let (plain, gzip, both) = (geometric(&plain), geometric(&gzip), geometric(&both));
            found.push(Reproduction {
                receive_window,
                object_time,
                plain,
                gzip,
                both,
            });
        }
    }
    found.sort_by(|a, b| a.both.total_cmp(&b.both));
    found
}
