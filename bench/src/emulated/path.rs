//! Paths for packets: two hosts joined by a link of the emulated world, or by the kernel's own means.

use anyhow::{Context as _, Result, ensure};
use lastmile_link::DirectionSpec;
use lastmile_units::Seed;
use lastmile_world::Host as _;
use lastmile_world::emu::{HostSpec, Namespace, World};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::Command;

/// Two hosts, joined.
pub(crate) struct Path {
    pub(crate) near: Namespace,
    pub(crate) far: Namespace,
    pub(crate) far_address: Ipv4Addr,
    world: Option<World>,
}

impl Path {
    /// A wire of the emulated world, the same in both directions.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub(crate) fn emulated(direction: &DirectionSpec) -> Result<Self> {
        let world = World::new(Seed::new(1))?;
        let (near, far) = (world.host(HostSpec::default())?, world.host(HostSpec::default())?);
        world.link(direction, direction, &[&near], &[&far]);
        Ok(Self {
            near: near.namespace().clone(),
            far: far.namespace().clone(),
            far_address: *far.address(0).ip(),
            world: Some(world),
        })
    }

    /// A veth pair whose near end has the queueing discipline `discipline` (tc(8)), or none where that is empty. TCP segments stay merged from
    /// socket to socket, as veth pairs do by default.
    ///
    /// # Errors
    /// Where this user is not root, `ip` or `tc` is missing, or this kernel has no such queueing discipline.
    pub(crate) fn kernel(discipline: &str) -> Result<Self> {
        ensure!(
            nix::unistd::geteuid().is_root(),
            "`ip` and `tc` have no rights in a user namespace: run as root"
        );
        Namespace::move_into_new()?;
        let (near, far) = (Namespace::new()?, Namespace::new()?);
        let there = format!("/proc/{}/fd/{}", std::process::id(), far.as_fd().as_raw_fd());
        run(
            &near,
            &format!("ip link add link0 type veth peer name link0 netns {there}"),
        )?;
        for (host, address, other) in [(&near, "10.0.0.1", "10.0.0.2"), (&far, "10.0.0.2", "10.0.0.1")] {
            run(host, &format!("ip address add {address} peer {other} dev link0"))?;
            run(host, "ip link set link0 up")?;
        }
        if !discipline.is_empty() {
            run(&near, &format!("tc qdisc add dev link0 root {discipline}"))?;
        }
        Ok(Self {
            near,
            far,
            far_address: Ipv4Addr::new(10, 0, 0, 2),
            world: None,
        })
    }

    /// The world's state so far. The kernel's own paths are always valid.
    pub(crate) fn conduct(&self) -> Conduct {
        self.world.as_ref().map_or_else(Conduct::default, |world| Conduct {
            real_time: world.is_real_time(),
            valid: world.disturbance().verdict().is_ok(),
        })
    }
}

/// The state of a world.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Conduct {
    /// Its forwarder ran before ordinary threads.
    pub(crate) real_time: bool,
    /// Packets were in time, and none was lost outside the link model.
    pub(crate) valid: bool,
}

/// Runs a command in a host.
fn run(host: &Namespace, command: &str) -> Result<()> {
    let mut words = command.split_whitespace();
    let program = words.next().context("a command has a name")?;
    let output = host
        .enter(|| Command::new(program).args(words).output())?
        .with_context(|| format!("{program}: is it installed?"))?;
    ensure!(
        output.status.success(),
        "{command}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
