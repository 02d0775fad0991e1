//! Claims about hosts on one radio over real kernels: times agree with the simulated world, and every packet is accounted for in both.

use crate::pcapng::{Shared, packets};
use crate::topologies::{emulated, host, simulated, transfer_to_all};
use lastmile_link::radio::RadioSpec;
use lastmile_world::Host;
use lastmile_world::World as _;
use lastmile_world::emu::UnmodelledLosses;
use lastmile_world::topology::{Assembly, Topology};
use std::time::Duration;

const CLIENTS: usize = 3;
/// The two worlds draw their back-offs at other times, since kernels' packets come some microseconds later; and a Linux kernel delays
/// and merges other ACKs than our TCP does, each of which takes airtime.
const AGREEMENT: f64 = 0.08;

/// A server and three clients on one radio.
fn classroom() -> Topology {
    let clients: Vec<String> = (1..=CLIENTS).map(|number| format!("client-{number}")).collect();
    let all = std::iter::once("server".to_owned()).chain(clients.clone());
    Topology::builder()
        .host("server")
        .hosts(clients)
        .radio("wlan", RadioSpec::dot11b(), all)
        .build()
        .unwrap()
}

/// When the last of three transfers ends that begin together, and the bytes that the radio delivers.
fn figures<W: lastmile_world::World>(made: &Assembly<W>) -> [f64; 2] {
    let server = host(made, "server");
    let ended = transfer_to_all(made, CLIENTS, 300_000);
    let radio = made.radios["wlan"];
    // Longer than an acknowledgement is delayed.
    let pause = Duration::from_millis(400);
    let counters = loop {
        let (host, later) = (server.clone(), server.now() + pause);
        made.world
            .run_for(2 * pause, async move { host.sleep_until(later).await })
            .unwrap();
        let counters = made.world.counters(radio.medium());
        if counters.in_flight == 0 {
            break counters;
        }
    };
    assert_eq!(counters.offered, counters.delivered + counters.dropped());
    let stations = made.world.radio_counters(radio);
    assert_eq!(stations.total(|of| of.packets_offered), counters.offered);
    assert_eq!(stations.total(|of| of.packets_delivered), counters.delivered);
    let last = ended.into_iter().fold(0.0, f64::max);
    [last, counters.bytes_delivered.as_f64()]
}

pub(crate) fn hosts_of_one_radio_share_it_as_in_the_simulated_world() {
    let classroom = classroom();
    let simulated = figures(&simulated(&classroom));
    let made = emulated(&classroom);
    let air = Shared::default();
    made.world
        .capture_air(made.radios["wlan"], Box::new(air.clone()))
        .unwrap();
    let emulated = figures(&made);
    for (what, simulated, emulated) in [
        (
            "seconds until the last transfer over a radio is done",
            simulated[0],
            emulated[0],
        ),
        ("bytes over a radio", simulated[1], emulated[1]),
    ] {
        let difference = simulated / emulated - 1.0;
        println!(
            "emulated: {what}: {simulated} simulated, {emulated} emulated: {:+.2} %",
            100.0 * difference
        );
        assert!(difference.abs() < AGREEMENT, "{what}");
    }
    let counters = lastmile_world::World::radio_counters(&made.world, made.radios["wlan"]);
    let recorded = packets(&air);
    let data = recorded.iter().filter(|frame| frame.bytes[24] == 0x08).count() as u64;
    assert_eq!(data, counters.total(|of| of.data_sent));
    assert_eq!(made.world.unroutable_packets(), 0);
    assert_eq!(made.world.disturbance().losses, UnmodelledLosses::default());
}
