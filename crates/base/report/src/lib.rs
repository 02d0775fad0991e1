//! What records are made of, and their rendering as terminal tables, one HTML page, Markdown and CSV. Pure functions; no clock, no socket.
//!
//! A [`Record`] is what a verb publishes: JSON, a document of [`document::Block`]s, and rows of CSV. The record of a product is its crate's; [`record::Run`] is that
//! of studies, and [`compare`] that of two of them. [`figure`] summarises samples; [`doubt`] lists what makes figures suspect; [`rules`] are the grammar of limits.
//! [`screen`], [`terminal`], [`markdown`] and [`csv`] render any record, `lastmile_chart` draws, [`page`] makes one offline HTML file. [`number`] writes a figure the same way in all of them.

pub mod compare;
pub mod connections;
pub mod csv;
pub mod document;
pub mod doubt;
pub mod figure;
pub mod link_description;
pub mod link_summary;
pub mod markdown;
pub mod model_error;
pub mod number;
pub mod page;
pub mod paired_statistics;
pub mod record;
pub mod rules;
pub mod saving;
pub mod screen;
pub mod segment_line;
pub mod terminal;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(test)]
mod tests;

pub use document::{Detail, Record};
