//! Names the hosts of a world for a command: generated files are mounted over `/etc/hosts` and the other files of name resolution,
//! in a mount namespace of the command's own. Nothing is written to any disk, and no other process sees the files.

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

/// The names that a command can resolve.
#[derive(Debug, Clone)]
pub struct HostsFiles {
    /// Hosts of the world, by address and name.
    pub hosts: Vec<(Ipv4Addr, String)>,
    /// The name server for all other names; without one, no other name can be resolved.
    pub resolver: Option<Ipv4Addr>,
}

/// The folder where the files are made; a temporary file system hides it meanwhile. Every system has it, and no file is left there.
const SCRATCH_FOLDER: &str = "/tmp";

/// Moves the calling thread into a mount namespace of its own; later mounts are visible only there.
///
/// # Errors
/// When this process may not.
pub(super) fn unshare_mounts() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let flags = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    Ok(mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)?)
}

/// Lays `names` over the system's, in the calling thread's mount namespace, which must be [its own](own_mounts).
///
/// # Errors
/// When mounts are refused, or there is no `/etc/hosts` to lie over. Names then mean what they meant before.
pub(super) fn bind_mount_over(names: &HostsFiles) -> io::Result<()> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let files = [
        ("/etc/hosts", hosts(&read("/etc/hosts"), names)),
        ("/etc/resolv.conf", resolver(&read("/etc/resolv.conf"), names)),
        ("/etc/nsswitch.conf", switch(&read("/etc/nsswitch.conf"))),
    ];
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), SCRATCH_FOLDER, Some("tmpfs"), flags, Some("mode=755"))?;
    let laid = files
        .iter()
        // The other two are optional.
        .filter(|(path, _)| *path == "/etc/hosts" || Path::new(path).exists())
        .try_for_each(|(path, content)| {
            let made =
                Path::new(SCRATCH_FOLDER).join(Path::new(path).file_name().expect("these paths end with a name"));
            fs::write(&made, content)?;
            Ok(mount(Some(&made), *path, None::<&str>, MsFlags::MS_BIND, None::<&str>)?)
        });
    // The files live as long as their bind mounts.
    umount2(SCRATCH_FOLDER, MntFlags::MNT_DETACH)?;
    laid
}

/// The machine's hosts file, with the hosts of the world added.
fn hosts(machine: &str, names: &HostsFiles) -> String {
    let mut text = ended(machine);
    for (address, name) in &names.hosts {
        text += &format!("{address}\t{name}\n");
    }
    text
}

/// The machine's resolver settings, with another name server (resolv.conf(5)).
fn resolver(machine: &str, names: &HostsFiles) -> String {
    let kept = machine.lines().filter(|line| !line.starts_with("nameserver"));
    let mut text: String = kept.flat_map(|line| [line, "\n"]).collect();
    match names.resolver {
        Some(address) => text += &format!("nameserver {address}\n"),
        None => text += "# lastmile: no name server is reachable over this link\n",
    }
    text
}

/// The machine's name service switch without sources that ask a service outside: files first, then the name server
/// (nsswitch.conf(5)).
fn switch(machine: &str) -> String {
    let others = machine.lines().filter(|line| !line.trim_start().starts_with("hosts:"));
    let mut text: String = others.flat_map(|line| [line, "\n"]).collect();
    text += "hosts: files dns\n";
    text
}

fn ended(text: &str) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(resolver: Option<Ipv4Addr>) -> HostsFiles {
        HostsFiles {
            hosts: vec![(Ipv4Addr::new(10, 0, 0, 2), "host.lastmile".to_owned())],
            resolver,
        }
    }

    #[test]
    fn the_machines_names_are_kept() {
        assert_eq!(
            hosts("127.0.0.1 localhost", &names(None)),
            "127.0.0.1 localhost\n10.0.0.2\thost.lastmile\n"
        );
        assert_eq!(hosts("", &names(None)), "10.0.0.2\thost.lastmile\n");
    }

    #[test]
    fn the_machines_name_servers_are_replaced_and_its_search_list_is_kept() {
        let machine = "search example.org\nnameserver 127.0.0.53\nnameserver ::1\noptions edns0\n";
        assert_eq!(
            resolver(machine, &names(Some(Ipv4Addr::new(10, 0, 0, 2)))),
            "search example.org\noptions edns0\nnameserver 10.0.0.2\n"
        );
        assert!(!resolver(machine, &names(None)).contains("nameserver "));
    }

    #[test]
    fn a_service_that_knows_names_is_not_asked() {
        let machine = "passwd: files systemd\nhosts: mymachines resolve [!UNAVAIL=return] files myhostname dns\n";
        assert_eq!(switch(machine), "passwd: files systemd\nhosts: files dns\n");
    }
}
