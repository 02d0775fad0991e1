//! Delivers batches over a link in the simulated world, on a connection that stays open.

use lastmile_link::{Capacity, LinkSpec};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::testbed::{TwoHostSpec, TwoHostTestbed};
use lastmile_units::{Seed, random};
use lastmile_world::sim;
use lastmile_world::{Host as _, Listener as _};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// The port that the receiver connects to.
const PORT: u16 = 4000;

/// The headers of IPv4 and of TCP with timestamps, and the payload that fits beside them into 1,500 bytes.
const SEGMENT_HEADERS: usize = 20 + 32;
const SEGMENT_PAYLOAD: usize = 1_448;

/// What a delivery of several batches took.
#[derive(Debug, Clone)]
pub(crate) struct Delivered {
    /// For each batch, from when it was to be sent until its last byte had arrived, in seconds.
    pub(crate) times: Vec<f64>,
    /// The bytes that the link carried towards the receiver, with the headers of every layer, in bytes.
    pub(crate) link_bytes: u64,
}

/// Sends batches of these sizes: each when it is `due` since the connection was opened, whatever is still under way; without such times, once the one before
/// it has arrived.
///
/// # Errors
/// When the link does not deliver them.
pub(crate) fn deliver(
    link: &LinkSpec,
    sizes: &[usize],
    due: Option<&[Duration]>,
    seed: Seed,
) -> Result<Delivered, Failure> {
    let testbed = TwoHostTestbed::<sim::World>::build(&TwoHostSpec::with_nodelay(link.clone()), seed)?;
    let (arrived, mut arrivals) = mpsc::unbounded_channel::<()>();
    let sent = Rc::new(RefCell::new(Vec::new()));
    let server = testbed.server.clone();
    let mut listener = server.listen(PORT).map_err(|error| Failure::new(error.to_string()))?;
    let (sizes_sent, sent_times) = (sizes.to_vec(), Rc::clone(&sent));
    let times = due.map(<[Duration]>::to_vec);
    let sender = server.clone();
    server.spawn(async move {
        // A failure shows at the receiver, whose connection ends.
        let _ = async {
            let mut stream = listener.accept().await?;
            let opened = sender.now();
            for (index, size) in sizes_sent.into_iter().enumerate() {
                let due = match &times {
                    Some(times) => opened + times[index],
                    None => {
                        if index > 0 && arrivals.recv().await.is_none() {
                            break;
                        }
                        sender.now()
                    }
                };
                sender.sleep_until(due).await;
                sent_times.borrow_mut().push(due);
                stream.write_all(&vec![0x55; size]).await?;
                stream.flush().await?;
            }
            io::Result::Ok(())
        }
        .await;
    });
    let (client, to, wanted) = (testbed.client.clone(), testbed.server.address(PORT), sizes.to_vec());
    let before = testbed.counters();
    let received = testbed.run(async move {
        let mut stream = client.connect(to).await?;
        let mut times = Vec::with_capacity(wanted.len());
        for size in wanted {
            stream.read_exact(&mut vec![0; size]).await?;
            times.push(client.now());
            let _ = arrived.send(());
        }
        io::Result::Ok(times)
    })?;
    let received = received.map_err(|error: io::Error| Failure::new(error.to_string()))?;
    let sent = sent.borrow();
    let times = received
        .iter()
        .zip(sent.iter())
        .map(|(arrived, sent)| (*arrived - *sent).as_secs_f64());
    Ok(Delivered {
        times: times.collect(),
        link_bytes: testbed.counters().since(before).bytes_down,
    })
}

/// When messages arise: independently of each other, so that the time between two has an exponential
/// distribution. In units of the mean time between two.
pub(crate) fn arrivals(count: usize, seed: Seed) -> Vec<f64> {
    let mut rng = seed.derive("arrivals").rng();
    let mut elapsed = 0.0;
    let next = |_| {
        // The inverse of its distribution function.
        elapsed -= libm::log(random::positive_unit_fraction(&mut rng));
        elapsed
    };
    (0..count).map(next).collect()
}

/// The mean time that a link's rate and delay imply for batches of these sizes: 8 (B + headers of each packet) / rate, and the delay; in
/// seconds. None where the rate varies. It leaves out slow start, losses and queues.
pub(crate) fn predicted(link: &LinkSpec, sizes: &[usize]) -> Option<f64> {
    let Capacity::Rate(rate) = &link.down.capacity else {
        return None;
    };
    let headers = SEGMENT_HEADERS + link.down.framing_overhead.get() as usize;
    let on_link = |size: &usize| size + size.div_ceil(SEGMENT_PAYLOAD).max(1) * headers;
    let bytes: usize = sizes.iter().map(on_link).sum();
    let seconds = 8.0 * bytes as f64 / rate.bits_per_second() as f64 / sizes.len() as f64;
    Some(seconds + link.down.one_way_delay_mean().as_secs_f64())
}
