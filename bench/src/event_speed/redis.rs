//! Redis streams, by RESP (redis.io/docs/latest/develop/reference/protocol-spec) over a socket. The append-only file is on.

use super::server::Server;
use super::wire::{Connection, Deliveries, line, mark, payload, publish_and_read};
use anyhow::{Result, bail, ensure};
use std::cell::RefCell;
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) struct Redis {
    server: Server,
}

/// An answer: what a test needs of it.
#[derive(Debug)]
enum Answer {
    Text(Vec<u8>),
    List(Vec<Answer>),
    Nothing,
}

const WINDOW: u64 = 1000;

impl Redis {
    pub(crate) fn start(append_sync: &str) -> Result<Self> {
        let server = Server::start(|folder, port| {
            let mut command = Command::new("redis-server");
            command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", ""]);
            command
                .args(["--appendonly", "yes", "--appendfsync", append_sync])
                .arg("--dir")
                .arg(folder);
            Ok(command)
        })?;
        Ok(Self { server })
    }

    pub(crate) const fn server(&self) -> &Server {
        &self.server
    }

    async fn connect(&self) -> Result<Client> {
        Ok(Client {
            connection: Connection::open(self.server.address).await?,
        })
    }

    /// A stream for each subject, since Redis has no subjects within one.
    pub(crate) async fn fill(&mut self, bursts: u64) -> Result<()> {
        let mut client = self.connect().await?;
        for burst in 0..bursts {
            client.add_pipelined(&format!("burst.{burst}"), 1000).await?;
        }
        Ok(())
    }

    pub(crate) async fn pipelined(&mut self, events: u64) -> Result<Duration> {
        let mut client = self.connect().await?;
        let start = Instant::now();
        client.add_pipelined("pipelined", events).await?;
        Ok(start.elapsed())
    }

    pub(crate) async fn one_at_a_time(&mut self, events: u64) -> Result<Vec<Duration>> {
        let mut client = self.connect().await?;
        let mut times = Vec::new();
        for number in 0..events {
            let add = add("single", number);
            let start = Instant::now();
            client.connection.write(&add).await?;
            client.answer().await?;
            times.push(start.elapsed());
        }
        Ok(times)
    }

    pub(crate) async fn query(&mut self, queries: usize) -> Result<(Duration, Vec<Duration>)> {
        let mut client = self.connect().await?;
        let mut times = Vec::new();
        for _ in 0..=queries {
            let start = Instant::now();
            let range = command(&["XRANGE", "burst.7", "-", "+", "COUNT", "1000"]);
            client.connection.write(&range).await?;
            let Answer::List(found) = client.answer().await? else {
                bail!("XRANGE gave no list");
            };
            ensure!(found.len() == 1000, "a query found {} entries", found.len());
            times.push(start.elapsed());
        }
        Ok((times.remove(0), times))
    }

    pub(crate) async fn deliver(&mut self, subscribers: usize, events: u64, pause: Duration) -> Result<Vec<Duration>> {
        let first = 1_000_000_000;
        let deliveries = RefCell::new(Deliveries::new(first));
        let stream = format!("live.{subscribers}");
        let mut publisher = self.connect().await?;
        let mut reading = Vec::new();
        for _ in 0..subscribers {
            let mut reader = self.connect().await?;
            let (deliveries, stream) = (&deliveries, stream.clone());
            reading.push(async move {
                let (mut last, mut seen) = ("0-0".to_owned(), 0);
                while seen < events {
                    let wait = command(&["XREAD", "BLOCK", "0", "STREAMS", &stream, &last]);
                    reader.connection.write(&wait).await?;
                    let answer = reader.answer().await?;
                    for (id, number) in entries(answer)? {
                        deliveries.borrow_mut().deliver(number);
                        last = id;
                        seen += 1;
                    }
                }
                anyhow::Ok(())
            });
        }
        let publishing = async {
            for number in first..first + events {
                tokio::time::sleep(pause).await;
                let add = add(&stream, number);
                deliveries.borrow_mut().publish();
                publisher.connection.write(&add).await?;
                publisher.answer().await?;
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
    async fn answer(&mut self) -> Result<Answer> {
        self.connection.read(parse).await
    }

    async fn add_pipelined(&mut self, stream: &str, events: u64) -> Result<()> {
        let (mut sent, mut acknowledged) = (0, 0);
        while acknowledged < events {
            let mut bytes = Vec::new();
            while sent < events && sent - acknowledged < WINDOW {
                bytes.extend_from_slice(&add(stream, sent));
                sent += 1;
            }
            self.connection.write(&bytes).await?;
            let until = (acknowledged + WINDOW / 2).min(events);
            while acknowledged < until {
                ensure!(matches!(self.answer().await?, Answer::Text(_)), "XADD gave no id");
                acknowledged += 1;
            }
        }
        Ok(())
    }
}

fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
    bytes
}

fn add(stream: &str, number: u64) -> Vec<u8> {
    command(&["XADD", stream, "*", "e", &payload(number)])
}

/// Each entry's id, and the number of its payload.
fn entries(answer: Answer) -> Result<Vec<(String, u64)>> {
    let Answer::List(streams) = answer else {
        bail!("XREAD gave no list")
    };
    let Some(Answer::List(stream)) = streams.into_iter().next() else {
        bail!("XREAD gave no stream")
    };
    let Some(Answer::List(entries)) = stream.into_iter().nth(1) else {
        bail!("XREAD gave no entries")
    };
    entries
        .into_iter()
        .map(|entry| {
            let Answer::List(entry) = entry else {
                bail!("an entry is no list")
            };
            let [Answer::Text(id), Answer::List(fields)] = &entry[..] else {
                bail!("an entry has no id")
            };
            let Some(Answer::Text(payload)) = fields.get(1) else {
                bail!("an entry has no payload")
            };
            let (number, _) = mark(payload).ok_or_else(|| anyhow::anyhow!("an entry has no mark"))?;
            Ok((String::from_utf8_lossy(id).into_owned(), number))
        })
        .collect()
}

fn parse(bytes: &[u8]) -> Result<Option<(Answer, usize)>> {
    let Some((text, length)) = line(bytes) else {
        return Ok(None);
    };
    let (kind, rest) = text.split_at(1);
    match kind {
        "+" | ":" => Ok(Some((Answer::Text(rest.into()), length))),
        "$" => match usize::try_from(rest.parse::<i64>()?) {
            Err(_) => Ok(Some((Answer::Nothing, length))),
            Ok(size) => Ok(bytes
                .get(length..length + size + 2)
                .map(|content| (Answer::Text(content[..size].to_vec()), length + size + 2))),
        },
        "*" => {
            let Ok(count) = usize::try_from(rest.parse::<i64>()?) else {
                return Ok(Some((Answer::Nothing, length)));
            };
            let (mut list, mut at) = (Vec::with_capacity(count), length);
            for _ in 0..count {
                let Some((answer, length)) = parse(&bytes[at..])? else {
                    return Ok(None);
                };
                list.push(answer);
                at += length;
            }
            Ok(Some((Answer::List(list), at)))
        }
        _ => bail!("Redis says {text:?}"),
    }
}
