//! Claims about the configuration of each implementation.

use super::*;
use lastmile_codec::message::MessageCodec;

fn written_for(codec: Option<&str>) -> Vec<Snippet> {
    let deflate = codec.map(|text| match text.parse().unwrap() {
        MessageCodec::Deflate(deflate) => deflate,
        other => panic!("{other} is deflate"),
    });
    snippets(&SnippetRequest {
        deflate,
        ratio_of: &|deflate| Some(f64::from(deflate.window_bits.get()) / 100.0),
    })
}

#[test]
fn every_option_of_the_chosen_setting_is_in_the_configuration_of_whoever_has_it() {
    let [ws, uws, python, jetty] = &written_for(Some("deflate:5/w11/m4"))[..] else {
        panic!("one per implementation")
    };
    for option in ["serverMaxWindowBits: 11", "level: 5, memLevel: 4 }", "threshold: 0"] {
        assert!(ws.text.contains(option), "{option} in {}", ws.text);
    }
    assert!(uws.text.contains("DEDICATED_COMPRESSOR_16KB"), "{}", uws.text);
    assert!(
        uws.note
            .contains("level 6, 9 window bits, mem level 1, with context takeover, ratio 9 %"),
        "{}",
        uws.note
    );
    for option in [
        "server_max_window_bits=11",
        "client_max_window_bits=11",
        "\"level\": 5, \"memLevel\": 4}",
    ] {
        assert!(python.text.contains(option), "{option} in {}", python.text);
    }
    assert!(!python.text.contains("takeover"), "{}", python.text);
    assert!(jetty.text.contains("new DeflaterPool(1024, 5, true)"), "{}", jetty.text);
    assert!(
        jetty.note.contains("mem level 8, with context takeover, ratio 15 %"),
        "{}",
        jetty.note
    );
}

#[test]
fn without_takeover_both_directions_are_told_so() {
    let all = written_for(Some("deflate:1/w15/m8/no-takeover"));
    let texts: Vec<&str> = all.iter().map(|snippet| &*snippet.text).collect();
    assert!(texts[0].contains("serverNoContextTakeover: true,\n    clientNoContextTakeover: true"));
    assert!(texts[1].contains("SHARED_COMPRESSOR | uWS.SHARED_DECOMPRESSOR"));
    assert!(texts[2].contains("server_no_context_takeover=True,\n            client_no_context_takeover=True"));
    assert!(texts[3].contains("server_no_context_takeover;client_no_context_takeover"));
}

#[test]
fn what_stays_as_it_is_turns_compression_off() {
    let texts: Vec<String> = written_for(None).into_iter().map(|snippet| snippet.text).collect();
    assert!(texts[0].contains("perMessageDeflate: false"));
    assert!(texts[1].contains("uWS.DISABLED"));
    assert!(texts[2].contains("compression=None"));
    assert!(texts[3].contains("setExtensions(List.of())"));
}

#[test]
fn ws_is_told_nothing_that_makes_it_refuse_a_browser() {
    let all = ["deflate:6/w15/m8", "deflate:6/w12/m5", "deflate:1/w9/m1/no-takeover"];
    for text in all.map(|setting| written_for(Some(setting)).remove(0).text) {
        assert!(!text.contains("clientMaxWindowBits:"), "{text}");
        assert!(
            !text.contains("serverMaxWindowBits: 15") && !text.contains("Takeover: false"),
            "{text}"
        );
    }
}

#[test]
fn a_window_of_8_bits_is_written_as_the_9_that_it_runs_as() {
    assert!(
        written_for(Some("deflate:6/w8/m8"))[0]
            .text
            .contains("serverMaxWindowBits: 9")
    );
}

#[test]
fn a_strategy_is_named_as_the_implementation_names_it() {
    let all = written_for(Some("deflate:6/w15/m8/huffman-only"));
    assert!(all[0].text.contains("strategy: constants.Z_HUFFMAN_ONLY"));
    assert!(all[2].text.contains("\"strategy\": zlib.Z_HUFFMAN_ONLY"));
    assert!(all[3].note.contains("Jetty cannot be configured for"));
}
