//! The builder of a topology. It accepts all hosts and media first, and checks them at the end.

use super::routes::{Edge, Hop, Routes};
use super::{
    HostName, MediumId, MediumKind, MediumName, RadioMedium, Side, Topology, TopologyError, TopologyHost,
    TopologyMedium, WireSpec,
};
use lastmile_link::LinkSpec;
use lastmile_link::radio::{Position, RadioSpec};
use std::collections::{BTreeMap, BTreeSet};

/// A topology under construction.
#[derive(Debug, Clone, Default)]
pub struct TopologyBuilder {
    hosts: Vec<NamedHost>,
    media: Vec<NamedMedium>,
    may_be_unreachable: bool,
}

#[derive(Debug, Clone)]
struct NamedHost {
    name: String,
    is_router: bool,
}

#[derive(Debug, Clone)]
enum NamedMedium {
    Wire(Box<NamedWire>),
    Radio(Box<NamedRadio>),
}

#[derive(Debug, Clone)]
struct NamedRadio {
    name: String,
    spec: RadioSpec,
    stations: Vec<(String, Position)>,
}

#[derive(Debug, Clone)]
struct NamedWire {
    name: String,
    link: LinkSpec,
    near: Vec<String>,
    far: Vec<String>,
}

/// The maximum number of hosts: the addresses of 10.0.0.0/16, to which the hosts of the emulated world have a route.
const HOSTS_MAX: usize = (1 << 16) - 2;

impl TopologyBuilder {
    /// Adds a host that does not forward.
    #[must_use]
    pub fn host(self, name: impl Into<String>) -> Self {
        self.with_host(name.into(), false)
    }

    /// Adds hosts that do not forward.
    #[must_use]
    pub fn hosts(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        names.into_iter().fold(self, Self::host)
    }

    /// Adds a host that forwards packets for others.
    #[must_use]
    pub fn router(self, name: impl Into<String>) -> Self {
        self.with_host(name.into(), true)
    }

    fn with_host(mut self, name: String, is_router: bool) -> Self {
        self.hosts.push(NamedHost { name, is_router });
        self
    }

    /// Adds a wire that joins each host of `near` with each host of `far`: `link.down` is towards `near`, `link.up` towards `far`.
    #[must_use]
    pub fn wire<N: Into<String>, F: Into<String>>(
        mut self,
        name: impl Into<String>,
        link: LinkSpec,
        near: impl IntoIterator<Item = N>,
        far: impl IntoIterator<Item = F>,
    ) -> Self {
        self.media.push(NamedMedium::Wire(Box::new(NamedWire {
            name: name.into(),
            link,
            near: near.into_iter().map(Into::into).collect(),
            far: far.into_iter().map(Into::into).collect(),
        })));
        self
    }

    /// Adds a radio that joins its stations with each other: the first is at the centre, the others are on a circle around it, of
    /// the radius that `spec` states.
    #[must_use]
    pub fn radio<N: Into<String>>(
        self,
        name: impl Into<String>,
        spec: RadioSpec,
        stations: impl IntoIterator<Item = N>,
    ) -> Self {
        let stations: Vec<String> = stations.into_iter().map(Into::into).collect();
        let positions = spec.default_positions(stations.len());
        self.radio_at(name, spec, stations.into_iter().zip(positions))
    }

    /// Adds a radio that joins its stations with each other; each has its position.
    #[must_use]
    pub fn radio_at<N: Into<String>>(
        mut self,
        name: impl Into<String>,
        spec: RadioSpec,
        stations: impl IntoIterator<Item = (N, Position)>,
    ) -> Self {
        self.media.push(NamedMedium::Radio(Box::new(NamedRadio {
            name: name.into(),
            spec,
            stations: stations.into_iter().map(|(host, at)| (host.into(), at)).collect(),
        })));
        self
    }

    /// Permits hosts that cannot reach each other, like clients that each have a wire to one server. Without it a path must join
    /// every two hosts, except those of one side of a wire.
    #[must_use]
    pub fn allow_unreachable(mut self) -> Self {
        self.may_be_unreachable = true;
        self
    }

    /// The topology.
    ///
    /// # Errors
    /// If no world can be made from it: the first fault, with the names concerned and the remedy.
    pub fn build(self) -> Result<Topology, TopologyError> {
        let hosts = read_hosts(&self.hosts)?;
        let index: BTreeMap<HostName, usize> = hosts.iter().map(|host| host.name.clone()).zip(0..).collect();
        let mut media: Vec<TopologyMedium> = Vec::new();
        let mut names = BTreeSet::new();
        for medium in self.media {
            let medium = match medium {
                NamedMedium::Wire(wire) => read_wire(*wire, &hosts, &index)?,
                NamedMedium::Radio(radio) => read_radio(*radio, &hosts, &index)?,
            };
            if !names.insert(medium.name.clone()) {
                return Err(TopologyError::DuplicateMedium { name: medium.name });
            }
            media.push(medium);
        }
        let topology = Topology { hosts, media };
        let graph = Graph::of(&topology, &index);
        graph.check_every_host_has_a_link()?;
        if !self.may_be_unreachable {
            graph.check_paths()?;
        }
        Ok(topology)
    }
}

fn read_hosts(hosts: &[NamedHost]) -> Result<Vec<TopologyHost>, TopologyError> {
    if hosts.is_empty() {
        return Err(TopologyError::NoHosts);
    }
    if hosts.len() > HOSTS_MAX {
        return Err(TopologyError::TooManyHosts {
            count: hosts.len(),
            most: HOSTS_MAX,
        });
    }
    let mut names = BTreeSet::new();
    let read = hosts.iter().map(|NamedHost { name, is_router }| {
        let name = HostName::new(name)?;
        if !names.insert(name.clone()) {
            return Err(TopologyError::DuplicateHost { name });
        }
        Ok(TopologyHost {
            name,
            is_router: *is_router,
        })
    });
    read.collect()
}

fn read_wire(
    wire: NamedWire,
    hosts: &[TopologyHost],
    index: &BTreeMap<HostName, usize>,
) -> Result<TopologyMedium, TopologyError> {
    let medium = MediumName::new(&wire.name)?;
    let near = read_side(&medium, Side::Near, &wire.near, hosts, index)?;
    let far = read_side(&medium, Side::Far, &wire.far, hosts, index)?;
    let of_far: BTreeSet<&HostName> = far.iter().collect();
    if let Some(host) = near.iter().find(|host| of_far.contains(host)) {
        return Err(TopologyError::HostOnBothSides {
            medium,
            host: host.clone(),
        });
    }
    let link = wire.link;
    Ok(TopologyMedium {
        name: medium,
        kind: MediumKind::Wire(Box::new(WireSpec { link, near, far })),
    })
}

fn read_radio(
    radio: NamedRadio,
    hosts: &[TopologyHost],
    index: &BTreeMap<HostName, usize>,
) -> Result<TopologyMedium, TopologyError> {
    let name = MediumName::new(&radio.name)?;
    let (mut stations, mut known) = (Vec::new(), BTreeSet::new());
    for (host, position) in radio.stations {
        let Some((host, _)) = index.get_key_value(host.as_str()) else {
            let known: Vec<_> = hosts.iter().map(|host| host.name.as_str()).collect();
            let known = known.join(", ");
            return Err(TopologyError::UnknownStation {
                radio: name,
                host,
                known,
            });
        };
        if !known.insert(host) {
            let host = host.clone();
            return Err(TopologyError::StationTwice { radio: name, host });
        }
        stations.push((host.clone(), position));
    }
    if stations.len() < 2 {
        return Err(TopologyError::TooFewStations { radio: name });
    }
    let spec = radio.spec;
    Ok(TopologyMedium {
        name,
        kind: MediumKind::Radio(Box::new(RadioMedium { spec, stations })),
    })
}

fn read_side(
    medium: &MediumName,
    side: Side,
    names: &[String],
    hosts: &[TopologyHost],
    index: &BTreeMap<HostName, usize>,
) -> Result<Vec<HostName>, TopologyError> {
    let mut read = Vec::new();
    let mut known = BTreeSet::new();
    for name in names {
        let Some((host, _)) = index.get_key_value(name.as_str()) else {
            let known: Vec<_> = hosts.iter().map(|host| host.name.as_str()).collect();
            return Err(TopologyError::UnknownHost {
                medium: medium.clone(),
                side,
                host: name.clone(),
                known: known.join(", "),
            });
        };
        if !known.insert(host) {
            return Err(TopologyError::HostTwiceOnSide {
                medium: medium.clone(),
                side,
                host: host.clone(),
            });
        }
        read.push(host.clone());
    }
    if read.is_empty() {
        return Err(TopologyError::EmptySide {
            medium: medium.clone(),
            side,
        });
    }
    Ok(read)
}

/// The graph of hosts and media.
struct Graph<'a> {
    topology: &'a Topology,
    is_router: Vec<bool>,
    edges: Vec<Edge>,
    /// For each host, the sides of wires that it is on, and its radios, which have one side.
    sides: Vec<BTreeSet<(MediumId, Side)>>,
}

impl<'a> Graph<'a> {
    fn of(topology: &'a Topology, index: &BTreeMap<HostName, usize>) -> Self {
        let mut graph = Self {
            topology,
            is_router: topology.hosts.iter().map(|host| host.is_router).collect(),
            edges: Vec::new(),
            sides: vec![BTreeSet::new(); topology.hosts.len()],
        };
        for (number, TopologyMedium { kind, .. }) in topology.media.iter().enumerate() {
            let (down, up) = (MediumId(2 * number), MediumId(2 * number + 1));
            let numbers = |names: &[HostName]| names.iter().map(|name| index[name]).collect::<Vec<_>>();
            let wire = match kind {
                MediumKind::Wire(wire) => wire,
                MediumKind::Radio(radio) => {
                    let stations: Vec<usize> = radio.stations.iter().map(|(name, _)| index[name]).collect();
                    for &from in &stations {
                        for &to in stations.iter().filter(|&&to| to != from) {
                            graph.add_edge(from, to, down);
                        }
                        graph.sides[from].insert((down, Side::Near));
                    }
                    continue;
                }
            };
            let (near, far) = (numbers(&wire.near), numbers(&wire.far));
            for (&near, &far) in near.iter().flat_map(|near| far.iter().map(move |far| (near, far))) {
                graph.add_edge(far, near, down);
                graph.add_edge(near, far, up);
            }
            for (side, hosts) in [(Side::Near, near), (Side::Far, far)] {
                for host in hosts {
                    graph.sides[host].insert((down, side));
                }
            }
        }
        graph
    }

    fn add_edge(&mut self, from: usize, to: usize, medium: MediumId) {
        let hop = Hop { to, medium };
        self.edges.push(Edge { from, hop });
    }

    fn name(&self, host: usize) -> HostName {
        self.topology.hosts[host].name.clone()
    }

    fn check_every_host_has_a_link(&self) -> Result<(), TopologyError> {
        match self.sides.iter().position(BTreeSet::is_empty) {
            Some(host) => Err(TopologyError::HostWithoutLink { host: self.name(host) }),
            None => Ok(()),
        }
    }

    /// Checks that a path through routers joins every two hosts, except those of one side of a wire.
    fn check_paths(&self) -> Result<(), TopologyError> {
        let routes = Routes::find(&self.is_router, &self.edges);
        let hosts = self.is_router.len();
        let mut pairs = (0..hosts).flat_map(|from| (from + 1..hosts).map(move |to| (from, to)));
        let unjoined = pairs
            .find(|&(from, to)| routes.next_hop(from, to).is_none() && self.sides[from].is_disjoint(&self.sides[to]));
        match unjoined {
            Some((from, to)) => Err(TopologyError::NoPath {
                from: self.name(from),
                to: self.name(to),
                remedy: self.remedy(from, to),
            }),
            None => Ok(()),
        }
    }

    /// The remedy for two hosts that no path joins.
    fn remedy(&self, from: usize, to: usize) -> String {
        // If all hosts were routers: the path shows which of them must forward.
        let path = Routes::find(&vec![true; self.is_router.len()], &self.edges).path(from, to);
        let between = path.map(|path| path[1..path.len() - 1].to_vec()).unwrap_or_default();
        match between.into_iter().find(|&host| !self.is_router[host]) {
            Some(host) => format!(
                "{} is between them and does not forward: make it a router, or permit unreachable hosts \
                (allow_unreachable)",
                self.name(host)
            ),
            None => "add a wire between them, or routers on the way".to_owned(),
        }
    }
}
