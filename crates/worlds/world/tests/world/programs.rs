//! Claims about sockets as programs see them: refusals, resets, ports, listeners, and waits that never end.

use crate::support::{Pair, content, direction};
use lastmile_link::{DirectionSpec, Loss};
use lastmile_units::Probability;
use lastmile_world::Halt;
use lastmile_world::World as _;
use lastmile_world::{Host, Listener};
use std::io::ErrorKind;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const DELAY: Duration = Duration::from_millis(20);

fn pair() -> Pair {
    Pair::new(1, &direction("2 Mbit/s", DELAY))
}

#[test]
fn where_nobody_listens_a_connection_is_refused() {
    let pair = pair();
    let (client, address) = (pair.client.clone(), pair.server.address(81));
    let error = pair
        .world
        .run(async move { client.connect(address).await.err() })
        .unwrap();
    assert_eq!(error.unwrap().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn where_no_link_leads_the_network_is_unreachable() {
    let pair = pair();
    let island = pair.world.host(Default::default());
    let address = island.address(80);
    let client = pair.client.clone();
    let error = pair
        .world
        .run(async move { client.connect(address).await.err() })
        .unwrap();
    assert_eq!(error.unwrap().kind(), ErrorKind::NetworkUnreachable);
}

#[test]
fn a_connection_attempt_into_the_dark_times_out_after_131_seconds_and_what_timers_add() {
    let dark = DirectionSpec {
        loss: Loss::Bernoulli(Probability::ALWAYS),
        ..direction("2 Mbit/s", DELAY)
    };
    let pair = Pair::new(1, &dark);
    let _listener = pair.server.listen(80).unwrap();
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    let error = pair
        .world
        .run(async move { client.connect(address).await.err() })
        .unwrap();
    assert_eq!(error.unwrap().kind(), ErrorKind::TimedOut);
    // Of 11 timeouts, six of up to 2 s come 16 ms late, three of up to 16 s come 128 ms late, and two 1,024 ms.
    let late = Duration::from_millis(6 * 16 + 3 * 128 + 2 * 1024);
    assert_eq!(pair.world.now().since_start(), Duration::from_secs(131) + late);
}

#[test]
fn a_reader_and_a_writer_that_wait_are_woken_by_a_reset() {
    let pair = pair();
    let mut listener = pair.server.listen(80).unwrap();
    let (client, server, address) = (pair.client.clone(), pair.server.clone(), pair.server.address(80));
    pair.world.spawn(async move {
        let stream = listener.accept().await.unwrap();
        // What arrives is never read, so letting go resets.
        server.sleep_until(server.now() + Duration::from_secs(5)).await;
        drop(stream);
    });
    let (read, written) = pair
        .world
        .run(async move {
            let (mut reader, mut writer) = tokio::io::split(client.connect(address).await.unwrap());
            let everything = content(0, 1_000_000);
            futures_util::future::join(reader.read_u8(), writer.write_all(&everything)).await
        })
        .unwrap();
    assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(written.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_dropped_listener_resets_what_it_has_not_accepted_and_frees_its_port() {
    let pair = pair();
    let listener = pair.server.listen(80).unwrap();
    assert_eq!(pair.server.listen(80).err().unwrap().kind(), ErrorKind::AddrInUse);
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    let read = pair.world.run(async move {
        let mut stream = client.connect(address).await.unwrap();
        client.sleep_until(client.now() + Duration::from_secs(1)).await;
        drop(listener);
        stream.read_u8().await
    });
    assert_eq!(read.unwrap().unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(pair.server.listen(80).is_ok());
}

#[test]
fn a_server_that_lets_go_in_the_middle_of_an_upload_stops_it() {
    let pair = pair();
    let mut listener = pair.server.listen(80).unwrap();
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    pair.world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
    });
    let written = pair.world.run(async move {
        let mut stream = client.connect(address).await.unwrap();
        stream.write_all(&content(0, 1_000_000)).await
    });
    assert_eq!(written.unwrap().unwrap_err().kind(), ErrorKind::ConnectionReset);
}

/// A port is not used again while its connection lingers, and can be a minute later: 28,232 ports for as many connections.
#[test]
fn ports_of_connections_that_linger_are_free_after_a_minute() {
    let pair = Pair::new(
        1,
        &DirectionSpec {
            one_way_delay: Duration::from_micros(10),
            ..DirectionSpec::IDEAL
        },
    );
    let mut listener = pair.server.listen(80).unwrap();
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    pair.world.spawn(async move {
        loop {
            let mut stream = listener.accept().await.unwrap();
            stream.read_to_end(&mut Vec::new()).await.unwrap();
        }
    });
    let (opened, error, later) = pair
        .world
        .run(async move {
            let mut opened = 0;
            let error = loop {
                match client.connect(address).await {
                    Ok(stream) => drop(stream),
                    Err(error) => break error,
                }
                opened += 1;
            };
            client.sleep_until(client.now() + Duration::from_secs(61)).await;
            (opened, error.kind(), client.connect(address).await.is_ok())
        })
        .unwrap();
    assert_eq!(
        (opened, error, later),
        (65_536 - 32_768, ErrorKind::AddrNotAvailable, true)
    );
}

/// The server closes first, so its end lingers, while the client reuses its ports within the minute.
#[test]
fn an_end_that_lingers_at_the_server_gives_way_to_a_client_that_comes_again() {
    let pair = Pair::new(
        1,
        &DirectionSpec {
            one_way_delay: Duration::from_micros(10),
            ..DirectionSpec::IDEAL
        },
    );
    let mut listener = pair.server.listen(80).unwrap();
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    pair.world.spawn(async move {
        loop {
            drop(listener.accept().await.unwrap());
        }
    });
    let opened = pair.world.run(async move {
        for _ in 0..40_000 {
            let mut stream = client.connect(address).await.unwrap();
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
        }
        client.now().since_start()
    });
    assert!(
        opened.unwrap() < Duration::from_secs(60),
        "within the minute in which the first still lingers"
    );
}

#[test]
fn a_stream_survives_its_connection_and_an_empty_read_does_not_wait() {
    let pair = pair();
    let mut listener = pair.server.listen(80).unwrap();
    let (client, address) = (pair.client.clone(), pair.server.address(80));
    pair.world.spawn(async move {
        let mut stream = listener.accept().await.unwrap();
        stream.write_all(b"bye").await.unwrap();
    });
    pair.world
        .run(async move {
            let mut stream = client.connect(address).await.unwrap();
            assert_eq!(stream.read(&mut []).await.unwrap(), 0);
            stream.shutdown().await.unwrap();
            client.sleep_until(client.now() + Duration::from_secs(1000)).await;
            let mut got = Vec::new();
            stream.read_to_end(&mut got).await.unwrap();
            assert_eq!(got, b"bye");
            assert_eq!(stream.write(b"late").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        })
        .unwrap();
}

#[test]
fn a_program_that_waits_in_vain_is_told() {
    let pair = pair();
    let mut listener = pair.server.listen(80).unwrap();
    let halt = pair
        .world
        .run(async move { listener.accept().await.is_ok() })
        .unwrap_err();
    assert!(matches!(halt, Halt::Stalled { .. }), "{halt}");
}

#[test]
fn a_host_outlives_its_world() {
    let pair = pair();
    let host = pair.client.clone();
    pair.world.run(async {}).unwrap();
    drop(pair);
    host.spawn(async {});
    assert_eq!(host.now().since_start(), Duration::ZERO);
}
