//! Remote procedure calls without input or output: what is sent for a call, when, and what arrives.
//!
//! [`ice`] and [`giop`] are the protocols of Ice and of CORBA; [`frame`] is one of our own for any encoding, and the layer that compresses a
//! connection as a stream. [`batch`] gathers one-way calls, and [`router`] those of several
//! programs for many clients. Parameters are bytes
//! here: `lastmile_wire_formats` makes them.

pub mod batch;
mod fields;
pub mod frame;
pub mod giop;
pub mod ice;
mod read_error;
mod receive_buffer;
pub mod router;

pub use read_error::ReadError;
