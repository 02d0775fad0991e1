//! Doubts about a tuning as a whole.

use super::candidate::Candidate;
use super::context_memory::CompressorCount;
use super::direction_report::DirectionReport;
use super::message_range::MessageRange;
use super::recording::Recording;
use super::select::SAME_SIZE;
use super::timing::CONTEXT_MEMORY_MAX;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Doubt, DoubtKind};

/// The kinds of doubts that a tuning raises, besides those of the world in which messages are delivered.
pub const DOUBTS: &[DoubtKind] = &[
    DoubtKind::OneConnection,
    DoubtKind::FewMessages,
    DoubtKind::Sampled,
    DoubtKind::WideInterval,
    DoubtKind::BeginningOnly,
    DoubtKind::MeanMemory,
    DoubtKind::BusyMachine,
    DoubtKind::FewContexts,
    DoubtKind::NoTimes,
    DoubtKind::FastClient,
];

/// Fewer messages or bytes than these say little about other messages: our own choices; fewer bytes do not fill a window of 15 bits.
const FEW_MESSAGES: usize = 100;
const FEW_BYTES: u64 = 1 << 15;

/// A thread that is kept waiting for more than this share of the time does not have its core to itself: our own choice.
const BUSY: f64 = 0.05;

pub(super) fn doubts(recording: &Recording, reports: &[DirectionReport<'_>]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = reports.iter().flat_map(of_direction).collect();
    let connections = reports[0].options.server.connections.get();
    if recording.connections() == 1 && connections > 1 {
        doubts.push(Doubt::new(
            DoubtKind::OneConnection,
            format!("only one connection was recorded; the {connections} connections are assumed to be like it"),
        ));
    }
    doubts
}

fn of_direction(report: &DirectionReport<'_>) -> Vec<Doubt> {
    let (name, messages) = (report.name(), report.direction.stream.messages);
    let mut doubts = Vec::new();
    if messages.len() < FEW_MESSAGES || messages.total().get() < FEW_BYTES {
        let text = format!(
            "{name}: only {} {} ({}): a longer recording would compress better than these figures say",
            messages.len(),
            if messages.len() == 1 { "message" } else { "messages" },
            quantity(messages.total().as_f64(), "B")
        );
        doubts.push(Doubt::new(DoubtKind::FewMessages, text));
    }
    let estimated = report
        .direction
        .points
        .iter()
        .filter(|point| point.ratio_ci95.is_some())
        .count();
    if estimated > 0 {
        let text = format!(
            "{name}: {estimated} of {} points are estimated from a sample of the messages; their intervals show the uncertainty",
            report.direction.points.len()
        );
        doubts.push(Doubt::new(DoubtKind::Sampled, text));
    }
    let uncertainty = report.chosen().uncertainty();
    if uncertainty > SAME_SIZE {
        let text = format!(
            "{name}: the ratio of the setting to use has a relative uncertainty of ±{}, more than the {} by which settings are told apart: \
             another may be as good; compressing all messages (--sample exact) would decide",
            percent(uncertainty),
            percent(SAME_SIZE)
        );
        doubts.push(Doubt::new(DoubtKind::WideInterval, text));
    }
    let all = MessageRange::all(messages);
    let parts = report.direction.results.iter().map(|tried| &tried.trial.part);
    if report.options.beyond && parts.clone().next().is_some() && parts.clone().all(|part| *part != all) {
        let text = format!(
            "{name}: codecs beyond the grid were tried only on the beginning of the messages; the choice among them assumes that the rest \
             is alike"
        );
        doubts.push(Doubt::new(DoubtKind::BeginningOnly, text));
    }
    let gives_back = |candidate: &&Candidate| matches!(candidate.compressors, CompressorCount::Fraction(_));
    if [report.chosen(), report.chosen_any_codec()].iter().any(gives_back) {
        let text = format!(
            "{name}: the memory of contexts that are freed while idle is a mean over the recorded time; more is used while more connections \
             than usual are busy"
        );
        doubts.push(Doubt::new(DoubtKind::MeanMemory, text));
    }
    let waiting = report.direction.interference.kept_waiting;
    if waiting > BUSY {
        let text = format!(
            "{name}: while CPU time was measured, the machine ran other work for {} of the time, which disturbs its caches, too",
            percent(waiting)
        );
        doubts.push(Doubt::new(DoubtKind::BusyMachine, text));
    }
    let connections = report.options.server.connections.get();
    let contexts = report
        .candidates
        .iter()
        .filter(|candidate| candidate.contexts.takeover)
        .map(|candidate| candidate.timed.contexts)
        .min();
    if let Some(fewest) = contexts.filter(|fewest| *fewest < connections) {
        let text = format!(
            "{name}: CPU time was measured with contexts of at most {} in total (as few as {fewest} contexts) instead of one for each of the \
             {connections} connections",
            quantity(CONTEXT_MEMORY_MAX.as_f64(), "B")
        );
        doubts.push(Doubt::new(DoubtKind::FewContexts, text));
    }
    doubts
}
