//! Do the real programs of `peers/` keep to the contract, and do they agree with us? Servers are started over loopback, as root and as
//! nobody where this runs as root, and asked for files; a JDK rewrites our object streams. What is not installed is named, so that
//! nobody takes a check for passed that was left out. `make peers` installs them.

#[cfg(target_os = "linux")]
#[path = "peers/browser.rs"]
mod browser;
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
    println!("none: they are driven on Linux alone");
    println!();
}

/// Checks every peer there is, and names those there are not.
#[cfg(target_os = "linux")]
fn check_all() {
    use lastmile_study::peer::{PeerSpec, folder};
    let peers = PeerSpec::all(&folder().expect("the peers of this tree")).expect("peers that are well described");
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
                println!("{name}: there, {version}: keeps to the contract {as_whom}");
            }
            if serves("echo") {
                println!("{name}: there, {version}: {}", websockets::keeps_to_the_contract(&peer));
            }
            if serves("configured") {
                println!("{name}: there, {version}: {}", snippets::do_what_they_say(&peer));
            }
        }
        if name == "java-objects" {
            objects::streams_are_the_same_both_ways(&peer);
            println!("{name}: there, {version}: writes and reads the same streams");
        }
    }
}
