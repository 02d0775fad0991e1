//! Claims about deliveries that arithmetic gives.

use super::stream::{self, Framed, Setting};
use super::*;

fn framed(lengths: &[u64], due: Option<u64>) -> Rc<[Framed]> {
    let header = |length| FrameHeader {
        is_final: true,
        rsv1: false,
        rsv2: false,
        rsv3: false,
        opcode: Opcode::Binary,
        mask: None,
        length,
    };
    let framed = lengths.iter().enumerate().map(|(place, length)| {
        let mut octets = Vec::new();
        header(*length).write_with(&vec![0; *length as usize], &mut octets);
        Framed {
            octets,
            due: due.map(|milliseconds| Duration::from_millis(milliseconds * place as u64)),
            compressing: Duration::from_millis(2),
            decompressing: Duration::from_millis(3),
        }
    });
    framed.collect()
}

fn delivered(framed: &Rc<[Framed]>, sender: End) -> Delivered {
    let link = lastmile_link::resolve("t+rate=80kbit/s+one_way_delay=50ms").unwrap();
    let setting = Setting {
        link: &link,
        sender,
        slow_client: 4.0,
        seed: Seed::new(1),
    };
    stream::run(framed, &setting).unwrap()
}

#[test]
fn a_message_takes_compressing_serialisation_the_delay_and_decompressing_on_the_slow_client() {
    // A frame of 100 B in a segment of 152 B (IPv4 20, TCP with timestamps 32) at 10 B a millisecond.
    let delivered = delivered(&framed(&[98, 98], None), End::Server);
    let expected = Duration::from_micros(2_000 + 15_200 + 50_000 + 4 * 3_000);
    assert_eq!(delivered.times, [expected, expected]);
    assert_eq!(delivered.carried.get(), 2 * 152);
}

#[test]
fn a_client_compresses_as_slowly_as_it_is_and_the_server_decompresses() {
    let delivered = delivered(&framed(&[98], None), End::Client);
    assert_eq!(
        delivered.times,
        [Duration::from_micros(4 * 2_000 + 15_200 + 50_000 + 3_000)]
    );
}

#[test]
fn messages_that_are_due_sooner_than_the_link_carries_them_wait() {
    // Each takes 15.2 ms of the link, and one is due every 5 ms.
    let times = delivered(&framed(&[98; 20], Some(5)), End::Server).times;
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    // One is due every 100 ms, which leaves them alone.
    let times = delivered(&framed(&[98; 20], Some(100)), End::Server).times;
    assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
}
