//! Decides when requests that a page has made are sent, as Chromium does.
//!
//! **In the renderer** (`ResourceLoadScheduler` in resource_load_scheduler.cc): until the document's body has begun, requests below high
//! priority wait while two others are in flight; two of medium priority are let through in any case. So it is over HTTP/2, too: the source
//! has a higher limit for it, which Chromium 156 did not use.
//!
//! **In the network service** (`ResourceScheduler::Client::ShouldStartRequest` in resource_scheduler.cc): at most ten requests below high
//! priority at a time, and none while six requests to its host are in flight. Neither limit is one of a host that is known to speak
//! HTTP/2. Chromium keeps to the first on connections that it takes for 3G or worse; of a link with a round trip of 300 ms it did not.

use crate::dependencies::Priority;
use std::collections::BTreeSet;

/// Requests in flight that hold back others in the renderer (`kTightLimitForRendererSideResourceScheduler`).
const TIGHT_MAX: usize = 2;

/// Requests of medium priority that are let through in any case (`kBoostImagePriorityTightMediumLimit`).
const TIGHT_MEDIUM_MAX: usize = 2;

/// Requests below high priority in flight (`kDefaultMaxNumDelayableRequestsPerClient`).
const DELAYABLE_MAX: usize = 10;

/// Requests to a host in flight from which those below high priority wait (`kMaxNumDelayableRequestsPerHostPerClient`).
const PER_HOST_MAX: usize = 6;

/// What the scheduler must know of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestClass {
    pub(crate) host: usize,
    pub(crate) priority: Priority,
    /// Whether the renderer counts it.
    pub(crate) is_throttled: bool,
}

/// The requests of a page that wait, and those in flight.
#[derive(Debug)]
pub(crate) struct RequestScheduler {
    classes: Vec<RequestClass>,
    /// Whether the document's body has begun.
    is_loose: bool,
    /// Waiting in the renderer, the highest priority first, then in the order of asking.
    in_renderer: BTreeSet<Waiting>,
    /// Waiting in the network service, likewise.
    in_network: BTreeSet<Waiting>,
    /// Past the renderer, and not ended.
    running: BTreeSet<usize>,
    /// Past the network service, and not ended.
    in_flight: BTreeSet<usize>,
    /// The hosts that are known to speak HTTP/2, in which requests have priorities.
    prioritising_hosts: BTreeSet<usize>,
    asked: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    priority: std::cmp::Reverse<Priority>,
    asked: u64,
    request: usize,
}

impl RequestScheduler {
    pub(crate) fn new(classes: Vec<RequestClass>) -> Self {
        Self {
            classes,
            is_loose: false,
            in_renderer: BTreeSet::new(),
            in_network: BTreeSet::new(),
            running: BTreeSet::new(),
            in_flight: BTreeSet::new(),
            prioritising_hosts: BTreeSet::new(),
            asked: 0,
        }
    }

    /// A request is made. It is sent when [`RequestScheduler::startable`] gives it.
    pub(crate) fn ask(&mut self, request: usize) {
        self.asked += 1;
        self.in_renderer.insert(Waiting {
            priority: std::cmp::Reverse(self.classes[request].priority),
            asked: self.asked,
            request,
        });
    }

    /// A request has been answered.
    pub(crate) fn end(&mut self, request: usize) {
        self.running.remove(&request);
        self.in_flight.remove(&request);
    }

    /// A connection to the host has been opened, over which it speaks HTTP/2.
    pub(crate) fn learn_multiplexing(&mut self, host: usize) {
        self.prioritising_hosts.insert(host);
    }

    /// The document's body has begun.
    pub(crate) fn loosen(&mut self) {
        self.is_loose = true;
    }

    /// The requests to send now.
    pub(crate) fn startable(&mut self) -> Vec<usize> {
        // The renderer lets data through that it does not count, and looks at the first of the others alone.
        let free = |waiting: &&Waiting| !self.classes[waiting.request].is_throttled;
        let mut passed: Vec<Waiting> = self.in_renderer.iter().filter(free).copied().collect();
        for waiting in &passed {
            self.in_renderer.remove(waiting);
            self.running.insert(waiting.request);
        }
        while let Some(first) = self.in_renderer.first().copied()
            && self.passes_renderer(first.request)
        {
            self.in_renderer.remove(&first);
            self.running.insert(first.request);
            passed.push(first);
        }
        self.in_network.extend(passed);
        let mut started = Vec::new();
        for waiting in self.in_network.clone() {
            let host = self.classes[waiting.request].host;
            if self.is_delayable(waiting.request) {
                let delayable = self.in_flight.iter().filter(|other| self.is_delayable(**other));
                if delayable.count() >= DELAYABLE_MAX {
                    break;
                }
                let same_host = self.in_flight.iter().filter(|other| self.classes[**other].host == host);
                if same_host.count() >= PER_HOST_MAX {
                    continue;
                }
            }
            self.in_network.remove(&waiting);
            self.in_flight.insert(waiting.request);
            started.push(waiting.request);
        }
        started
    }

    /// Whether the network service limits such requests.
    fn is_delayable(&self, request: usize) -> bool {
        let class = self.classes[request];
        class.priority < Priority::High && !self.prioritising_hosts.contains(&class.host)
    }

    fn passes_renderer(&self, request: usize) -> bool {
        let priority = self.classes[request].priority;
        if self.is_loose || priority >= Priority::High {
            return true;
        }
        let counted = |wanted: &dyn Fn(&RequestClass) -> bool| {
            let running = self.running.iter().map(|other| &self.classes[*other]);
            running.filter(|class| wanted(class)).count()
        };
        if priority == Priority::Medium && counted(&|class| class.priority == Priority::Medium) < TIGHT_MEDIUM_MAX {
            return true;
        }
        counted(&|class| class.is_throttled) < TIGHT_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduler(priorities: &[Priority]) -> RequestScheduler {
        let class = |priority: &Priority| RequestClass {
            host: 0,
            priority: *priority,
            is_throttled: true,
        };
        let mut scheduler = RequestScheduler::new(priorities.iter().map(class).collect());
        (0..priorities.len()).for_each(|request| scheduler.ask(request));
        scheduler
    }

    #[test]
    fn before_the_body_two_requests_hold_back_those_of_low_priority() {
        let mut scheduler = scheduler(&[Priority::Low; 5]);
        assert_eq!(scheduler.startable(), [0, 1]);
        scheduler.end(0);
        assert_eq!(scheduler.startable(), [2]);
        scheduler.loosen();
        assert_eq!(scheduler.startable(), [3, 4]);
    }

    #[test]
    fn scripts_and_styles_go_before_images_and_are_never_held_back() {
        let mut scheduler = scheduler(&[
            Priority::Low,
            Priority::High,
            Priority::High,
            Priority::VeryHigh,
            Priority::Medium,
        ]);
        assert_eq!(scheduler.startable(), [3, 1, 2, 4]);
    }

    #[test]
    fn ten_images_are_in_flight_at_most_and_six_of_a_host() {
        let class = |request: usize| RequestClass {
            host: request / 8,
            priority: Priority::Low,
            is_throttled: true,
        };
        let mut scheduler = RequestScheduler::new((0..16).map(class).collect());
        scheduler.loosen();
        (0..16).for_each(|request| scheduler.ask(request));
        assert_eq!(scheduler.startable(), [0, 1, 2, 3, 4, 5, 8, 9, 10, 11]);
    }

    #[test]
    fn a_host_that_is_known_to_speak_http_2_has_no_limit() {
        let mut scheduler = scheduler(&[Priority::Low; 12]);
        scheduler.loosen();
        assert_eq!(scheduler.startable().len(), PER_HOST_MAX, "nobody knows it yet");
        scheduler.learn_multiplexing(0);
        assert_eq!(scheduler.startable().len(), 6, "all others");
    }

    #[test]
    fn data_is_not_counted_in_the_renderer() {
        let class = |priority, is_throttled| RequestClass {
            host: 0,
            priority,
            is_throttled,
        };
        let classes = vec![
            class(Priority::High, false),
            class(Priority::High, false),
            class(Priority::Low, true),
            class(Priority::Low, true),
        ];
        let mut scheduler = RequestScheduler::new(classes);
        (0..4).for_each(|request| scheduler.ask(request));
        assert_eq!(scheduler.startable(), [0, 1, 2, 3]);
    }
}
