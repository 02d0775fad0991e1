//! The builder of a topology. It accepts all hosts and media first, and checks them at the end.

use super::routes::{Edge, Routes, radio_edges, wire_edges};
use super::{
    HostName, LinkId, MediumId, MediumKind, MediumName, RadioMedium, Topology, TopologyError, TopologyHost,
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
                return Err(TopologyError(format!(
                    "two media are called {name}; give one of them another name"
                )));
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
    let count = hosts.len();
    if count == 0 {
        let text = "the topology has no hosts; add at least two, and a wire between them";
        return Err(TopologyError(text.to_owned()));
    }
    if count > HOSTS_MAX {
        return Err(TopologyError(format!(
            "the topology has {count} hosts, and a world has addresses for {HOSTS_MAX}; remove some"
        )));
    }
    let mut names = BTreeSet::new();
    for TopologyHost { name, .. } in hosts {
        name.check()?;
        if !names.insert(name) {
            return Err(TopologyError(format!(
                "two hosts are called {name}; give one of them another name"
            )));
        }
    }
    Ok(())
}

fn check_wire(name: &MediumName, wire: &WireSpec, index: &BTreeMap<HostName, usize>) -> Result<(), TopologyError> {
    let side = |hosts, side| {
        let members = check_members(&format!("wire {name}"), &format!(" on its {side} side"), hosts, index)?;
        if members.is_empty() {
            return Err(TopologyError(format!(
                "wire {name} has no host on its {side} side; name at least one"
            )));
        }
        Ok(members)
    };
    side(&wire.near, "near")?;
    let far = side(&wire.far, "far")?;
    match wire.near.iter().find(|host| far.contains(host)) {
        Some(host) => Err(TopologyError(format!(
            "wire {name} has host {host} on both sides; remove it from one of them"
        ))),
        None => Ok(()),
    }
}

fn check_radio(name: &MediumName, radio: &RadioMedium, index: &BTreeMap<HostName, usize>) -> Result<(), TopologyError> {
    let hosts = radio.stations.iter().map(|(host, _)| host);
    if check_members(&format!("radio {name}"), "", hosts, index)?.len() < 2 {
        return Err(TopologyError(format!(
            "radio {name} has fewer than two stations; name at least two hosts"
        )));
    }
    Ok(())
}

/// Checks the hosts that `medium` names, each once; errors say where it names them by `side`. Returns the hosts.
fn check_members<'a>(
    medium: &str,
    side: &str,
    hosts: impl IntoIterator<Item = &'a HostName>,
    index: &BTreeMap<HostName, usize>,
) -> Result<BTreeSet<&'a HostName>, TopologyError> {
    let mut members = BTreeSet::new();
    for host in hosts {
        if !index.contains_key(host) {
            return Err(TopologyError(format!(
                "{medium} names a host {:?}{side} that the topology does not have; its hosts are {}",
                host.as_str(),
                names_in_order(index)
            )));
        }
        if !members.insert(host) {
            return Err(TopologyError(format!(
                "{medium} has host {host} twice{side}; name it once"
            )));
        }
    }
    Ok(members)
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
    /// For each host, the sides of wires that it is on, by the direction that leads there, and its radios, which have one side.
    sides: Vec<BTreeSet<MediumId>>,
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
            let link = LinkId {
                down: MediumId(2 * number),
                up: MediumId(2 * number + 1),
            };
            let numbers = |names: &[HostName]| names.iter().map(|name| index[name]).collect::<Vec<_>>();
            match kind {
                MediumKind::Wire(wire) => {
                    let (near, far) = (numbers(&wire.near), numbers(&wire.far));
                    graph.edges.extend(wire_edges(link, &near, &far));
                    graph.add_side(link.down, near);
                    graph.add_side(link.up, far);
                }
                MediumKind::Radio(radio) => {
                    let stations: Vec<usize> = radio.stations.iter().map(|(name, _)| index[name]).collect();
                    graph.edges.extend(radio_edges(link.down, &stations));
                    graph.add_side(link.down, stations);
                }
            }
        }
        graph
    }

    fn add_side(&mut self, side: MediumId, hosts: Vec<usize>) {
        for host in hosts {
            self.sides[host].insert(side);
        }
    }

    fn name(&self, host: usize) -> &HostName {
        &self.topology.hosts[host].name
    }

    fn check_every_host_has_a_link(&self) -> Result<(), TopologyError> {
        match self.sides.iter().position(BTreeSet::is_empty) {
            Some(host) => Err(TopologyError(format!(
                "host {} has no link; put it on one side of a wire or on a radio, or remove it",
                self.name(host)
            ))),
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
            Some((from, to)) => Err(TopologyError(format!(
                "no path joins {} and {}; {}",
                self.name(from),
                self.name(to),
                self.remedy(from, to)
            ))),
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
