//! What is shown in the terminal while a run goes on: the requests due and done in the last second, their response times, and errors.

use indicatif::ProgressBar;
use lastmile_load::live::{LiveFigures, RecentFigures};
use lastmile_load::rate::RequestRate;
use lastmile_load::search::LimitCheck;
use lastmile_load::slo::Limit;
use lastmile_report::number::quantity;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often the view changes: our own choice.
const INTERVAL: Duration = Duration::from_secs(1);

/// A view of one run. It ends with this value.
pub(super) struct LiveView {
    /// The view ends when this is gone.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LiveView {
    /// Shows `figures` behind `label`, each second. Nothing where `bar` is not shown.
    pub(super) fn start(bar: &ProgressBar, label: String, figures: Arc<LiveFigures>) -> Self {
        bar.set_message(label.clone());
        if bar.is_hidden() {
            return Self {
                stop: None,
                thread: None,
            };
        }
        let (stop, stopped) = channel();
        let bar = bar.clone();
        let thread = thread::Builder::new()
            .name("live view".to_owned())
            .spawn(move || show(&bar, &label, &figures, &stopped));
        Self {
            stop: Some(stop),
            // Without a thread there is no view, and that is all.
            thread: thread.ok(),
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

/// The rates that a search has found within the limit, and to break it.
#[derive(Debug, Default)]
pub(super) struct Bracket {
    within: Option<RequestRate>,
    broken: Option<RequestRate>,
}

impl Bracket {
    /// Adds a run.
    pub(super) fn add(&mut self, rate: RequestRate, is_within: bool) {
        *(if is_within { &mut self.within } else { &mut self.broken }) = Some(rate);
    }

    /// The last of both, in words.
    pub(super) fn text(&self) -> String {
        let part = |what: &str, rate: Option<RequestRate>| {
            rate.map_or_else(String::new, |rate| format!(", {what} {:.1}/s", rate.per_second()))
        };
        format!("{}{}", part("kept at", self.within), part("broken at", self.broken))
    }
}

/// What a search is expected to take, in words.
pub(super) fn expectation(limit: &Limit, runs: u32, run: Duration) -> String {
    let seconds = (run * runs).as_secs_f64();
    let time = if seconds < 100.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    };
    format!("searching for the highest rate within {limit}: some {runs} runs, about {time}")
}

/// What a run of a search showed, in words.
pub(super) fn verdict(rate: RequestRate, judged: &LimitCheck) -> String {
    let rate = quantity(rate.per_second(), "1/s");
    match judged {
        Ok(()) => format!("{rate}: within the limit"),
        Err(cause) => format!("{rate}: broken: {cause}"),
    }
}

fn show(bar: &ProgressBar, label: &str, figures: &LiveFigures, stopped: &Receiver<()>) {
    while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        bar.set_message(format!("{label}   {}", text(&figures.take(), INTERVAL)));
    }
}

/// The figures of `time`, in words.
fn text(recent: &RecentFigures, time: Duration) -> String {
    let per_second = |count: u64| count as f64 / time.as_secs_f64();
    let millis = |probability: f64| {
        let found = recent.response.quantile(probability);
        found.map_or_else(|| "-".to_owned(), |time| format!("{:.1}", time.as_secs_f64() * 1e3))
    };
    format!(
        "due {:.0}/s, done {:.0}/s, p50 {} ms, p99 {} ms, {} failed",
        per_second(recent.due),
        per_second(recent.response.count()),
        millis(0.5),
        millis(0.99),
        recent.failed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_shows_where_the_limit_was_kept_and_broken() {
        let rate = |per_second| RequestRate::new(per_second).unwrap();
        let mut bracket = Bracket::default();
        bracket.add(rate(10.0), true);
        assert_eq!(bracket.text(), ", kept at 10.0/s");
        bracket.add(rate(20.0), false);
        bracket.add(rate(15.0), true);
        assert_eq!(bracket.text(), ", kept at 15.0/s, broken at 20.0/s");
    }

    #[test]
    fn a_search_says_what_it_takes_and_what_each_run_showed() {
        let limit: Limit = "p99<50ms".parse().unwrap();
        let said = expectation(&limit, 40, Duration::from_secs(11));
        assert!(said.ends_with("within p99<50ms: some 40 runs, about 7 min"), "{said}");
        assert!(expectation(&limit, 40, Duration::from_secs(2)).ends_with("about 80 s"));
        let rate = RequestRate::new(20.0).unwrap();
        assert_eq!(verdict(rate, &Ok(())), "20 /s: within the limit");
        assert_eq!(verdict(rate, &Err("p99<50ms".to_owned())), "20 /s: broken: p99<50ms");
    }

    #[test]
    fn the_last_second_is_told_in_words() {
        let mut recent = RecentFigures {
            due: 100,
            failed: 2,
            ..RecentFigures::default()
        };
        assert_eq!(
            text(&recent, INTERVAL),
            "due 100/s, done 0/s, p50 - ms, p99 - ms, 2 failed"
        );
        for millis in 1..=98 {
            recent.response.record(Duration::from_millis(millis));
        }
        let shown = text(&recent, INTERVAL);
        assert!(
            shown.starts_with("due 100/s, done 98/s, p50 49.") && shown.contains("p99 98."),
            "{shown}"
        );
    }
}
