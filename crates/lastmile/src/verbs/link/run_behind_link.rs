//! Runs a command behind a link. The order matters: rights and signals before any thread, the gateway before this thread
//! leaves for the emulated world, and the command last.

use crate::cli::link::{LinkArgs, Remote, SummaryFormat};
use crate::exit::{Exit, UnavailableError};
use crate::output;
use anyhow::Context as _;
use lastmile_link::{Counters, LinkSpec, in_words};
use lastmile_report::link_summary::{CpuWait, Direction, Lateness, LinkRunSummary};
use lastmile_units::Seed;
use lastmile_world::emu::{
    DescriptorLimit, Disturbance, EmuHost, Gateway, GatewayReach, HostSpec, HostsFiles, LatenessBound, MOVED_SHARE,
    ProcessTree, Signals, WakeReason, World, acquire,
};
use lastmile_world::{Host as _, LinkId, World as _};
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// The name of the machine's loopback address behind the link.
const HOST_NAME: &str = "host.lastmile";
/// The variable that tells the command which link it is behind.
const LINK_VARIABLE: &str = "LASTMILE_LINK";
/// How much of a capture is written at once, so that the disk rarely delays packets. Our own choice.
const CAPTURE_BUFFER: usize = 1 << 20;
/// How often to check whether everything is delivered. Our own choice.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The size of a packet that refuses a connection: a RST without data and options (RFC 9293 section 3.1), in IPv4 (RFC 791). A SYN-ACK has
/// options, and is larger.
const RESET_BYTES: u64 = 40;
/// How long nothing may move before the rest is given up: TCP's longest retransmission timeout (RFC 6298 section 2.5: an upper bound,
/// if there is one, is at least 60 s).
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);

/// How a command's packets get onto the link, without and with the outside network shut.
const INSIDE: &str =
    "behind it, localhost and 127.0.0.1 are the command's own; this machine's services are at host.lastmile:PORT";
const INSIDE_AND_OUTSIDE: &str = "behind it, localhost and 127.0.0.1 are the command's own; this machine's services are at \
                                  host.lastmile:PORT, and --allow-net opens the outside, name servers included";

/// A link with a host at each end.
struct LinkedHosts {
    world: World,
    near: EmuHost,
    far: EmuHost,
    id: LinkId,
    /// What had happened when the link was ready.
    before: Disturbance,
}

/// Lets a command's traffic, or connections to a port, cross the link, and prints a summary on stderr.
///
/// # Errors
/// When this machine does not allow it, a port is taken, or a capture cannot be written.
pub(super) fn run_behind_link(args: &LinkArgs, link: &LinkSpec) -> anyhow::Result<Exit> {
    acquire().map_err(|error| {
        UnavailableError(format!(
            "{} behind a link needs network namespaces, which this machine does not allow: {error}",
            if args.listen.is_some() { "a port" } else { "a command" }
        ))
    })?;
    let signals = Signals::hold().context("signals cannot be blocked")?;
    let limit = DescriptorLimit::raise().context("the limit of file descriptors cannot be raised")?;
    let gateway = Gateway::start().context("the link's gateway cannot be started")?;
    let relay = args.listen.zip(args.to.as_ref());
    let listener = relay
        .map(|(listen, to)| anyhow::Ok((bind_listener(listen.0, to)?, to)))
        .transpose()?;
    let wire = LinkedHosts::new(args, link)?;
    if let Some(folder) = &args.capture {
        wire.capture(folder)?;
    }
    let ended = match listener {
        None => {
            if !args.quiet && args.format == SummaryFormat::Text {
                introduce(args, link);
            }
            Some(wire.run(args, link, &signals, &gateway, limit)?)
        }
        Some((listener, to)) => {
            wire.forward(args, &signals, &gateway, listener, to)?;
            None
        }
    };
    let crossing = wire.summary(args, link, ended);
    let captured = wire.world.end_captures();
    if !args.quiet {
        let hint = wire.hint(&crossing).filter(|_| args.format == SummaryFormat::Text);
        hint.iter().for_each(|hint| output::note(hint));
        output::note(&match args.format {
            SummaryFormat::Text => format!("lastmile: {}", crossing.line()),
            SummaryFormat::Json => serde_json::to_string(&crossing).expect("a record has text for keys"),
        });
    }
    let exit = ended.map_or(Exit::Done, |(code, _)| Exit::Command(code));
    let Err(error) = captured else { return Ok(exit) };
    let lost = UnavailableError(format!("the captures are incomplete: {error}"));
    if exit.code() == 0 {
        return Err(lost.into());
    }
    // The command's own failure comes first.
    output::note(&format!("error: {lost}"));
    Ok(exit)
}

/// Says what was understood of a link that is no profile, and that a shell begins.
fn introduce(args: &LinkArgs, link: &LinkSpec) {
    let program = args.command.first().map(Path::new).and_then(Path::file_name);
    let is_shell = program.is_some_and(|name| ["bash", "dash", "fish", "sh", "zsh"].iter().any(|shell| name == *shell));
    let understood = in_words(link);
    if is_shell && args.command.len() == 1 && io::stdin().is_terminal() {
        output::note(&format!(
            "lastmile: a shell behind {}: {understood}; `exit` ends it",
            args.link
        ));
    } else if link.profile().is_none() {
        output::note(&format!("lastmile: {}: {understood}", link.name()));
    }
}

/// A socket that accepts connections for `to`, after resolving its name.
fn bind_listener(at: SocketAddr, to: &Remote) -> anyhow::Result<TcpListener> {
    let Remote { host, port } = to;
    (host.as_str(), *port)
        .to_socket_addrs()
        .with_context(|| format!("--to {host}:{port}: the host is unknown"))?;
    TcpListener::bind(at).with_context(|| format!("--listen {at}: the address cannot be bound; name a free port"))
}

impl LinkedHosts {
    fn new(args: &LinkArgs, link: &LinkSpec) -> anyhow::Result<Self> {
        let world = World::new(Seed::new(args.seed))?;
        let host = || {
            let spec = HostSpec {
                congestion_control: args.congestion_control.clone(),
                ..HostSpec::default()
            };
            world.host(spec).map_err(|error| -> anyhow::Error {
                let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
                let known = known.unwrap_or_default();
                if known.is_empty() || known.split_whitespace().any(|name| name == args.congestion_control) {
                    return error.into();
                }
                let known = known.split_whitespace().collect::<Vec<_>>().join(", ");
                UnavailableError(format!(
                    "--congestion-control {}: this kernel has {known} (as root, `modprobe tcp_{0}` may add it)",
                    args.congestion_control,
                ))
                .into()
            })
        };
        let (near, far) = (host()?, host()?);
        let id = world.link(&link.down, &link.up, &[&near], &[&far]);
        let before = world.disturbance();
        Ok(Self {
            world,
            near,
            far,
            id,
            before,
        })
    }

    /// Captures packets at both ends, and those that the link drops.
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

    /// Runs a command at the near end, until it ends. Signals to this process are passed on to it.
    fn run(
        &self,
        args: &LinkArgs,
        link: &LinkSpec,
        signals: &Signals,
        gateway: &Gateway,
        limit: DescriptorLimit,
    ) -> anyhow::Result<(u8, Duration)> {
        let reach = if args.allow_net {
            GatewayReach::Outside
        } else {
            GatewayReach::Loopback
        };
        gateway.serve(&self.world, &self.near, &self.far, reach)?;
        let address = *self.far.address(0).ip();
        let names = HostsFiles {
            hosts: vec![(address, HOST_NAME.to_owned())],
            resolver: args.allow_net.then_some(address),
        };
        let environment = [(LINK_VARIABLE, link.to_string())];
        let began = Instant::now();
        let (tree, unnamed) = ProcessTree::start(&self.near, names, limit, &environment, &args.command)?;
        if let Some(why) = unnamed {
            output::note(&format!(
                "the name {HOST_NAME} is not available, use {address} instead: {why}"
            ));
        }
        loop {
            match signals.wait(Some(tree.as_fd()), None)? {
                WakeReason::Signal(signal) => tree.signal(signal),
                // The terminal sends it to the command too.
                WakeReason::FromTerminal(_) | WakeReason::TimeOver => {}
                WakeReason::Readable => break,
            }
        }
        let code = tree.wait()?;
        let took = began.elapsed();
        self.drain(signals, gateway)?;
        Ok((code, took))
    }

    /// Delivers what the command wrote before it ended, as a kernel does, until a signal comes or nothing moves.
    fn drain(&self, signals: &Signals, gateway: &Gateway) -> anyhow::Result<()> {
        if !self.near.has_undelivered() {
            return Ok(());
        }
        let (mut moved, mut still) = (0, Duration::ZERO);
        while still < DRAIN_TIMEOUT && (self.near.is_closing() || gateway.half_open_relays() > 0) {
            if signals.wait(None, Some(POLL_INTERVAL))? != WakeReason::TimeOver {
                break;
            }
            let (down, up) = self.world.link_counters(self.id);
            let now = down.delivered + up.delivered;
            still = if now == moved {
                still + POLL_INTERVAL
            } else {
                Duration::ZERO
            };
            moved = now;
        }
        Ok(())
    }

    /// Relays connections over the link until a signal stops this process.
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
            .context("connections cannot be relayed over the link")?;
        if !args.quiet {
            output::note(&format!(
                "lastmile: {at} leads over {} to {host}:{port}, until Ctrl-C",
                args.link
            ));
        }
        while signals.wait(None, None)? == WakeReason::TimeOver {}
        Ok(())
    }

    /// Why a command that failed may not have reached what it wanted, where its packets tell.
    fn hint(&self, crossing: &LinkRunSummary) -> Option<String> {
        let down = &crossing.down;
        let address = self.far.address(0);
        if crossing.exit_code.is_none_or(|code| code == 0) {
            None
        } else if crossing.packets_astray > 0 {
            Some(format!(
                "lastmile: the command sent packets to hosts that are not behind the link, which has this machine at {HOST_NAME} ({}) alone; \
                 --allow-net opens the outside, name servers included",
                address.ip()
            ))
        } else if down.packets_delivered > 0 && down.bytes_delivered <= down.packets_delivered * RESET_BYTES {
            Some(format!(
                "lastmile: no connection was established: {HOST_NAME} ({}) refused all; a service has to listen at that port of 127.0.0.1 on this machine",
                address.ip()
            ))
        } else {
            None
        }
    }

    fn summary(&self, args: &LinkArgs, link: &LinkSpec, ended: Option<(u8, Duration)>) -> LinkRunSummary {
        let (down, up) = self.world.link_counters(self.id);
        let (queue_down, queue_up) = self.world.longest_queues(self.id);
        let disturbance = self.world.disturbance().since(&self.before);
        let why_invalid = disturbance.verdict().err().map(|why| why.to_string());
        let (waited, observed) = disturbance.waits.whole();
        LinkRunSummary {
            schema: LinkRunSummary::SCHEMA.to_owned(),
            link: link.to_string(),
            seed: args.seed,
            exit_code: ended.map(|(code, _)| code),
            took: ended.map(|(_, took)| took.as_secs_f64()),
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
            cpu_wait: CpuWait {
                waited: waited.as_secs_f64(),
                observed: observed.as_secs_f64(),
                bound: MOVED_SHARE,
            },
            lost_beside_link: disturbance.losses.before_link + disturbance.losses.after_link,
            packets_astray: self.world.unroutable_packets(),
            valid: why_invalid.is_none(),
            why_invalid,
            doubts: Vec::new(),
        }
        .checked_for_packets(match (&args.to, args.allow_net) {
            (Some(_), _) => "no connection came in",
            (None, true) => INSIDE,
            (None, false) => INSIDE_AND_OUTSIDE,
        })
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
