//! Tests of `lastmile link --listen`, for programs that cannot be started behind the link; and of refused options.

use super::passed_on::send;
use super::{FAST, User, nobodys_port, pattern, send_pattern, service};
use crate::sandbox::Sandbox;
use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

#[test]
fn a_port_leads_over_the_link_until_lastmile_is_told_to_stop() {
    let port = service(|stream| send_pattern(stream, 100_000));
    for (user, signal) in User::all().iter().zip(["TERM", "INT"]) {
        let to = format!("localhost:{port}");
        let mut command = user.command(&["link", "wpt/cable", "--listen", "0", "--to", &to]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = said.next().unwrap().unwrap();
        let words: Vec<_> = first.split(' ').collect();
        assert_eq!(&words[2..6], ["leads", "over", "wpt/cable", "to"], "{first}");
        for _ in 0..2 {
            let mut received = Vec::new();
            let mut stream = TcpStream::connect(words[1]).unwrap();
            stream.read_to_end(&mut received).unwrap();
            assert!(received == pattern(100_000), "{} bytes", received.len());
        }
        send(signal, &child);
        let summary = said.next().unwrap().unwrap();
        assert!(summary.starts_with("lastmile: wpt/cable: down 2"), "{summary}");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn where_nobody_takes_what_a_port_carries_it_is_broken_off() {
    for user in User::all() {
        let to = format!("127.0.0.1:{}", nobodys_port());
        let mut command = user.command(&["link", FAST, "--listen", "0", "--to", &to]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = said.next().unwrap().unwrap();
        let mut stream = TcpStream::connect(first.split(' ').nth(1).unwrap()).unwrap();
        let error = stream.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        send("TERM", &child);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

/// The outside is reached over an address of this machine that is not the loopback interface's.
#[test]
fn the_outside_network_is_reached_only_where_it_is_allowed() {
    let Some(outside) = address_outside() else {
        return eprintln!("skipped: this machine has no address but the loopback interface's");
    };
    let listener = TcpListener::bind((outside, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            send_pattern(stream.unwrap(), 10_000);
        }
    });
    for user in User::all() {
        let allowed = user.client(&[FAST, "--allow-net"], &["receive-from", &address, "10000"]);
        allowed.succeeded();
        let not_allowed = user.client(&[FAST], &["receive-from", &address, "10000"]);
        assert_ne!(not_allowed.code, Some(0));
        // The machine's own names are in hosts files mounted over others, which also name the resolver for the rest.
        let said = user.run(&[
            "link",
            FAST,
            "--allow-net",
            "--quiet",
            "--",
            "cat",
            "/etc/resolv.conf",
            "/etc/hosts",
        ]);
        assert!(
            said.stdout.contains("nameserver 10.0.0.2\n") && said.stdout.contains("10.0.0.2\thost.lastmile\n"),
            "{}{}",
            said.stdout,
            said.stderr
        );
    }
}

/// The address that this machine would send from; nothing is sent.
fn address_outside() -> Option<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    // TEST-NET-1 (RFC 5737).
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    match socket.local_addr().unwrap().ip() {
        IpAddr::V4(address) if !address.is_loopback() => Some(address),
        _ => None,
    }
}

/// In the link's namespace nothing listens on the loopback address, whatever does outside.
#[test]
fn where_no_packet_crossed_the_link_nothing_is_called_valid() {
    let port = service(|stream| send_pattern(stream, 10)).to_string();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    for user in User::all() {
        let ended = user.run(&["link", FAST, "--", "bash", "-c", &connect]);
        assert_eq!(ended.code, Some(1), "the command's own: {}", ended.stderr);
        let last = ended.stderr.lines().last().unwrap();
        assert!(
            last.starts_with("lastmile: ")
                && last.contains("; no packet crossed the link: ")
                && !last.contains("valid"),
            "{last}"
        );
        for said in ["host.lastmile:PORT", "--allow-net"] {
            assert!(last.contains(said), "{last}");
        }
        let ended = user.run(&["link", FAST, "--allow-net", "--format", "json", "--", "true"]);
        ended.succeeded();
        let summary = crate::sandbox::parsed(ended.stderr.lines().last().unwrap());
        assert_eq!(
            (&summary["valid"], &summary["doubts"][0]["kind"]),
            (&false.into(), &"no-packets".into())
        );
        assert_eq!(summary["why_invalid"], "no packet crossed the link");
        assert!(!ended.stderr.contains("--allow-net"), "it is given: {}", ended.stderr);
    }
}

#[test]
fn a_command_that_reached_nothing_is_told_where_this_machine_is() {
    let refused = format!("exec 3<>/dev/tcp/host.lastmile/{}", nobodys_port());
    let outside = "exec 3<>/dev/tcp/192.0.2.1/80";
    let reached = service(|stream| send_pattern(stream, 10));
    let works = format!("read -n1 -u3 3<>/dev/tcp/host.lastmile/{reached}; exit 1");
    for user in User::all() {
        let link = |script: &str| user.run(&["link", FAST, "--", "timeout", "2", "bash", "-c", script]);
        let ended = link(&refused);
        let hint = "host.lastmile (10.0.0.2) refused all; a service has to listen at that port of 127.0.0.1";
        assert!(ended.stderr.contains(hint), "{}", ended.stderr);
        let last = ended.stderr.lines().last().unwrap();
        assert!(last.contains("; up 60 B in 1 packet"), "the summary stays last: {last}");
        let ended = link(outside);
        let hint =
            "hosts that are not behind the link, which has this machine at host.lastmile (10.0.0.2) alone; --allow-net";
        assert!(
            ended.stderr.contains(hint) || ended.stderr.contains("no packet crossed"),
            "{}",
            ended.stderr
        );
        let ended = link(&works);
        assert!(
            !ended.stderr.contains("refused all") && !ended.stderr.contains("not behind"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_can() {
    let sandbox = Sandbox::new();
    let link = |words: &[&str]| sandbox.run(&[&["link"], words].concat());
    link(&["wpt/3gg", "--", "true"]).refused(2, &["\"wpt/3gg\"", "did you mean wpt/3g?"]);
    link(&["wpt/3g"]).refused(2, &["<COMMAND>"]);
    link(&["wpt/3g", "true"]).refused(2, &["'true'", "[-- <COMMAND>...]"]);
    link(&["wpt/3g", "--seed", "2", "curl", "-s", "http://host.lastmile:1/?a b"]).refused(
        2,
        &["tip: put -- before the command: lastmile link wpt/3g --seed 2 -- curl -s 'http://host.lastmile:1/?a b'"],
    );
    link(&["wpt/3g", "--listen", "8080"]).refused(2, &["--to <HOST:PORT>"]);
    link(&["wpt/3g", "--to", "localhost:80", "--", "true"]).refused(2, &["--to <HOST:PORT>", "cannot be used with"]);
    link(&["wpt/3g", "--listen", "0", "--to", "localhost:80", "--", "true"]).refused(2, &["cannot be used with"]);
    link(&["wpt/3g", "--listen", "x", "--to", "localhost:80"]).refused(2, &["--listen", "192.168.1.5:8080"]);
    link(&["wpt/3g", "--listen", "0", "--to", "localhost"]).refused(2, &["--to", "localhost:80"]);
}

#[test]
fn what_this_machine_has_not_is_refused_by_name() {
    for user in User::all() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port().to_string();
        user.run(&["link", FAST, "--listen", &port, "--to", "localhost:80"])
            .refused(2, &["--listen 127.0.0.1:", "in use", "free port"]);
        // A name that never exists (RFC 2606).
        user.run(&["link", FAST, "--listen", "0", "--to", "no.such.invalid:80"])
            .refused(2, &["--to no.such.invalid:80", "unknown"]);
        user.run(&["link", FAST, "--congestion-control", "nonesuch", "--", "true"])
            .refused(3, &["--congestion-control nonesuch", "cubic"]);
        std::fs::write(user.file("file"), "").unwrap();
        user.run(&["link", FAST, "--capture", "file", "--", "true"])
            .refused(2, &["--capture file", "cannot be written"]);
    }
}

/// /dev/full refuses every byte, as a full disk does.
#[test]
fn a_capture_that_is_not_whole_is_said() {
    for user in User::all() {
        let folder = user.file("caps");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        std::os::unix::fs::symlink("/dev/full", user.file("caps/near.pcapng")).unwrap();
        let ended = user.run(&["link", FAST, "--capture", "caps", "--quiet", "--", "true"]);
        ended.refused(3, &["the captures are incomplete", "No space left"]);
    }
}
