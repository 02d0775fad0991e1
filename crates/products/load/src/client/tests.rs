use super::*;
use crate::rate::RequestRate;
use crate::request::Request as HttpRequest;
use crate::schedule::Arrivals;
use std::num::NonZeroU32;

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// A request every 10 ms, three of them.
fn plan() -> Plan {
    let arrivals = Arrivals::Constant(RequestRate::new(100.0).unwrap());
    Plan::new(
        Demand::open(arrivals),
        Duration::from_millis(30),
        HttpRequest::get("server", "/"),
    )
}

fn client(plan: Plan) -> Client {
    Client::new(Arc::new(plan), Share::WHOLE, at(0), Seed::new(1))
}

fn actions(client: &mut Client) -> Vec<Action> {
    std::iter::from_fn(|| client.next_action()).collect()
}

/// Advances to a request that needs a connection; returns its id.
fn connect(client: &mut Client, millis: u64) -> ConnectionId {
    client.advance(at(millis));
    let [Action::Connect(id)] = actions(client)[..] else {
        panic!("one connection is wanted");
    };
    client.on_connecting(id, at(millis));
    id
}

/// The same, up to the written request.
fn send(client: &mut Client, millis: u64) -> ConnectionId {
    let id = connect(client, millis);
    client.on_connected(id, at(millis));
    assert_eq!(actions(client), [Action::Write(id)]);
    let length = client.unsent(id).len();
    client.on_written(id, length, at(millis));
    id
}

fn errors(client: &Client) -> Vec<(ErrorCause, u64)> {
    client
        .measurement()
        .errors
        .iter()
        .map(|(cause, count)| (*cause, *count))
        .collect()
}

#[test]
fn a_connection_is_used_again_and_closed_at_the_end() {
    let mut client = client(plan());
    let id = send(&mut client, 0);
    assert_eq!(client.next_deadline(), Some(at(10)));
    client.on_received(id, RESPONSE, at(2));
    for millis in [10, 20] {
        client.advance(at(millis));
        assert_eq!(actions(&mut client), [Action::Write(id)]);
        let length = client.unsent(id).len();
        client.on_written(id, length, at(millis));
        // A response in two parts.
        client.on_received(id, &RESPONSE[..10], at(millis + 1));
        client.on_received(id, &RESPONSE[10..], at(millis + 4));
    }
    client.advance(at(24));
    assert_eq!(actions(&mut client), [Action::Close(id)]);
    assert!(client.is_done());
    let measured = client.into_measurement();
    assert_eq!((measured.completed, measured.connections), (3, 1));
    assert_eq!(measured.transfer.max(), measured.transfer.quantile(1.0));
    assert_eq!(measured.response.mean(), Some(Duration::from_nanos(10_000_000 / 3)));
    assert_eq!(measured.connection_duration.mean(), Some(Duration::from_millis(24)));
}

#[test]
fn lateness_is_from_the_intended_start_to_the_actual_one() {
    let mut client = client(plan());
    let id = connect(&mut client, 3);
    client.on_connected(id, at(5));
    let length = client.unsent(id).len();
    client.on_written(id, length, at(5));
    client.on_received(id, RESPONSE, at(9));
    let measured = client.measurement();
    assert_eq!(measured.lateness.mean(), Some(Duration::from_millis(3)));
    assert_eq!(measured.response.mean(), Some(Duration::from_millis(9)));
    assert_eq!(measured.service.mean(), Some(Duration::from_millis(6)));
    assert_eq!(measured.connect.mean(), Some(Duration::from_millis(2)));
}

#[test]
fn a_request_is_sent_again_when_its_idle_connection_had_been_closed() {
    let mut client = client(plan());
    let first = send(&mut client, 0);
    client.on_received(first, RESPONSE, at(1));
    client.advance(at(10));
    assert_eq!(actions(&mut client), [Action::Write(first)]);
    let length = client.unsent(first).len();
    client.on_written(first, length, at(10));
    client.on_end(first, at(11));
    let [Action::Close(closed), Action::Connect(second)] = actions(&mut client)[..] else {
        panic!("it is closed, and another is opened");
    };
    assert_eq!((closed, second.generation), (first, first.generation + 1));
    client.on_connecting(second, at(11));
    client.on_connected(second, at(11));
    client.on_end(second, at(12));
    assert_eq!(
        errors(&client),
        [(ErrorCause::ClosedBeforeResponse, 1)],
        "a second time it is an error"
    );
    assert_eq!((client.measurement().retries, client.measurement().sent), (1, 2));
}

#[test]
fn a_timeout_is_told_by_how_far_the_response_had_come() {
    let timeout = Duration::from_millis(100);
    let cause = |part: &[u8]| {
        let mut client = client(Plan { timeout, ..plan() });
        let id = send(&mut client, 0);
        client.on_received(id, part, at(50));
        client.advance(at(99));
        assert_eq!(errors(&client), []);
        client.advance(at(100));
        assert!(actions(&mut client).contains(&Action::Close(id)));
        errors(&client)
    };
    assert_eq!(cause(b"HTTP/1.1 200"), [(ErrorCause::SlowHead, 1)]);
    assert_eq!(cause(&RESPONSE[..RESPONSE.len() - 1]), [(ErrorCause::SlowBody, 1)]);
    let mut silent = client(Plan { timeout, ..plan() });
    send(&mut silent, 0);
    silent.advance(at(100));
    assert_eq!(errors(&silent), [(ErrorCause::NoResponse, 1)]);
    let mut lost = client(Plan {
        connect_timeout: timeout,
        ..plan()
    });
    connect(&mut lost, 0);
    lost.advance(at(100));
    assert_eq!(errors(&lost), [(ErrorCause::SynLost, 1)]);
}

#[test]
fn what_follows_a_response_unasked_closes_the_connection() {
    let mut client = client(plan());
    let id = send(&mut client, 0);
    client.on_received(id, &[RESPONSE, RESPONSE].concat(), at(1));
    assert_eq!(actions(&mut client), [Action::Close(id)]);
    assert_eq!(client.measurement().completed, 1);
}

#[test]
fn events_of_a_closed_connection_do_not_reach_the_next_in_its_slot() {
    let mut client = client(Plan {
        requests_per_connection: NonZeroU32::new(1),
        ..plan()
    });
    let first = send(&mut client, 0);
    client.on_received(first, RESPONSE, at(1));
    assert_eq!(actions(&mut client), [Action::Close(first)]);
    let second = send(&mut client, 10);
    assert_eq!(second.index, first.index);
    client.on_failed(first, ErrorCause::Reset, at(11));
    client.on_received(first, b"garbage", at(11));
    assert_eq!(errors(&client), []);
    client.on_received(second, b"garbage\r\n\r\n", at(11));
    assert_eq!(errors(&client), [(ErrorCause::Malformed, 1)]);
}

#[test]
fn a_sender_that_is_a_second_late_gives_up() {
    let mut client = client(plan());
    connect(&mut client, 0);
    client.advance(at(10));
    let [Action::Connect(id)] = actions(&mut client)[..] else {
        panic!("the first has no connection yet");
    };
    client.on_connecting(id, at(1_011));
    assert!(client.is_done());
    let measured = client.into_measurement();
    assert_eq!((measured.ending, measured.unfinished), (Ending::RateNotHeld, 2));
}

#[test]
fn threads_share_the_arrivals_of_one_client_or_else_the_clients() {
    let intended = |clients: u32, of: u32| -> Vec<u64> {
        let plan = Arc::new(Plan {
            clients: NonZeroU32::new(clients).unwrap(),
            duration: Duration::from_secs(1),
            ..plan()
        });
        let shares = (0..of).map(|index| {
            let mut client = Client::new(Arc::clone(&plan), Share { index, of }, at(0), Seed::new(1));
            client.advance(at(1_000));
            client.measurement().intended
        });
        shares.collect()
    };
    assert_eq!(intended(1, 1), [100]);
    assert_eq!(intended(1, 3), [34, 33, 33]);
    assert_eq!(intended(4, 2), [50, 50]);
    assert_eq!(intended(5, 2), [60, 40]);
}
