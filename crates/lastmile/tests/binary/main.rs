//! Tests of the binary: every verb end to end, as a shell runs it: stdout, stderr, exit code, files.

mod advise;
mod air;
mod browser;
mod bulk;
mod compare;
mod doubts;
#[cfg(target_os = "linux")]
mod emulated;
mod encode;
mod environment;
#[cfg(target_os = "linux")]
mod event_systems;
mod events;
#[cfg(target_os = "linux")]
mod examples;
#[cfg(target_os = "linux")]
mod faults;
mod inspect;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
mod load;
mod record;
mod refusals;
mod resume;
mod run;
mod sandbox;
#[cfg(target_os = "linux")]
mod snippets;
mod traces;
mod tune;
mod verbs;
