//! Who reads: how many events each client got, and how many subscriptions it may have.

use super::Peer;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The most subscriptions of a client at a time: our own choice.
pub(super) const OPEN_MAX: u64 = 256;
/// The most clients that are told apart; others are counted together.
const CLIENTS_MAX: usize = 1024;
const OTHERS: &str = "others";
const NAME_LENGTH_MAX: usize = 64;

#[derive(Debug, Clone, Copy, Default)]
struct Account {
    delivered: u64,
    requests: u64,
    open: u64,
}

type Accounts = Arc<Mutex<BTreeMap<String, Account>>>;

/// The clients since the monitor's start.
#[derive(Debug, Default)]
pub(super) struct Clients {
    accounts: Accounts,
}

/// A client's query or subscription; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct ClientSlot {
    accounts: Accounts,
    client: String,
    live: bool,
}

impl Clients {
    /// The name that a request gives, or its address.
    pub(super) fn name(&self, given: Option<&str>, peer: Option<&Peer>) -> String {
        let name = match (given, peer) {
            (Some(name), _) => name.chars().take(NAME_LENGTH_MAX).collect(),
            (None, Some(Peer(address))) => address.to_string(),
            (None, None) => "unknown".to_owned(),
        };
        let accounts = self.accounts.lock().expect("no thread panics with it");
        if accounts.len() < CLIENTS_MAX || accounts.contains_key(&name) {
            name
        } else {
            OTHERS.to_owned()
        }
    }

    /// Begins a query or a subscription; `None` where the client has too many.
    pub(super) fn begin(&self, client: &str, live: bool) -> Option<ClientSlot> {
        let mut accounts = self.accounts.lock().expect("no thread panics with it");
        let account = accounts.entry(client.to_owned()).or_default();
        if live && account.open == OPEN_MAX {
            return None;
        }
        account.requests += 1;
        account.open += u64::from(live);
        Some(ClientSlot {
            accounts: Arc::clone(&self.accounts),
            client: client.to_owned(),
            live,
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let accounts = self.accounts.lock().expect("no thread panics with it");
        let clients = accounts.iter().map(|(client, account)| {
            json!({
                "client": client,
                "requests": account.requests,
                "delivered": account.delivered,
                "subscriptions": account.open,
            })
        });
        clients.collect()
    }
}

impl ClientSlot {
    pub(super) fn deliver(&self, events: u64) {
        if events > 0 {
            self.change(|account| account.delivered += events);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Account)) {
        let mut accounts = self.accounts.lock().expect("no thread panics with it");
        change(accounts.entry(self.client.clone()).or_default());
    }
}

impl Drop for ClientSlot {
    fn drop(&mut self) {
        if self.live {
            self.change(|account| account.open -= 1);
        }
    }
}
