//! Records, and what is made of them: terminal tables, one HTML page, CSV. Pure functions; no clock, no socket.
//!
//! [`record`] and [`advise`] hold what is published: the JSON contract between who measures and who shows.

pub mod advise;
pub mod record;
