//! Runs the router over real sockets: with a client that never reads, and with processes that are killed.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "these tests are the real programs around the router"
)]

use lastmile_rpc::batch::BatchLimits;
use lastmile_rpc::ice::{CompressionPolicy, Encapsulation, Identity, Invocation, Message, Reader, ReplyStatus};
use lastmile_rpc::router::server::Server;
use lastmile_rpc::router::{AllowList, Settings};
use lastmile_units::ByteCount;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const QUEUE: ByteCount = ByteCount::new(64 << 10);

fn start() -> Server {
    let settings = Settings {
        allowed: AllowList::everything(),
        batch: BatchLimits {
            calls: NonZeroUsize::new(100).unwrap(),
            bytes: None,
            delay: Some(Duration::from_millis(5)),
        },
        queue: QUEUE,
    };
    let listen = || TcpListener::bind("127.0.0.1:0").unwrap();
    Server::start(settings, Some((1, CompressionPolicy::IfSmaller)), listen(), listen()).unwrap()
}

fn two_way(name: &str, operation: &str) -> Vec<u8> {
    let identity = Identity {
        name: "router".to_owned(),
        category: name.to_owned(),
    };
    let invocation = Invocation::new(identity, operation, Encapsulation::new(Vec::new()));
    Message::Request { id: 1, invocation }.encode()
}

fn tick(client: &str, number: u32) -> Vec<u8> {
    let identity = Identity {
        name: "feed".to_owned(),
        category: client.to_owned(),
    };
    let parameters = Encapsulation::new(number.to_le_bytes().to_vec());
    let invocation = Invocation::new(identity, "tick", parameters);
    Message::Request { id: 0, invocation }.encode()
}

/// An end of a connection that was introduced.
struct Peer {
    stream: TcpStream,
    reader: Reader,
}

impl Peer {
    fn introduced(to: SocketAddr, name: &str, operation: &str) -> Self {
        let mut peer = Self {
            stream: TcpStream::connect(to).unwrap(),
            reader: Reader::default(),
        };
        peer.stream.write_all(&two_way(name, operation)).unwrap();
        assert_eq!(peer.next(), Some(Message::Validate));
        assert!(matches!(peer.next(), Some(Message::Reply { .. })));
        peer
    }

    fn next(&mut self) -> Option<Message> {
        loop {
            if let Some((message, _)) = self.reader.next_message().unwrap() {
                return Some(message);
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.reader.push(&buffer[..length]),
            }
        }
    }

    /// The numbers of the next ticks; none at the end of the connection.
    fn ticks(&mut self) -> Option<Vec<u32>> {
        let calls = match self.next()? {
            Message::Batch(calls) => calls,
            Message::Request { id: 0, invocation } => vec![invocation],
            other => panic!("{other:?}"),
        };
        let number = |call: &Invocation| u32::from_le_bytes(call.parameters.content[..].try_into().unwrap());
        Some(calls.iter().map(number).collect())
    }
}

#[test]
fn a_back_end_without_a_name_is_refused_and_told_where_to_write_it() {
    let server = start();
    let mut back_end = Peer {
        stream: TcpStream::connect(server.back_ends).unwrap(),
        reader: Reader::default(),
    };
    back_end.stream.write_all(&two_way("", "register")).unwrap();
    assert_eq!(back_end.next(), Some(Message::Validate));
    let reply = back_end.next();
    let Some(Message::Reply {
        status: ReplyStatus::Unknown { reason, .. },
        ..
    }) = &reply
    else {
        panic!("{reply:?}")
    };
    assert!(reason.contains("call register of the object NAME/router"), "{reason}");
    // With its name it is let in on the same connection.
    back_end.stream.write_all(&two_way("prices", "register")).unwrap();
    assert!(matches!(
        back_end.next(),
        Some(Message::Reply {
            status: ReplyStatus::Success(_),
            ..
        })
    ));
}

#[test]
fn a_client_that_never_reads_neither_grows_the_router_nor_delays_others() {
    let server = start();
    let _never_reads = Peer::introduced(server.clients, "slow", "createSession");
    let mut quick = Peer::introduced(server.clients, "quick", "createSession");
    let mut back_end = Peer::introduced(server.back_ends, "prices", "register");
    const CALLS: u32 = 20_000;
    // Far more than the buffers of the slow client's sockets and its queue can have.
    let slow = {
        let identity = Identity {
            name: "feed".to_owned(),
            category: "slow".to_owned(),
        };
        // What does not compress.
        let mut state = 1u64;
        let content = (0..60_000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as u8
            })
            .collect();
        let invocation = Invocation::new(identity, "put", Encapsulation::new(content));
        Message::Request { id: 0, invocation }.encode()
    };
    let reading = thread::spawn(move || {
        let mut received = Vec::new();
        while received.len() < CALLS as usize {
            received.extend(quick.ticks().unwrap());
        }
        received
    });
    for number in 0..CALLS {
        back_end.stream.write_all(&tick("quick", number)).unwrap();
        if number.is_multiple_of(50) {
            back_end.stream.write_all(&slow).unwrap();
            // The quick client's queue is bounded, too: it is to have the time to read.
            thread::sleep(Duration::from_millis(2));
        }
    }
    assert_eq!(reading.join().unwrap(), (0..CALLS).collect::<Vec<_>>());
    let counters = server.counters();
    assert!(counters.queue_full > 0, "{counters:?}");
    assert!(
        counters.waiting <= 1,
        "the queue of 64 KiB has room for one: {counters:?}"
    );
    assert!(counters.is_complete(), "{counters:?}");
}

/// The router and a back end as processes of their own: this test program, started again with `ROLE`. They run until they are killed.
#[test]
#[ignore = "a program that other tests start"]
fn process() {
    match std::env::var("ROLE").as_deref() {
        Ok("router") => {
            let server = start();
            println!("\nat {} {}", server.clients, server.back_ends);
            loop {
                thread::sleep(Duration::from_secs(1));
                let counters = server.counters();
                assert!(counters.is_complete(), "{counters:?}");
            }
        }
        Ok("back-end") => {
            let to = std::env::var("AT").unwrap().parse().unwrap();
            let mut back_end = Peer::introduced(to, "prices", "register");
            println!("\nat {to} {to}");
            for number in 0.. {
                back_end.stream.write_all(&tick("anna", number)).unwrap();
                // The router must keep up with it.
                if number.is_multiple_of(20) {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        _ => {}
    }
}

/// Starts a process of this test program, and returns it with the two addresses that it prints.
fn spawn(role: &str, at: Option<SocketAddr>) -> (Child, [SocketAddr; 2]) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["process", "--exact", "--ignored", "--nocapture"])
        .env("ROLE", role)
        .env("AT", at.map_or_else(String::new, |at| at.to_string()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines
        .find_map(|line| line.unwrap().strip_prefix("at ").map(str::to_owned))
        .unwrap();
    let addresses: Vec<SocketAddr> = line.split(' ').map(|address| address.parse().unwrap()).collect();
    (child, addresses.try_into().unwrap())
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Asserts that numbers only go up: none came twice, and none out of order.
fn assert_each_once(received: &[u32]) {
    assert_eq!(received.iter().collect::<BTreeSet<_>>().len(), received.len());
    assert!(received.is_sorted());
}

#[test]
fn with_a_back_end_killed_every_call_that_it_made_is_delivered_once_or_counted() {
    let server = start();
    let mut client = Peer::introduced(server.clients, "anna", "createSession");
    let (back_end, _) = spawn("back-end", Some(server.back_ends));
    let mut received = Vec::new();
    while received.len() < 2_000 {
        received.extend(client.ticks().unwrap());
    }
    kill(back_end);
    // What the router had received by then still comes.
    loop {
        let counters = server.counters();
        assert!(counters.is_complete(), "{counters:?}");
        let is_quiet = counters.waiting == 0 && counters.on_the_way == 0;
        if is_quiet && received.len() as u64 == counters.written && counters == server.counters() {
            assert_eq!(counters.offered, counters.written + counters.queue_full, "{counters:?}");
            break;
        }
        client.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        received.extend(client.ticks().unwrap_or_default());
    }
    assert_each_once(&received);
}

#[test]
fn with_the_router_killed_nothing_is_delivered_twice_and_losses_can_be_counted() {
    let mut received = Vec::new();
    let mut sent = 0;
    for _ in 0..2 {
        let (router, [clients, back_ends]) = spawn("router", None);
        let mut client = Peer::introduced(clients, "anna", "createSession");
        let mut back_end = Peer::introduced(back_ends, "prices", "register");
        let sending = thread::spawn(move || {
            let mut number = sent;
            // Until the router is gone. A call that could not be written was not made.
            while back_end.stream.write_all(&tick("anna", number)).is_ok() {
                number += 1;
                if number.is_multiple_of(20) {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            number
        });
        let before = received.len();
        while received.len() < before + 1_000 {
            received.extend(client.ticks().unwrap());
        }
        kill(router);
        while let Some(ticks) = client.ticks() {
            received.extend(ticks);
        }
        sent = sending.join().unwrap();
    }
    assert_each_once(&received);
    // The numbers show what was lost: those that the back end had sent and the client did not get.
    let lost = sent as usize - received.len();
    println!(
        "{sent} calls made, {} received, {lost} lost with two routers",
        received.len()
    );
    assert!(received.iter().all(|number| *number < sent));
}
