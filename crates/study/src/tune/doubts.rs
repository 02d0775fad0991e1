//! What makes the whole suspect?

use super::answer::Told;
use super::candidate::Candidate;
use super::choose::SAME_SIZE;
use super::memory::Compressors;
use super::part::Part;
use super::recording::Recording;
use super::timing::CONTEXTS_MOST;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::Doubt;

/// Fewer messages, or fewer octets, than that say little of others: our own choices; contexts have not filled a window of 15 bits.
const FEW_MESSAGES: usize = 100;
const FEW_OCTETS: u64 = 1 << 15;

/// A thread that is kept from computing for more of the time than this shares its core: our own choice.
const BUSY: f64 = 0.05;

pub(super) fn doubts(recording: &Recording, told: &[Told<'_>]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = told.iter().flat_map(of_direction).collect();
    let connections = told[0].options.holder.connections.get();
    if recording.connections() == 1 && connections > 1 {
        doubts.push(doubt(
            "one-connection",
            format!("one connection was recorded, and {connections} are taken to be like it"),
        ));
    }
    doubts
}

fn of_direction(told: &Told<'_>) -> Vec<Doubt> {
    let (name, messages) = (told.name(), told.direction.stream.messages);
    let mut doubts = Vec::new();
    if messages.len() < FEW_MESSAGES || messages.total().get() < FEW_OCTETS {
        let text = format!(
            "{name}: {} messages of {} together are few: less would be left of more",
            messages.len(),
            quantity(messages.total().as_f64(), "B")
        );
        doubts.push(doubt("few-messages", text));
    }
    let estimated = told
        .direction
        .points
        .iter()
        .filter(|point| point.ratio_ci95.is_some())
        .count();
    if estimated > 0 {
        let text = format!(
            "{name}: {estimated} of {} points are estimated from a sample of the messages; their intervals say how well",
            told.direction.points.len()
        );
        doubts.push(doubt("sampled", text));
    }
    let uncertainty = told.chosen().uncertainty();
    if uncertainty > SAME_SIZE {
        let text = format!(
            "{name}: what the setting leaves is known to {} of it either way, which is more than the {} that settings are told apart by; another \
             may be as good, and all of the messages would tell",
            percent(uncertainty),
            percent(SAME_SIZE)
        );
        doubts.push(doubt("wide-interval", text));
    }
    let all = Part::all(messages);
    let parts = told.direction.tried.iter().map(|tried| &tried.trial.part);
    if told.options.beyond && parts.clone().next().is_some() && parts.clone().all(|part| *part != all) {
        let text = format!(
            "{name}: codecs beyond the grid were tried on the beginning of the messages alone, and the choice among them takes the rest to \
             be alike"
        );
        doubts.push(doubt("beginning-only", text));
    }
    let gives_back = |candidate: &&Candidate| matches!(candidate.compressors, Compressors::Share(_));
    if [told.chosen(), told.chosen_of_all()].iter().any(gives_back) {
        let text = format!(
            "{name}: the memory of contexts that are given back is a mean over the time that was recorded, and more is taken while more \
             connections than usual are busy"
        );
        doubts.push(doubt("mean-memory", text));
    }
    let waiting = told.direction.meanwhile.kept_waiting;
    if waiting > BUSY {
        let text = format!(
            "{name}: while computing was timed the machine did something else for {} of the time, and its caches with it",
            percent(waiting)
        );
        doubts.push(doubt("busy-machine", text));
    }
    let connections = told.options.holder.connections.get();
    let contexts = told
        .candidates
        .iter()
        .filter(|candidate| candidate.contexts.takeover)
        .map(|candidate| candidate.timed.contexts)
        .min();
    if let Some(fewest) = contexts.filter(|fewest| *fewest < connections) {
        let text = format!(
            "{name}: computing was timed with contexts of {} in turns, {fewest} at least, for the {connections} connections asked for",
            quantity(CONTEXTS_MOST.as_f64(), "B")
        );
        doubts.push(doubt("few-contexts", text));
    }
    doubts
}

fn doubt(kind: &str, text: String) -> Doubt {
    Doubt {
        kind: kind.to_owned(),
        text,
    }
}
