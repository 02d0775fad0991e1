//! Runs studies: study file -> cells -> runs -> records -> statistics.
//!
//! A [`file::Study`] is read from TOML, [`cell::expand`]ed into one [`cell::Cell`] per combination of levels, run by a
//! [`delivery::Delivery`] on all cores, stored in a [`run_folder::RunFolder`] line by line, and summarised by [`summary`] into the
//! record that is published. Deliveries and built-in studies are handed in: this crate knows none of them. It reads no clock and opens no
//! socket.

pub mod catalogue;
pub mod cell;
pub mod delivery;
pub mod doubt;
pub mod figure;
pub mod file;
pub mod journal;
pub mod keys;
pub mod observation;
pub mod observer;
pub mod run_folder;
pub mod runner;
pub mod settings;
pub mod summary;
