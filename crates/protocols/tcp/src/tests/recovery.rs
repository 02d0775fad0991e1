//! Tests of loss recovery, with times computed by hand: a round trip is 100 ms, and a timeout 300 ms.

use super::*;
use crate::timer_wheel::expected;

const FULL: usize = 1448;

/// Loses the client's data segments with these numbers, counting retransmissions.
fn lose(pipe: &mut Pipe, lost: &'static [u32]) {
    let mut number = 0;
    pipe.judge = Box::new(move |from, segment, _| {
        if from != Client || segment.payload.is_empty() {
            return Fate::Arrives;
        }
        number += 1;
        if lost.contains(&(number - 1)) {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
}

/// When the client sent data, from `begun` on, and which segments.
fn sent(pipe: &Pipe, begun: Duration) -> Vec<(Duration, u32)> {
    let data = pipe
        .sent
        .iter()
        .filter(|it| it.from == Client && !it.segment.payload.is_empty());
    data.map(|it| (it.at.since_start() - begun, (it.segment.sequence - 1001) / FULL as u32))
        .collect()
}

/// RFC 8985 section 7: two round trips after the last acknowledgement, and 2 ms, the last segment is sent again. Its
/// acknowledgement shows that the one before it is lost.
#[test]
fn a_lost_tail_is_found_by_a_probe() {
    let mut pipe = Pipe::open_by_default();
    lose(&mut pipe, &[8, 9]);
    let begun = pipe.now.since_start();
    pipe.write(Client, &content(1, 10 * FULL));
    pipe.run_for(S);
    let probed = 100 * MS + expected(202 * MS);
    assert_eq!(sent(&pipe, begun)[10..], [(probed, 9), (probed + 100 * MS, 8)]);
    assert_eq!(pipe.read(Server).unwrap().0, content(1, 10 * FULL));
    assert_eq!(pipe.end(Client).counters().timeouts, 0);
}

/// A lone segment's acknowledgement may be delayed, so its probe would wait for 400 ms: the timeout comes first, and the probe
/// is sent at that time.
#[test]
fn the_probe_of_a_lone_segment_waits_no_longer_than_the_timeout() {
    let mut pipe = Pipe::open_by_default();
    lose(&mut pipe, &[0]);
    let begun = pipe.now.since_start();
    pipe.write(Client, &content(1, FULL));
    pipe.run_for(S);
    assert_eq!(sent(&pipe, begun), [(Duration::ZERO, 0), (expected(300 * MS), 0)]);
    assert_eq!(pipe.end(Client).counters().timeouts, 0);
}

/// RFC 8985 section 6: data sent after the copy has arrived, so the copy is lost.
#[test]
fn a_retransmission_that_is_lost_is_sent_again_before_any_timeout() {
    let mut pipe = Pipe::open_by_default();
    // The tenth is the copy of the third.
    lose(&mut pipe, &[2, 10]);
    let begun = pipe.now.since_start();
    pipe.write(Client, &content(1, 40 * FULL));
    pipe.run_for(S);
    let copies = sent(&pipe, begun).into_iter().filter(|(_, segment)| *segment == 2);
    assert!(copies.count() == 3 && pipe.end(Client).counters().timeouts == 0);
    assert_eq!(pipe.read(Server).unwrap().0, content(1, 40 * FULL));
}

/// RFC 2883 section 4: in the first block, once.
#[test]
fn what_arrives_twice_is_reported_once() {
    let mut pipe = Pipe::open_by_default();
    pipe.write(Client, &content(1, FULL));
    pipe.run_for(S);
    let copy = pipe.sent[0].segment.clone();
    pipe.sent.clear();
    pipe.arrive(Server, &copy);
    pipe.write(Client, &content(1, FULL));
    pipe.run_for(S);
    let reports = pipe.sent.iter().filter(|it| it.from == Server);
    let blocks = reports
        .map(|it| it.segment.sack.as_slice().to_vec())
        .collect::<Vec<_>>();
    assert_eq!(blocks, [vec![(1001, 1001 + FULL as u32)], vec![]]);
}

/// How many segments leave at once when there is much to send and everything sent was acknowledged.
fn flight(pipe: &mut Pipe) -> usize {
    pipe.sent.clear();
    pipe.write(Client, &content(2, 60 * FULL));
    pipe.sizes(Client).len()
}

/// The path stalls for a second: a probe and a timeout send two segments again, unnecessarily. The echoed timestamps of the
/// first copies show it (RFC 4015), and the window is restored.
#[test]
fn a_timeout_that_was_spurious_is_undone() {
    let mut pipe = Pipe::open_by_default();
    let stalls_until = pipe.now + S;
    pipe.judge = Box::new(move |from, _, at| match from {
        Client => Fate::Late(stalls_until.saturating_since(at)),
        Server => Fate::Arrives,
    });
    pipe.write(Client, &content(1, 10 * FULL));
    pipe.run_for(1200 * MS);
    let counters = pipe.end(Client).counters();
    assert!(counters.timeouts > 0 && counters.retransmissions > 0);
    pipe.read(Server).unwrap();
    let after = flight(&mut pipe);
    assert!(after >= 10, "{after} segments leave at once");
}

/// RFC 8985 section 6.2, step 4: a quarter of a round trip is 25 ms, and two segments after it are too few to make it lost.
#[test]
fn a_segment_that_is_a_little_late_is_not_sent_again() {
    for (late, retransmissions) in [(20, 0), (40, 1)] {
        let mut pipe = Pipe::open_by_default();
        pipe.judge = Box::new(move |from, segment, _| {
            if from == Client && segment.sequence == 1001 && !segment.payload.is_empty() {
                Fate::Late(late * MS)
            } else {
                Fate::Arrives
            }
        });
        pipe.write(Client, &content(1, 3 * FULL));
        pipe.run_for(S);
        assert_eq!(
            pipe.end(Client).counters().retransmissions,
            retransmissions,
            "{late} ms"
        );
    }
}

/// RFC 8985 section 6.2, step 3: once a segment was late and not lost, three that overtake it no longer prove a loss.
#[test]
fn where_segments_are_known_to_overtake_three_of_them_are_no_proof_of_loss() {
    for (known, retransmissions) in [(false, 1), (true, 0)] {
        let mut pipe = Pipe::open_by_default();
        pipe.judge = Box::new(move |from, segment, _| {
            let number = segment.sequence.wrapping_sub(1001) / FULL as u32;
            let is_late = (known && number == 0) || number == 4;
            if from == Client && !segment.payload.is_empty() && is_late {
                Fate::Late(20 * MS)
            } else {
                Fate::Arrives
            }
        });
        // Two overtake the first, which is no loss.
        pipe.write(Client, &content(1, 3 * FULL));
        pipe.run_for(250 * MS);
        pipe.write(Client, &content(1, 10 * FULL));
        pipe.run_for(S);
        assert_eq!(pipe.end(Client).counters().retransmissions, retransmissions, "{known}");
    }
}

/// RFC 5681 section 3.1, as Linux has it: one lost SYN is forgiven, two are not.
#[test]
fn after_two_lost_syns_a_client_begins_with_one_segment() {
    for (lost, flight) in [(1, 10), (2, 1)] {
        let mut pipe = Pipe::new(Config::default(), Config::default());
        let mut syns = 0;
        pipe.judge = Box::new(move |from, segment, _| {
            syns += u32::from(from == Client && segment.flags.has(Flags::SYN));
            if syns <= lost { Fate::Lost } else { Fate::Arrives }
        });
        pipe.run_for(5 * S);
        pipe.sent.clear();
        pipe.write(Client, &content(1, 20 * FULL));
        assert_eq!(pipe.sizes(Client).len(), flight, "{lost} lost");
    }
}
