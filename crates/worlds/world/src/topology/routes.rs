//! Routes: for each pair of hosts, the medium and the next host of a packet from one to the other.
//!
//! A route is a shortest path, counted in media. Only routers forward, so every host between the ends of a path is a router. Among
//! paths of equal length, the one whose next host was added first is chosen, and to that host the medium that was added first.

use super::id::{LinkId, MediumId};
use std::collections::BTreeMap;

/// The next hop of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hop {
    /// The host that it is carried to.
    pub(crate) to: usize,
    /// The medium that carries it.
    pub(crate) medium: MediumId,
}

/// An edge: a medium that carries packets from one host to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) hop: Hop,
}

/// The edges of a wire, which joins each host of `near` with each host of `far`: `down` is towards `near`.
pub(crate) fn wire_edges(link: LinkId, near: &[usize], far: &[usize]) -> Vec<Edge> {
    let pairs = near.iter().flat_map(|near| far.iter().map(move |far| (*near, *far)));
    pairs
        .flat_map(|(near, far)| [Edge::new(far, near, link.down), Edge::new(near, far, link.up)])
        .collect()
}

/// The edges of a radio, which joins `stations` with each other.
pub(crate) fn radio_edges(radio: MediumId, stations: &[usize]) -> Vec<Edge> {
    let pairs = stations
        .iter()
        .flat_map(|from| stations.iter().map(move |to| (*from, *to)));
    pairs
        .filter(|(from, to)| from != to)
        .map(|(from, to)| Edge::new(from, to, radio))
        .collect()
}

impl Edge {
    pub(crate) const fn new(from: usize, to: usize, medium: MediumId) -> Self {
        let hop = Hop { to, medium };
        Self { from, hop }
    }
}

/// The routes between all hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Routes {
    /// The next hops towards each destination, by host.
    hops: Vec<Vec<Option<Hop>>>,
}

impl Routes {
    /// Finds the shortest paths over `edges`; `is_router` gives for each host whether it forwards.
    pub(crate) fn find(is_router: &[bool], edges: &[Edge]) -> Self {
        let mut towards: Vec<Vec<Edge>> = vec![Vec::new(); is_router.len()];
        for edge in edges {
            towards[edge.hop.to].push(*edge);
        }
        for edges in &mut towards {
            edges.sort_by_key(|edge| edge.hop.medium);
        }
        let hops = (0..is_router.len()).map(|destination| {
            let mut hops = vec![None; is_router.len()];
            for (host, hop) in hops_to(destination, is_router, &towards) {
                hops[host] = Some(hop);
            }
            hops
        });
        let hops = hops.collect();
        Self { hops }
    }

    /// The next hop from `from` to `to`; none if no path leads there.
    pub(crate) fn next_hop(&self, from: usize, to: usize) -> Option<Hop> {
        *self.hops.get(to)?.get(from)?
    }

    /// The hosts on the path from `from` to `to`, both included; none if no path leads there.
    pub(crate) fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut path = vec![from];
        while *path.last()? != to {
            path.push(self.next_hop(*path.last()?, to)?.to);
        }
        Some(path)
    }
}

/// The next hop of every host that has a path to `destination`: a breadth-first search backwards from there.
fn hops_to(destination: usize, is_router: &[bool], towards: &[Vec<Edge>]) -> BTreeMap<usize, Hop> {
    let mut hops = BTreeMap::new();
    let mut level = vec![destination];
    while !level.is_empty() {
        let mut farther = Vec::new();
        // In the order of hosts, so that the first of several possible next hosts is found first.
        for edge in level.iter().flat_map(|&host| &towards[host]) {
            if edge.from != destination && !hops.contains_key(&edge.from) {
                hops.insert(edge.from, edge.hop);
                farther.push(edge.from);
            }
        }
        // No path passes a host that does not forward.
        farther.retain(|&host| is_router[host]);
        farther.sort_unstable();
        level = farther;
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wires between pairs of hosts: wire n has medium 2n towards the first host and 2n + 1 towards the second.
    fn routes(is_router: &[bool], wires: &[(usize, usize)]) -> Routes {
        let edge = |from, to, medium| Edge {
            from,
            hop: Hop {
                to,
                medium: MediumId(medium),
            },
        };
        let both =
            |(wire, &(near, far)): (usize, &(usize, usize))| [edge(far, near, 2 * wire), edge(near, far, 2 * wire + 1)];
        Routes::find(is_router, &wires.iter().enumerate().flat_map(both).collect::<Vec<_>>())
    }

    const HOST: bool = false;
    const ROUTER: bool = true;

    #[test]
    fn a_packet_goes_from_router_to_router() {
        let routes = routes(&[HOST, ROUTER, ROUTER, HOST], &[(0, 1), (1, 2), (2, 3)]);
        assert_eq!(routes.path(0, 3), Some(vec![0, 1, 2, 3]));
        assert_eq!(routes.path(3, 0), Some(vec![3, 2, 1, 0]));
        assert_eq!(
            routes.next_hop(1, 3),
            Some(Hop {
                to: 2,
                medium: MediumId(3)
            })
        );
        assert_eq!(routes.path(2, 2), Some(vec![2]));
    }

    #[test]
    fn a_host_that_is_no_router_is_on_no_path_but_at_its_ends() {
        let routes = routes(&[HOST, HOST, HOST], &[(0, 1), (1, 2)]);
        assert_eq!(routes.path(0, 1), Some(vec![0, 1]));
        assert_eq!(routes.next_hop(0, 2), None);
        // The path over two routers is chosen, though it is longer.
        let routes = routes_about_a_host();
        assert_eq!(routes.path(0, 2), Some(vec![0, 3, 4, 2]));
    }

    fn routes_about_a_host() -> Routes {
        routes(
            &[HOST, HOST, HOST, ROUTER, ROUTER],
            &[(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)],
        )
    }

    #[test]
    fn of_paths_of_one_length_the_host_and_then_the_medium_that_came_first_is_taken() {
        let diamond = routes(&[HOST, ROUTER, ROUTER, HOST], &[(0, 2), (2, 3), (0, 1), (1, 3), (0, 1)]);
        assert_eq!(
            diamond.next_hop(0, 3),
            Some(Hop {
                to: 1,
                medium: MediumId(5)
            })
        );
    }

    #[test]
    fn where_no_path_leads_there_is_no_hop() {
        let routes = routes(&[HOST, HOST, HOST, HOST], &[(0, 1), (2, 3)]);
        assert_eq!(routes.next_hop(0, 2), None);
        assert_eq!(routes.path(0, 3), None);
        assert_eq!(routes.next_hop(0, 7), None, "a host that is not there yet");
    }
}
