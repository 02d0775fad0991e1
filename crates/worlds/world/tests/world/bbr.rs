//! Claims about BBR: its times beside the kernel's, and where it helps. A client asks, a server answers with bytes.
//!
//! The kernel's figures are those of Linux 6.18.44 with `tcp_congestion_control=bbr`, `tcp_no_metrics_save=1`, `tcp_rmem=4096
//! 131072 6291456` and `tcp_wmem=4096 16384 4194304`, no queueing discipline that paces, between two network namespaces with a TUN
//! device each, joined by a program that passes each packet through this link model in real time, with the same seed and so with
//! the same losses by the frame's index. The server writes with one blocking call. From `connect` to the last byte read.

use crate::support::{Pair, direction};
use lastmile_link::{DirectionSpec, Loss, Queue};
use lastmile_tcp::{Config, CongestionControl};
use lastmile_units::Probability;
use lastmile_world::World as _;
use lastmile_world::sim::HostSpec;
use lastmile_world::{Host, Listener};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Profile {
    rate: &'static str,
    one_way_delay_ms: u64,
    queue: Queue,
    loss_percent: f64,
    bytes: usize,
    kernel: Kernel,
}

/// What the kernel took.
struct Kernel {
    seconds: f64,
    /// How far it may be from that, in per cent.
    within_percent: f64,
}

/// The median of ten runs of the kernel, and of ten seeds here: what differs between them is where the cycle of gains begins.
/// The kernel's runs lie within 0.2 % of their median, but for 2 Mbit/s, where they lie within 3 %.
const WITHOUT_LOSSES: [Profile; 10] = [
    profile("56 kbit/s", 75, Queue::Packets(10), 0.0, 100_000, 19.003, 1.0),
    profile("512 kbit/s", 50, Queue::Packets(20), 0.0, 100_000, 1.8255, 0.1),
    profile("512 kbit/s", 50, Queue::Packets(20), 0.0, 1_000_000, 16.523, 0.1),
    profile("512 kbit/s", 50, Queue::Unlimited, 0.0, 1_000_000, 16.523, 0.1),
    profile("1.6 Mbit/s", 150, Queue::Packets(50), 0.0, 100_000, 1.5743, 0.2),
    profile("1.6 Mbit/s", 150, Queue::Packets(50), 0.0, 2_000_000, 11.987, 0.1),
    profile("2 Mbit/s", 300, Queue::Packets(30), 0.0, 3_000_000, 16.784, 1.0),
    profile("11 Mbit/s", 2, Queue::Packets(100), 0.0, 100_000, 0.0840, 0.6),
    profile("11 Mbit/s", 2, Queue::Packets(100), 0.0, 10_000_000, 7.547, 0.2),
    profile("100 Mbit/s", 20, Queue::Packets(200), 0.0, 20_000_000, 1.927, 1.0),
];

/// The mean of 30 runs, one a seed, and of the same seeds here. The standard errors of the kernel's means are 0.1, 0.3, 1.6, 0.05,
/// 0.5 and 3.0 per cent. Where it is small, a tolerance is three of them or 1 per cent; else it is what the project promises, 5. At
/// 100 Mbit/s the kernel's mean is held up by three runs in which losses came so early that its receive window, which does not
/// grow beyond 80,512 B meanwhile, cut startup short: here it grows, and the mean is 5 per cent below.
const WITH_LOSSES: [Profile; 6] = [
    profile("512 kbit/s", 50, Queue::Packets(20), 1.0, 500_000, 8.385, 1.0),
    profile("1.6 Mbit/s", 150, Queue::Packets(50), 1.0, 2_000_000, 12.249, 1.0),
    profile("1.6 Mbit/s", 150, Queue::Packets(50), 5.0, 500_000, 4.501, 5.0),
    profile("11 Mbit/s", 2, Queue::Packets(100), 1.0, 2_000_000, 1.532, 1.0),
    profile("11 Mbit/s", 2, Queue::Packets(100), 5.0, 2_000_000, 1.606, 3.0),
    profile("100 Mbit/s", 20, Queue::Packets(200), 1.0, 10_000_000, 1.280, 6.0),
];

const fn profile(
    rate: &'static str,
    one_way_delay_ms: u64,
    queue: Queue,
    loss_percent: f64,
    bytes: usize,
    seconds: f64,
    within_percent: f64,
) -> Profile {
    let kernel = Kernel {
        seconds,
        within_percent,
    };
    Profile {
        rate,
        one_way_delay_ms,
        queue,
        loss_percent,
        bytes,
        kernel,
    }
}

impl Profile {
    /// Towards the client, and towards the server: losses are the answer's alone.
    fn directions(&self) -> [DirectionSpec; 2] {
        let up = DirectionSpec {
            queue: self.queue,
            ..direction(self.rate, Duration::from_millis(self.one_way_delay_ms))
        };
        let loss = Loss::Bernoulli(Probability::new(self.loss_percent / 100.0).unwrap());
        [DirectionSpec { loss, ..up.clone() }, up]
    }

    fn transfer(&self, seed: u64) -> Transfer {
        let demand = Demand {
            answers: 1,
            bytes: self.bytes,
            pause: Duration::ZERO,
        };
        transfer(seed, &self.directions(), CongestionControl::Bbr, demand)
    }

    /// How far `seconds` is from the kernel, where that is too far.
    fn complaint(&self, seconds: f64) -> Option<String> {
        let percent = (seconds / self.kernel.seconds - 1.0) * 100.0;
        let Self {
            rate,
            bytes,
            loss_percent,
            queue,
            ..
        } = self;
        (percent.abs() > self.kernel.within_percent).then(|| {
            format!("{bytes} bytes at {rate}, {queue:?}, {loss_percent} % lost: {seconds:.3} s, {percent:+.2} %")
        })
    }
}

/// What a client asks for, one after the other.
#[derive(Clone, Copy)]
struct Demand {
    answers: usize,
    bytes: usize,
    /// Between an answer and the next question.
    pause: Duration,
}

struct Transfer {
    total: Duration,
    retransmissions: u64,
    drops: u64,
}

const REQUEST: usize = 100;

fn transfer(
    seed: u64,
    [down, up]: &[DirectionSpec; 2],
    congestion_control: CongestionControl,
    demand: Demand,
) -> Transfer {
    let spec = || HostSpec {
        tcp: Config {
            congestion_control,
            ..Config::default()
        },
        ..HostSpec::default()
    };
    let pair = Pair::with_directions(seed, [down, up], spec(), spec());
    let mut listener = pair.server.listen(80).unwrap();
    pair.world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        let answer = vec![7; demand.bytes];
        for _ in 0..demand.answers {
            stream.read_exact(&mut [0; REQUEST]).await.unwrap();
            stream.write_all(&answer).await.unwrap();
        }
    });
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    let program = async move {
        let mut stream = client.connect(address).await.unwrap();
        let mut answer = vec![0; demand.bytes];
        for index in 0..demand.answers {
            if index > 0 {
                client.sleep_until(client.now() + demand.pause).await;
            }
            stream.write_all(&[1; REQUEST]).await.unwrap();
            stream.read_exact(&mut answer).await.unwrap();
        }
        client.now().since_start()
    };
    let total = pair.world.run(program).unwrap();
    Transfer {
        total,
        retransmissions: pair.server.tcp_counters().retransmissions,
        drops: pair.counters()[0].dropped(),
    }
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    let middle = seconds.len() / 2;
    f64::midpoint(seconds[middle - 1], seconds[middle])
}

#[test]
fn transfers_take_as_long_as_the_kernels() {
    let far = WITHOUT_LOSSES.iter().filter_map(|profile| {
        let seconds = (1..=10).map(|seed| profile.transfer(seed).total.as_secs_f64());
        profile.complaint(median(seconds.collect()))
    });
    let far: Vec<_> = far.collect();
    assert!(far.is_empty(), "{far:#?}");
}

#[test]
fn transfers_with_the_same_losses_take_as_long_as_the_kernels_on_average() {
    let far = WITH_LOSSES.iter().filter_map(|profile| {
        let seconds = (1..=30).map(|seed| profile.transfer(seed).total.as_secs_f64());
        profile.complaint(seconds.sum::<f64>() / 30.0)
    });
    let far: Vec<_> = far.collect();
    assert!(far.is_empty(), "{far:#?}");
}

/// 20 answers of 50 kB with 0.7 s between them: each begins with the window and the rate that the one before has left, which is
/// what the program, and not the path, has set since. Of each the kernel was run once; its answers differ by 0.1 ms.
#[test]
fn answers_after_pauses_take_as_long_as_the_kernels() {
    for (rate, one_way_delay_ms, kernel_seconds) in [("1.6 Mbit/s", 150, 25.200), ("11 Mbit/s", 20, 14.955)] {
        let profile = profile(
            rate,
            one_way_delay_ms,
            Queue::Packets(50),
            0.0,
            50_000,
            kernel_seconds,
            0.1,
        );
        let demand = Demand {
            answers: 20,
            bytes: profile.bytes,
            pause: Duration::from_millis(700),
        };
        let transfer = transfer(1, &profile.directions(), CongestionControl::Bbr, demand);
        assert_eq!(profile.complaint(transfer.total.as_secs_f64()), None);
    }
}

#[test]
fn only_what_was_dropped_is_sent_again() {
    for profile in &WITHOUT_LOSSES {
        let transfer = profile.transfer(1);
        assert_eq!(transfer.retransmissions, transfer.drops, "{}", profile.rate);
    }
}

/// 512 kbit/s for the handshake's 102 ms are 4.4 full packets. Startup has 2.89 times that under way and room for three bursts of
/// one packet, 16 in all, and each step up after it less. Cubic goes on until something is lost.
#[test]
fn a_queue_that_cubic_overflows_holds_all_that_bbr_sends() {
    let profile = &WITHOUT_LOSSES[2];
    let demand = Demand {
        answers: 1,
        bytes: profile.bytes,
        pause: Duration::ZERO,
    };
    let drops = |control| transfer(1, &profile.directions(), control, demand).drops;
    assert_eq!(drops(CongestionControl::Bbr), 0);
    assert!(drops(CongestionControl::Cubic) > 0);
}

/// At 1.6 Mbit/s 2 MB and their headers take 10.4 s to serialise.
#[test]
fn one_loss_in_a_hundred_costs_a_quarter_at_most_and_makes_cubic_take_more_than_twice_as_long() {
    let lossy = &WITH_LOSSES[1];
    let demand = Demand {
        answers: 1,
        bytes: lossy.bytes,
        pause: Duration::ZERO,
    };
    let seconds = |control| transfer(1, &lossy.directions(), control, demand).total.as_secs_f64();
    let (bbr, cubic) = (seconds(CongestionControl::Bbr), seconds(CongestionControl::Cubic));
    assert!(bbr < 1.25 * 10.4 && cubic > 2.0 * 10.4, "{bbr} s and {cubic} s");
}

/// Where the cycle begins is drawn from the world's seed: the same seed gives the same transfer, and others give others.
#[test]
fn the_cycles_beginning_is_the_seeds() {
    let profile = &WITHOUT_LOSSES[2];
    let totals: Vec<_> = (1..=10).map(|seed| profile.transfer(seed).total).collect();
    let again: Vec<_> = (1..=10).map(|seed| profile.transfer(seed).total).collect();
    assert_eq!(totals, again);
    assert!(totals.iter().any(|total| *total != totals[0]), "{totals:?}");
}
