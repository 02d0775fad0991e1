//! Do the real servers of `peers/` keep to the contract? Each that is installed is started over loopback, as root and as nobody where
//! this runs as root, and asked for files; each that is not is named, so that nobody takes a check for passed that was left out.
//! `make peers` installs them.

#[cfg(target_os = "linux")]
#[path = "peers/http.rs"]
mod http;
#[cfg(target_os = "linux")]
#[path = "peers/servers.rs"]
mod servers;

fn main() {
    println!("\nreal servers that studies use");
    #[cfg(target_os = "linux")]
    servers::check_all();
    #[cfg(not(target_os = "linux"))]
    println!("none: they are driven on Linux alone");
    println!();
}
