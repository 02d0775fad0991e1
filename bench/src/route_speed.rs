//! Measures how many one-way calls `lastmile route` carries a second, and the delay that it adds, beside glacier2router in the same run.
//!
//! Both routers are processes of their own. One thread of this program is the back end and another the client; they speak the Ice protocol
//! and are the same for both, in turns. Added latency is that of a call through the router, less that of the same call over a connection of
//! loopback, without waiting for batches; throughput is that of calls sent as fast as the router takes them. Both send batches and
//! compress nothing.
use anyhow::{Context as _, Result, bail};
use lastmile_bench::spread::Spread;
use lastmile_rpc::ice::{Encapsulation, Identity, Invocation, Message, Mode, Reader, ReplyStatus};
use lastmile_wire_formats::ice as encoding;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often each runs; odd, so that there is a median.
const RUNS: usize = 5;
/// The calls of a run that measures throughput.
const CALLS: u32 = 200_000;
/// The calls of a run that measures latency, and the time between them.
const PACED_CALLS: u32 = 1_000;
const PACE: Duration = Duration::from_millis(1);
/// The calls that a back end writes at a time.
const CALLS_WRITTEN: usize = 64;

/// An end of a connection that speaks Ice.
struct Peer {
    stream: TcpStream,
    reader: Reader,
    next_id: u32,
}

impl Peer {
    fn connect(port: u16) -> Result<Self> {
        let began = Instant::now();
        let stream = loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(stream) => break stream,
                Err(error) if began.elapsed() > Duration::from_secs(10) => return Err(error.into()),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut peer = Self {
            stream,
            reader: Reader::default(),
            next_id: 1,
        };
        match peer.next()? {
            Message::Validate => Ok(peer),
            other => bail!("the router began with {other:?}"),
        }
    }

    fn next(&mut self) -> Result<Message> {
        loop {
            if let Some((message, _)) = self.reader.next_message()? {
                return Ok(message);
            }
            let mut buffer = [0; 64 << 10];
            match self.stream.read(&mut buffer)? {
                0 => bail!("the router closed a connection"),
                length => self.reader.push(&buffer[..length]),
            }
        }
    }

    /// The results of a two-way call.
    fn call(&mut self, identity: Identity, operation: &str, mode: Mode, parameters: Vec<u8>) -> Result<Vec<u8>> {
        let invocation = Invocation {
            mode,
            ..Invocation::new(identity, operation, Encapsulation::new(parameters))
        };
        let id = self.next_id;
        self.next_id += 1;
        self.stream.write_all(&Message::Request { id, invocation }.encode())?;
        loop {
            match self.next()? {
                Message::Reply {
                    status: ReplyStatus::Success(results),
                    ..
                } => return Ok(results.content),
                Message::Reply { status, .. } => bail!("{operation}: {status:?}"),
                _ => {}
            }
        }
    }

    /// The parameters of the next calls.
    fn calls(&mut self) -> Result<Vec<Vec<u8>>> {
        Ok(match self.next()? {
            Message::Batch(calls) => calls.into_iter().map(|call| call.parameters.content).collect(),
            Message::Request { id: 0, invocation } => vec![invocation.parameters.content],
            _ => Vec::new(),
        })
    }
}

fn identity(name: &str, category: &str) -> Identity {
    Identity {
        name: name.to_owned(),
        category: category.to_owned(),
    }
}

/// A router that runs, with the connections of a client and a back end.
struct Routed {
    process: Option<Child>,
    client: Peer,
    back_end: TcpStream,
    /// The object that is called.
    to: Identity,
}

impl Drop for Routed {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // It may have ended.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn free_ports() -> Result<[u16; 2]> {
    let listeners = [
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
    ];
    Ok([listeners[0].local_addr()?.port(), listeners[1].local_addr()?.port()])
}

fn own(folder: &Path) -> Result<Routed> {
    let program = std::env::current_exe()?.with_file_name("lastmile");
    let [clients, back_ends] = free_ports()?;
    let rules = folder.join("rules.txt");
    std::fs::write(&rules, "* * *\n")?;
    let process = Command::new(&program)
        .args([
            "route",
            "--batch-time",
            "0ms",
            "--compress",
            "never",
            "--queue",
            "1GB",
            "--allow",
        ])
        .arg(&rules)
        .args(["--clients", &format!("127.0.0.1:{clients}")])
        .args(["--back-ends", &format!("127.0.0.1:{back_ends}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("{} does not start; build it first", program.display()))?;
    let mut client = Peer::connect(clients)?;
    client.call(identity("router", "anna"), "createSession", Mode::Normal, Vec::new())?;
    let mut back_end = Peer::connect(back_ends)?;
    back_end.call(identity("router", "prices"), "register", Mode::Normal, Vec::new())?;
    Ok(Routed {
        process: Some(process),
        client,
        back_end: back_end.stream,
        to: identity("feed", "anna"),
    })
}

fn glacier2() -> Result<Routed> {
    let [clients, back_ends] = free_ports()?;
    let endpoint = |port: u16| format!("tcp -h 127.0.0.1 -p {port}");
    let process = Command::new("glacier2router")
        .arg(format!("--Glacier2.Client.Endpoints={}", endpoint(clients)))
        .arg(format!("--Glacier2.Server.Endpoints={}", endpoint(back_ends)))
        .args([
            "--Glacier2.InstanceName=Glacier2",
            "--Glacier2.PermissionsVerifier=Glacier2/NullPermissionsVerifier",
            "--Glacier2.Client.Buffered=1",
            "--Glacier2.Server.Buffered=1",
            "--Glacier2.Server.AlwaysBatch=1",
            "--Glacier2.Server.SleepTime=0",
            "--Ice.Default.Host=127.0.0.1",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("glacier2router does not start; make peers installs it")?;
    let mut client = Peer::connect(clients)?;
    let router = identity("router", "Glacier2");
    let user = encoding::to_vec(&("anna", ""))?;
    client.call(router.clone(), "createSession", Mode::Normal, user)?;
    let category = client.call(router, "getCategoryForClient", Mode::Idempotent, Vec::new())?;
    let category: String = encoding::from_slice(&category)?;
    Ok(Routed {
        process: Some(process),
        client,
        back_end: Peer::connect(back_ends)?.stream,
        to: identity("feed", &category),
    })
}

/// Both ends of one connection, without a router.
fn direct() -> Result<Routed> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let accepting = thread::spawn(move || -> Result<TcpStream> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        stream.write_all(&Message::Validate.encode())?;
        Ok(stream)
    });
    let client = Peer::connect(port)?;
    let back_end = accepting.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
    Ok(Routed {
        process: None,
        client,
        back_end,
        to: identity("feed", "anna"),
    })
}

/// A call that carries its number and when it was made.
fn tick(to: &Identity, number: u32, made: Duration) -> Vec<u8> {
    let mut content = number.to_le_bytes().to_vec();
    content.extend((made.as_nanos() as u64).to_le_bytes());
    let invocation = Invocation::new(to.clone(), "tick", Encapsulation::new(content));
    Message::Request { id: 0, invocation }.encode()
}

/// Reads calls until all have come, in order and each once, and returns how long each was on its way.
fn receive(client: &mut Peer, calls: u32, start: Instant) -> Result<Vec<f64>> {
    let mut latencies = Vec::with_capacity(calls as usize);
    while latencies.len() < calls as usize {
        for content in client.calls()? {
            let now = start.elapsed();
            let (number, made) = content.split_at(4);
            let number = u32::from_le_bytes(number.try_into()?);
            if number as usize != latencies.len() {
                bail!("call {number} came where {} was due", latencies.len());
            }
            let made = Duration::from_nanos(u64::from_le_bytes(made.try_into()?));
            latencies.push(now.saturating_sub(made).as_secs_f64());
        }
    }
    Ok(latencies)
}

/// Calls a second, as fast as they are taken.
fn throughput(mut routed: Routed) -> Result<f64> {
    let to = routed.to.clone();
    let mut back_end = routed.back_end.try_clone()?;
    let start = Instant::now();
    let writing = thread::spawn(move || -> Result<()> {
        let mut written = 0;
        while written < CALLS {
            let end = (written + CALLS_WRITTEN as u32).min(CALLS);
            let messages: Vec<u8> = (written..end)
                .flat_map(|number| tick(&to, number, Duration::ZERO))
                .collect();
            back_end.write_all(&messages)?;
            written = end;
        }
        Ok(())
    });
    receive(&mut routed.client, CALLS, start)?;
    let took = start.elapsed().as_secs_f64();
    writing.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
    Ok(f64::from(CALLS) / took)
}

/// The median and the 99th percentile of the latency of paced calls.
fn latency(mut routed: Routed) -> Result<[f64; 2]> {
    let to = routed.to.clone();
    let mut back_end = routed.back_end.try_clone()?;
    let start = Instant::now();
    let writing = thread::spawn(move || -> Result<()> {
        for number in 0..PACED_CALLS {
            thread::sleep((PACE * number).saturating_sub(start.elapsed()));
            back_end.write_all(&tick(&to, number, start.elapsed()))?;
        }
        Ok(())
    });
    let mut latencies = receive(&mut routed.client, PACED_CALLS, start)?;
    writing.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
    latencies.sort_by(f64::total_cmp);
    Ok([0.5, 0.99].map(|share| latencies[((latencies.len() - 1) as f64 * share) as usize]))
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let is_there = Command::new("glacier2router")
        .arg("--version")
        .stderr(Stdio::null())
        .status();
    if is_there.is_err() {
        println!("glacier2router is not installed (make peers): lastmile route is measured alone");
    }
    let mut names = vec!["lastmile route"];
    if is_there.is_ok() {
        names.push("glacier2router");
    }
    let start = |name: &str| match name {
        "lastmile route" => own(folder.path()),
        _ => glacier2(),
    };
    let mut rates = vec![Vec::new(); names.len()];
    let mut added = vec![[Vec::new(), Vec::new()]; names.len()];
    for _ in 0..RUNS {
        let without = latency(direct()?)?;
        for (at, name) in names.iter().enumerate() {
            rates[at].push(throughput(start(name)?).with_context(|| (*name).to_owned())?);
            let with = latency(start(name)?).with_context(|| (*name).to_owned())?;
            for (statistic, samples) in added[at].iter_mut().enumerate() {
                samples.push(1e6 * (with[statistic] - without[statistic]));
            }
        }
    }
    println!("One-way calls of one back end to one client through a router: median of {RUNS} runs (least to most)");
    let mut machine = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let spread = |samples: &[f64]| Spread::of(samples.to_vec()).expect("there are runs");
        let rate = spread(&rates[at]);
        let [middle, tail] = [spread(&added[at][0]), spread(&added[at][1])];
        println!(
            "{name:<15} {:>9.0} calls/s ({:.0} to {:.0}); added latency p50 {:.0} us ({:.0} to {:.0}), p99 {:.0} us ({:.0} to {:.0})",
            rate.median, rate.min, rate.max, middle.median, middle.min, middle.max, tail.median, tail.min, tail.max,
        );
        machine.push(format!(
            r#"{{"bench": "route_speed", "name": "{name}", "calls_per_second": {:.0}, "added_latency_p50_us": {:.1}, "added_latency_p99_us": {:.1}}}"#,
            rate.median, middle.median, tail.median,
        ));
    }
    if let [own, other] = &rates[..] {
        // Paired: the runs of one turn are compared.
        let ratios = own.iter().zip(other).map(|(own, other)| own / other).collect();
        let ratio = Spread::of(ratios).expect("there are runs");
        println!(
            "lastmile route carries {:.2} times the calls of glacier2router ({:.2} to {:.2})",
            ratio.median, ratio.min, ratio.max
        );
        machine.push(format!(r#"{{"bench": "route_speed", "ratio": {:.3}}}"#, ratio.median));
    }
    println!("{}", machine.join("\n"));
    Ok(())
}
