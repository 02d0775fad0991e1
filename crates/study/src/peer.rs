//! Which real programs can a study drive, and how? The contract of `peers/`, and what is kept to on this side of it.
//!
//! A peer is a folder in `peers/` with a `peer.toml` ([`PeerSpec`]): what it is, what it needs, and the commands that build it, tell its
//! version, and run it as a server or a client. A peer that is not installed is named, with the remedy ([`Missing`]); `make peers`
//! installs what a machine can have. A [`Server`] is a peer that serves: it has said `READY`, it tells its CPU time, it is stopped
//! when it is dropped. A client is [`run`](PeerSpec::run) to its end. `peers/README.md` is the same contract for who writes a peer.
//!
//! The folder is what `LASTMILE_PEERS` names; else `peers/` in the working directory; else that of the source tree this was built
//! in ([`folder`]).
//!
//! ```no_run
//! use lastmile_study::peer::{Inputs, PeerSpec};
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let nginx = PeerSpec::named("nginx")?;
//! println!("nginx {}", nginx.is_installed()?);
//! let inputs = Inputs {
//!     port: 8080,
//!     compression: "gzip:6".parse()?,
//!     media_type: "application/json".to_owned(),
//!     ..Inputs::new("get", "/srv/data", "/tmp/empty")
//! };
//! // What is done to the command decides where it runs: nothing, and it runs here.
//! let server = nginx.start(&inputs, &|_command| Ok(()))?;
//! let before = server.cpu_time()?;
//! // ... requests ...
//! let spent = server.cpu_time()? - before;
//! server.stop()?;
//! # Ok(())
//! # }
//! ```
//!
//! What crosses which link, and what is made of the figures, is for the experiments.

mod client;
mod error;
mod inputs;
mod installed;
mod process;
mod process_tree;
mod server;
mod spec;

pub use error::PeerError;
pub use inputs::Inputs;
pub use installed::{Missing, Version};
pub use server::Server;
pub use spec::{Install, PeerSpec, Program, folder};

#[cfg(test)]
mod tests;
