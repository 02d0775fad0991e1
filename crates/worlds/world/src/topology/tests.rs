use super::*;
use lastmile_link::{DirectionSpec, LinkSpec};

fn link() -> LinkSpec {
    LinkSpec::new("ideal", DirectionSpec::IDEAL, DirectionSpec::IDEAL).expect("a name")
}

fn refusal(topology: TopologyBuilder) -> String {
    topology.build().expect_err("it is refused").to_string()
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
        let expected = |of| {
            format!(
                "{name:?} is not the name of a {of}: use 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both \
                 ends, like \"back-end-1\""
            )
        };
        assert_eq!(refusal(Topology::builder().host(name)), expected("host"));
        let wired = client_and_server().wire(name, link(), ["client"], ["server"]);
        assert_eq!(refusal(wired), expected("medium"));
    }
    assert!(HostName::new(&"a".repeat(63)).is_ok() && HostName::new("back-end-1").is_ok());
    assert_eq!(
        refusal(Topology::builder().host("A")),
        "\"A\" is not the name of a host: use 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends, like \
         \"back-end-1\""
    );
}

#[test]
fn a_host_may_not_be_called_as_a_capture_of_drops() {
    for name in ["drops", "drops-access"] {
        let expected = format!(
            "a host cannot be called {name:?}: that name is reserved for captures of dropped packets and of radios; choose another name"
        );
        assert_eq!(refusal(Topology::builder().host(name)), expected);
    }
    assert!(HostName::new("dropshop").is_ok());
}

#[test]
fn a_topology_without_hosts_is_refused_and_so_is_one_with_more_than_there_are_addresses_for() {
    assert_eq!(
        refusal(Topology::builder()),
        "the topology has no hosts; add at least two, and a wire between them"
    );
    let hosts = (0..65_535).map(|number| format!("host-{number}"));
    assert_eq!(
        refusal(Topology::builder().hosts(hosts)),
        "the topology has 65535 hosts, and a world has addresses for 65534; remove some"
    );
}

#[test]
fn two_hosts_of_one_name_are_refused() {
    let twice = client_and_server().router("client");
    assert_eq!(
        refusal(twice),
        "two hosts are called client; give one of them another name"
    );
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
        "two media are called access; give one of them another name"
    );
}

#[test]
fn a_host_without_a_link_is_refused() {
    let alone = client_and_server()
        .host("other")
        .wire("access", link(), ["client"], ["server"]);
    assert_eq!(
        refusal(alone),
        "host other has no link; put it on one side of a wire or on a radio, or remove it"
    );
}

#[test]
fn a_link_with_an_unknown_host_is_refused_and_the_hosts_are_named() {
    let unknown = client_and_server().wire("access", link(), ["client"], ["sever"]);
    assert_eq!(
        refusal(unknown),
        r#"wire access names a host "sever" on its far side that the topology does not have; its hosts are client, server"#
    );
}

#[test]
fn a_wire_with_an_empty_side_is_refused() {
    let nowhere = client_and_server().wire("access", link(), [""; 0], ["server"]);
    assert_eq!(
        refusal(nowhere),
        "wire access has no host on its near side; name at least one"
    );
}

#[test]
fn a_host_on_both_sides_of_a_wire_is_refused_and_so_is_one_twice_on_a_side() {
    let loops = client_and_server().wire("access", link(), ["client"], ["server", "client"]);
    assert_eq!(
        refusal(loops),
        "wire access has host client on both sides; remove it from one of them"
    );
    let twice = client_and_server().wire("access", link(), ["client"], ["server", "server"]);
    assert_eq!(
        refusal(twice),
        "wire access has host server twice on its far side; name it once"
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
        refused,
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
        refusal(islands),
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
