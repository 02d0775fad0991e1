//! The environment of a peer, which contains nothing of the caller's: where it runs, its operation, and its options by name.
//!
//! An option is a name with a text, such as `compression` with `gzip:6`, and reaches the peer as an environment variable
//! (`LASTMILE_COMPRESSION`). Its `peer.toml` declares the options that a peer has.

use super::error::PeerError;
use super::process::Process;
use super::spec::{PeerSpec, Program};
use lastmile_units::suggest::suggestion;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The inputs of a peer, each an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// `LASTMILE_HOST`: the only address that a server binds, or the address a client connects to.
    pub host: Ipv4Addr,
    /// `LASTMILE_PORT`: its TCP port, 1024 or above, since not every server keeps the privilege that lower ports need.
    pub port: u16,
    /// `LASTMILE_OPERATION`: the operation, one of [`Program::operations`].
    pub operation: String,
    /// `LASTMILE_STATE`: the absolute path of an empty folder for everything that the peer writes.
    pub state: PathBuf,
    /// `LASTMILE_DATA`: the absolute path of the folder whose files are served or read.
    pub data: PathBuf,
    /// The options that differ from the peer's defaults, by name.
    pub options: BTreeMap<String, String>,
}

impl Inputs {
    /// `operation` on the files of `data`, with a `state` folder to write to. The defaults are port 0 of the loopback address, and the
    /// defaults that the peer declares for its options.
    pub fn new(operation: &str, data: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST,
            port: 0,
            operation: operation.to_owned(),
            state: state.into(),
            data: data.into(),
            options: BTreeMap::new(),
        }
    }

    /// The same with an option set.
    #[must_use]
    pub fn with(mut self, option: &str, value: &(impl ToString + ?Sized)) -> Self {
        self.options.insert(option.to_owned(), value.to_string());
        self
    }

    /// The server's address.
    pub const fn address(&self) -> SocketAddrV4 {
        SocketAddrV4::new(self.host, self.port)
    }

    /// A command with these inputs as its environment, in the peer's folder. Every option that `program` declares has a value.
    fn command(&self, peer: &PeerSpec, program: &Program) -> Command {
        let mut command = peer.command(&program.command);
        let own: [(&str, OsString); 5] = [
            ("LASTMILE_HOST", self.host.to_string().into()),
            ("LASTMILE_PORT", self.port.to_string().into()),
            ("LASTMILE_OPERATION", self.operation.clone().into()),
            ("LASTMILE_STATE", self.state.clone().into()),
            ("LASTMILE_DATA", self.data.clone().into()),
        ];
        let options = program.options.iter().map(|(name, option)| {
            let value = self.options.get(name).unwrap_or(&option.default);
            (format!("LASTMILE_{}", name.to_ascii_uppercase()), value)
        });
        command
            .envs(own)
            .envs(options)
            .env("HOME", &self.state)
            .env("TMPDIR", &self.state);
        command
    }
}

impl PeerSpec {
    /// Starts the program of a role, if the peer supports `inputs` and is installed.
    pub(super) fn start_program(
        &self,
        (role, program): (&str, Option<&Program>),
        inputs: &Inputs,
        input: Stdio,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Process, PeerError> {
        let refused = |problem| PeerError::Refused {
            name: self.name.clone(),
            problem,
        };
        let program = program.ok_or_else(|| refused(format!("it is not a {role}")))?;
        program.check(inputs).map_err(refused)?;
        self.is_present()?;
        Process::start(self, inputs.command(self, program), &inputs.state, input, command_in)
    }
}

impl Program {
    fn check(&self, inputs: &Inputs) -> Result<(), String> {
        if !self.operations.contains(&inputs.operation) {
            return Err(format!(
                "it does not support operation {:?}, only {}",
                inputs.operation,
                self.operations.join(", ")
            ));
        }
        for (name, value) in &inputs.options {
            let Some(option) = self.options.get(name) else {
                let known: Vec<&str> = self.options.keys().map(String::as_str).collect();
                let remedy = match suggestion(name, known.iter().copied()) {
                    meant if meant.is_empty() => format!("; its options are {}", known.join(", ")),
                    meant => meant,
                };
                return Err(format!("it has no option {name:?}{remedy}"));
            };
            option.check(name, value)?;
        }
        Ok(())
    }
}
