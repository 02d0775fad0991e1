//! Does the emulated world do what its link model says, with a real kernel's TCP at both ends?
//!
//! Each claim runs in a world of its own, one after another. Where this machine has no network namespaces for this user, that
//! is said and nothing is checked.

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("emulated: skipped, since network namespaces are Linux's");
}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use lastmile_link::{Capacity, DirectionSpec};
    use lastmile_units::Seed;
    use lastmile_world::emu::{Attachment, HostSpec, World, acquire};
    use lastmile_world::{Host, Listener, World as _};
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    pub(super) fn main() {
        match acquire() {
            Ok(privilege) => println!("emulated: as {privilege:?}"),
            Err(error) => return println!("emulated: skipped, since {error}"),
        }
        a_transfer_takes_what_the_link_says(Attachment::Tun);
        a_transfer_takes_what_the_link_says(Attachment::Veth);
    }

    fn a_transfer_takes_what_the_link_says(attachment: Attachment) {
        let world = World::attached_by(attachment, Seed::new(1)).unwrap();
        let (client, server) = (
            world.host(HostSpec::default()).unwrap(),
            world.host(HostSpec::default()).unwrap(),
        );
        let modem = DirectionSpec {
            capacity: Capacity::Rate("512 kbit/s".parse().unwrap()),
            one_way_delay: Duration::from_millis(50),
            ..DirectionSpec::IDEAL
        };
        let link = world.link(&modem, &modem, &[&client], &[&server]);
        let mut listener = server.listen(80).unwrap();
        world.spawn(async move {
            let mut stream = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; 100]).await.unwrap();
            stream.write_all(&vec![0; 100_000]).await.unwrap();
            stream.shutdown().await.unwrap();
        });
        let took = world
            .run_for(Duration::from_secs(20), async move {
                let start = client.now();
                let mut stream = client.connect(server.address(80)).await.unwrap();
                stream.write_all(&[0; 100]).await.unwrap();
                let mut body = Vec::new();
                stream.read_to_end(&mut body).await.unwrap();
                assert_eq!(body.len(), 100_000);
                client.now() - start
            })
            .unwrap();
        let (down, _) = world.link_counters(link);
        assert_eq!(down.dropped(), 0);
        // Everything but the SYN-ACK's 60 B passes the slow direction back to back once the window is full.
        let serialised = Duration::from_secs_f64(down.bytes_delivered.as_f64() * 8.0 / 512e3);
        assert!(
            took > serialised,
            "{took:?} is faster than the link, which takes {serialised:?}"
        );
        assert!(
            took < serialised + Duration::from_millis(500),
            "{took:?} against {serialised:?}"
        );
        assert_eq!(world.packets_astray(), 0);
        assert!(world.lateness().packets() >= down.delivered);
    }
}
