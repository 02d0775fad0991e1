//! How does a command get behind a link? The order matters: rights and signals before any thread, the gateway before this thread
//! leaves for the emulated world, and the command last.

use super::{Remote, Traffic};
use crate::cli::link::{LinkArgs, SummaryFormat};
use crate::exit::{Exit, Unable};
use crate::output;
use anyhow::Context as _;
use lastmile_link::{Counters, LinkSpec};
use lastmile_report::link::{Crossing, Direction, Lateness};
use lastmile_units::Seed;
use lastmile_world::emu::{
    DescriptorLimit, EmuHost, Gateway, HostSpec, LatenessBound, Names, Reach, Signals, Tree, Unavailable, Woken, World,
    acquire,
};
use lastmile_world::{Host as _, LinkId, World as _};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::Duration;

/// What the machine's loopback address is called behind the link.
const HOST_NAME: &str = "host.lastmile";
/// How much of a capture is written at once: a disk is waited for once in so many bytes, and packets with it. Our own choice.
const CAPTURE_BUFFER: usize = 1 << 20;
/// How often it is looked whether all is delivered. Our own choice.
const LOOK: Duration = Duration::from_millis(20);
/// How long nothing may move before the rest is given up: what TCP may wait before it sends again (RFC 6298 section 2.5: where that
/// is bounded, then by no less than 60 s).
const PATIENCE: Duration = Duration::from_secs(60);

/// A link with a host at each end.
struct Wire {
    world: World,
    near: EmuHost,
    far: EmuHost,
    id: LinkId,
}

/// Lets `traffic` cross the link, and says on stderr how that went.
///
/// # Errors
/// When this machine does not allow it, a port is taken, or a capture cannot be written.
pub(super) fn cross(args: &LinkArgs, link: &LinkSpec, traffic: &Traffic<'_>) -> anyhow::Result<Exit> {
    acquire().map_err(|error| {
        Unable(format!(
            "{} is put behind a link in network namespaces, which this machine does not allow: {error}",
            match traffic {
                Traffic::Command => "a command",
                Traffic::Connections { .. } => "a port",
            }
        ))
    })?;
    let signals = Signals::hold().context("signals cannot be held back")?;
    let limit = DescriptorLimit::raise().context("the limit of descriptors cannot be raised")?;
    let gateway = Gateway::start().context("the link's way out cannot be started")?;
    let listener = match traffic {
        Traffic::Connections { listen, to } => Some((listening(*listen, to)?, *to)),
        Traffic::Command => None,
    };
    let wire = Wire::new(args, link)?;
    if let Some(folder) = &args.capture {
        wire.capture(folder)?;
    }
    let ended = match listener {
        None => Some(wire.run(args, &signals, &gateway, limit)?),
        Some((listener, to)) => {
            wire.forward(args, &signals, &gateway, listener, to)?;
            None
        }
    };
    let crossing = wire.summary(args, link, ended);
    let captured = wire.world.end_captures();
    if !args.quiet {
        output::remark(&match args.format {
            SummaryFormat::Text => format!("lastmile: {}", crossing.line()),
            SummaryFormat::Json => serde_json::to_string(&crossing).expect("a record has text for keys"),
        });
    }
    let exit = ended.map_or(Exit::Done, Exit::Command);
    let Err(error) = captured else { return Ok(exit) };
    let lost = Unable(format!("the captures are not whole: {error}"));
    if exit.code() == 0 {
        return Err(lost.into());
    }
    // The command's own failure comes first.
    output::remark(&format!("error: {lost}"));
    Ok(exit)
}

/// A socket that takes connections for `to`, where it is known who that is.
fn listening(at: SocketAddr, to: &Remote) -> anyhow::Result<TcpListener> {
    let Remote { host, port } = to;
    (host.as_str(), *port)
        .to_socket_addrs()
        .with_context(|| format!("--to {host}:{port}: nobody is known by that name"))?;
    TcpListener::bind(at).with_context(|| format!("--listen {at}: connections cannot be taken there; name a free port"))
}

fn unable(error: &Unavailable) -> Unable {
    Unable(error.to_string())
}

impl Wire {
    fn new(args: &LinkArgs, link: &LinkSpec) -> anyhow::Result<Self> {
        let world = World::new(Seed::new(args.seed)).map_err(|error| unable(&error))?;
        let host = || {
            let spec = HostSpec {
                congestion_control: args.congestion_control.clone(),
                ..HostSpec::default()
            };
            world.host(spec).map_err(|error| {
                let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
                let known = known.unwrap_or_default();
                if known.is_empty() || known.split_whitespace().any(|name| name == args.congestion_control) {
                    return unable(&error);
                }
                Unable(format!(
                    "--congestion-control {}: this kernel has {} (as root, `modprobe tcp_{0}` may add it)",
                    args.congestion_control,
                    known.split_whitespace().collect::<Vec<_>>().join(", "),
                ))
            })
        };
        let (near, far) = (host()?, host()?);
        let id = world.link(&link.down, &link.up, &[&near], &[&far]);
        Ok(Self { world, near, far, id })
    }

    /// Captures at both ends, and what the link drops.
    fn capture(&self, folder: &Path) -> anyhow::Result<()> {
        let failed = || format!("--capture {}: captures cannot be written there", folder.display());
        fs::create_dir_all(folder).with_context(failed)?;
        let file = |name: &str| -> anyhow::Result<Box<dyn Write + Send>> {
            let file = File::create(folder.join(name)).with_context(failed)?;
            Ok(Box::new(BufWriter::with_capacity(CAPTURE_BUFFER, file)))
        };
        self.world.capture(&self.near, file("near.pcapng")?)?;
        self.world.capture(&self.far, file("far.pcapng")?)?;
        self.world.capture_drops(self.id, file("drops.pcapng")?)?;
        Ok(())
    }

    /// Runs a command at the near end, to its end. Signals that are sent to this process are the command's.
    fn run(&self, args: &LinkArgs, signals: &Signals, gateway: &Gateway, limit: DescriptorLimit) -> anyhow::Result<u8> {
        let reach = if args.allow_net {
            Reach::Outside
        } else {
            Reach::Loopback
        };
        gateway
            .serve(&self.world, &self.near, &self.far, reach)
            .map_err(|error| unable(&error))?;
        let address = *self.far.address(0).ip();
        let names = Names {
            hosts: vec![(address, HOST_NAME.to_owned())],
            resolver: args.allow_net.then_some(address),
        };
        let (tree, unnamed) = Tree::start(&self.near, names, limit, &args.command).map_err(|error| unable(&error))?;
        if let Some(why) = unnamed {
            output::remark(&format!("{HOST_NAME} is not known, {address} is the same: {why}"));
        }
        loop {
            match signals.wait(Some(tree.as_fd()), None)? {
                Woken::Signal(signal) => tree.signal(signal),
                // The command has it from the terminal too.
                Woken::FromTerminal(_) | Woken::TimeOver => {}
                Woken::Readable => break,
            }
        }
        let code = tree.wait()?;
        self.deliver_the_rest(signals, gateway)?;
        Ok(code)
    }

    /// A kernel goes on delivering what a program wrote before it ended; so does this, until a signal or until nothing moves.
    fn deliver_the_rest(&self, signals: &Signals, gateway: &Gateway) -> anyhow::Result<()> {
        if !self.near.has_undelivered() {
            return Ok(());
        }
        let (mut moved, mut still) = (0, Duration::ZERO);
        while still < PATIENCE && (self.near.is_closing() || gateway.uploads() > 0) {
            if signals.wait(None, Some(LOOK))? != Woken::TimeOver {
                break;
            }
            let (down, up) = self.world.link_counters(self.id);
            let now = down.delivered + up.delivered;
            still = if now == moved { still + LOOK } else { Duration::ZERO };
            moved = now;
        }
        Ok(())
    }

    /// Carries connections over the link until this process is told to stop.
    fn forward(
        &self,
        args: &LinkArgs,
        signals: &Signals,
        gateway: &Gateway,
        listener: TcpListener,
        to: &Remote,
    ) -> anyhow::Result<()> {
        let Remote { host, port } = to;
        let at = listener.local_addr()?;
        gateway
            .forward(listener, &self.near, &self.far, (host.clone(), *port))
            .context("connections cannot be carried over the link")?;
        if !args.quiet {
            output::remark(&format!(
                "lastmile: {at} leads over {} to {host}:{port}, until Ctrl-C",
                args.link
            ));
        }
        while signals.wait(None, None)? == Woken::TimeOver {}
        Ok(())
    }

    fn summary(&self, args: &LinkArgs, link: &LinkSpec, exit_code: Option<u8>) -> Crossing {
        let (down, up) = self.world.link_counters(self.id);
        let (queue_down, queue_up) = self.world.longest_queues(self.id);
        let disturbance = self.world.disturbance();
        let why_invalid = disturbance.verdict().err().map(|why| why.to_string());
        Crossing {
            schema: Crossing::SCHEMA.to_owned(),
            link: link.to_string(),
            seed: args.seed,
            exit_code,
            congestion_control: args.congestion_control.clone(),
            offloads: "none".to_owned(),
            attachment: self.world.attachment().to_string(),
            real_time: self.world.is_real_time(),
            down: direction(&down, queue_down),
            up: direction(&up, queue_up),
            lateness: Lateness {
                p99: disturbance.lateness.quantile(LatenessBound::QUANTILE).as_secs_f64(),
                largest: disturbance.lateness.largest().as_secs_f64(),
                bound: disturbance.bound.get().as_secs_f64(),
            },
            lost_beside_link: disturbance.losses.before_link + disturbance.losses.after_link,
            packets_astray: self.world.packets_astray(),
            valid: why_invalid.is_none(),
            why_invalid,
        }
    }
}

fn direction(counters: &Counters, longest_queue: u64) -> Direction {
    Direction {
        packets_offered: counters.offered,
        bytes_offered: counters.bytes_offered.get(),
        packets_delivered: counters.delivered,
        bytes_delivered: counters.bytes_delivered.get(),
        dropped_by_full_queue: counters.dropped_by_full_queue,
        dropped_by_active_queue_management: counters.dropped_by_active_queue_management,
        dropped_by_random_loss: counters.dropped_by_random_loss,
        longest_queue,
    }
}
