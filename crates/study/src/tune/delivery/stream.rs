//! When is each message there? One connection's messages, in WebSocket's frames, over one link of the simulated world.
//!
//! The connection stands before the first message is due. The sender compresses a message once it is due and the one before it has been
//! handed to TCP; the receiver decompresses it once its last octet is there. Nothing goes the other way but acknowledgements.

use super::super::recording::End;
use lastmile_link::LinkSpec;
use lastmile_payload::websocket::FrameHeader;
use lastmile_units::{Bytes, Seed};
use lastmile_world::sim::{CpuSpec, HostSpec, SimHost, SimStream, World};
use lastmile_world::tcp::{Config, Nagle};
use lastmile_world::{Halt, Host, Listener};
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

/// A message on its way.
#[derive(Debug, Clone)]
pub(super) struct Framed {
    /// Its frame, coded.
    pub(super) octets: Vec<u8>,
    /// When it is due after the first; none: once the one before has been decoded.
    pub(super) due: Option<Duration>,
    /// What compressing it takes on a reference core, and decompressing it.
    pub(super) compressing: Duration,
    pub(super) decompressing: Duration,
}

/// How messages are sent.
pub(super) struct Setting<'a> {
    pub(super) link: &'a LinkSpec,
    pub(super) sender: End,
    pub(super) slow_client: f64,
    pub(super) seed: Seed,
}

/// What a run showed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Delivered {
    /// Of each message: from when it was due until it was decoded.
    pub(super) times: Vec<Duration>,
    /// What the link carried in the messages' direction meanwhile.
    pub(super) carried: Bytes,
}

/// Messages that did not arrive.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeliveryError {
    #[error(transparent)]
    Connection(#[from] io::Error),
    #[error(transparent)]
    Halt(#[from] Halt),
}

/// Messages that have not arrived after this much virtual time beyond the last one's due time never will: our own choice, a day.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

const PORT: u16 = 80;

/// Sends every message once.
pub(super) fn run(framed: &Rc<[Framed]>, setting: &Setting<'_>) -> Result<Delivered, DeliveryError> {
    let world = World::new(setting.seed);
    let host = |slow_down| {
        world.host(HostSpec {
            cpu: CpuSpec {
                slow_down,
                ..CpuSpec::default()
            },
            // Implementations of WebSocket send short frames at once (`TCP_NODELAY`).
            tcp: Config {
                nagle: Nagle::Off,
                ..Config::default()
            },
        })
    };
    let (client, server) = (host(setting.slow_client), host(1.0));
    let wire = world.link(&setting.link.down, &setting.link.up, &[&client], &[&server]);
    let mut listener = server.listen(PORT)?;
    let (connecting, address) = (client.clone(), server.address(PORT));
    let (accepted, connected) = world.run_for(PATIENCE, async move {
        futures_util::future::join(listener.accept(), connecting.connect(address)).await
    })?;
    let ((sender, sending), (receiver, receiving)) = match setting.sender {
        End::Server => ((server, accepted?), (client, connected?)),
        End::Client => ((client, connected?), (server, accepted?)),
    };
    let carried = || {
        let (down, up) = world.link_counters(wire);
        match setting.sender {
            End::Server => down.bytes_delivered,
            End::Client => up.bytes_delivered,
        }
    };
    let before = carried();
    let (decoded, told) = mpsc::unbounded_channel();
    let last = framed
        .iter()
        .filter_map(|message| message.due)
        .max()
        .unwrap_or_default();
    let messages = Rc::clone(framed);
    let times = world.run_for(PATIENCE + last, async move {
        let sent = send(sender, sending, &messages, told);
        let received = receive(receiver, receiving, &messages, decoded);
        futures_util::future::try_join(sent, received).await
    })?;
    let ((due, _), decoded) = times?;
    Ok(Delivered {
        times: due.iter().zip(&decoded).map(|(due, decoded)| *decoded - *due).collect(),
        carried: carried() - before,
    })
}

type Times = Vec<lastmile_units::Instant>;

/// Sends all messages, and says when each was due. The stream comes back too: it stays open until all has arrived.
async fn send(
    host: SimHost,
    mut stream: SimStream,
    messages: &[Framed],
    mut decoded: mpsc::UnboundedReceiver<()>,
) -> io::Result<(Times, SimStream)> {
    let start = host.now();
    let mut due = Vec::with_capacity(messages.len());
    for (place, message) in messages.iter().enumerate() {
        match message.due {
            Some(after) => {
                due.push(start + after);
                host.sleep_until(start + after).await;
            }
            None => {
                if place > 0 {
                    // Closed only where the receiver has failed, which ends both.
                    let _ = decoded.recv().await;
                }
                due.push(host.now());
            }
        }
        host.compute(message.compressing).await;
        stream.write_all(&message.octets).await?;
    }
    Ok((due, stream))
}

/// Receives all messages, and says when each was decoded.
async fn receive(
    host: SimHost,
    mut stream: SimStream,
    messages: &[Framed],
    decoded: mpsc::UnboundedSender<()>,
) -> io::Result<Times> {
    let mut times = Vec::with_capacity(messages.len());
    let mut octets: Vec<u8> = Vec::new();
    for message in messages {
        while whole(&octets)?.is_none() {
            if stream.read_buf(&mut octets).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let end = whole(&octets)?.expect("the loop above ends with a whole frame");
        octets.drain(..end);
        host.compute(message.decompressing).await;
        times.push(host.now());
        // Refused only where the sender is done.
        let _ = decoded.send(());
    }
    Ok(times)
}

/// Where the first frame ends, if all of it is there.
fn whole(octets: &[u8]) -> io::Result<Option<usize>> {
    let header = FrameHeader::read(octets).map_err(io::Error::other)?;
    let end = header.map(|(header, taken)| taken + header.length as usize);
    Ok(end.filter(|end| *end <= octets.len()))
}
