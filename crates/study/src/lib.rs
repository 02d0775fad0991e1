//! Study file -> cells -> runs -> records -> statistics.
//!
//! A [`file::Study`] is read from TOML, [`cell::expand`]ed into one [`cell::Cell`] a combination of levels, run by a
//! [`runner::Experiment`] on all cores, kept in a [`run_folder::RunFolder`] line by line, and summed up by [`summary`] into the
//! record that is published. Nothing here reads a clock but `cost::calibrate`, and `peer`, which starts real programs; nothing opens
//! a socket.

pub mod advise;
pub mod builtin;
pub mod cell;
pub mod conform;
pub mod cost;
pub mod doubt;
pub mod experiment;
pub mod fidelity;
pub mod figure;
pub mod file;
pub mod http;
pub mod journal;
mod nearest;
pub mod observation;
#[cfg(target_os = "linux")]
pub mod peer;
pub mod run_folder;
pub mod runner;
pub mod settings;
mod site;
pub mod statistics;
pub mod summary;
pub mod tune;
mod websocket;
