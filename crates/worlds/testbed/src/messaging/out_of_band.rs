//! Signals between the two ends of a connection inside this process, outside the link.
//!
//! A closed loop sends a message once the one before it has been decompressed. A signal over the link would distort the measurement, so
//! it is given here without delay, in either world.

use lastmile_websocket::Role;
use tokio::sync::watch;

/// The state of both ends of a connection.
pub struct OutOfBand {
    /// The number of ends that have opened.
    opened: watch::Sender<usize>,
    /// The numbers of messages that the client and the server have decompressed.
    decoded: [watch::Sender<usize>; 2],
}

impl OutOfBand {
    /// For a connection that has not opened yet.
    pub fn new() -> Self {
        let counter = || watch::Sender::new(0);
        Self {
            opened: counter(),
            decoded: [counter(), counter()],
        }
    }

    /// One per connection.
    pub fn one_per_connection(connections: usize) -> Vec<Self> {
        (0..connections).map(|_| Self::new()).collect()
    }

    /// Signals that an end has opened.
    pub(super) fn opened(&self) {
        self.opened.send_modify(|ends| *ends += 1);
    }

    /// Waits until both ends have opened.
    pub(super) async fn both_opened(&self) {
        wait_for_count(&self.opened, 2).await;
    }

    /// Signals that the end of `role` has decompressed one more message.
    pub(super) fn decoded(&self, role: Role) {
        self.counter_of(role).send_modify(|messages| *messages += 1);
    }

    /// Waits until the end opposite to `role` has decompressed `messages` messages.
    pub(super) async fn decoded_opposite(&self, role: Role, messages: usize) {
        let opposite = match role {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        };
        wait_for_count(self.counter_of(opposite), messages).await;
    }

    const fn counter_of(&self, role: Role) -> &watch::Sender<usize> {
        let [client, server] = &self.decoded;
        match role {
            Role::Client => client,
            Role::Server => server,
        }
    }
}

async fn wait_for_count(counter: &watch::Sender<usize>, least: usize) {
    let waited = counter.subscribe().wait_for(|count| *count >= least).await.map(drop);
    waited.expect("the counter is borrowed while anyone waits for it");
}
