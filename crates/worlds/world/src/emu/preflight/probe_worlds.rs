//! Makes worlds in each way that they can be made, and measures the lateness of packets in one.

use super::Check;
use crate::emu::lateness::microseconds;
use crate::emu::{Attachment, HostSpec, Unavailable, World, veth};
use crate::{Halt, Host, Listener, World as _};
use lastmile_link::DirectionSpec;
use lastmile_units::Seed;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// All checks that need a world. If none can be made, that is the only result.
pub(super) fn all() -> Vec<Check> {
    let (tun, veth) = (tun(), attach_host(Attachment::Veth));
    let attachments = match (&tun, &veth) {
        (Err(tun), Err(veth)) => {
            let name = "interfaces in network namespaces";
            return vec![Check::missing(
                name,
                format!("{}; {}", tun.reason, veth.reason),
                &*tun.remedy,
            )];
        }
        (Ok(()), _) => vec![
            Check::ready("network namespaces", "made"),
            Check::ready("/dev/net/tun", "a host can be attached by it"),
        ],
        (Err(tun), Ok(())) => vec![
            Check::ready("network namespaces", "made"),
            Check::limited("/dev/net/tun", &tun.reason, &*tun.remedy),
        ],
    };
    let veth = match veth {
        Ok(()) => packet_socket_buffer(),
        Err(error) => Check::limited("veth and packet sockets", error.reason, error.remedy),
    };
    let controls = ["cubic", "bbr", "reno"].map(congestion_control);
    attachments
        .into_iter()
        .chain([veth])
        .chain(controls)
        .chain(priority_and_lateness())
        .collect()
}

/// Whether a host can be attached in this way.
fn attach_host(attachment: Attachment) -> Result<(), Unavailable> {
    World::with_attachment(attachment, Seed::new(0))?
        .host(HostSpec::default())
        .map(drop)
}

/// Whether a host can be attached by TUN; an error of its device has a remedy of its own.
fn tun() -> Result<(), Unavailable> {
    attach_host(Attachment::Tun).map_err(|error| match Attachment::tun_error() {
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
            Unavailable::new("opening /dev/net/tun", &format!("{shut}; veth pairs are used instead"), remedy)
        }
        None => error,
    })
}

/// The size of a packet socket's buffer for this user.
fn packet_socket_buffer() -> Check {
    const NAME: &str = "veth and packet sockets";
    match veth::packets_held() {
        Ok(packets) if packets >= WAITING_PACKETS_MIN => {
            Check::ready(NAME, format!("the socket buffer holds {packets} packets"))
        }
        Ok(packets) => Check::limited(
            NAME,
            format!("the socket buffer holds only {packets} packets"),
            "`sysctl net.core.rmem_max=25165824` as root; not needed where /dev/net/tun can be opened",
        ),
        Err(error) => Check::limited(NAME, error, "run as root"),
    }
}

/// The number of packets that the buffer must hold: those of 3 ms at 1 Gbit/s. Our own choice.
const WAITING_PACKETS_MIN: usize = 250;

/// Whether a host can use a congestion control.
fn congestion_control(name: &str) -> Check {
    let what = format!("congestion control {name}");
    let spec = HostSpec {
        congestion_control: name.to_owned(),
        ..HostSpec::default()
    };
    match World::new(Seed::new(0)).and_then(|world| world.host(spec).map(drop)) {
        Ok(()) => Check::ready(what, "a host can use it"),
        Err(error) => Check::limited(
            what,
            error.reason,
            format!("`modprobe tcp_{name}` as root; without it, studies and commands that select {name} fail"),
        ),
    }
}

/// The forwarder's priority, and the lateness of packets in a short run over an emulated link.
fn priority_and_lateness() -> [Check; 2] {
    const PRIORITY: &str = "SCHED_FIFO";
    const LATENESS: &str = "lateness of packets";
    const REMEDY: &str = "stop other programs while lastmile measures, or run as root";
    let world = match World::new(Seed::new(0)) {
        Ok(world) => world,
        Err(error) => {
            let failed = |name| Check::missing(name, &error.reason, &*error.remedy);
            return [failed(PRIORITY), failed(LATENESS)];
        }
    };
    let priority = if world.is_real_time() {
        Check::ready(PRIORITY, "the forwarder has real-time priority")
    } else {
        let remedy = "run as root, or permit it: `ulimit -r 1` in a shell with that right, or `USER - rtprio 1` in /etc/security/limits.conf";
        Check::limited(PRIORITY, "refused: on a busy machine packets will be late", remedy)
    };
    let lateness = match drive(&world) {
        Ok(()) => {
            let disturbance = world.disturbance();
            let lateness = &disturbance.lateness;
            let found = format!(
                "p50 {}, p99 {}, maximum {} ({} packets over a link of 10 ms); the p99 may be up to {}",
                microseconds(lateness.quantile(0.5)),
                microseconds(lateness.quantile(0.99)),
                microseconds(lateness.largest()),
                lateness.packets(),
                microseconds(disturbance.bound.get())
            );
            match disturbance.verdict() {
                Ok(()) => Check::ready(LATENESS, found),
                Err(_) => Check::limited(LATENESS, format!("{found}: figures taken now would be invalid"), REMEDY),
            }
        }
        Err(error) => Check::missing(LATENESS, format!("the link delivers no packets: {error}"), REMEDY),
    };
    [priority, lateness]
}

/// The number of packets in one direction, and the time between them: 100 ms in all.
const PACKETS: u32 = 100;
const GAP: Duration = Duration::from_millis(1);

/// Sends packets over a link for a while.
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
