use super::*;
use crate::extension::read_extensions;
use lastmile_codec::message::{Deflate, MessageCodec, MessageDecoder, MessageEncoder};
use lastmile_units::{ByteCount, Seed};
use rand_core::Rng as _;

fn bits(bits: u8) -> WindowBits {
    WindowBits::new(bits).unwrap()
}

fn listed(line: &str) -> Vec<Extension> {
    read_extensions([line.as_bytes()]).unwrap()
}

const WISH: Agreement = Agreement {
    server: CompressorParameters {
        takeover: true,
        window_bits: WindowBits::MAX,
    },
    client: CompressorParameters {
        takeover: true,
        window_bits: WindowBits::MAX,
    },
};

/// The answer of a server without preferences.
fn answer(line: &str) -> Option<String> {
    accept_offer(&listed(line), &WISH).map(|(response, _)| response.to_string())
}

#[test]
fn an_offer_is_answered_with_what_it_asks_for() {
    for (offer, response) in [
        ("permessage-deflate", "permessage-deflate"),
        (
            "permessage-deflate; server_no_context_takeover",
            "permessage-deflate; server_no_context_takeover",
        ),
        (
            "permessage-deflate; client_no_context_takeover",
            "permessage-deflate; client_no_context_takeover",
        ),
        (
            "permessage-deflate; server_max_window_bits=10",
            "permessage-deflate; server_max_window_bits=10",
        ),
        (
            "permessage-deflate; server_max_window_bits=\"8\"",
            "permessage-deflate; server_max_window_bits=8",
        ),
        (
            "permessage-deflate; server_max_window_bits=15",
            "permessage-deflate; server_max_window_bits=15",
        ),
        ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
        (
            "permessage-deflate; client_max_window_bits=9",
            "permessage-deflate; client_max_window_bits=9",
        ),
    ] {
        assert_eq!(answer(offer).as_deref(), Some(response), "{offer}");
    }
}

#[test]
fn an_offer_with_a_parameter_that_is_wrong_is_declined_for_the_next() {
    for wrong in [
        "x",
        "server_max_window_bits",
        "server_max_window_bits=7",
        "server_max_window_bits=16",
        "server_max_window_bits=08",
        "server_max_window_bits=+9",
        "client_max_window_bits=256",
        "server_no_context_takeover=1",
        "client_no_context_takeover=true",
        "server_no_context_takeover; server_no_context_takeover",
        "client_max_window_bits; client_max_window_bits=10",
        "server_max_window_bits=10; server_max_window_bits=10",
        "Server_No_Context_Takeover",
    ] {
        let offer = format!("permessage-deflate; {wrong}");
        assert_eq!(answer(&offer), None, "{wrong}");
        let fallback = format!("x-other, {offer}, permessage-deflate; server_no_context_takeover, permessage-deflate");
        assert_eq!(
            answer(&fallback).as_deref(),
            Some("permessage-deflate; server_no_context_takeover")
        );
    }
    assert_eq!(answer("x-webkit-deflate-frame"), None);
}

#[test]
fn a_server_limits_itself_unasked_and_its_client_only_where_it_may() {
    let wish = Agreement {
        server: CompressorParameters {
            takeover: false,
            window_bits: bits(11),
        },
        client: CompressorParameters {
            takeover: false,
            window_bits: bits(10),
        },
    };
    let (response, agreement) = accept_offer(&listed("permessage-deflate; server_max_window_bits=12"), &wish).unwrap();
    assert_eq!(
        response.to_string(),
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=11"
    );
    assert_eq!(agreement.server, wish.server);
    assert_eq!(agreement.client.window_bits, WindowBits::MAX);
    let (response, agreement) = accept_offer(&listed("permessage-deflate; client_max_window_bits"), &wish).unwrap();
    assert_eq!(response.client_max_window_bits, Some(bits(10)));
    assert_eq!(agreement, wish);
}

#[test]
fn a_response_is_taken_for_the_offer_that_it_fits() {
    let offers = [
        Offer {
            server_max_window_bits: Some(bits(10)),
            client_max_window_bits: ClientWindow::AtMost(bits(12)),
            ..Offer::default()
        },
        Offer {
            client_no_context_takeover: true,
            ..Offer::default()
        },
    ];
    let take = |line: &str| accept_response(&offers, &listed(line)).unwrap().unwrap();
    let first = take("permessage-deflate; server_max_window_bits=9; client_max_window_bits=14");
    assert_eq!(first.server.window_bits, bits(9));
    // The client's hint holds whatever the server answers (section 7.1.2.2).
    assert_eq!(first.client.window_bits, bits(12));
    assert!(first.client.takeover);
    let second = take("permessage-deflate");
    assert_eq!(second.server.window_bits, WindowBits::MAX);
    assert!(!second.client.takeover);
    assert_eq!(accept_response(&offers, &[]), Ok(None));
}

#[test]
fn a_response_that_fits_several_offers_is_taken_for_the_most_careful() {
    let any = Offer {
        client_max_window_bits: ClientWindow::Any,
        ..Offer::default()
    };
    let careful = Offer {
        client_no_context_takeover: true,
        client_max_window_bits: ClientWindow::AtMost(bits(9)),
        ..Offer::default()
    };
    for offers in [[any, careful], [careful, any]] {
        let agreed = accept_response(&offers, &listed("permessage-deflate"))
            .unwrap()
            .unwrap();
        assert_eq!(agreed.server, WISH.server);
        assert!(!agreed.client.takeover);
        assert_eq!(agreed.client.window_bits, bits(9));
    }
}

#[test]
fn a_response_that_takes_up_no_offer_fails_the_connection() {
    let asks = Offer {
        server_no_context_takeover: true,
        server_max_window_bits: Some(bits(10)),
        ..Offer::default()
    };
    let fails = |offers: &[Offer], line: &str| accept_response(offers, &listed(line)).unwrap_err();
    for line in [
        "permessage-deflate",
        "permessage-deflate; server_no_context_takeover",
        "permessage-deflate; server_max_window_bits=10",
        "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
        "permessage-deflate; server_no_context_takeover; server_max_window_bits=10; client_max_window_bits=10",
    ] {
        assert!(
            matches!(fails(&[asks], line), NegotiationError::FitsNoOffer { .. }),
            "{line}"
        );
    }
    let bare = [Offer::default()];
    assert!(matches!(
        fails(&[], "permessage-deflate"),
        NegotiationError::NotOffered(_)
    ));
    assert!(matches!(fails(&bare, "x-other"), NegotiationError::NotOffered(_)));
    assert!(matches!(
        fails(&bare, "permessage-deflate, permessage-deflate"),
        NegotiationError::Twice
    ));
    assert!(matches!(
        fails(&bare, "permessage-deflate; x=1"),
        NegotiationError::UnknownParameter(_)
    ));
    let any = [Offer {
        client_max_window_bits: ClientWindow::Any,
        ..Offer::default()
    }];
    assert!(matches!(
        fails(&any, "permessage-deflate; client_max_window_bits"),
        NegotiationError::Value { .. }
    ));
    assert!(matches!(
        fails(
            &bare,
            "permessage-deflate; client_no_context_takeover; client_no_context_takeover"
        ),
        NegotiationError::DuplicateParameter(_)
    ));
}

#[test]
fn both_sides_come_to_the_same_agreement_whatever_is_offered_and_wished() {
    let windows = || [None, Some(bits(8)), Some(bits(11)), Some(bits(15))];
    let clients = [
        ClientWindow::NotOffered,
        ClientWindow::Any,
        ClientWindow::AtMost(bits(8)),
        ClientWindow::AtMost(bits(12)),
    ];
    let mut count = 0;
    for flags in 0..16_u8 {
        for (server_max_window_bits, own) in windows().into_iter().flat_map(|a| windows().map(|b| (a, b))) {
            for client_max_window_bits in clients {
                let offer = Offer {
                    server_no_context_takeover: flags & 1 != 0,
                    client_no_context_takeover: flags & 2 != 0,
                    server_max_window_bits,
                    client_max_window_bits,
                };
                let wish = |takeover| CompressorParameters {
                    takeover,
                    window_bits: own.unwrap_or(bits(10)),
                };
                let wish = Agreement {
                    server: wish(flags & 4 != 0),
                    client: wish(flags & 8 != 0),
                };
                let (response, at_server) = accept_offer(&listed(&offer.to_string()), &wish).unwrap();
                let at_client = accept_response(&[offer], &listed(&response.to_string()));
                assert_eq!(at_client, Ok(Some(at_server)), "{offer} | {response}");
                assert!(server_max_window_bits.is_none_or(|most| at_server.server.window_bits <= most));
                count += 1;
            }
        }
    }
    assert_eq!(count, 16 * 16 * 4);
}

/// The claim of the module's head about a window of 8 bits, at every level and every distance around it.
#[test]
fn a_compressor_with_a_window_of_8_bits_refers_back_no_farther_than_256_bytes() {
    const REPEATED: usize = 16;
    let mut history = vec![0; 1200];
    Seed::new(8).rng().fill_bytes(&mut history);
    let mut farthest = 0;
    for level in 1..=9 {
        let codec = MessageCodec::Deflate(Deflate {
            window_bits: bits(8),
            level,
            ..Deflate::default()
        });
        for distance in REPEATED..600 {
            let mut encoder = MessageEncoder::new(&codec, None).unwrap();
            encoder.encode(&history, &mut Vec::new());
            let from = history.len() - distance;
            let repeated = &history[from..from + REPEATED];
            let mut coded = Vec::new();
            encoder.encode(repeated, &mut coded);
            // Random bytes shrink only by a reference.
            if coded.len() < REPEATED {
                farthest = farthest.max(distance);
            }
            // A receiver with a history of only 256 bytes can decompress it.
            let mut decoder = MessageDecoder::new(&codec, None).unwrap();
            decoder.prime(&history[history.len() - 256..]);
            let mut read = Vec::new();
            decoder.decode(&coded, ByteCount::new(1000), &mut read).unwrap();
            assert_eq!(read, repeated, "level {level}, distance {distance}");
        }
    }
    assert_eq!(farthest, 250);
}
