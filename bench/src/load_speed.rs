//! Measures the load generator: its CPU time per request beside other generators, its schedule as a capture shows it, a stall, a limit, and ten
//! thousand connections.
//!
//! Generators run in turns on one nginx with a file of 1 KB, and each that is installed takes part. The CPU time is that of the generator's
//! process, user and system, per request; the ratio is to wrk's in the same turn, and over HTTP/2 to h2load's. Send times are the kernel's, of a capture of the loopback
//! interface, which takes root. The other servers are threads of this process. Servers whose speed counts have a core of their own.

#[cfg(target_os = "linux")]
mod load_speed {
    pub(super) mod connections;
    pub(super) mod cores;
    pub(super) mod generators;
    pub(super) mod nginx;
    pub(super) mod question;
    pub(super) mod runs;
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
    use super::load_speed::connections::Connections;
    use super::load_speed::cores::{self, Core};
    use super::load_speed::generators::{self, ReportedTimes};
    use super::load_speed::nginx::{Nginx, PACE};
    use super::load_speed::question::Question;
    use super::load_speed::runs::{page_request, plan, rate, run};
    use super::load_speed::servers;
    use anyhow::{Context as _, Result};
    use clap::{Parser, ValueEnum};
    use lastmile_bench::spread::Spread;
    use lastmile_load::plan::Plan;
    use lastmile_load::queueing_theory;
    use lastmile_load::record::CapturedSchedule;
    use lastmile_load::request::Request;
    use lastmile_load::schedule::Arrivals;
    use lastmile_load::send_capture::SendCapture;
    use lastmile_load::server_model::{ServerModel, ServiceTime};
    use lastmile_units::Seed;
    use lastmile_world::emu::DescriptorLimit;
    use std::io::{BufRead as _, BufReader};
    use std::net::SocketAddr;
    use std::num::NonZeroU32;
    use std::process::{Command, Stdio};
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
        /// How often the highest rate is searched, and scanned for
        #[arg(long, default_value_t = 3)]
        rounds: u32,
        /// Print each run of the search and the scan
        #[arg(long)]
        show_runs: bool,
        /// Measure only this part
        #[arg(long, value_enum)]
        only: Option<MeasuredPart>,
        /// Serve, for the measurement of many connections
        #[arg(long, hide = true)]
        serve_delayed: bool,
    }

    /// The parts that can be measured separately.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
    enum MeasuredPart {
        /// CPU time beside other generators
        Generators,
        /// Send times by a capture
        Schedule,
        /// A server that stalls
        Stall,
        /// The highest rate within a limit of nginx, whose own setting limits it
        Nginx,
        /// That of nginx limited by its CPU: it drifts as much as the speed of this machine's cores
        NginxCpu,
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
        match cores::on(Core::Server, Nginx::start) {
            Ok(nginx) => {
                if is_measured(MeasuredPart::Generators) {
                    for kind in [Connections::KeepAlive, Connections::PerRequest, Connections::Http2] {
                        compare(&nginx, kind, &arguments)?;
                    }
                }
                for rate in CAPTURED_RATES {
                    if is_measured(MeasuredPart::Schedule) {
                        schedule(nginx.address(), rate)?;
                        for is_persistent in [true, false] {
                            schedules_of_others(&nginx, rate, is_persistent)?;
                        }
                    }
                }
                if is_measured(MeasuredPart::Nginx) {
                    let question = Question {
                        name: &format!("nginx that lets {PACE} requests per second through (limit_req), 1 KB"),
                        server: nginx.paced(),
                        request: Request::get(&nginx.paced().to_string(), "/1k.html"),
                        duration: Duration::from_secs(3),
                        shows_runs: arguments.show_runs,
                    };
                    question.search_and_scan(500.0, arguments.rounds)?;
                }
                if is_measured(MeasuredPart::NginxCpu) {
                    let question = Question {
                        name: "nginx with one worker on a core of its own, a page of 10 kB that it compresses for each request (gzip 6)",
                        server: nginx.address(),
                        request: page_request(nginx.address()),
                        duration: Duration::from_secs(3),
                        shows_runs: arguments.show_runs,
                    };
                    question.search_and_scan(500.0, arguments.rounds)?;
                }
            }
            Err(error) => println!("skipped: what needs nginx: {error:#}"),
        }
        if is_measured(MeasuredPart::Stall) {
            stall()?;
        }
        if is_measured(MeasuredPart::Workers) {
            workers(&arguments)?;
        }
        if is_measured(MeasuredPart::Connections) {
            many_connections()?;
        }
        Ok(())
    }

    /// The highest rate of four workers, beside that of theory, and of the same question in virtual time.
    fn workers(arguments: &Arguments) -> Result<()> {
        let service = Duration::from_millis(20);
        let server = cores::on(Core::Server, || servers::workers(4, service))?;
        let question = Question {
            name: "4 workers of 20 ms",
            server,
            request: Request::get(&server.to_string(), "/"),
            duration: Duration::from_secs(13),
            shows_runs: arguments.show_runs,
        };
        let Some(found) = question.search_and_scan(100.0, arguments.rounds)? else {
            return Ok(());
        };
        let off = |rate: f64| (found / rate - 1.0) * 100.0;
        if let Some(theory) = queueing_theory::highest_rate(4, service, 0.99, Duration::from_millis(50)) {
            let theory = theory.per_second();
            println!(
                "  theory (M/D/4): {theory:.1}/s; the search is {:+.1} % off",
                off(theory)
            );
        }
        let model = ServerModel {
            workers: NonZeroU32::new(4).context("4 is above 0")?,
            service_time: ServiceTime::Constant(service),
            ..ServerModel::default()
        };
        let simulated = question.search_in_simulation(100.0, arguments.rounds, &model)?;
        println!(
            "  in virtual time: {simulated:.1}/s; the search over sockets is {:+.1} % off",
            off(simulated)
        );
        Ok(())
    }

    /// CPU time per request of each generator that is installed, in turns.
    fn compare(nginx: &Nginx, kind: Connections, arguments: &Arguments) -> Result<()> {
        println!(
            "CPU time per request, closed loop of {} requests at once, {}:",
            generators::CONNECTIONS,
            kind.name()
        );
        let generators = generators::installed(kind)?;
        let url = match kind {
            Connections::Http2 => nginx.http2_url(),
            Connections::KeepAlive | Connections::PerRequest => nginx.url(),
        };
        let mut costs: Vec<Vec<f64>> = vec![Vec::new(); generators.len()];
        for _ in 0..arguments.turns {
            for (generator, costs) in generators.iter().zip(&mut costs) {
                let measure = || generator.cpu_per_request(&url, arguments.seconds);
                match cores::on(Core::Generator, measure) {
                    Ok(cost) => costs.push(cost),
                    Err(error) => println!("  {}: {error:#}", generator.name),
                }
            }
        }
        let name = kind.reference();
        let reference = generators.iter().position(|generator| generator.name == name);
        for (generator, own) in generators.iter().zip(&costs) {
            let Some(spread) = Spread::of(own.clone()) else {
                continue;
            };
            let ratios = reference.map(|other| own.iter().zip(&costs[other]).map(|(own, other)| own / other).collect());
            let ratio = ratios.and_then(Spread::of).map_or_else(String::new, |ratio| {
                format!(", {:.2} of {name} ({:.2} to {:.2})", ratio.median, ratio.min, ratio.max)
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

    /// How long the schedules that are captured last.
    const CAPTURED: u32 = 5;

    /// Send times against the intended ones, by the clock of the generator and by the kernel's.
    fn schedule(server: SocketAddr, per_second: f64) -> Result<()> {
        let capture = SendCapture::start(server.port(), None);
        let seed = Seed::new(1);
        let plan = plan(
            Arrivals::Constant(rate(per_second)?),
            Duration::from_secs(CAPTURED.into()),
            server,
        );
        let ran = run(server, &plan, NonZeroU32::MIN, seed)?;
        let measured = &ran.measurement;
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
            ran.cost.cpu_share() * 100.0
        );
        println!("  by a capture, from an even grid that begins so that no request is early:");
        let sends = match capture.and_then(SendCapture::finish) {
            Ok(sends) => sends,
            Err(error) => {
                println!("  skipped: only root may capture ({error})");
                return Ok(());
            }
        };
        let name = "lastmile";
        if let Some(deviation) = sends.deviation_from_plan(&plan, seed, ran.start) {
            println!("  {name:<10} {}, from its own schedule", in_words(&deviation));
        }
        if let Some(deviation) = sends.deviation_from_grid(Duration::from_secs_f64(1.0 / per_second)) {
            println!("  {name:<10} {}", in_words(&deviation));
        }
        Ok(())
    }

    /// The schedules of other generators that hold a rate, by a capture.
    fn schedules_of_others(nginx: &Nginx, per_second: f64, is_persistent: bool) -> Result<()> {
        for generator in generators::paced(is_persistent) {
            let Ok(capture) = SendCapture::start(nginx.address().port(), None) else {
                // It was said above.
                return Ok(());
            };
            let ran = generator.run_at(&nginx.url(), per_second as u32, CAPTURED);
            let sends = capture.finish()?;
            match (
                ran,
                sends.deviation_from_grid(Duration::from_secs_f64(1.0 / per_second)),
            ) {
                (Ok(_), Some(deviation)) => println!("  {:<10} {}", generator.name, in_words(&deviation)),
                (Err(error), _) => println!("  {:<10} {error:#}", generator.name),
                (_, None) => println!("  {:<10} sent nothing", generator.name),
            }
        }
        Ok(())
    }

    fn in_words(schedule: &CapturedSchedule) -> String {
        format!(
            "p50 {:.1} us, p99 {:.0} us, max {:.0} us, most sends within any millisecond {} ({} requests)",
            schedule.late_p50 * 1e6,
            schedule.late_p99 * 1e6,
            schedule.late_max * 1e6,
            schedule.sent_per_ms_max,
            schedule.requests
        )
    }

    /// The stall: its rate, its beginning and its length; and how long requests are sent, in seconds.
    const STALL_RATE: u32 = 1_000;
    const STALL_AFTER: Duration = Duration::from_secs(4);
    const STALL: Duration = Duration::from_secs(1);
    const STALL_SECONDS: u32 = 10;
    /// A thousand requests wait from 1 s to 1 ms, and the others not at all: what an open loop should report, in seconds.
    const STALL_TRUTH: ReportedTimes = ReportedTimes {
        mean: Some(0.050_05),
        p95: Some(0.500_5),
        p99: Some(0.900_5),
    };

    /// A server that does nothing for one second of ten, against the truth that the arrivals give; by other generators, too.
    fn stall() -> Result<()> {
        println!("a stall of 1 s in 10 s at {STALL_RATE}/s:");
        let server = servers::stalling(STALL_AFTER, STALL)?;
        let arrivals = Arrivals::Constant(rate(STALL_RATE.into())?);
        let plan = plan(arrivals, Duration::from_secs(STALL_SECONDS.into()), server);
        let measured = run(server, &plan, NonZeroU32::MIN, Seed::new(1))?.measurement;
        let quantile = |probability| measured.response.quantile(probability).map(|time| time.as_secs_f64());
        let own = ReportedTimes {
            mean: measured.response.mean().map(|mean| mean.as_secs_f64()),
            p95: quantile(0.95),
            p99: quantile(0.99),
        };
        println!("  {:<10} {}", "lastmile", against_truth(&own));
        for generator in generators::paced(true).iter().chain(&generators::paced(false)) {
            let server = servers::stalling(STALL_AFTER, STALL)?;
            match generator.run_at(&format!("http://{server}/"), STALL_RATE, STALL_SECONDS) {
                Ok(output) => println!(
                    "  {:<10} {}",
                    generator.name,
                    against_truth(&ReportedTimes::read(&output))
                ),
                Err(error) => println!("  {:<10} {error:#}", generator.name),
            }
        }
        Ok(())
    }

    fn against_truth(found: &ReportedTimes) -> String {
        let part = |name: &str, found: Option<f64>, truth: Option<f64>| match found.zip(truth) {
            Some((found, truth)) => format!("{name} {:.1} ms ({:+.1} %)", found * 1e3, (found / truth - 1.0) * 100.0),
            None => format!("{name} not said"),
        };
        [
            part("p95", found.p95, STALL_TRUTH.p95),
            part("p99", found.p99, STALL_TRUTH.p99),
            part("mean", found.mean, STALL_TRUTH.mean),
        ]
        .join(", ")
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
        let measured = ran?.measurement;
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
