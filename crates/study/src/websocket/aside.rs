//! What do the two ends of a connection tell each other inside this process, past the link?
//!
//! A closed loop sends a message once the one before it has been decoded. To hear that over the link would cost what is measured, so
//! it is heard here, at once, in either world.

use lastmile_payload::websocket::Role;
use tokio::sync::watch;

/// What both ends of a connection can see of each other.
pub(crate) struct Aside {
    /// How many ends have opened.
    opened: watch::Sender<usize>,
    /// How many messages the client has decoded, and the server.
    decoded: [watch::Sender<usize>; 2],
}

impl Aside {
    /// Of a connection that has not opened.
    pub(crate) fn new() -> Self {
        let counter = || watch::Sender::new(0);
        Self {
            opened: counter(),
            decoded: [counter(), counter()],
        }
    }

    /// One a connection.
    pub(crate) fn each(connections: usize) -> Vec<Self> {
        (0..connections).map(|_| Self::new()).collect()
    }

    /// An end has opened.
    pub(super) fn opened(&self) {
        self.opened.send_modify(|ends| *ends += 1);
    }

    /// Waits until both have.
    pub(super) async fn both_opened(&self) {
        reached(&self.opened, 2).await;
    }

    /// The end of `role` has decoded one more message.
    pub(super) fn decoded(&self, role: Role) {
        self.by(role).send_modify(|messages| *messages += 1);
    }

    /// Waits until the end opposite to `role` has decoded so many.
    pub(super) async fn decoded_opposite(&self, role: Role, messages: usize) {
        let opposite = match role {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        };
        reached(self.by(opposite), messages).await;
    }

    const fn by(&self, role: Role) -> &watch::Sender<usize> {
        let [client, server] = &self.decoded;
        match role {
            Role::Client => client,
            Role::Server => server,
        }
    }
}

async fn reached(counter: &watch::Sender<usize>, least: usize) {
    let waited = counter.subscribe().wait_for(|count| *count >= least).await.map(drop);
    waited.expect("who counts is borrowed for as long as somebody waits");
}
