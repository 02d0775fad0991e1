//! Doubts: what makes figures suspect. A doubt stands in the record beside the figures, and in every table and page made from it.

#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What makes a figure suspect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Doubt {
    /// A short name: `few-runs`, `failed-runs`, `slow-first-run`, `missing-figure`, `disturbed`.
    pub kind: DoubtKind,
    /// What was seen, with the figure.
    pub text: String,
}

impl Doubt {
    /// A doubt of this kind.
    pub fn new(kind: DoubtKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }
}

/// Declares each kind with its name, and the list of them all.
macro_rules! kinds {
    ($($(#[$about:meta])+ $kind:ident = $name:literal;)+) => {
        /// The kind of a doubt.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
        pub enum DoubtKind {
            $($(#[$about])+ #[serde(rename = $name)] $kind,)+
        }

        impl DoubtKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// As written in records: `few-runs`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }
    };
}

kinds! {
    /// In a run in real time, packets were late or lost outside the link model, or programs waited for a CPU. The figures are invalid.
    Disturbed = "disturbed";
    /// Some runs failed and gave no figures.
    FailedRuns = "failed-runs";
    /// Something varied between the runs, and there are too few of them to say how much.
    FewRuns = "few-runs";
    /// The first run took much longer than the others: caches or warm-up.
    SlowFirstRun = "slow-first-run";
    /// The study asks for a figure that is not measured in this cell.
    MissingFigure = "missing-figure";
    /// Observing a run took CPU time while figures were measured in real time.
    Observed = "observed";
    /// The cost table has no samples of an operation, so its CPU time is left out.
    NoCost = "no-cost";
    /// An operation was not measured with its settings: its CPU cost is composed from those of other operations.
    EstimatedCost = "estimated-cost";
    /// Messages of the client were not sent: the server only sends messages.
    OneWay = "one-way";

    /// The runs compared are of different studies.
    OtherStudy = "other-study";
    /// The runs compared ran in different worlds.
    OtherWorld = "other-world";
    /// The runs compared used different cost tables.
    OtherCostTable = "other-cost-table";
    /// The cost tables of the runs compared were measured on different machines.
    OtherMachine = "other-machine";
    /// The runs compared had different seeds.
    OtherSeed = "other-seed";
    /// A rule was checked on figures that vary and have no interval.
    NoInterval = "no-interval";

    /// The traffic does not contain some bodies: the responses are replayed at their recorded size under every setting.
    MissingBodies = "missing-bodies";
    /// The traffic does not contain most of the bytes that could be compressed: the answer is about the rest only.
    MostBodiesMissing = "most-bodies-missing";
    /// The interval of a saving includes 0: it may save nothing.
    UncertainSaving = "uncertain-saving";
    /// Some responses are not replayed: neither body nor size is known.
    MissingResponses = "missing-responses";
    /// The browser itself answered some requests, from a cache or by a service worker, that a first visit makes.
    CachedResponses = "cached-responses";
    /// The traffic does not give the size of some headers: a typical size is used.
    UnknownHeads = "unknown-heads";
    /// The traffic does not say at which level responses were compressed on request.
    UnknownLevel = "unknown-level";
    /// Some hosts were recorded over a version of HTTP that is not replayed: another stands for it.
    OtherProtocol = "other-protocol";
    /// There are too few responses to represent their kind.
    FewResponses = "few-responses";
    /// Slow settings compressed only the beginnings of some bodies, and were neither replayed nor recommended.
    EstimatedSizes = "estimated-sizes";
    /// A real browser requested other resources than were recorded, and so than the simulation loads.
    OtherRequests = "other-requests";

    /// There are few messages: a longer recording would compress better.
    FewMessages = "few-messages";
    /// Only one connection was recorded; the others are assumed to be like it.
    OneConnection = "one-connection";
    /// Some points are estimated from a sample of the messages.
    Sampled = "sampled";
    /// The ratio of the setting to use is uncertain by more than the difference by which settings are told apart; or the highest rate of a load is
    /// uncertain.
    WideInterval = "wide-interval";
    /// Only the beginning of the messages was compressed, or delivered.
    BeginningOnly = "beginning-only";
    /// The memory of contexts that are freed while idle is a mean over the recorded time.
    MeanMemory = "mean-memory";
    /// The machine ran other work while CPU time was measured.
    BusyMachine = "busy-machine";
    /// CPU time was measured with fewer contexts than there are connections.
    FewContexts = "few-contexts";
    /// The transcript does not say when messages were sent.
    NoTimes = "no-times";
    /// The client runs at the speed of this machine, although a slower one was asked for.
    FastClient = "fast-client";

    /// The load generator was late by its own fault, and its lateness shows in the response times.
    LateSender = "late-sender";
    /// The load generator could not hold a rate.
    RateNotHeld = "rate-not-held";
    /// A run was stopped before its end.
    Interrupted = "interrupted";
    /// The requests in flight, their rate and their response times contradict each other (Little's law).
    InconsistentFigures = "inconsistent-figures";
    /// Few requests were completed while requests were sent: their rate and goodput are uncertain.
    FewCompletions = "few-completions";

    /// No packet was sent over the link.
    NoPackets = "no-packets";

    /// The capture file is cut off.
    CutOff = "cut-off";
    /// Some packets were captured only in part.
    Snapped = "snapped";
    /// Some packets have an earlier time than a packet before them in the file.
    OutOfTime = "out-of-time";
    /// Some packets have an unsupported link layer.
    UnknownLink = "unknown-link";
    /// Some packets are IP fragments, which are not reassembled.
    Fragments = "fragments";
    /// Some packets have truncated or invalid headers.
    BrokenHeaders = "broken-headers";
    /// More HTTP transactions were counted than are listed.
    TransactionsLeftOut = "transactions-left-out";
    /// A connection began before the capture.
    BeforeCapture = "before-capture";
    /// Acknowledgements cover bytes that were not captured: packets are missing.
    MissingPackets = "missing-packets";
    /// HTTP could not be followed to the end of a connection.
    HttpLost = "http-lost";
}

impl fmt::Display for DoubtKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_written_and_read_by_its_name() {
        for kind in DoubtKind::ALL {
            let written = serde_json::to_string(kind).expect("a kind is JSON");
            assert_eq!(written, format!("{:?}", kind.name()));
            assert_eq!(serde_json::from_str::<DoubtKind>(&written).expect("and back"), *kind);
        }
    }
}
