//! Checks that the configurations that `lastmile tune` prints for WebSocket implementations do what it says.
//!
//! Each configuration is put, as printed, into a small server of that implementation, which sends messages back to a client with the
//! offers of browsers. Windows and takeover are in a server's answer. Level, mem level and strategy are not: they show in the sizes of the messages it sends.

use super::browser::{Browser, CHROME, FIREFOX, NOTHING};
use super::servers::{PeerTestbed, start};
use lastmile_codec::message::{Deflate, MessageCodec, MessageEncoder, WindowBits};
use lastmile_testbed::peer::PeerSpec;
use lastmile_tune::record::Implementation;
use lastmile_tune::{SnippetRequest, configurations};
use lastmile_units::{ByteCount, Seed};
use lastmile_websocket::{Agreement, ClientWindow, CompressorParameters, Offer};
use lastmile_workload::WorkloadSpec;
use lastmile_workload::messages::{Chat, Documents};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

/// The settings: the default, then settings that each differ from it in another way.
const SETTINGS: [&str; 6] = [
    "deflate:6/w15/m8",
    "deflate:6/w15/m8/no-takeover",
    "deflate:6/w12/m5",
    "deflate:1/w15/m8",
    "deflate:6/w9/m8",
    "deflate:6/w15/m8/huffman-only",
];

/// Checks each configuration in the peer, and reports how many there were.
pub(crate) fn do_what_they_say(peer: &PeerSpec) -> String {
    let implementation = implementation(&peer.name);
    let messages = messages();
    can_tell_settings_apart(&messages);
    let mut tried = BTreeSet::new();
    for setting in SETTINGS.iter().map(Some).chain([None]) {
        let deflate = setting.map(|text| deflate(text));
        let text = printed(implementation, deflate);
        // If an implementation lacks the setting that differs, its configuration is the same.
        if tried.insert(text.clone()) {
            let about = format!("{} for {}:\n{text}", peer.name, setting.unwrap_or(&"identity"));
            does_as_it_says(&about, peer, &text, deflate, &messages);
        }
    }
    format!("does what {} configurations of `lastmile tune` say", tried.len())
}

fn implementation(peer: &str) -> Implementation {
    match peer {
        "node-ws" => Implementation::Ws,
        "python-websockets" => Implementation::PythonWebsockets,
        "jetty-websocket" => Implementation::Jetty,
        "uwebsockets" => Implementation::UWebSockets,
        other => panic!("peer {other} accepts configurations, but none are printed for it"),
    }
}

/// The configuration as `lastmile tune` prints it, if takeover improves the compression ratio.
fn printed(implementation: Implementation, deflate: Option<Deflate>) -> String {
    let ratio_of = |of: Deflate| Some(if of.takeover { 0.4 } else { 0.8 });
    let wanted = SnippetRequest {
        deflate,
        ratio_of: &ratio_of,
    };
    let of_all = configurations(&wanted);
    let of_it = of_all.into_iter().find(|of| of.implementation == implementation);
    of_it.expect("one per implementation").text
}

/// The server starts; negotiates the chosen setting with each browser, as far as it can; and compresses the messages as our codec does.
fn does_as_it_says(about: &str, peer: &PeerSpec, text: &str, wanted: Option<Deflate>, messages: &[String]) {
    let peer_testbed = PeerTestbed::new(None);
    peer_testbed.write_data("configuration", text.as_bytes());
    let inputs = peer_testbed.inputs_of("configured");
    let server = start(peer, &inputs, None);
    for offer in [CHROME, FIREFOX, NOTHING] {
        let mut browser = Browser::open(inputs.address(), offer);
        let expected = wanted.zip(offer).map(|(wanted, offer)| does(&peer.name, wanted, offer));
        assert_eq!(
            browser.agreement(),
            expected.map(|(agreement, _)| agreement),
            "{about}\noffered {offer:?}"
        );
        let carried: Vec<usize> = messages
            .iter()
            .map(|message| {
                let echoed = browser.echo(message);
                assert_eq!(echoed.is_compressed, expected.is_some(), "{about}");
                usize::try_from(echoed.encoded_bytes.get()).unwrap()
            })
            .collect();
        let made = match expected {
            Some((_, deflate)) if peer.name == "node-ws" => made_by_its_own_zlib(peer, deflate, messages),
            Some((_, deflate)) => made(deflate, messages),
            None => messages.iter().map(String::len).collect(),
        };
        assert_eq!(carried, made, "{about}\noffered {offer:?}");
    }
    server.stop().unwrap_or_else(|error| panic!("{about}: {error}"));
}

/// The agreement that an implementation with the `wanted` setting makes on an offer, and the setting that it then compresses with.
fn does(peer: &str, wanted: Deflate, offer: Offer) -> (Agreement, Deflate) {
    let bits = wanted.window_bits.runs_as();
    let may_limit = offer.client_max_window_bits != ClientWindow::NotOffered;
    let side = |takeover, window_bits| CompressorParameters { takeover, window_bits };
    let (server, client, compresses) = match peer {
        "node-ws" => (
            side(wanted.takeover, bits),
            side(wanted.takeover, WindowBits::MAX),
            wanted,
        ),
        "python-websockets" => {
            let of_client = if may_limit { bits } else { WindowBits::MAX };
            (side(wanted.takeover, bits), side(wanted.takeover, of_client), wanted)
        }
        "jetty-websocket" => {
            let both = side(wanted.takeover, WindowBits::MAX);
            let usual = Deflate::default();
            let Deflate { takeover, level, .. } = wanted;
            (
                both,
                both,
                Deflate {
                    takeover,
                    level,
                    ..usual
                },
            )
        }
        "uwebsockets" if wanted.takeover => {
            // A client whose window cannot be limited is told to keep no context.
            let client = if may_limit || bits == WindowBits::MAX {
                side(true, bits)
            } else {
                side(false, WindowBits::MAX)
            };
            // Its compressor does not depend on the negotiated window.
            (side(true, bits), client, deflate("deflate:6/w9/m1"))
        }
        "uwebsockets" => {
            let both = side(false, WindowBits::MAX);
            (both, both, deflate("deflate:6/w15/m8/no-takeover"))
        }
        other => panic!("{other} has no configurations"),
    };
    (Agreement { server, client }, compresses)
}

/// Short messages of a chat, below the 1,024 B from which some libraries compress; a document that is longer than most windows; and the
/// chat again, whose first occurrence is then far back.
fn messages() -> Vec<String> {
    let count = |count| NonZeroU32::new(count).expect("some");
    let chat = WorkloadSpec::Chat(Chat {
        messages: count(30),
        speakers: 0,
    });
    let document = WorkloadSpec::Documents(Documents {
        messages: count(1),
        size: ByteCount::new(20_000),
    });
    let of = |workload: &WorkloadSpec| {
        let made = workload.messages(Seed::new(1)).unwrap();
        made.into_iter()
            .map(|message| String::from_utf8(message.payload.to_vec()).unwrap())
            .collect::<Vec<_>>()
    };
    let chat = of(&chat);
    assert!(chat.iter().all(|message| message.len() < 1024), "each is short");
    [chat.clone(), of(&document), chat].concat()
}

/// Equal sizes prove that a setting is in effect because every other setting gives different sizes.
fn can_tell_settings_apart(messages: &[String]) {
    let sizes: BTreeSet<_> = SETTINGS.iter().map(|text| made(deflate(text), messages)).collect();
    assert_eq!(sizes.len(), SETTINGS.len());
}

/// The compressed sizes of messages with our codec.
fn made(deflate: Deflate, messages: &[String]) -> Vec<usize> {
    let mut encoder = MessageEncoder::new(&MessageCodec::Deflate(deflate), None).unwrap();
    messages
        .iter()
        .map(|message| encoder.compressed_size(message.as_bytes()))
        .collect()
}

/// The compressed sizes of messages with the zlib of the peer's runtime: Node's is not stock zlib.
fn made_by_its_own_zlib(peer: &PeerSpec, deflate: Deflate, messages: &[String]) -> Vec<usize> {
    let peer_testbed = PeerTestbed::new(None);
    let lines: String = messages
        .iter()
        .map(|text| format!("{}\n", serde_json::json!({ "opcode": 1, "data": text })))
        .collect();
    peer_testbed.write_data("messages.jsonl", lines.as_bytes());
    let runs_as = Deflate {
        window_bits: deflate.window_bits.runs_as(),
        ..deflate
    };
    let inputs = peer_testbed
        .inputs_of("compress")
        .with("message_compression", &MessageCodec::Deflate(runs_as));
    let output = peer.run_within(Duration::from_secs(600), &inputs, &|_| Ok(())).unwrap();
    let sizes = output.iter().filter_map(|event| event["bytes"].as_u64());
    sizes.map(|bytes| usize::try_from(bytes).unwrap()).collect()
}

fn deflate(text: &str) -> Deflate {
    match text.parse() {
        Ok(MessageCodec::Deflate(deflate)) => deflate,
        other => panic!("{text} is {other:?}"),
    }
}
