//! Runs peers, the real programs that a study can drive; this is lastmile's side of the contract of `peers/`.
//!
//! A peer is a folder in `peers/` with a `peer.toml` ([`PeerSpec`]): its description, its requirements, and the commands that build it,
//! print its version, and run it as a server or a client. A peer that is not installed is reported with the remedy ([`NotInstalled`]);
//! `make peers` installs what the machine can have. A [`Server`] is a peer that has printed `READY`; it reports its CPU time, and is
//! stopped when dropped. A client is [run](PeerSpec::run_within) to its end. `peers/README.md` is the same contract for authors of peers.
//!
//! The folder is the one that `LASTMILE_PEERS` names; otherwise `peers/` in the working directory; otherwise `peers/` of the source tree
//! that this was built in ([`folder`]).
//!
//! ```no_run
//! use lastmile_testbed::peer::{Inputs, PeerSpec};
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let nginx = PeerSpec::named("nginx")?;
//! println!("nginx {}", nginx.is_installed()?);
//! let inputs = Inputs {
//!     port: 8080,
//!     ..Inputs::new("get", "/srv/data", "/tmp/empty")
//! };
//! let inputs = inputs.with("compression", "gzip:6").with("media_type", "application/json");
//! // The closure may change the command, and so where it runs; unchanged, it runs here.
//! let server = nginx.start(&inputs, &|_command| Ok(()))?;
//! let before = server.cpu_time()?;
//! // ... requests ...
//! let spent = server.cpu_time()? - before;
//! server.stop()?;
//! # Ok(())
//! # }
//! ```
//!
//! Links, traffic and figures are the experiments' business.

mod client;
mod environment;
mod error;
mod installation;
mod process;
mod process_tree;
mod server;
mod spec;

pub use client::{Conversation, RunningClient};
pub use environment::Inputs;
pub use error::{NotInstalled, PeerError};
pub use server::Server;
pub use spec::{Install, PeerOption, PeerSpec, Program, folder};

#[cfg(test)]
mod tests;
