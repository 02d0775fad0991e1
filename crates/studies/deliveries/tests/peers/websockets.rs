//! Checks of every WebSocket server of `peers/`.

use super::servers::{NOBODY, PeerTestbed, start};
use lastmile_conform::record::RuleStatus;
use lastmile_conform::{self as conform, Target};
use lastmile_testbed::peer::PeerSpec;
use std::time::Duration;

/// The timeout of an answer, which a server that waits for the rest of a frame uses up.
const PATIENCE: Duration = Duration::from_secs(3);

/// The rules that the pinned version of a library breaks; review them when another version is pinned.
fn known_faults(peer: &str) -> &'static [&'static str] {
    match peer {
        // It refuses another version without naming those it supports, and does not require Host; it reads an empty message from a block with
        // BFINAL set, and waits for a frame of 2^63 bytes.
        "python-websockets" => &["version-12", "host-missing", "final-block", "length-too-large"],
        // It does not require Host; it aborts the handshake where it should decline an offer, and never reads the second offer of such a list.
        "node-ws" => &[
            "host-missing",
            "unknown-parameter",
            "parameter-twice",
            "window-7",
            "window-16",
            "window-with-leading-zero",
            "server-window-without-value",
            "value-where-none-is",
            "fallback",
        ],
        // It answers another version with 404, and does not check the key; it accepts any number as a window, ignores windows that it does not
        // keep to, and aborts a handshake where it should decline; after a block with BFINAL set it reads empty messages.
        "jetty-websocket" => &[
            "version-12",
            "key-too-short",
            "quoted-value",
            "server-window-9",
            "server-window-8",
            "server-window-12",
            "server-window-15",
            "unknown-parameter",
            "parameter-twice",
            "window-7",
            "window-16",
            "window-with-leading-zero",
            "server-window-without-value",
            "value-where-none-is",
            "fallback",
            "final-block",
        ],
        // It does not check the version, and ends a connection without an answer on an invalid key; it only searches an offer for words and
        // numbers, and never declines one; keeps its context where it is asked not to; drops a connection on a block with BFINAL set; and
        // accepts frames that no client may send.
        "uwebsockets" => &[
            "version-12",
            "key-missing",
            "key-too-short",
            "extension-grammar",
            "server-window-8",
            "server-window-15",
            "server-without-takeover",
            "unknown-parameter",
            "parameter-twice",
            "window-16",
            "window-with-leading-zero",
            "value-where-none-is",
            "two-lines",
            "final-block",
            "rsv1-in-ping",
            "rsv1-in-pong",
            "rsv1-in-close",
            "unmasked-frame",
        ],
        _ => &[],
    }
}

/// It keeps every rule except those that its library is known to break; returns what was found.
pub(crate) fn keeps_to_the_contract(peer: &PeerSpec) -> String {
    let users: &[_] = if nix::unistd::geteuid().is_root() {
        &[None, Some(NOBODY)]
    } else {
        &[None]
    };
    let mut held = 0;
    for user in users {
        let peer_testbed = PeerTestbed::new(*user);
        let inputs = peer_testbed
            .inputs_of("echo")
            .with("message_compression", "deflate:6/w15/m8");
        let server = start(peer, &inputs, *user);
        let target: Target = format!("ws://{}/", inputs.address()).parse().unwrap();
        let conformance = conform::probe(&target, PATIENCE, "test", &mut |_, _| {}).unwrap();
        let broken = conformance
            .verdicts
            .iter()
            .filter(|verdict| verdict.standing == RuleStatus::Broken);
        let broken: Vec<_> = broken.map(|verdict| verdict.name.as_str()).collect();
        assert_eq!(broken, known_faults(&peer.name), "peer {}: {conformance:#?}", peer.name);
        held = conformance.held;
        server
            .stop()
            .unwrap_or_else(|error| panic!("peer {}: {error}", peer.name));
    }
    format!("keeps {held} rules of WebSocket, and breaks those that it is known to break")
}
