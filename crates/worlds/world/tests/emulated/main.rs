//! Claims about the emulated world: it does what its link model says, with a real kernel's TCP at both ends.
//!
//! Each claim runs in worlds of its own, one after another, since namespaces are made before any thread is. As root, all of it runs
//! again as an ordinary user. Where this machine allows that user no network namespaces, the test reports so and checks nothing.

#[cfg(target_os = "linux")]
mod captures;
#[cfg(target_os = "linux")]
mod cpu_waits;
#[cfg(target_os = "linux")]
mod datagrams;
#[cfg(target_os = "linux")]
mod kernels;
#[cfg(target_os = "linux")]
mod links;
#[cfg(target_os = "linux")]
mod pcapng;
#[cfg(target_os = "linux")]
mod radio;
#[cfg(target_os = "linux")]
mod topologies;
#[cfg(target_os = "linux")]
mod transfer;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("emulated: skipped, since only Linux has network namespaces");
}

#[cfg(target_os = "linux")]
fn main() {
    // Whatever hangs, in here or in a program that was started, the system ends it.
    nix::unistd::alarm::set(300);
    let hold = linux::all_claims_hold();
    let hold_for_nobody = !nix::unistd::geteuid().is_root() || linux::again_as_nobody();
    assert!(hold && hold_for_nobody, "some claims do not hold");
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{captures, cpu_waits, kernels, links, radio, topologies, transfer};
    use lastmile_world::emu::{CheckStatus, acquire, examine};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    use std::panic::catch_unwind;
    use std::process::Command;

    const CLAIMS: [(&str, fn()); 20] = [
        ("what is not ready has a remedy", what_is_not_ready_has_a_remedy),
        (
            "a transfer takes what the link says, by TUN",
            transfer::it_takes_what_the_link_says_by_tun,
        ),
        (
            "a transfer takes what the link says, by veth",
            transfer::it_takes_what_the_link_says_by_veth,
        ),
        (
            "hosts of one side share the wire",
            links::hosts_of_one_side_share_the_wire,
        ),
        ("each link carries its own", links::each_link_carries_its_own),
        (
            "a full queue drops the newest packet",
            links::a_full_queue_drops_the_newest_packet,
        ),
        ("every packet is accounted for", links::every_packet_is_accounted_for),
        (
            "what waits too long for the forwarder is told of",
            links::a_sender_faster_than_the_forwarder_is_told_of,
        ),
        (
            "the same frames are lost as in the simulated world",
            transfer::the_same_frames_are_lost_as_in_the_simulated_world,
        ),
        (
            "a time in which its program waited for a CPU does not count",
            cpu_waits::a_time_in_which_its_program_waited_does_not_count,
        ),
        (
            "a time in which a real server waited for a CPU does not count",
            cpu_waits::a_time_in_which_a_real_server_waited_does_not_count,
        ),
        (
            "captures hold whole packets with right checksums",
            captures::packets_are_whole_and_their_checksums_right,
        ),
        (
            "drops are in a capture of their own, with causes",
            captures::drops_are_told_with_their_causes,
        ),
        (
            "a host's congestion control and initial window are those asked for",
            kernels::congestion_control_and_initial_window_are_those_asked_for,
        ),
        (
            "a host's retransmissions are those seen on the wire",
            kernels::retransmissions_are_those_seen_on_the_wire,
        ),
        (
            "a chain over a router takes what it takes in the simulated world",
            topologies::a_chain_takes_what_it_takes_in_the_simulated_world,
        ),
        (
            "clients of one wire share it as in the simulated world",
            topologies::clients_of_one_wire_share_it_as_in_the_simulated_world,
        ),
        (
            "a router's captures show each packet twice",
            topologies::a_router_is_seen_to_take_each_packet_and_to_send_it_on,
        ),
        (
            "routers forward and no other host does",
            topologies::routers_forward_and_no_other_host_does,
        ),
        (
            "hosts of one radio share it as in the simulated world",
            radio::hosts_of_one_radio_share_it_as_in_the_simulated_world,
        ),
    ];

    /// Tells of each whether it holds.
    pub(super) fn all_claims_hold() -> bool {
        match acquire() {
            Ok(privilege) => println!("emulated: user namespaces {privilege}"),
            Err(error) => {
                println!("emulated: skipped, since {error}");
                return true;
            }
        }
        let fails = |(name, claim): &&(&str, fn())| {
            let holds = catch_unwind(claim).is_ok();
            println!("emulated: {name}: {}", if holds { "ok" } else { "FAILED" });
            !holds
        };
        // As in other tests: those alone whose names contain the first argument.
        let chosen = std::env::args().nth(1).unwrap_or_default();
        CLAIMS
            .iter()
            .filter(|(name, _)| name.contains(&chosen))
            .filter(fails)
            .count()
            == 0
    }

    /// The user that owns nothing.
    const NOBODY: u32 = 65534;

    /// Runs all of it again in a process that may nothing.
    pub(super) fn again_as_nobody() -> bool {
        // That user may not be able to get at where the program lies.
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        let program = folder.path().join("emulated");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        println!("emulated: again, as an ordinary user");
        Command::new(&program)
            .args(std::env::args().skip(1))
            .current_dir("/")
            .uid(NOBODY)
            .gid(NOBODY)
            .status()
            .unwrap()
            .success()
    }

    fn what_is_not_ready_has_a_remedy() {
        let abilities = examine();
        for ability in &abilities {
            assert_eq!(
                ability.remedy.is_some(),
                ability.status != CheckStatus::Ready,
                "{ability:?}"
            );
            // These claims are about to make worlds.
            assert_ne!(ability.status, CheckStatus::Missing, "{ability:?}");
        }
        assert!(abilities.iter().any(|ability| ability.name == "lateness of packets"));
    }
}
