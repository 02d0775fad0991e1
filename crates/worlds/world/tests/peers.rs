//! Lists which of the real programs that tests compare lastmile with are installed. It prints them whatever else is shown of the
//! tests' output, so that a skipped check is not taken for a passed one. `make peers` installs them.

use std::process::Command;

/// A real program, and the checks that need it.
struct Peer {
    program: &'static str,
    checks: &'static str,
}

const PEERS: [Peer; 6] = [
    Peer {
        program: "tshark",
        checks: "that Wireshark reads the simulated world's captures and finds nothing wrong in them",
    },
    Peer {
        program: "chromium",
        checks: "that reports open in a browser, offline and without an error, and overflow at no width",
    },
    Peer {
        program: "curl",
        checks: "what the configurations that advise prints change in responses",
    },
    Peer {
        program: "brotli",
        checks: "that files compressed as these configurations say are served",
    },
    Peer {
        program: "a2enmod",
        checks: "that Apache as Debian configures it loads the configuration that advise prints",
    },
    Peer {
        program: "caddy",
        checks: "that Caddy loads the configuration that advise prints",
    },
];

fn main() {
    println!("\nreal programs that tests use");
    for Peer { program, checks } in PEERS {
        // Servers are in folders outside an ordinary user's PATH.
        let searched = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
        match Command::new(program).arg("--version").env("PATH", searched).output() {
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stdout);
                println!(
                    "{program}: there, {}",
                    text.lines().next().unwrap_or("of an unknown version")
                );
            }
            Err(_) => println!("{program}: MISSING, skipped: {checks} (make peers installs it)"),
        }
    }
    println!();
}
