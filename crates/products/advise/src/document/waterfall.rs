//! The drawing of a link's two loads, request by request.

use crate::record::waterfall::{RecordedLoad, SimulatedLoad, Waterfall};
use crate::record::{Advice, LinkAdvice, ReplayedHost};
use lastmile_chart::waterfall::{self as drawn, Event, Load, Phase, Row};
use lastmile_report::number::quantity;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The page as recommended, over the outlines of the page as it is.
pub(super) fn drawing(advice: &Advice, link: &LinkAdvice, waterfall: &Waterfall) -> drawn::Waterfall {
    let (today, recommended) = (&waterfall.today, &waterfall.recommended);
    let load = |name: &str, load: &SimulatedLoad| Load {
        name: name.to_owned(),
        events: events(load.dom_content_loaded_us, load.load_event_us, load.page_time_us),
    };
    let before = if today.setting == "identity" {
        "not compressed"
    } else {
        "as recorded"
    };
    let requests = Requests::new(advice, waterfall);
    let main = requests
        .main_host
        .and_then(|host| advice.options.hosts.get(host as usize));
    let without_host = main.map_or_else(String::new, |main| {
        format!(" Names without a host are of {}.", address(main))
    });
    drawn::Waterfall {
        title: format!("Every request on {}", link.name),
        note: format!(
            "Bars are the page as recommended, outlines the page {before}. Both are one simulated load, of the repeat with the median page \
             time, with the same random choices. On the right: how much sooner a response is there.{without_host} \
             Point at a row for all that is known of it."
        ),
        load: load("as recommended", recommended),
        before: Some(load(before, today)),
        rows: (0..waterfall.path.len())
            .filter_map(|request| requests.row(request))
            .collect(),
    }
}

/// The load that was recorded, with the names of a link's requests.
pub(super) fn recorded(advice: &Advice, load: &RecordedLoad, names: &Waterfall) -> drawn::Waterfall {
    let requests = Requests::new(advice, names);
    let row = |request: usize| {
        let phases = load.phases_us.get(request)?.map(seconds);
        let connection = (*load.connection.get(request)?).map(|number| number + 1);
        Some(Row {
            name: requests.name(request)?,
            host: address(requests.host(request)?).to_owned(),
            details: format!(
                "{} without compression",
                quantity(*names.identity_bytes.get(request)? as f64, "B")
            ),
            start: seconds((*load.start_us.get(request)?)?),
            phases: RECORDED_PHASES.into_iter().zip(phases).collect(),
            before: None,
            is_critical: false,
            connection,
        })
    };
    drawn::Waterfall {
        title: "Every request when it was recorded".to_owned(),
        note: "The times of the recording, over the link that it was made on. Point at a row for its phases."
            .to_owned(),
        load: Load {
            name: "of the recording".to_owned(),
            events: events(load.dom_content_loaded_us, load.load_event_us, load.page_time_us),
        },
        before: None,
        rows: (0..load.start_us.len()).filter_map(row).collect(),
    }
}

/// What happened in a load.
fn events(dom_content_loaded: Option<u64>, load_event: Option<u64>, page_time: u64) -> Vec<(Event, f64)> {
    let events = [
        (Event::DomContentLoaded, dom_content_loaded),
        (Event::LoadEvent, load_event),
        (Event::PageEnd, Some(page_time)),
    ];
    let timed = events.into_iter().filter_map(|(event, us)| Some((event, seconds(us?))));
    timed.collect()
}

/// What the rows of a drawing are made from.
struct Requests<'a> {
    advice: &'a Advice,
    waterfall: &'a Waterfall,
    /// The host with the most requests, whose name is left out.
    main_host: Option<u64>,
    /// The critical path as recommended.
    critical: BTreeSet<u64>,
}

impl<'a> Requests<'a> {
    fn new(advice: &'a Advice, waterfall: &'a Waterfall) -> Self {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for host in &waterfall.host {
            *counts.entry(*host).or_default() += 1;
        }
        let main = counts.iter().max_by_key(|(host, count)| (**count, Reverse(**host)));
        Self {
            advice,
            waterfall,
            main_host: main.map(|(host, _)| *host),
            critical: waterfall.recommended.critical_path.iter().copied().collect(),
        }
    }

    /// A row; none where a record that was edited lacks some of it.
    fn row(&self, request: usize) -> Option<Row> {
        let (today, recommended) = (&self.waterfall.today, &self.waterfall.recommended);
        let start_before = *today.start_us.get(request)?;
        let end_before = start_before + today.phases_us(request)?.iter().sum::<u64>();
        let phases = recommended.phases_us(request)?.map(seconds);
        Some(Row {
            name: self.name(request)?,
            host: address(self.host(request)?).to_owned(),
            details: self.details(request)?,
            start: seconds(*recommended.start_us.get(request)?),
            phases: PHASES.into_iter().zip(phases).collect(),
            before: Some([start_before, end_before].map(seconds)),
            is_critical: self.critical.contains(&(request as u64)),
            connection: Some(*recommended.connection.get(request)? + 1),
        })
    }

    fn host(&self, request: usize) -> Option<&'a ReplayedHost> {
        self.advice
            .options
            .hosts
            .get(*self.waterfall.host.get(request)? as usize)
    }

    /// The path, behind its host where that is not the main one.
    fn name(&self, request: usize) -> Option<String> {
        let path = self.waterfall.path.get(request)?;
        let is_of_main = self.waterfall.host.get(request).copied() == self.main_host;
        let host = if is_of_main { "" } else { address(self.host(request)?) };
        Some(format!("{host}{path}"))
    }

    /// Sizes, coding, connection, priority, and what the request waited for.
    fn details(&self, request: usize) -> Option<String> {
        let (today, recommended) = (&self.waterfall.today, &self.waterfall.recommended);
        let body = |load: &SimulatedLoad| {
            let (bytes, coding) = (load.body_bytes.get(request)?, load.coding.get(request)?);
            Some(format!("{} {coding}", quantity(*bytes as f64, "B")))
        };
        let (before, after) = (body(today)?, body(recommended)?);
        let sizes = if before == after {
            after
        } else {
            format!("{before} before, {after} now")
        };
        let opens = if *recommended.opens_connection.get(request)? {
            ", which it opens"
        } else {
            ""
        };
        let waited_for = match recommended.waited_for.get(request)? {
            Some(other) => format!("; waited for {}", self.name(*other as usize)?),
            None => String::new(),
        };
        Some(format!(
            "{sizes} of {}\n{}, connection {}{opens}\npriority {}{waited_for}",
            quantity(*self.waterfall.identity_bytes.get(request)? as f64, "B"),
            self.host(request)?.protocol.name(),
            recommended.connection.get(request)? + 1,
            self.waterfall.priority.get(request)?.name(),
        ))
    }
}

/// The phases of a recorded load.
const RECORDED_PHASES: [Phase; 7] = [
    Phase::Blocked,
    Phase::Lookup,
    Phase::Connect,
    Phase::Encrypt,
    Phase::Send,
    Phase::Wait,
    Phase::Receive,
];

/// The phases of a simulated load's columns.
const PHASES: [Phase; 7] = [
    Phase::Blocked,
    Phase::Connect,
    Phase::Encrypt,
    Phase::Send,
    Phase::Wait,
    Phase::Receive,
    Phase::Decode,
];

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

/// The address of a host, without `https`.
fn address(host: &ReplayedHost) -> &str {
    host.host.trim_start_matches("https://")
}
