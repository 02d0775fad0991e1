//! Records, and what is made of them: terminal tables, one HTML page, CSV. Pure functions; no clock, no socket.
//!
//! [`record`] holds what is published: the JSON contract between who measures and who shows.

pub mod record;
