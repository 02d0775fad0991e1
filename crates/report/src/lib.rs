//! Records, and what is made of them: terminal tables, one HTML page, CSV. Pure functions; no clock, no socket.
//!
//! [`record`], [`advise`], [`compare`], [`inspect`] and [`tune`] hold what is published: the JSON contract between who measures and who shows. [`terminal`] and
//! [`markdown`] print, [`chart`] draws, [`page`] makes one offline HTML file. [`number`] writes a figure the same way in all of them.

pub mod advise;
pub mod chart;
pub mod compare;
pub mod conform;
pub mod csv;
pub mod doctor;
mod document;
pub mod inspect;
pub mod link;
pub mod markdown;
mod markup;
pub mod number;
pub mod page;
pub mod record;
#[cfg(test)]
mod sample;
pub mod schema;
pub mod segment;
pub mod terminal;
pub mod tune;
