//! The gateway: programs in an emulated world reach services outside it. The far host of a link accepts their connections, and a
//! thread in the network namespace that this process began in connects each of them to its service.
//!
//! A port is opened when a connection to it is requested, before the request is delivered to the far host's kernel. If no service
//! listens, the port stays closed, and the kernel refuses the connection, as the kernel of the service's machine would.
// Its sockets are real, and some are in namespaces that are not hosts of a world.
#![allow(clippy::disallowed_types)]

mod dns_relay;
mod listeners;
mod loopback_services;
mod tcp_relay;

use super::World;
use super::host::EmuHost;
use super::interface;
use super::privilege::Unavailable;
use crate::Host as _;
use listeners::RelayListeners;
use loopback_services::LoopbackServices;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, listen, setsockopt, socket, sockopt,
};
use nix::unistd::gettid;
use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, SocketAddrV4, TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use tcp_relay::{HalfOpenRelays, RelayTarget};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// The connection of a world's far host with services outside the world.
#[derive(Debug)]
pub struct Gateway {
    commands: UnboundedSender<GatewayCommand>,
    services: Arc<LoopbackServices>,
    resolvers: Vec<SocketAddr>,
    half_open: HalfOpenRelays,
    /// The number of its thread.
    thread: i32,
}

/// The services that a gateway reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayReach {
    /// Services on the machine's loopback address, as TCP ports of the far host.
    Loopback,
    /// Also everything that the machine reaches: TCP to any address, with the far host as name server.
    Outside,
}

/// A command to the gateway's thread.
#[derive(Debug)]
enum GatewayCommand {
    /// Accept and relay the connections of a listener on the far host.
    Open { listener: TcpListener, target: RelayTarget },
    /// Relay DNS queries.
    Resolve { at: UdpSocket, from: Vec<SocketAddr> },
}

/// The maximum number of connections that wait to be accepted.
const BACKLOG: i32 = 1024;
/// The port of name servers (RFC 1035 section 4.2).
const DNS: u16 = 53;

impl Gateway {
    /// Starts the thread, in the network namespace of the calling thread: call it before the [`World`] is made.
    ///
    /// # Errors
    /// When there is no `/proc`, or the system has no thread left.
    pub fn start() -> io::Result<Self> {
        let services = Arc::new(LoopbackServices::of_this_thread()?);
        let (commands, mut received) = unbounded_channel();
        let half_open = HalfOpenRelays::default();
        let counted = half_open.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::Builder::new().name("gateway".to_owned()).spawn(move || {
            let _ = sender.send(gettid().as_raw());
            // The thread ends, and with it every connection, when no sender of commands is left.
            runtime.block_on(async {
                while let Some(command) = received.recv().await {
                    match command {
                        GatewayCommand::Open { listener, target } => drop(tokio::spawn(tcp_relay::accept_and_relay(
                            listener,
                            target,
                            counted.clone(),
                        ))),
                        GatewayCommand::Resolve { at, from } => drop(tokio::spawn(dns_relay::relay(at, from))),
                    }
                }
            });
        })?;
        Ok(Self {
            commands,
            services,
            resolvers: dns_relay::machine_name_servers(),
            half_open,
            thread: receiver.recv().map_err(io::Error::other)?,
        })
    }

    /// Lets `near` reach services through `far`, as far as `reach` says. The two must be [linked](World::link).
    ///
    /// # Errors
    /// When the hosts' kernels refuse the routes that this needs, or the port for DNS.
    pub fn serve(&self, world: &World, near: &EmuHost, far: &EmuHost, reach: GatewayReach) -> Result<(), Unavailable> {
        world.watch.shared.add_thread(self.thread);
        let address = *far.address(0).ip();
        if reach == GatewayReach::Outside {
            let at = route_outside(world, near, far).map_err(|error| failed(&error))?;
            let from = self.resolvers.clone();
            self.send_command(GatewayCommand::Resolve { at, from });
        }
        let mut listeners = RelayListeners {
            far: far.namespace().clone(),
            address,
            reach,
            services: Arc::clone(&self.services),
            resolver: self.resolvers.first().copied(),
            open: BTreeMap::new(),
            gateway: self.commands.clone(),
        };
        world.on_connection_request(far, move |to| listeners.on_connection_request(to));
        Ok(())
    }

    /// Relays connections to `listener` over the link from `near` to `far`, and from there to `to`, a host and a port. The listener
    /// may be in any network namespace.
    ///
    /// # Errors
    /// When the system has no thread or descriptor left.
    pub fn forward(&self, listener: TcpListener, near: &EmuHost, far: &EmuHost, to: (String, u16)) -> io::Result<()> {
        let over = far.address(to.1);
        self.send_command(GatewayCommand::Open {
            listener: far.namespace().enter(|| listen_at(over))??,
            target: RelayTarget::Named(to.0, to.1),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (near, watch) = (near.namespace.clone(), near.watch.clone());
        watch.add_thread(self.thread);
        std::thread::Builder::new().name("entrance".to_owned()).spawn(move || {
            watch.add_this_thread();
            runtime.block_on(tcp_relay::relay_over_link(listener, near, over));
        })?;
        Ok(())
    }

    /// The number of connections that may still send to their services.
    pub fn half_open_relays(&self) -> usize {
        self.half_open.count()
    }

    fn send_command(&self, command: GatewayCommand) {
        self.commands
            .send(command)
            .expect("the gateway's thread lives as long as there is a sender of commands");
    }
}

/// Routes all packets of `near` to `far`, which accepts them for every address; returns the socket for DNS queries.
fn route_outside(world: &World, near: &EmuHost, far: &EmuHost) -> io::Result<UdpSocket> {
    let (near_address, far_address) = (*near.address(0).ip(), *far.address(0).ip());
    near.namespace()
        .enter(|| interface::send_everything(near_address, &near.spec))??;
    far.namespace()
        .enter(|| interface::answer_for_everyone(far_address, near_address, &far.spec))??;
    world
        .forwarder
        .with(|network| network.set_gateway(near.index, far.index));
    far.namespace().enter(|| UdpSocket::bind((far_address, DNS)))?
}

/// Listens at an address of the network namespace that the calling thread is in.
fn listen_at(address: SocketAddrV4) -> io::Result<TcpListener> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&socket, sockopt::ReuseAddr, &true)?;
    // Accepted connections inherit it.
    setsockopt(&socket, sockopt::TcpNoDelay, &true)?;
    bind(socket.as_raw_fd(), &SockaddrIn::from(address))?;
    listen(&socket, Backlog::new(BACKLOG)?)?;
    Ok(TcpListener::from(socket))
}

fn failed(error: &io::Error) -> Unavailable {
    Unavailable::unexplained("starting the gateway of the emulated world", error)
}
