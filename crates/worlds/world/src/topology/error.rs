//! The errors of a topology: the fault, with the names of hosts and media, and the remedy.

use super::{HostName, MediumName, Side};

/// A topology that no world can be made from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// A name with invalid characters or length.
    #[error(
        "{name:?} is not the name of a {of}: use 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at \
         both ends, like \"back-end-1\""
    )]
    Name {
        /// The kind of the name: "host" or "medium".
        of: &'static str,
        /// The name.
        name: String,
    },
    /// A host with the name of a capture of dropped packets.
    #[error(
        "a host cannot be called {name:?}: that name is reserved for captures of dropped packets and of radios; choose another name"
    )]
    NameOfDrops {
        /// The name.
        name: String,
    },
    /// A topology without a host.
    #[error("the topology has no hosts; add at least two, and a wire between them")]
    NoHosts,
    /// More hosts than a world has addresses for.
    #[error("the topology has {count} hosts, and a world has addresses for {most}; remove some")]
    TooManyHosts {
        /// The number of its hosts.
        count: usize,
        /// The maximum number.
        most: usize,
    },
    /// Two hosts with the same name.
    #[error("two hosts are called {name}; give one of them another name")]
    DuplicateHost {
        /// The name.
        name: HostName,
    },
    /// Two media with the same name.
    #[error("two media are called {name}; give one of them another name")]
    DuplicateMedium {
        /// The name.
        name: MediumName,
    },
    /// A host that is on no medium.
    #[error("host {host} has no link; put it on one side of a wire or on a radio, or remove it")]
    HostWithoutLink {
        /// The host.
        host: HostName,
    },
    /// A medium with a host that the topology does not have.
    #[error(
        "wire {medium} names a host {host:?} on its {side} side that the topology does not have; its hosts are {known}"
    )]
    UnknownHost {
        /// The medium.
        medium: MediumName,
        /// The side of the wire.
        side: Side,
        /// The name of the missing host.
        host: String,
        /// The hosts of the topology.
        known: String,
    },
    /// A wire without hosts on one side.
    #[error("wire {medium} has no host on its {side} side; name at least one")]
    EmptySide {
        /// The wire.
        medium: MediumName,
        /// The side of the wire.
        side: Side,
    },
    /// A wire from a host to itself.
    #[error("wire {medium} has host {host} on both sides; remove it from one of them")]
    HostOnBothSides {
        /// The wire.
        medium: MediumName,
        /// The host.
        host: HostName,
    },
    /// A side of a wire that names a host twice.
    #[error("wire {medium} has host {host} twice on its {side} side; name it once")]
    HostTwiceOnSide {
        /// The wire.
        medium: MediumName,
        /// The side of the wire.
        side: Side,
        /// The host.
        host: HostName,
    },
    /// A radio with a host that the topology does not have.
    #[error("radio {radio} names a host {host:?} that the topology does not have; its hosts are {known}")]
    UnknownStation {
        /// The radio.
        radio: MediumName,
        /// The name of the missing host.
        host: String,
        /// The hosts of the topology.
        known: String,
    },
    /// A radio that names a host twice.
    #[error("radio {radio} has host {host} twice; name it once")]
    StationTwice {
        /// The radio.
        radio: MediumName,
        /// The host.
        host: HostName,
    },
    /// A radio with fewer than two stations.
    #[error("radio {radio} has fewer than two stations; name at least two hosts")]
    TooFewStations {
        /// The radio.
        radio: MediumName,
    },
    /// Two hosts that cannot send to each other.
    #[error("no path joins {from} and {to}; {remedy}")]
    NoPath {
        /// One of them.
        from: HostName,
        /// The other.
        to: HostName,
        /// The remedy.
        remedy: String,
    },
}
