//! NATS JetStream, by the client protocol (docs.nats.io/reference/reference-protocols/nats-protocol) over a socket.

use super::server::Server;
use super::wire::{Connection, Deliveries, line, payload, publish_and_read};
use anyhow::{Result, bail, ensure};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) struct Nats {
    server: Server,
    syncs_always: bool,
}

/// A message that arrived: its headers' first line, and its payload.
struct Message {
    status: String,
    payload: Vec<u8>,
}

/// The messages that may wait for their acknowledgement.
const WINDOW: u64 = 1000;

impl Nats {
    pub(crate) fn start(syncs_always: bool) -> Result<Self> {
        let server = Server::start(|folder, port| {
            let interval = if syncs_always { "always" } else { "2m" };
            let settings = format!(
                "listen: 127.0.0.1:{port}\njetstream {{ store_dir: {:?}, sync_interval: {interval} }}\n",
                folder.join("data")
            );
            let path = folder.join("nats.conf");
            std::fs::write(&path, settings)?;
            let mut command = Command::new("nats-server");
            command.arg("-c").arg(path);
            Ok(command)
        })?;
        Ok(Self { server, syncs_always })
    }

    pub(crate) const fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) const fn syncs_always(&self) -> bool {
        self.syncs_always
    }

    async fn connect(&self) -> Result<Client> {
        let mut connection = Connection::open(self.server.address).await?;
        let hello = "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,\"protocol\":1}\r\n\
            SUB answer.* 1\r\nPING\r\n";
        connection.write(hello.as_bytes()).await?;
        Ok(Client { connection })
    }

    pub(crate) async fn fill(&mut self, bursts: u64) -> Result<()> {
        let mut client = self.connect().await?;
        let stream = r#"{"name":"BENCH","subjects":["bench.>"],"storage":"file","allow_direct":true}"#;
        client.request("$JS.API.STREAM.CREATE.BENCH", stream).await?;
        // The slow setting gets fewer bursts; a query asks for one of them.
        let bursts = if self.syncs_always { bursts / 20 } else { bursts };
        for burst in 0..bursts {
            client.publish_pipelined(&format!("bench.burst.{burst}"), 1000).await?;
        }
        Ok(())
    }

    pub(crate) async fn pipelined(&mut self, events: u64) -> Result<Duration> {
        let mut client = self.connect().await?;
        let start = Instant::now();
        client.publish_pipelined("bench.pipelined", events).await?;
        Ok(start.elapsed())
    }

    pub(crate) async fn one_at_a_time(&mut self, events: u64) -> Result<Vec<Duration>> {
        let mut client = self.connect().await?;
        let mut times = Vec::new();
        for number in 0..events {
            let payload = payload(number);
            let start = Instant::now();
            client.request("bench.single", &payload).await?;
            times.push(start.elapsed());
        }
        Ok(times)
    }

    pub(crate) async fn query(&mut self, queries: usize) -> Result<(Duration, Vec<Duration>)> {
        let mut times = Vec::new();
        let mut client = self.connect().await?;
        for _ in 0..=queries {
            let start = Instant::now();
            let question = r#"{"batch":1000,"seq":1,"next_by_subj":"bench.burst.7"}"#;
            client.send("$JS.API.DIRECT.GET.BENCH", question).await?;
            let mut found = 0;
            loop {
                let message = client.message().await?;
                if message.status.contains(" 204") {
                    break;
                }
                ensure!(!message.payload.is_empty(), "a batch answered {}", message.status);
                found += 1;
            }
            ensure!(found == 1000, "a query found {found} messages");
            times.push(start.elapsed());
        }
        Ok((times.remove(0), times))
    }

    pub(crate) async fn deliver(&mut self, subscribers: usize, events: u64, pause: Duration) -> Result<Vec<Duration>> {
        let first = 1_000_000_000;
        let deliveries = RefCell::new(Deliveries::new(first));
        let mut publisher = self.connect().await?;
        let consumer = format!(
            r#"{{"stream_name":"BENCH","config":{{"deliver_subject":"push.{subscribers}","deliver_policy":"new","ack_policy":"none","filter_subject":"bench.live.{subscribers}"}}}}"#
        );
        let mut readers = Vec::new();
        for _ in 0..subscribers {
            let mut client = self.connect().await?;
            client.subscribe(&format!("push.{subscribers}")).await?;
            readers.push(client);
        }
        publisher.request("$JS.API.CONSUMER.CREATE.BENCH", &consumer).await?;
        let reading = readers.into_iter().map(|mut reader| {
            let deliveries = &deliveries;
            async move {
                for _ in 0..events {
                    let number = reader.connection.read_mark().await?;
                    deliveries.borrow_mut().deliver(number);
                }
                anyhow::Ok(())
            }
        });
        let publishing = async {
            for number in first..first + events {
                tokio::time::sleep(pause).await;
                let payload = payload(number);
                deliveries.borrow_mut().publish();
                publisher
                    .request(&format!("bench.live.{subscribers}"), &payload)
                    .await?;
            }
            anyhow::Ok(())
        };
        publish_and_read(publishing, reading).await?;
        Ok(deliveries.into_inner().into_times())
    }
}

struct Client {
    connection: Connection,
}

impl Client {
    async fn subscribe(&mut self, subject: &str) -> Result<()> {
        self.connection
            .write(format!("SUB {subject} 2\r\nPING\r\n").as_bytes())
            .await
    }

    async fn send(&mut self, subject: &str, payload: &str) -> Result<()> {
        let text = format!("PUB {subject} answer.1 {}\r\n{payload}\r\n", payload.len());
        self.connection.write(text.as_bytes()).await
    }

    /// The answer to a request, which has no error.
    async fn request(&mut self, subject: &str, payload: &str) -> Result<()> {
        self.send(subject, payload).await?;
        let answer = self.message().await?;
        let text = String::from_utf8_lossy(&answer.payload);
        ensure!(
            !text.contains("\"error\"") && answer.status.is_empty(),
            "{subject}: {text}{}",
            answer.status
        );
        Ok(())
    }

    async fn publish_pipelined(&mut self, subject: &str, events: u64) -> Result<()> {
        let (mut sent, mut acknowledged) = (0, 0);
        let mut text = String::new();
        while acknowledged < events {
            while sent < events && sent - acknowledged < WINDOW {
                let _ = write!(
                    text,
                    "PUB {subject} answer.1 {}\r\n{}\r\n",
                    super::wire::EVENT,
                    payload(sent)
                );
                sent += 1;
            }
            self.connection.write(text.as_bytes()).await?;
            text.clear();
            // Half a window at a time, so that the server always has work.
            let until = (acknowledged + WINDOW / 2).min(events);
            while acknowledged < until {
                let answer = self.message().await?;
                ensure!(
                    answer.payload.starts_with(b"{\"stream\""),
                    "a message is not acknowledged"
                );
                acknowledged += 1;
            }
        }
        Ok(())
    }

    /// The next message; pings are answered.
    async fn message(&mut self) -> Result<Message> {
        loop {
            let read = self.connection.read(parse).await?;
            match read {
                Some(message) => return Ok(message),
                None => continue,
            }
        }
    }
}

/// A message, or nothing of interest.
fn parse(bytes: &[u8]) -> Result<Option<(Option<Message>, usize)>> {
    let Some((text, length)) = line(bytes) else {
        return Ok(None);
    };
    let words: Vec<&str> = text.split(' ').collect();
    let (headers, all) = match words[0] {
        "MSG" => (0, words[words.len() - 1].parse::<usize>()?),
        "HMSG" => (words[words.len() - 2].parse()?, words[words.len() - 1].parse()?),
        "INFO" | "PONG" | "PING" | "+OK" => return Ok(Some((None, length))),
        _ => bail!("NATS says {text:?}"),
    };
    let Some(content) = bytes.get(length..length + all + 2) else {
        return Ok(None);
    };
    let status = if headers > 0 {
        line(content).map_or("", |(status, _)| status)
    } else {
        ""
    };
    let message = Message {
        status: if status.len() > "NATS/1.0".len() {
            status.to_owned()
        } else {
            String::new()
        },
        payload: content[headers..all].to_vec(),
    };
    Ok(Some((Some(message), length + all + 2)))
}
