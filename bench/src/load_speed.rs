//! Measures the load generator: its CPU time per request beside other generators, its schedule as a capture shows it, a stall, a limit, and ten
//! thousand connections.
//!
//! Generators run in turns on one nginx with a file of 1 KB, and each that is installed takes part. The CPU time is that of the generator's
//! process, user and system, per request; the ratio is to wrk's in the same turn. Send times are the kernel's, of a capture of the loopback
//! interface, which takes root. The other servers are threads of this process.

#[cfg(target_os = "linux")]
mod load_speed {
    pub(super) mod capture;
    pub(super) mod generators;
    pub(super) mod nginx;
    pub(super) mod servers;
}

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    measure::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("the generator over real sockets runs on Linux only")
}

#[cfg(target_os = "linux")]
mod measure {
    use super::load_speed::{capture, generators, nginx::Nginx, servers};
    use anyhow::{Context as _, Result};
    use clap::{Parser, ValueEnum};
    use lastmile_bench::spread::Spread;
    use lastmile_load::epoll::Generator;
    use lastmile_load::http1::Request;
    use lastmile_load::measurement::Measurement;
    use lastmile_load::plan::{Demand, Plan};
    use lastmile_load::rate::RequestRate;
    use lastmile_load::schedule::Arrivals;
    use lastmile_load::search::{SearchOptions, highest_rate};
    use lastmile_load::self_check;
    use lastmile_load::slo::Limit;
    use lastmile_units::Seed;
    use lastmile_world::emu::DescriptorLimit;
    use std::io::{self, BufRead as _, BufReader};
    use std::net::SocketAddr;
    use std::num::NonZeroU32;
    use std::process::{Command, Stdio};
    use std::sync::Arc;
    use std::thread::available_parallelism;
    use std::time::Duration;

    /// Measures the load generator.
    #[derive(Debug, Parser)]
    struct Arguments {
        /// How often each generator runs
        #[arg(long, default_value_t = 5)]
        turns: usize,
        /// How long each run of a generator takes, in seconds
        #[arg(long, default_value_t = 2)]
        seconds: u32,
        /// Measure only this part
        #[arg(long, value_enum)]
        only: Option<Part>,
        /// Serve, for the measurement of many connections
        #[arg(long, hide = true)]
        serve_delayed: bool,
    }

    /// The parts that can be measured separately.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
    enum Part {
        /// CPU time beside other generators
        Generators,
        /// Send times by a capture
        Schedule,
        /// A server that stalls
        Stall,
        /// The highest rate of nginx within a limit
        Nginx,
        /// That of four workers, which takes minutes
        Workers,
        /// Ten thousand connections at once
        Connections,
    }

    /// The rates of the schedule that is captured.
    const CAPTURED_RATES: [f64; 2] = [1_000.0, 10_000.0];

    pub(super) fn main() -> Result<()> {
        let arguments = Arguments::parse();
        DescriptorLimit::raise()?;
        if arguments.serve_delayed {
            return serve_delayed();
        }
        let is_measured = |part| arguments.only.is_none_or(|only| only == part);
        match Nginx::start() {
            Ok(nginx) => {
                for is_persistent in [true, false] {
                    if is_measured(Part::Generators) {
                        compare(&nginx, is_persistent, &arguments)?;
                    }
                }
                for rate in CAPTURED_RATES {
                    if is_measured(Part::Schedule) {
                        schedule(nginx.address(), rate)?;
                    }
                }
                if is_measured(Part::Nginx) {
                    search("nginx, 1 KB", nginx.address(), 1_000.0, Duration::from_secs(2))?;
                }
            }
            Err(error) => println!("skipped: what needs nginx: {error:#}"),
        }
        if is_measured(Part::Stall) {
            stall()?;
        }
        if is_measured(Part::Workers) {
            let workers = servers::workers(4, Duration::from_millis(20))?;
            search("4 workers of 20 ms", workers, 100.0, Duration::from_secs(12))?;
        }
        if is_measured(Part::Connections) {
            many_connections()?;
        }
        Ok(())
    }

    /// CPU time per request of each generator that is installed, in turns.
    fn compare(nginx: &Nginx, is_persistent: bool, arguments: &Arguments) -> Result<()> {
        let kind = if is_persistent {
            "keep-alive"
        } else {
            "a connection per request"
        };
        println!(
            "CPU time per request, closed loop of {} connections, {kind}:",
            generators::CONNECTIONS
        );
        let generators = generators::installed(is_persistent)?;
        let mut costs: Vec<Vec<f64>> = vec![Vec::new(); generators.len()];
        for _ in 0..arguments.turns {
            for (generator, costs) in generators.iter().zip(&mut costs) {
                match generator.cpu_per_request(&nginx.url(), arguments.seconds) {
                    Ok(cost) => costs.push(cost),
                    Err(error) => println!("  {}: {error:#}", generator.name),
                }
            }
        }
        let reference = generators.iter().position(|generator| generator.name == "wrk");
        for (generator, own) in generators.iter().zip(&costs) {
            let Some(spread) = Spread::of(own.clone()) else {
                continue;
            };
            let ratios = reference.map(|wrk| own.iter().zip(&costs[wrk]).map(|(own, wrk)| own / wrk).collect());
            let ratio = ratios.and_then(Spread::of).map_or_else(String::new, |ratio| {
                format!(", {:.2} of wrk ({:.2} to {:.2})", ratio.median, ratio.min, ratio.max)
            });
            let micros = |seconds: f64| seconds * 1e6;
            println!(
                "  {:<10} {:>7.2} us ({:.2} to {:.2}){ratio}",
                generator.name,
                micros(spread.median),
                micros(spread.min),
                micros(spread.max)
            );
        }
        Ok(())
    }

    fn plan(arrivals: Arrivals, duration: Duration, server: SocketAddr) -> Plan {
        let request = Request::get(&server.to_string(), "/1k.html");
        Plan::new(Demand::open(arrivals), duration, request)
    }

    fn run(
        server: SocketAddr,
        plan: &Plan,
        threads: NonZeroU32,
        seed: Seed,
    ) -> io::Result<(Measurement, self_check::GeneratorCost)> {
        let generator = Generator {
            server,
            threads,
            interrupt: Arc::default(),
        };
        generator.run(plan, seed)
    }

    fn all_cores() -> NonZeroU32 {
        let cores = available_parallelism()
            .ok()
            .and_then(|cores| NonZeroU32::try_from(cores).ok());
        cores.unwrap_or(NonZeroU32::MIN)
    }

    fn rate(per_second: f64) -> Result<RequestRate> {
        RequestRate::new(per_second).ok_or_else(|| anyhow::anyhow!("{per_second} is no rate"))
    }

    /// Send times against the intended ones, by the clock of the generator and by the kernel's.
    fn schedule(server: SocketAddr, per_second: f64) -> Result<()> {
        const DURATION: Duration = Duration::from_secs(5);
        let capture = capture::Capture::start(server.port());
        let plan = plan(Arrivals::Constant(rate(per_second)?), DURATION, server);
        let (measured, cost) = run(server, &plan, NonZeroU32::MIN, Seed::new(1))?;
        let micros = |probability: f64| {
            measured
                .lateness
                .quantile(probability)
                .unwrap_or_default()
                .as_secs_f64()
                * 1e6
        };
        println!(
            "schedule at {per_second}/s: by its clock p50 {:.1} us, p99 {:.0} us, max {:.0} us, most sends in a millisecond {}, CPU {:.1} %",
            micros(0.5),
            micros(0.99),
            micros(1.0),
            measured.sends.sent_max(),
            cost.cpu_share() * 100.0
        );
        match capture.and_then(capture::Capture::finish) {
            Ok(times) => match capture::deviation(&times, 1e9 / per_second) {
                Some(deviation) => println!("  by the capture: {deviation}"),
                None => println!("  the capture has no request"),
            },
            Err(error) => println!("  skipped: the capture: {error:#}"),
        }
        Ok(())
    }

    /// A server that does nothing for one second of ten, against the truth that the arrivals give.
    fn stall() -> Result<()> {
        const RATE: u32 = 1_000;
        let server = servers::stalling(Duration::from_secs(4), Duration::from_secs(1))?;
        let plan = plan(
            Arrivals::Constant(rate(f64::from(RATE))?),
            Duration::from_secs(10),
            server,
        );
        let (measured, _) = run(server, &plan, NonZeroU32::MIN, Seed::new(1))?;
        // A thousand requests wait from 1 s to 1 ms, and the others not at all.
        let truth = [("p95", 0.95, 0.5005), ("p99", 0.99, 0.9005)];
        println!("a stall of 1 s in 10 s at {RATE}/s:");
        for (name, probability, expected) in truth {
            let found = measured
                .response
                .quantile(probability)
                .unwrap_or_default()
                .as_secs_f64();
            println!(
                "  {name}: {:.1} ms, truth {:.1} ms ({:+.1} %)",
                found * 1e3,
                expected * 1e3,
                (found / expected - 1.0) * 100.0
            );
        }
        let mean = measured.response.mean().unwrap_or_default().as_secs_f64();
        println!(
            "  mean: {:.2} ms, truth 50.05 ms ({:+.1} %)",
            mean * 1e3,
            (mean / 0.05005 - 1.0) * 100.0
        );
        Ok(())
    }

    /// The highest rate within a limit, beside a scan upwards by 2 %.
    fn search(name: &str, server: SocketAddr, start: f64, duration: Duration) -> Result<()> {
        const LIMIT: &str = "p99<50ms,errors<0.1%";
        let limit: Limit = LIMIT.parse()?;
        let mut judge = |rate: RequestRate, seed: Seed| -> Result<_> {
            let (measured, _) = run(
                server,
                &plan(Arrivals::Poisson(rate), duration, server),
                all_cores(),
                seed,
            )?;
            let why = self_check::check(&measured).err().map(|why| why.to_string());
            let broken = why.or_else(|| limit.broken_rule(&measured).map(str::to_owned));
            Ok(broken.map_or(Ok(()), Err))
        };
        let options = SearchOptions {
            start: rate(start)?,
            highest: rate(1e6)?,
            resolution: 0.02,
            repeats: 2,
        };
        let found = highest_rate(&options, Seed::new(1), &mut judge)?;
        let Some(mean) = found.mean() else {
            println!("{name}: even the lowest rate breaks {LIMIT}");
            return Ok(());
        };
        let seed = Seed::new(1).derive_index(0);
        let mut scanned = mean * 0.9;
        // A single step may be broken by the machine; two in a row are the end.
        let (mut step, mut broken) = (scanned, 0);
        while broken < 2 {
            step *= 1.02;
            if judge(rate(step)?, seed)?.is_ok() {
                (scanned, broken) = (step, 0);
            } else {
                broken += 1;
            }
        }
        println!(
            "{name}, {LIMIT}: {mean:.1}/s, the mean of {:.1?}; broken by {:?}; a scan finds {scanned:.1}/s ({:+.1} %)",
            found.repeats,
            found.broken_by,
            (mean / scanned - 1.0) * 100.0
        );
        Ok(())
    }

    /// Ten thousand connections that are open at once. The server answers after three seconds; it is a process of its own, since a process may not have
    /// descriptors enough for both ends.
    fn many_connections() -> Result<()> {
        const CONNECTIONS: u64 = 10_000;
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--serve-delayed")
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let output = child.stdout.take().context("its output is a pipe")?;
        BufReader::new(output).read_line(&mut address)?;
        let server = address.trim().parse()?;
        let plan = Plan {
            requests_per_connection: Some(NonZeroU32::MIN),
            ..plan(Arrivals::Constant(rate(5_000.0)?), Duration::from_secs(2), server)
        };
        let before = resident_bytes()?;
        let ran = run(server, &plan, NonZeroU32::MIN, Seed::new(1));
        child.kill()?;
        child.wait()?;
        let (measured, _) = ran?;
        println!(
            "{} connections at once (aim {CONNECTIONS}): {} completed, errors {:?}; the generator grew by {:.1} MB",
            measured.connections_max,
            measured.completed,
            measured.errors,
            (resident_bytes()?.saturating_sub(before)) as f64 / 1e6
        );
        Ok(())
    }

    /// Serves with a delay until this process is ended.
    fn serve_delayed() -> Result<()> {
        println!("{}", servers::delaying(Duration::from_secs(3))?);
        loop {
            std::thread::park();
        }
    }

    /// The largest resident set of this process so far (proc(5), VmHWM).
    fn resident_bytes() -> Result<u64> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|rest| rest.trim().strip_suffix(" kB"));
        Ok(kilobytes
            .and_then(|number| number.trim().parse::<u64>().ok())
            .unwrap_or(0)
            * 1024)
    }
}
