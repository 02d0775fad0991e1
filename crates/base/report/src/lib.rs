//! Records, and their rendering as terminal tables, one HTML page and CSV. Pure functions; no clock, no socket.
//!
//! [`record`], [`advise`], [`compare`], [`encode`], [`inspect`], [`load`] and [`tune`] hold the published records: the JSON contract between the measuring crates and this one.
//! [`figure`] summarises samples; [`doubt`] lists what makes figures suspect.
//! [`terminal`], [`markdown`] and [`csv`] render any [`Record`], `lastmile_chart` draws, [`page`] makes one offline HTML file. [`number`] writes a figure the same way in all of them.

pub mod advise;
pub mod compare;
pub mod conform;
pub mod csv;
pub mod doctor;
mod document;
pub mod doubt;
pub mod encode;
mod escape;
pub mod figure;
#[cfg(test)]
mod fixtures;
pub mod inspect;
pub mod link_summary;
pub mod load;
pub mod markdown;
pub mod number;
pub mod page;
pub mod paired_statistics;
pub mod perturb;
pub mod record;
pub mod rules;
#[cfg(test)]
mod schema;
pub mod segment_line;
pub mod terminal;
pub mod tune;

pub use document::{Detail, Document, Record};
