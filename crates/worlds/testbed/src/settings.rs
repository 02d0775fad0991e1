//! The settings that say what a testbed is: which world, and whether its two hosts share a machine.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which world a testbed is in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum World {
    /// In virtual time.
    #[default]
    #[serde(rename = "sim")]
    Simulated,
    /// Over network namespaces, in real time.
    #[serde(rename = "emu")]
    Emulated,
}

/// Whether client and server have a machine each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hosts {
    /// Each has a virtual CPU of its own.
    #[serde(rename = "two")]
    Two,
    /// Both share one virtual CPU.
    #[serde(rename = "one")]
    One,
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simulated => "sim",
            Self::Emulated => "emu",
        })
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Two => "two",
            Self::One => "one",
        })
    }
}
