//! Which worlds can be made here, and how good are they? They are made, and one is measured.

use super::Ability;
use crate::emu::lateness::microseconds;
use crate::emu::{Attachment, HostSpec, Unavailable, World, veth};
use crate::{Halt, Host, Listener, World as _};
use lastmile_link::DirectionSpec;
use lastmile_units::Seed;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Everything that takes a world to try it. Without a world there is nothing else to try.
pub(super) fn all() -> Vec<Ability> {
    let (tun, veth) = (tun(), attached(Attachment::Veth));
    let attachments = match (&tun, &veth) {
        (Err(tun), Err(veth)) => {
            let name = "interfaces in network namespaces";
            return vec![Ability::missing(
                name,
                format!("{}; {}", tun.reason, veth.reason),
                &*tun.remedy,
            )];
        }
        (Ok(()), _) => vec![
            Ability::ready("network namespaces", "made"),
            Ability::ready("/dev/net/tun", "a host is attached by it"),
        ],
        (Err(tun), Ok(())) => vec![
            Ability::ready("network namespaces", "made"),
            Ability::limited("/dev/net/tun", &tun.reason, &*tun.remedy),
        ],
    };
    let veth = match veth {
        Ok(()) => waiting_room(),
        Err(error) => Ability::limited("veth and packet sockets", error.reason, error.remedy),
    };
    let controls = ["cubic", "bbr", "reno"].map(congestion_control);
    attachments
        .into_iter()
        .chain([veth])
        .chain(controls)
        .chain(measured())
        .collect()
}

/// Whether a host can be attached in this way.
fn attached(attachment: Attachment) -> Result<(), Unavailable> {
    World::attached_by(attachment, Seed::new(0))?
        .host(HostSpec::default())
        .map(drop)
}

/// Whether a host can be attached by TUN; what its device lacks is told with a remedy of its own.
fn tun() -> Result<(), Unavailable> {
    attached(Attachment::Tun).map_err(|error| match Attachment::tun_is_shut() {
        Some(shut) => {
            let remedy = match shut.kind() {
                io::ErrorKind::NotFound => {
                    "`modprobe tun` as root, or give the container the device (docker run --device /dev/net/tun)"
                }
                io::ErrorKind::PermissionDenied => {
                    "`chmod 0666 /dev/net/tun` as root, or give the container the device (docker run --device /dev/net/tun)"
                }
                _ => "`modprobe tun` as root",
            };
            Unavailable::new("opening /dev/net/tun", &format!("{shut}; veth pairs serve instead"), remedy)
        }
        None => error,
    })
}

/// How much a packet socket holds for this user.
fn waiting_room() -> Ability {
    const NAME: &str = "veth and packet sockets";
    match veth::packets_held() {
        Ok(packets) if packets >= ENOUGH => {
            Ability::ready(NAME, format!("{packets} packets may wait for the forwarder"))
        }
        Ok(packets) => Ability::limited(
            NAME,
            format!("only {packets} packets may wait for the forwarder"),
            "`sysctl net.core.rmem_max=25165824` as root, where /dev/net/tun is shut",
        ),
        Err(error) => Ability::limited(NAME, error, "run as root"),
    }
}

/// How many packets must be able to wait: those that come in 3 ms at 1 Gbit/s. Our own choice.
const ENOUGH: usize = 250;

/// Whether a host may use a kind of congestion control.
fn congestion_control(name: &str) -> Ability {
    let what = format!("congestion control {name}");
    let spec = HostSpec {
        congestion_control: name.to_owned(),
        ..HostSpec::default()
    };
    match World::new(Seed::new(0)).and_then(|world| world.host(spec).map(drop)) {
        Ok(()) => Ability::ready(what, "a host uses it"),
        Err(error) => Ability::limited(
            what,
            error.reason,
            format!("`modprobe tcp_{name}` as root; without it, studies and commands that ask for it fail"),
        ),
    }
}

/// What a short run over a real link shows: how late packets are, and by what right the forwarder runs.
fn measured() -> [Ability; 2] {
    const PRIORITY: &str = "SCHED_FIFO";
    const LATENESS: &str = "lateness of packets";
    const REMEDY: &str = "leave this machine to it while it measures, or run as root";
    let world = match World::new(Seed::new(0)) {
        Ok(world) => world,
        Err(error) => {
            let failed = |name| Ability::missing(name, &error.reason, &*error.remedy);
            return [failed(PRIORITY), failed(LATENESS)];
        }
    };
    let priority = if world.is_real_time() {
        Ability::ready(PRIORITY, "the forwarder runs before every ordinary thread")
    } else {
        let remedy = "run as root, or allow it: `ulimit -r 1` in a shell that may, or `USER - rtprio 1` in /etc/security/limits.conf";
        Ability::limited(PRIORITY, "refused: on a busy machine packets will be late", remedy)
    };
    let lateness = match drive(&world) {
        Ok(()) => {
            let disturbance = world.disturbance();
            let lateness = &disturbance.lateness;
            let found = format!(
                "p50 {}, p99 {}, at most {}, of {} packets over a link of 10 ms; a p99 of {} is allowed",
                microseconds(lateness.quantile(0.5)),
                microseconds(lateness.quantile(0.99)),
                microseconds(lateness.largest()),
                lateness.packets(),
                microseconds(disturbance.bound.get())
            );
            match disturbance.verdict() {
                Ok(()) => Ability::ready(LATENESS, found),
                Err(_) => Ability::limited(LATENESS, format!("{found}: figures taken now would be invalid"), REMEDY),
            }
        }
        Err(error) => Ability::missing(LATENESS, format!("no packets cross a link: {error}"), REMEDY),
    };
    [priority, lateness]
}

/// Packets one way, and how far apart: 100 ms in all.
const PACKETS: u32 = 100;
const GAP: Duration = Duration::from_millis(1);

/// Lets packets cross a link for a while.
fn drive(world: &World) -> io::Result<()> {
    let host = || {
        let spec = HostSpec {
            no_delay: true,
            ..HostSpec::default()
        };
        world.host(spec).map_err(io::Error::other)
    };
    let (near, far) = (host()?, host()?);
    let direction = DirectionSpec {
        one_way_delay: Duration::from_millis(10),
        ..DirectionSpec::IDEAL
    };
    world.link(&direction, &direction, &[&near], &[&far]);
    let mut listener = far.listen(80)?;
    world.spawn(async move {
        if let Ok(mut stream) = listener.accept().await {
            while matches!(stream.read(&mut [0; 64]).await, Ok(1..)) {}
        }
    });
    let sending = async move {
        let mut stream = near.connect(far.address(80)).await?;
        let begun = near.now();
        for packet in 0..PACKETS {
            near.sleep_until(begun + GAP * packet).await;
            stream.write_all(&[0]).await?;
        }
        stream.shutdown().await
    };
    let ended: Result<io::Result<()>, Halt> = world.run_for(Duration::from_secs(5), sending);
    ended.map_err(io::Error::other)?
}
