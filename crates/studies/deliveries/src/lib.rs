//! The deliveries of studies: what runs in their cells.
//!
//! Each delivery has a file or folder with its name: `tcp`, `http1`, `websocket`, `rpc`, `browser`, `load`, `events` and `in_memory`. The first four run
//! programs on the two hosts of a cell's link ([`over_link`]). [`DELIVERIES`] is the list that the binary hands to the engine; a crate above this
//! one can add a list of its own.

mod browser;
mod capture_name;
mod cpu_charge;
mod events;
mod http1;
mod in_memory;
mod load;
mod messages;
pub mod over_link;
mod rpc;
mod server_under_test;
mod tcp;
mod websocket;

pub use server_under_test::{MissingServer, missing_servers};

use lastmile_report::record::DoubtKind;
use lastmile_study::delivery::Delivery;
use lastmile_testbed::http::Version;
use over_link::OverLink;

/// The kinds of doubts that experiments raise, besides those of the world that they run in.
pub const DOUBTS: &[DoubtKind] = &[DoubtKind::NoCost, DoubtKind::EstimatedCost, DoubtKind::OneWay];

/// The deliveries of this crate.
pub const DELIVERIES: &[&dyn Delivery] = &[
    &OverLink(tcp::Tcp),
    &OverLink(http1::Http1),
    &OverLink(websocket::WebSocket),
    &OverLink(rpc::Rpc),
    &browser::Browser(Version::Http11),
    &browser::Browser(Version::H2),
    &in_memory::InMemory,
    &load::Load,
    &events::Events,
];

#[cfg(test)]
mod tests;
