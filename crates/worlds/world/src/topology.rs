//! The topology of a world: named hosts, the named media that join them, and the routes between them. Both worlds are made from
//! one description.
//!
//! [`Topology`] is the description. `builder` makes and checks it, `routes` finds paths, and `network_core` carries packets: it holds the
//! media, the routes and the captures of a world. Each world decides by itself how its hosts receive packets.

mod builder;
pub(crate) mod id;
mod name;
mod network_core;
mod routes;

pub use builder::TopologyBuilder;
pub use id::{LinkId, MediumId, RadioId};
pub use name::{AIR, DROPS, HostName, MediumName};
pub(crate) use network_core::{NetworkCore, Payload, SendOutcome};

use crate::World;
use lastmile_link::LinkSpec;
use lastmile_link::radio::{Position, RadioSpec};
use std::collections::BTreeMap;

/// A topology that no world can be made from: the fault, with the names of hosts and media, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TopologyError(String);

/// Hosts and the media that join them.
///
/// ```
/// use lastmile_link::resolve;
/// use lastmile_world::topology::Topology;
///
/// let (access, backbone) = (resolve("wpt/cable").unwrap(), resolve("wpt/fios").unwrap());
/// let chain = Topology::builder()
///     .host("client")
///     .router("router")
///     .host("server")
///     .wire("access", access.clone(), ["client"], ["router"])
///     .wire("backbone", backbone, ["router"], ["server"])
///     .build();
/// assert_eq!(chain.unwrap().hosts().len(), 3);
///
/// let refused = Topology::builder().host("client").host("server").wire("access", access, ["client"], ["sever"]).build();
/// assert_eq!(
///     refused.unwrap_err().to_string(),
///     r#"wire access names a host "sever" on its far side that the topology does not have; its hosts are client, server"#,
/// );
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    hosts: Vec<TopologyHost>,
    media: Vec<TopologyMedium>,
}

/// A host of a topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopologyHost {
    /// Its name.
    pub name: HostName,
    /// Whether it forwards packets that are for other hosts.
    pub is_router: bool,
}

/// A medium of a topology.
#[derive(Debug, Clone, PartialEq)]
pub struct TopologyMedium {
    /// Its name.
    pub name: MediumName,
    /// Its kind, with the hosts that it joins.
    pub kind: MediumKind,
}

/// The kind of a medium, with the hosts that it joins.
#[derive(Debug, Clone, PartialEq)]
pub enum MediumKind {
    /// A wire.
    Wire(Box<WireSpec>),
    /// A radio.
    Radio(Box<RadioMedium>),
}

/// A radio: it joins each of its stations with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioMedium {
    /// The radio's model.
    pub spec: RadioSpec,
    /// The hosts that are its stations, and where they are.
    pub stations: Vec<(HostName, Position)>,
}

/// A wire: it joins every host of its near side with every host of its far side. Hosts of one side share it; it does not join
/// them with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct WireSpec {
    /// The link models of its directions: `down` is towards the near side, `up` towards the far side.
    pub link: LinkSpec,
    /// The hosts of the near side, which is the client's where there is one client.
    pub near: Vec<HostName>,
    /// The hosts of the far side.
    pub far: Vec<HostName>,
}

impl Topology {
    /// An empty topology, to add hosts and media to.
    pub fn builder() -> TopologyBuilder {
        TopologyBuilder::default()
    }

    /// Its hosts, in the order in which they were added: they have addresses from 10.0.0.1 on.
    pub fn hosts(&self) -> &[TopologyHost] {
        &self.hosts
    }

    /// Its media, in the order in which they were added.
    pub fn media(&self) -> &[TopologyMedium] {
        &self.media
    }
}

/// A world that was made from a topology, with its hosts, links and radios by name.
pub struct Assembly<W: World> {
    /// The world.
    pub world: W,
    /// Its hosts.
    pub hosts: BTreeMap<HostName, W::Host>,
    /// Its wires.
    pub links: BTreeMap<MediumName, LinkId>,
    /// Its radios. Their [`Station`](lastmile_link::Station)s have the numbers of hosts in the topology, from 0 on.
    pub radios: BTreeMap<MediumName, RadioId>,
}

impl<W: World> Assembly<W> {
    /// Joins the hosts of `world` by the media of `topology`; `join` adds a wire, `join_by_radio` a radio.
    pub(crate) fn of(
        topology: &Topology,
        world: W,
        hosts: BTreeMap<HostName, W::Host>,
        join: impl Fn(&W, &LinkSpec, &[&W::Host], &[&W::Host]) -> LinkId,
        join_by_radio: impl Fn(&W, &RadioSpec, &[(&W::Host, Position)]) -> RadioId,
    ) -> Self {
        let named = |names: &[HostName]| names.iter().map(|name| &hosts[name]).collect::<Vec<_>>();
        let (mut links, mut radios) = (BTreeMap::new(), BTreeMap::new());
        for TopologyMedium { name, kind } in topology.media() {
            match kind {
                MediumKind::Wire(wire) => {
                    let link = join(&world, &wire.link, &named(&wire.near), &named(&wire.far));
                    links.insert(name.clone(), link);
                }
                MediumKind::Radio(radio) => {
                    let station = |(host, position): &(HostName, Position)| (&hosts[host], *position);
                    let stations: Vec<_> = radio.stations.iter().map(station).collect();
                    radios.insert(name.clone(), join_by_radio(&world, &radio.spec, &stations));
                }
            }
        }
        Self {
            world,
            hosts,
            links,
            radios,
        }
    }
}

#[cfg(test)]
mod tests;
