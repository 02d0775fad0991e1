//! Checks that the real programs of `peers/` keep to the contract and agree with our own code.
//!
//! Servers are started on the loopback interface (as root and as nobody if this runs as root) and asked for files; a JDK rewrites our
//! object streams. Programs that are not installed are named, so that a skipped check is not taken for a passed one. `make peers`
//! installs them.

#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::disallowed_types,
        clippy::disallowed_methods,
        reason = "these tests drive real programs over real sockets, in real time"
    )
)]

#[cfg(target_os = "linux")]
#[path = "peers/browser.rs"]
mod browser;
#[cfg(target_os = "linux")]
#[path = "peers/calls.rs"]
mod calls;
#[cfg(target_os = "linux")]
#[path = "peers/events.rs"]
mod events;
#[cfg(target_os = "linux")]
#[path = "peers/http.rs"]
mod http;
#[cfg(target_os = "linux")]
#[path = "peers/objects.rs"]
mod objects;
#[cfg(target_os = "linux")]
#[path = "peers/servers.rs"]
mod servers;
#[cfg(target_os = "linux")]
#[path = "peers/snippets.rs"]
mod snippets;
#[cfg(target_os = "linux")]
#[path = "peers/websockets.rs"]
mod websockets;

fn main() {
    println!("\nreal programs that studies use");
    #[cfg(target_os = "linux")]
    check_all();
    #[cfg(not(target_os = "linux"))]
    println!("none: they run only on Linux");
    println!();
}

/// Checks every installed peer, and names the others.
#[cfg(target_os = "linux")]
fn check_all() {
    use lastmile_testbed::peer::{PeerSpec, folder};
    let peers = PeerSpec::all(&folder().expect("this tree has peers")).expect("every peer.toml is valid");
    for peer in peers {
        let name = &peer.name;
        let version = match peer.is_installed() {
            Ok(version) => version,
            Err(missing) => {
                println!("{name}: MISSING, skipped: {}: {missing}", peer.purpose);
                continue;
            }
        };
        if let Some(program) = &peer.server {
            let serves = |operation: &str| program.operations.iter().any(|known| known == operation);
            if serves("get") {
                let as_whom = servers::keeps_to_the_contract(&peer, program);
                println!("{name}: installed, {version}: keeps to the contract {as_whom}");
            }
            if serves("echo") {
                println!(
                    "{name}: installed, {version}: {}",
                    websockets::keeps_to_the_contract(&peer)
                );
            }
            if serves("text") {
                println!(
                    "{name}: installed, {version}: {}",
                    calls::arrive_as_they_were_sent(&peer, program)
                );
            }
            if serves("events") {
                println!("{name}: installed, {version}: {}", events::are_delivered(&peer));
            }
            if serves("configured") {
                println!("{name}: installed, {version}: {}", snippets::do_what_they_say(&peer));
            }
        }
        if name == "java-objects" {
            objects::streams_are_the_same_both_ways(&peer);
            println!("{name}: installed, {version}: writes and reads the same streams");
        }
    }
}
