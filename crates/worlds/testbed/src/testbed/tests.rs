use super::*;
use lastmile_link::radio::{RadioSpec, StationCounters};
use lastmile_link::resolve;
use lastmile_world::sim::World;
use lastmile_world::{Listener, World as _};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Two clients that share an access to a router, and a server behind it.
fn two_clients() -> Testbed<World> {
    let access = resolve("wpt/3g+loss=1%").expect("a link");
    let backbone = resolve("wpt/fios").expect("a link");
    let topology = Topology::builder()
        .hosts(["client-1", "client-2"])
        .router("router")
        .host("server")
        .wire("access", access, ["client-1", "client-2"], ["router"])
        .wire("backbone", backbone, ["router"], ["server"])
        .build()
        .expect("nothing is wrong");
    Testbed::build(&topology, Seed::new(1), |_| HostSetup::default()).expect("a simulated world")
}

/// Both clients fetch this number of bytes from the server.
fn fetch(testbed: &Testbed<World>, bytes: usize) {
    let server = testbed.host("server").clone();
    let mut listener = server.listen(80).expect("nothing else listens");
    let tasks = server.clone();
    server.spawn(async move {
        while let Ok(mut stream) = listener.accept().await {
            tasks.spawn(async move {
                stream.write_all(&vec![0; bytes]).await.expect("the client reads");
            });
        }
    });
    let address = server.address(80);
    let fetch = |name: &str| {
        let client = testbed.host(name).clone();
        async move {
            let (mut stream, mut body) = (client.connect(address).await?, Vec::new());
            stream.read_to_end(&mut body).await?;
            std::io::Result::Ok(body.len())
        }
    };
    let both = futures_util::future::join(fetch("client-1"), fetch("client-2"));
    let fetched = testbed.run_on(testbed.host("client-1"), Duration::from_secs(60), both);
    let (first, second) = fetched.expect("both end");
    assert_eq!((first.expect("all of it"), second.expect("all of it")), (bytes, bytes));
}

#[test]
fn hosts_and_links_are_found_by_name_and_each_link_counts_its_own() {
    let testbed = two_clients();
    fetch(&testbed, 50_000);
    testbed.idle(Duration::from_secs(10));
    let counters = |name| testbed.world.link_counters(testbed.link(name));
    let ((access_down, access_up), (backbone_down, backbone_up)) = (counters("access"), counters("backbone"));
    assert_eq!(backbone_down.delivered, access_down.offered);
    assert_eq!(access_up.delivered, backbone_up.offered);
    assert!(access_down.dropped_by_random_loss > 0);
    assert_eq!(testbed.hosts.len(), 4);
}

#[test]
fn what_is_drawn_at_random_is_that_of_every_link() {
    assert_eq!(two_clients().random_sources().collect::<Vec<_>>(), ["loss"]);
}

#[test]
fn there_is_a_capture_of_each_host_and_of_what_each_link_drops() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).into_string().expect("ASCII")).collect();
        names.sort();
        names
    };
    let mut testbed = two_clients();
    testbed.capture(folder.path(), "star").expect("files");
    fetch(&testbed, 50_000);
    testbed.flush_captures().expect("all was written");
    let expected = [
        "client-1",
        "client-2",
        "drops-access",
        "drops-backbone",
        "router",
        "server",
    ];
    assert_eq!(names(folder.path()), expected.map(|name| format!("star-{name}.pcapng")));
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).expect("it is there").len();
    // What one client sees, the other does not; the router sees everything twice.
    assert!(size("star-router.pcapng") > size("star-client-1.pcapng") + size("star-client-2.pcapng"));
    assert!(size("star-drops-access.pcapng") > size("star-drops-backbone.pcapng"));

    let folder = tempfile::tempdir().expect("a folder");
    let spec = TwoHostSpec::with_nodelay(resolve("wpt/3g").expect("a link"));
    let mut pair = TwoHostTestbed::<World>::build(&spec, Seed::new(1)).expect("a simulated world");
    pair.capture(folder.path(), "pair").expect("files");
    let expected = ["client", "drops", "server"];
    assert_eq!(names(folder.path()), expected.map(|name| format!("pair-{name}.pcapng")));
}

#[test]
fn the_counters_of_a_radio_are_found_by_its_name_and_its_stations_are_in_the_order_of_hosts() {
    let topology = Topology::builder()
        .hosts(["client-1", "server", "client-2"])
        .radio("wlan", RadioSpec::dot11b(), ["server", "client-1", "client-2"])
        .build()
        .expect("nothing is wrong");
    let mut testbed = Testbed::<World>::build(&topology, Seed::new(1), |_| HostSetup::default()).expect("a world");
    let folder = tempfile::tempdir().expect("a folder");
    testbed.capture(folder.path(), "cell").expect("files");
    fetch(&testbed, 50_000);
    testbed.idle(Duration::from_secs(1));
    testbed.flush_captures().expect("all was written");
    assert_eq!(testbed.radio_counters().count(), 1);
    let counters = testbed.world.radio_counters(testbed.radio("wlan"));
    let mut stations: Vec<_> = counters.stations.iter().collect();
    stations.sort_by_key(|counters| counters.station);
    let [first, server, second] = stations[..] else {
        panic!("three stations: {stations:?}")
    };
    let of = |station: &StationCounters| station.frames.packets_offered;
    let offered = testbed.world.counters(testbed.radio("wlan").medium()).offered;
    assert_eq!(of(server) + of(first) + of(second), offered);
    assert!(of(server) > of(first));
    assert_eq!(testbed.random_sources().collect::<Vec<_>>(), ["radio"]);
    for name in ["air-wlan", "drops", "server"] {
        assert!(folder.path().join(format!("cell-{name}.pcapng")).exists(), "{name}");
    }
}
