//! Checks every peer that carries events: what is submitted is delivered and, where it can be asked for, found.

use lastmile_testbed::peer::{Conversation, Inputs, PeerSpec};
use serde_json::Value;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

const EVENTS: usize = 30;
const PATIENCE: Duration = Duration::from_secs(60);

/// In two runs of one start, with each durability, every event arrives once and in order.
pub(crate) fn are_delivered(peer: &PeerSpec) -> String {
    let server = peer.server.as_ref().expect("it serves");
    let durabilities = server.options["durability"].values.clone().unwrap_or_default();
    let operations = &peer.client.as_ref().expect("it has clients").operations;
    let asks = operations.iter().any(|operation| operation == "query");
    for durability in &durabilities {
        let about = format!("{} {durability}", peer.name);
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = tempfile::tempdir().unwrap();
        let inputs = |program: &str, operation: &str| {
            let state = folder.path().join(program);
            std::fs::create_dir(&state).unwrap();
            Inputs {
                port,
                ..Inputs::new(operation, folder.path(), state).with("durability", durability)
            }
        };
        let failed = |error: &dyn std::fmt::Display| -> ! { panic!("{about}: {error}") };
        let running = peer
            .start(&inputs("server", "events"), &|_| Ok(()))
            .unwrap_or_else(|error| failed(&error));
        let start = |program: &str, operation: &str, events: usize| {
            let inputs = inputs(program, operation).with("events", &events);
            let mut client = peer
                .converse(&inputs, &|_| Ok(()))
                .unwrap_or_else(|error| failed(&error));
            hear(&mut client, "ready");
            client
        };
        let mut application = start("application", "submit", EVENTS);
        let mut subscriber = start("subscriber", "subscribe", EVENTS);
        let mut last = 0;
        for _ in 0..2 {
            subscriber.tell("run").unwrap();
            hear(&mut subscriber, "receiving");
            application.tell("run").unwrap();
            let submitted = hear(&mut application, "run");
            assert_eq!(submitted["events"], EVENTS, "{about}");
            let received = hear(&mut subscriber, "run");
            let [created, arrived] = ["created_ns", "arrived_ns"].map(|key| times(&received[key]));
            assert_eq!((created.len(), arrived.len()), (EVENTS, EVENTS), "{about}");
            assert!(
                created[0] > last && created.is_sorted() && arrived.is_sorted(),
                "{about}: {received}"
            );
            let late = created.iter().zip(&arrived).all(|(created, arrived)| arrived > created);
            assert!(late, "{about}: {received}");
            last = created[EVENTS - 1];
        }
        if asks {
            let mut client = start("client", "query", 2 * EVENTS);
            client.tell("run").unwrap();
            assert_eq!(hear(&mut client, "run")["events"], 2 * EVENTS, "{about}");
        }
        running.stop().unwrap_or_else(|error| failed(&error));
    }
    format!("delivers the events that were submitted ({})", durabilities.join(", "))
}

fn hear(client: &mut Conversation, event: &str) -> Value {
    client
        .await_event(event, PATIENCE)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn times(list: &Value) -> Vec<i64> {
    serde_json::from_value(list.clone()).unwrap()
}
