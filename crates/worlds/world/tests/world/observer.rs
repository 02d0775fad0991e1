//! Claims about observing a world: the samples add up to the counters, and nothing happens otherwise for them.

use crate::support::{Pair, direction};
use lastmile_link::{DirectionSpec, Queue};
use lastmile_units::Instant;
use lastmile_world::{Host, Listener, MediumSample, Observer, World as _};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PERIOD: Duration = Duration::from_millis(100);

/// The samples of an interval.
type Note = (Range<Instant>, Vec<MediumSample>);

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<Note>>>);

impl Observer for Notes {
    fn interval(&mut self, time: &Range<Instant>, samples: &[MediumSample]) {
        self.0.lock().unwrap().push((time.clone(), samples.to_vec()));
    }
}

/// Downloads 300 kB over 1 Mbit/s with a queue of ten packets; the time that it took.
fn download(pair: &Pair) -> Duration {
    let mut listener = pair.server.listen(80).unwrap();
    pair.world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        stream.write_all(&[0; 300_000]).await.unwrap();
        stream.shutdown().await.unwrap();
    });
    let (client, server) = (pair.client.clone(), pair.server.address(80));
    let downloading = async move {
        let mut stream = client.connect(server).await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
        client.now().since_start()
    };
    pair.world.run(downloading).unwrap()
}

#[test]
fn samples_of_intervals_add_up_to_the_counters_and_move_no_time() {
    let modem = DirectionSpec {
        queue: Queue::Packets(10),
        ..direction("1 Mbit/s", Duration::from_millis(20))
    };
    let (observed, alone) = (Pair::new(1, &modem), Pair::new(1, &modem));
    let notes = Notes::default();
    observed.world.observe(Box::new(notes.clone()), PERIOD);
    let took = download(&observed);
    assert_eq!(took, download(&alone));
    let notes = notes.0.lock().unwrap();
    // 2.5 s, in each of which packets move.
    assert!((20..=26).contains(&notes.len()), "{}", notes.len());
    let mut end = Instant::START;
    for (time, samples) in notes.iter() {
        assert_eq!((time.start, samples.len()), (end, 2));
        assert!(time.end.saturating_since(time.start) >= PERIOD);
        // No more than the link carries.
        let bits = samples[0].delivered.get() as f64 * 8.0;
        let seconds = time.end.saturating_since(time.start).as_secs_f64();
        assert!(bits / seconds < 1.15e6, "{} in {time:?}", samples[0].delivered);
        end = time.end;
    }
    let [down, _] = observed.counters();
    let delivered: u64 = notes.iter().map(|(_, samples)| samples[0].delivered.get()).sum();
    let dropped: u64 = notes.iter().map(|(_, samples)| samples[0].dropped).sum();
    let last = down.bytes_delivered.get() - delivered;
    assert!(
        last < 20_000,
        "the last interval is not over: {last} of {}",
        down.bytes_delivered
    );
    assert!(dropped > 0 && dropped == down.dropped_by_full_queue);
    assert_eq!(notes.iter().map(|(_, samples)| samples[0].queue_length).max(), Some(10));
}
