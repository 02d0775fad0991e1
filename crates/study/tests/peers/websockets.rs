//! The claims that every WebSocket server of `peers/` is held to.

use super::servers::{NOBODY, Site, start};
use lastmile_report::conform::Standing;
use lastmile_study::conform::{self, Target};
use lastmile_study::peer::{Inputs, PeerSpec};
use std::time::Duration;

/// How long an answer may take; a server that waits for more of a frame is waited for so long.
const PATIENCE: Duration = Duration::from_secs(3);

/// The rules that a library of this version breaks. Whoever pins another looks at these again.
fn known_faults(peer: &str) -> &'static [&'static str] {
    match peer {
        // It refuses another version without saying which it speaks, and asks for no Host; it gives an empty message for a block with BFINAL
        // set, and waits for a frame of 2^63 octets.
        "python-websockets" => &["version-12", "host-missing", "final-block", "length-too-large"],
        // It asks for no Host; it ends the handshake where it should decline an offer, and never looks at the second offer of such a list.
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
        // It answers another version with 404, and reads no key; it takes any number for a window, reads past those it does not keep to, and
        // ends a handshake where it should decline; after a block with BFINAL set it gives empty messages.
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
        // It asks for no version, and ends a connection without an answer over a key that is none; it finds words and numbers in an offer, and
        // never declines one; keeps its context where it is asked not to; drops a connection over a block with BFINAL set; and takes frames
        // that no client may send.
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

/// It sends messages back as its library does, and so keeps every rule but those that its library is known to break; says as whom.
pub(crate) fn keeps_to_the_contract(peer: &PeerSpec) -> String {
    let users: &[_] = if nix::unistd::geteuid().is_root() {
        &[None, Some(NOBODY)]
    } else {
        &[None]
    };
    let mut held = 0;
    for user in users {
        let site = Site::new(*user);
        let free = site.inputs_of("echo");
        let inputs = Inputs {
            message_compression: "deflate:6/w15/m8".parse().unwrap(),
            ..free
        };
        let server = start(peer, &inputs, *user);
        let target: Target = format!("ws://{}/", inputs.address()).parse().unwrap();
        let conformance = conform::probe(&target, PATIENCE, "test", &mut |_, _| {}).unwrap();
        let broken = conformance
            .verdicts
            .iter()
            .filter(|verdict| verdict.standing == Standing::Broken);
        let broken: Vec<_> = broken.map(|verdict| verdict.name.as_str()).collect();
        assert_eq!(broken, known_faults(&peer.name), "peer {}: {conformance:#?}", peer.name);
        held = conformance.held;
        server
            .stop()
            .unwrap_or_else(|error| panic!("peer {}: {error}", peer.name));
    }
    format!("keeps {held} rules of WebSocket, and breaks those it is known to break")
}
