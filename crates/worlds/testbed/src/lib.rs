//! The testbed: real and simulated programs on the hosts of a world, driven and metered.
//!
//! - [`testbed`]: hosts of either world and the links between them.
//! - [`http`] and [`messaging`]: HTTP and WebSocket over a world's streams.
//! - [`peer`]: real servers and clients, by the contract of `peers/`.
//! - [`cpu_cost_model`]: what computing costs where it is simulated.
//! - [`journal`]: files of finished work that survive an interruption.

pub mod cpu_clock;
pub mod cpu_cost_model;
pub mod doubt;
pub mod failure;
pub mod http;
pub mod invalid_option;
pub mod journal;
pub mod link_description;
pub mod messaging;
#[cfg(target_os = "linux")]
pub mod peer;
pub mod settings;
pub mod testbed;
pub mod toml_error;
