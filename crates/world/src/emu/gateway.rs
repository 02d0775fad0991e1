//! How do programs in an emulated world reach services outside it? The far host of a link takes their connections, and carries
//! each on from where the gateway was started: a thread that stays in the network namespace that this process began in.
//!
//! A port is opened as it is asked for, before the request is handed to the far host's kernel. Where no service listens, nobody
//! opens it, and the kernel refuses the connection, as that of the service's machine would.
// Its sockets are real ones, in namespaces of which some are no host of a world.
#![allow(clippy::disallowed_types)]

mod carry;
mod doors;
mod resolver;
mod services;

use super::World;
use super::host::EmuHost;
use super::interface;
use super::privilege::Unavailable;
use crate::Host as _;
use carry::{Target, Uploads};
use doors::{Door, Doors};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, listen, setsockopt, socket, sockopt,
};
use services::Services;
use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, SocketAddrV4, TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// The way out of a world, from its far side on.
#[derive(Debug)]
pub struct Gateway {
    to_thread: UnboundedSender<Order>,
    services: Arc<Services>,
    resolvers: Vec<SocketAddr>,
    uploads: Uploads,
}

/// How far the way leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To services on the machine's loopback address, as ports of the far host: TCP.
    Loopback,
    /// And to everything that the machine reaches: TCP to any address, and the far host is a name server.
    Outside,
}

/// What the gateway's thread is told to do.
#[derive(Debug)]
enum Order {
    /// Take the connections of a door of the far host.
    Open(Door),
    /// Answer questions for names.
    Resolve { at: UdpSocket, from: Vec<SocketAddr> },
}

/// Connections that wait to be taken.
const BACKLOG: i32 = 1024;
/// Of name servers (RFC 1035 section 4.2).
const DNS: u16 = 53;

impl Gateway {
    /// Starts the thread, in the network namespace that the calling thread is in: to be done before the [`World`] is made.
    ///
    /// # Errors
    /// When there is no `/proc`, or the system has no thread left.
    pub fn start() -> io::Result<Self> {
        let services = Arc::new(Services::of_this_thread()?);
        let (to_thread, mut orders) = unbounded_channel();
        let uploads = Uploads::default();
        let counted = uploads.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("gateway".to_owned()).spawn(move || {
            // It ends, and with it every connection, when nobody is left to give orders.
            runtime.block_on(async {
                while let Some(order) = orders.recv().await {
                    match order {
                        Order::Open(door) => drop(tokio::spawn(carry::take(door, counted.clone()))),
                        Order::Resolve { at, from } => drop(tokio::spawn(resolver::relay(at, from))),
                    }
                }
            });
        })?;
        Ok(Self {
            to_thread,
            services,
            resolvers: resolver::of_this_machine(),
            uploads,
        })
    }

    /// Lets `near` reach services through `far`, as far as `reach` says. The two must be [linked](World::link).
    ///
    /// # Errors
    /// When the hosts' kernels do not take the routes that this needs, or no port for names.
    pub fn serve(&self, world: &World, near: &EmuHost, far: &EmuHost, reach: Reach) -> Result<(), Unavailable> {
        let address = *far.address(0).ip();
        if reach == Reach::Outside {
            let at = lead_outside(world, near, far).map_err(|error| failed(&error))?;
            let from = self.resolvers.clone();
            self.order(Order::Resolve { at, from });
        }
        let mut doors = Doors {
            far: far.namespace().clone(),
            address,
            reach,
            services: Arc::clone(&self.services),
            resolver: self.resolvers.first().copied(),
            open: BTreeMap::new(),
            gateway: self.to_thread.clone(),
        };
        world.on_connection_request(far, move |to| doors.requested(to));
        Ok(())
    }

    /// Carries connections to `listener` over the link from `near` to `far`, and from there on to `to`, a host and a port. The
    /// listener may be in any network namespace.
    ///
    /// # Errors
    /// When the system has no thread or descriptor left.
    pub fn forward(&self, listener: TcpListener, near: &EmuHost, far: &EmuHost, to: (String, u16)) -> io::Result<()> {
        let over = far.address(to.1);
        let door = far.namespace().enter(|| listen_at(over))??;
        self.order(Order::Open(Door {
            listener: door,
            target: Target::Named(to.0, to.1),
        }));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let near = near.namespace().clone();
        std::thread::Builder::new()
            .name("entrance".to_owned())
            .spawn(move || runtime.block_on(carry::enter(listener, near, over)))?;
        Ok(())
    }

    /// How many connections may still have something to hand to their services.
    pub fn uploads(&self) -> usize {
        self.uploads.count()
    }

    fn order(&self, order: Order) {
        self.to_thread
            .send(order)
            .expect("the gateway's thread lives for as long as someone can give it orders");
    }
}

/// Sends what `near` has for anyone to `far`, which answers in everyone's name; gives back the socket where it is asked for names.
fn lead_outside(world: &World, near: &EmuHost, far: &EmuHost) -> io::Result<UdpSocket> {
    let (near_address, far_address) = (*near.address(0).ip(), *far.address(0).ip());
    near.namespace()
        .enter(|| interface::send_everything(near_address, near.spec()))??;
    far.namespace()
        .enter(|| interface::answer_for_everyone(far_address, near_address, far.spec()))??;
    world
        .forwarder
        .with(|network| network.set_gateway(near.index(), far.index()));
    far.namespace().enter(|| UdpSocket::bind((far_address, DNS)))?
}

/// Listens at an address of the network namespace that the calling thread is in.
fn listen_at(address: SocketAddrV4) -> io::Result<TcpListener> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&socket, sockopt::ReuseAddr, &true)?;
    // Connections that are accepted take it over.
    setsockopt(&socket, sockopt::TcpNoDelay, &true)?;
    bind(socket.as_raw_fd(), &SockaddrIn::from(address))?;
    listen(&socket, Backlog::new(BACKLOG)?)?;
    Ok(TcpListener::from(socket))
}

fn failed(error: &io::Error) -> Unavailable {
    Unavailable::new(
        "opening a way out of the emulated world",
        error,
        "`lastmile doctor` says what this machine can do",
    )
}
