//! The builder of a topology. It accepts all hosts and media first, and checks them at the end.

use super::routes::{Edge, Hop, Routes};
use super::{
    HostName, MediumId, MediumKind, MediumName, RadioMedium, Side, Topology, TopologyError, TopologyHost,
    TopologyMedium, WireSpec,
};
use lastmile_link::LinkSpec;
use lastmile_link::radio::{Position, RadioSpec};
use std::collections::{BTreeMap, BTreeSet};

/// A topology under construction, whose names are not checked yet.
#[derive(Debug, Clone, Default)]
pub struct TopologyBuilder {
    hosts: Vec<TopologyHost>,
    media: Vec<TopologyMedium>,
    may_be_unreachable: bool,
}

/// The maximum number of hosts: the addresses of 10.0.0.0/16, to which the hosts of the emulated world have a route.
const HOSTS_MAX: usize = (1 << 16) - 2;

impl TopologyBuilder {
    /// Adds a host that does not forward.
    #[must_use]
    pub fn host(self, name: impl Into<String>) -> Self {
        self.with_host(HostName::unchecked(name), false)
    }

    /// Adds hosts that do not forward.
    #[must_use]
    pub fn hosts(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        names.into_iter().fold(self, Self::host)
    }

    /// Adds a host that forwards packets for others.
    #[must_use]
    pub fn router(self, name: impl Into<String>) -> Self {
        self.with_host(HostName::unchecked(name), true)
    }

    fn with_host(mut self, name: HostName, is_router: bool) -> Self {
        self.hosts.push(TopologyHost { name, is_router });
        self
    }

    /// Adds a wire that joins each host of `near` with each host of `far`: `link.down` is towards `near`, `link.up` towards `far`.
    #[must_use]
    pub fn wire<N: Into<String>, F: Into<String>>(
        self,
        name: impl Into<String>,
        link: LinkSpec,
        near: impl IntoIterator<Item = N>,
        far: impl IntoIterator<Item = F>,
    ) -> Self {
        let wire = WireSpec {
            link,
            near: near.into_iter().map(HostName::unchecked).collect(),
            far: far.into_iter().map(HostName::unchecked).collect(),
        };
        self.with_medium(name, MediumKind::Wire(Box::new(wire)))
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
        self,
        name: impl Into<String>,
        spec: RadioSpec,
        stations: impl IntoIterator<Item = (N, Position)>,
    ) -> Self {
        let station = |(host, at)| (HostName::unchecked(host), at);
        let stations = stations.into_iter().map(station).collect();
        self.with_medium(name, MediumKind::Radio(Box::new(RadioMedium { spec, stations })))
    }

    fn with_medium(mut self, name: impl Into<String>, kind: MediumKind) -> Self {
        let name = MediumName::unchecked(name);
        self.media.push(TopologyMedium { name, kind });
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
        check_hosts(&self.hosts)?;
        let index: BTreeMap<HostName, usize> = self.hosts.iter().map(|host| host.name.clone()).zip(0..).collect();
        let mut names = BTreeSet::new();
        for TopologyMedium { name, kind } in &self.media {
            name.check()?;
            match kind {
                MediumKind::Wire(wire) => check_wire(name, wire, &index)?,
                MediumKind::Radio(radio) => check_radio(name, radio, &index)?,
            }
            if !names.insert(name) {
                return Err(TopologyError::DuplicateMedium { name: name.clone() });
            }
        }
        let topology = Topology {
            hosts: self.hosts,
            media: self.media,
        };
        let graph = Graph::of(&topology, &index);
        graph.check_every_host_has_a_link()?;
        if !self.may_be_unreachable {
            graph.check_paths()?;
        }
        Ok(topology)
    }
}

fn check_hosts(hosts: &[TopologyHost]) -> Result<(), TopologyError> {
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
    for TopologyHost { name, .. } in hosts {
        name.check()?;
        if !names.insert(name) {
            return Err(TopologyError::DuplicateHost { name: name.clone() });
        }
    }
    Ok(())
}

fn check_wire(medium: &MediumName, wire: &WireSpec, index: &BTreeMap<HostName, usize>) -> Result<(), TopologyError> {
    check_side(medium, Side::Near, &wire.near, index)?;
    let far = check_side(medium, Side::Far, &wire.far, index)?;
    match wire.near.iter().find(|host| far.contains(host)) {
        Some(host) => Err(TopologyError::HostOnBothSides {
            medium: medium.clone(),
            host: host.clone(),
        }),
        None => Ok(()),
    }
}

fn check_radio(name: &MediumName, radio: &RadioMedium, index: &BTreeMap<HostName, usize>) -> Result<(), TopologyError> {
    let mut stations = BTreeSet::new();
    for (host, _) in &radio.stations {
        if !index.contains_key(host) {
            return Err(TopologyError::UnknownStation {
                radio: name.clone(),
                host: host.to_string(),
                known: names_in_order(index),
            });
        }
        if !stations.insert(host) {
            return Err(TopologyError::StationTwice {
                radio: name.clone(),
                host: host.clone(),
            });
        }
    }
    if stations.len() < 2 {
        return Err(TopologyError::TooFewStations { radio: name.clone() });
    }
    Ok(())
}

/// Checks one side of a wire, and returns its hosts.
fn check_side<'a>(
    medium: &MediumName,
    side: Side,
    names: &'a [HostName],
    index: &BTreeMap<HostName, usize>,
) -> Result<BTreeSet<&'a HostName>, TopologyError> {
    let mut known = BTreeSet::new();
    for host in names {
        if !index.contains_key(host) {
            return Err(TopologyError::UnknownHost {
                medium: medium.clone(),
                side,
                host: host.to_string(),
                known: names_in_order(index),
            });
        }
        if !known.insert(host) {
            return Err(TopologyError::HostTwiceOnSide {
                medium: medium.clone(),
                side,
                host: host.clone(),
            });
        }
    }
    if known.is_empty() {
        return Err(TopologyError::EmptySide {
            medium: medium.clone(),
            side,
        });
    }
    Ok(known)
}

/// The names of all hosts, in the order in which they were added.
fn names_in_order(index: &BTreeMap<HostName, usize>) -> String {
    let mut hosts: Vec<_> = index.iter().collect();
    hosts.sort_by_key(|(_, number)| **number);
    let names: Vec<_> = hosts.into_iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
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
