use super::*;
use lastmile_link::{DirectionSpec, LinkSpec};

fn link() -> LinkSpec {
    LinkSpec::new("ideal", DirectionSpec::IDEAL, DirectionSpec::IDEAL).expect("a name")
}

fn refusal(topology: TopologyBuilder) -> TopologyError {
    topology.build().expect_err("it is refused")
}

fn host(name: &str) -> HostName {
    HostName::new(name).expect("a name")
}

fn medium(name: &str) -> MediumName {
    MediumName::unchecked(name)
}

fn client_and_server() -> TopologyBuilder {
    Topology::builder().host("client").host("server")
}

#[test]
fn hosts_and_media_keep_their_order() {
    let topology = client_and_server()
        .router("router")
        .wire("access", link(), ["client"], ["router"])
        .wire("backbone", link(), ["router"], ["server"])
        .build()
        .expect("nothing is wrong");
    let hosts: Vec<_> = topology
        .hosts()
        .iter()
        .map(|host| (host.name.as_str(), host.is_router))
        .collect();
    assert_eq!(hosts, [("client", false), ("server", false), ("router", true)]);
    let media: Vec<_> = topology.media().iter().map(|medium| medium.name.as_str()).collect();
    assert_eq!(media, ["access", "backbone"]);
}

#[test]
fn a_name_that_is_no_label_is_refused() {
    let long = "a".repeat(64);
    for name in ["", "Server", "a b", "a/b", "..", "-a", "a-", "é", long.as_str()] {
        let expected = |of| TopologyError::Name {
            of,
            name: name.to_owned(),
        };
        assert_eq!(refusal(Topology::builder().host(name)), expected("host"));
        let wired = client_and_server().wire(name, link(), ["client"], ["server"]);
        assert_eq!(refusal(wired), expected("medium"));
    }
    assert!(HostName::new(&"a".repeat(63)).is_ok() && HostName::new("back-end-1").is_ok());
    assert_eq!(
        refusal(Topology::builder().host("A")).to_string(),
        "\"A\" is not the name of a host: use 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends, like \
         \"back-end-1\""
    );
}

#[test]
fn a_host_may_not_be_called_as_a_capture_of_drops() {
    for name in ["drops", "drops-access"] {
        let name = name.to_owned();
        assert_eq!(
            refusal(Topology::builder().host(name.clone())),
            TopologyError::NameOfDrops { name }
        );
    }
    assert!(HostName::new("dropshop").is_ok());
}

#[test]
fn a_topology_without_hosts_is_refused_and_so_is_one_with_more_than_there_are_addresses_for() {
    assert_eq!(refusal(Topology::builder()), TopologyError::NoHosts);
    let hosts = (0..65_535).map(|number| format!("host-{number}"));
    assert_eq!(
        refusal(Topology::builder().hosts(hosts)),
        TopologyError::TooManyHosts {
            count: 65_535,
            most: 65_534
        }
    );
}

#[test]
fn two_hosts_of_one_name_are_refused() {
    let twice = client_and_server().router("client");
    assert_eq!(refusal(twice), TopologyError::DuplicateHost { name: host("client") });
}

#[test]
fn two_media_of_one_name_are_refused() {
    let twice = client_and_server().wire("access", link(), ["client"], ["server"]).wire(
        "access",
        link(),
        ["client"],
        ["server"],
    );
    assert_eq!(
        refusal(twice),
        TopologyError::DuplicateMedium { name: medium("access") }
    );
}

#[test]
fn a_host_without_a_link_is_refused() {
    let alone = client_and_server()
        .host("other")
        .wire("access", link(), ["client"], ["server"]);
    assert_eq!(refusal(alone), TopologyError::HostWithoutLink { host: host("other") });
}

#[test]
fn a_link_with_an_unknown_host_is_refused_and_the_hosts_are_named() {
    let unknown = client_and_server().wire("access", link(), ["client"], ["sever"]);
    assert_eq!(
        refusal(unknown),
        TopologyError::UnknownHost {
            medium: medium("access"),
            side: Side::Far,
            host: "sever".to_owned(),
            known: "client, server".to_owned(),
        }
    );
}

#[test]
fn a_wire_with_an_empty_side_is_refused() {
    let nowhere = client_and_server().wire("access", link(), [""; 0], ["server"]);
    assert_eq!(
        refusal(nowhere),
        TopologyError::EmptySide {
            medium: medium("access"),
            side: Side::Near
        }
    );
}

#[test]
fn a_host_on_both_sides_of_a_wire_is_refused_and_so_is_one_twice_on_a_side() {
    let loops = client_and_server().wire("access", link(), ["client"], ["server", "client"]);
    assert_eq!(
        refusal(loops),
        TopologyError::HostOnBothSides {
            medium: medium("access"),
            host: host("client")
        }
    );
    let twice = client_and_server().wire("access", link(), ["client"], ["server", "server"]);
    assert_eq!(
        refusal(twice),
        TopologyError::HostTwiceOnSide {
            medium: medium("access"),
            side: Side::Far,
            host: host("server")
        }
    );
}

/// A chain whose middle may or may not forward.
fn chain(middle: fn(TopologyBuilder, &str) -> TopologyBuilder) -> TopologyBuilder {
    middle(client_and_server(), "middle")
        .wire("access", link(), ["client"], ["middle"])
        .wire("backbone", link(), ["middle"], ["server"])
}

#[test]
fn hosts_that_no_path_joins_are_refused_and_who_would_have_to_forward_is_named() {
    let refused = refusal(chain(|topology, name| topology.host(name)));
    assert_eq!(
        refused.to_string(),
        "no path joins client and server; middle is between them and does not forward: make it a router, or permit unreachable \
        hosts (allow_unreachable)"
    );
    assert!(chain(|topology, name| topology.router(name)).build().is_ok());
    assert!(
        chain(|topology, name| topology.host(name))
            .allow_unreachable()
            .build()
            .is_ok()
    );
    let islands = client_and_server()
        .hosts(["sensor", "monitor"])
        .wire("access", link(), ["client"], ["server"])
        .wire("field", link(), ["sensor"], ["monitor"]);
    assert_eq!(
        refusal(islands).to_string(),
        "no path joins client and sensor; add a wire between them, or routers on the way"
    );
}

#[test]
fn hosts_of_one_side_need_not_be_joined() {
    let clients = ["client-1", "client-2", "client-3"];
    let star = Topology::builder()
        .host("server")
        .hosts(clients)
        .wire("access", link(), clients, ["server"]);
    assert!(star.build().is_ok());
}
