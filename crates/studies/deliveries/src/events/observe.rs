//! The figures of a repeat, from what its applications and clients were.

use super::application::SubmissionFigures;
use super::client::Arrival;
use lastmile_study::figure;
use lastmile_study::observation::Observation;
use lastmile_units::Instant;
use std::ops::Range;
use std::time::Duration;

/// What a repeat of the applications was.
pub(super) struct Activity {
    pub(super) submitted: Vec<SubmissionFigures>,
    pub(super) control: Vec<SubmissionFigures>,
    /// When the last event was stored.
    pub(super) stored_at: Instant,
    pub(super) stored: u64,
    /// The events that are stated as lost.
    pub(super) stated: u64,
}

/// Adds the figures of applications; of several, their means.
pub(super) fn observe_applications(activity: &Activity, observation: &mut Observation) {
    let mean = |all: &[SubmissionFigures], of: fn(&SubmissionFigures) -> Duration| {
        let seconds: f64 = all.iter().map(|submitted| of(submitted).as_secs_f64()).sum();
        seconds / all.len() as f64
    };
    let length = |submitted: &SubmissionFigures| submitted.span.end.saturating_since(submitted.span.start);
    let (submitted, control) = (&activity.submitted[..], &activity.control[..]);
    let (create, send) = (mean(submitted, |one| one.create), mean(submitted, |one| one.send));
    let total = mean(submitted, length);
    observation.sample(figure::CREATE_TIME, create);
    observation.sample(figure::SEND_TIME, send);
    observation.sample(figure::APPLICATION_TIME, total);
    let mut cost = create + send;
    if !control.is_empty() {
        let without = mean(control, length);
        cost = total - without;
        observation.sample(figure::CONTROL_TIME, without);
        if without > 0.0 {
            observation.sample(figure::SLOWDOWN_RATIO, cost / without);
        }
    }
    observation.sample(figure::SUBMISSION_TIME, cost);
    let spans: Vec<Range<Instant>> = submitted.iter().map(|one| one.span.clone()).collect();
    for figure in [figure::SEND_TIME, figure::SUBMISSION_TIME, figure::APPLICATION_TIME] {
        observation.times.insert(figure.name.to_owned(), spans.clone());
    }
    let begun = spans.iter().map(|span| span.start).min().unwrap_or(Instant::START);
    let seconds = activity.stored_at.saturating_since(begun).as_secs_f64();
    if seconds > 0.0 {
        observation.sample(figure::EVENT_RATE, activity.stored as f64 / seconds);
    }
}

/// Adds the figures of subscribers.
pub(super) fn observe_arrivals(received: &[Arrival], observation: &mut Observation) {
    let clients = received.iter().map(|arrival| arrival.client + 1).max().unwrap_or(0);
    let mut spans: Vec<Option<Range<Instant>>> = vec![None; clients];
    let mut timing = vec![Duration::ZERO; clients];
    for arrival in received.iter().filter(|arrival| !arrival.is_loss) {
        observation.sample_time(figure::DELIVERY_TIME, arrival.created..arrival.at);
        let span = spans[arrival.client].get_or_insert(arrival.at..arrival.at);
        span.end = span.end.max(arrival.at);
        timing[arrival.client] += arrival.timing;
    }
    for (span, timing) in spans.into_iter().zip(timing) {
        if let Some(span) = span {
            observation.sample_time(figure::SUBSCRIPTION_TIME, span);
            observation.sample(figure::TIMING_TIME, timing.as_secs_f64());
        }
    }
}
