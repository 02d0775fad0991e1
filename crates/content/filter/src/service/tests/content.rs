//! Tests of streamed and buffered content.

use super::*;

fn script(fields: &[(&str, &str)], steps: impl IntoIterator<Item = Step>) -> Response<ScriptedBody> {
    respond_with(fields, ScriptedBody::new(steps))
}

#[test]
fn a_short_first_chunk_does_not_decide_for_the_whole() {
    let body = || ScriptedBody::new([Step::Data(b"a".to_vec()), Step::Pause, Step::Data(text())]);
    let got = ask(&streamed(), |_| respond_with(&TEXT, body()), get(&[GZIP]));
    assert_eq!(got.coding(), "gzip");
    assert_eq!(got.content(), [b"a".to_vec(), text()].concat());
}

#[test]
fn known_length_under_the_minimum_is_not_coded_and_at_the_minimum_it_is() {
    let layer = with(|policy| policy.minimum_size = ByteCount::new(500));
    assert_eq!(
        ask(&layer, |_| plain(vec![b'a'; 499]), get(&[GZIP])).coding(),
        "identity"
    );
    assert_eq!(ask(&layer, |_| plain(vec![b'a'; 500]), get(&[GZIP])).coding(), "gzip");
}

/// Whether each of two chunks can be decoded before the handler goes on.
fn chunks_come_through(layer: &CompressionLayer, media_type: &str, coding: &str) -> bool {
    let (first, second) = (b"data: one\n\n", b"data: two\n\n");
    let steps = [
        Step::Data(first.to_vec()),
        Step::Pause,
        Step::Data(second.to_vec()),
        Step::Pause,
    ];
    let got = ask(
        layer,
        |_| script(&[("content-type", media_type)], steps.clone()),
        get(&[("accept-encoding", coding)]),
    );
    assert_eq!(got.content(), [*first, *second].concat());
    // The last two polls that were not ready are the handler's own pauses or come after them.
    [first.len(), first.len() + second.len()].iter().all(|&due| {
        got.body.pauses.iter().any(|&sent| {
            let (mut decoder, mut decoded) = (
                Decoder::new(Coding::from_token(coding).unwrap(), ByteCount::new(1000)),
                Vec::new(),
            );
            decoder.write(&got.body.data()[..sent], &mut decoded).unwrap();
            decoded.len() == due
        })
    })
}

#[test]
fn events_are_not_held_back_whatever_the_policy() {
    for coding in ["gzip", "br", "zstd"] {
        for buffering in [Buffering::Stream, Buffering::WholeResponse] {
            let layer = with(|policy| (policy.buffering, policy.flush) = (buffering, Flush::AtEnd));
            assert!(
                chunks_come_through(&layer, "text/event-stream; charset=utf-8", coding),
                "{coding} {buffering:?}"
            );
        }
    }
}

#[test]
fn chunks_are_flushed_where_the_policy_says_so_and_else_are_not() {
    for coding in ["gzip", "br", "zstd"] {
        assert!(
            chunks_come_through(&with(|policy| policy.flush = Flush::EachChunk), "text/plain", coding),
            "{coding}"
        );
        assert!(!chunks_come_through(&streamed(), "text/plain", coding), "{coding}");
    }
}

#[test]
fn what_the_codec_has_put_out_is_not_held_while_the_handler_pauses() {
    let (mut encoder, mut ready) = (Encoder::new("gzip:6".parse().unwrap()), Vec::new());
    encoder.write(&text(), &mut ready);
    assert!(ready.len() % transform_body::FRAME > 0);
    let steps = [Step::Data(text()), Step::Pause, Step::Data(text())];
    let got = ask(&streamed(), |_| script(&TEXT, steps.clone()), get(&[GZIP]));
    assert!(got.body.pauses.contains(&ready.len()));
}

#[test]
fn a_body_that_ends_with_its_only_chunk_is_not_flushed_before_its_end() {
    let layer = with(|policy| policy.flush = Flush::EachChunk);
    let got = ask(&layer, |_| plain(vec![b'a'; 1000]), get(&[GZIP]));
    assert_eq!(got.body.data(), encode("gzip:6".parse().unwrap(), &[b'a'; 1000]));
}

#[test]
fn how_the_handler_cuts_its_content_changes_no_byte_of_it() {
    let expected = encode("gzip:6".parse().unwrap(), &text());
    for size in [1, 100, 1 << 14, 1 << 20] {
        let got = ask(
            &streamed(),
            |_| respond_with(&TEXT, ScriptedBody::chunks(&text(), size)),
            get(&[GZIP]),
        );
        assert_eq!(got.body.data(), expected, "{size}");
    }
}

#[test]
fn trailers_are_passed_on_but_for_digests() {
    let trailers: HeaderMap = [("server-timing", "db"), ("repr-digest", "sha-256=:AAAA:")]
        .into_iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    for buffering in [Buffering::Stream, Buffering::WholeResponse] {
        let layer = with(|policy| policy.buffering = buffering);
        let got = ask(
            &layer,
            |_| script(&TEXT, [Step::Data(text()), Step::Trailers(trailers.clone())]),
            get(&[GZIP]),
        );
        assert_eq!(got.content(), text());
        let names: Vec<_> = got.body.trailers.as_ref().unwrap().keys().collect();
        assert_eq!(names, ["server-timing"]);
        // A server that is told the exact size sends it as Content-Length, and then no trailers.
        assert_eq!(got.body.promised, None);
        assert_eq!(got.field(CONTENT_LENGTH), None);
    }
}

#[test]
fn a_failed_body_passes_its_error_on_and_is_never_taken_for_whole() {
    for buffering in [Buffering::Stream, Buffering::WholeResponse] {
        let layer = with(|policy| policy.buffering = buffering);
        let got = ask(
            &layer,
            |_| script(&TEXT, [Step::Data(text()), Step::Fail("disk")]),
            get(&[GZIP]),
        );
        assert_eq!((got.body.error, got.field(CONTENT_LENGTH)), (Some("disk"), None));
        assert_eq!(got.body.promised, None);
        assert!(decode(Coding::Gzip, &got.body.data(), ByteCount::new(1 << 30)).is_err());
    }
}

#[test]
fn one_poll_codes_no_more_than_a_piece() {
    let meter = Meter::default();
    let layer = streamed().with_compute(meter.clone());
    let got = ask(&layer, |_| plain(vec![b'a'; 1 << 20]), get(&[GZIP]));
    let pieces = (1 << 20) / (1 << 14);
    // Every piece but the first waits for another poll.
    assert_eq!(got.body.pauses.len(), pieces - 1);
    assert!(
        meter
            .done
            .borrow()
            .iter()
            .all(|work| work.input <= ByteCount::new(1 << 14))
    );
}

#[test]
fn short_chunks_share_a_poll() {
    let got = ask(
        &streamed(),
        |_| respond_with(&TEXT, ScriptedBody::chunks(&[b'a'; 16_000], 10)),
        get(&[GZIP]),
    );
    assert_eq!((got.body.pauses.len(), got.content().len()), (0, 16_000));
}

#[test]
fn frames_are_of_reasonable_size_however_small_the_chunks() {
    let noise: Vec<u8> = (0..200_000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).rotate_left(n % 32).to_le_bytes())
        .collect();
    let got = ask(
        &streamed(),
        |_| respond_with(&TEXT, ScriptedBody::chunks(&noise, 10)),
        get(&[GZIP]),
    );
    let (last, full) = got.body.frames.split_last().unwrap();
    assert!(
        full.len() > 10
            && full.iter().all(|frame| frame.len() == transform_body::FRAME)
            && last.len() <= transform_body::FRAME
    );
}

#[test]
fn a_whole_response_states_its_length_coded_or_not() {
    let body = || ScriptedBody::new([Step::Data(text()), Step::Pause, Step::Data(b"end".to_vec())]);
    let content = [text(), b"end".to_vec()].concat();
    for accept in ["gzip", "br", "zstd", "identity"] {
        let got = ask(
            &whole(),
            |_| respond_with(&TEXT, body()),
            get(&[("accept-encoding", accept)]),
        );
        assert_eq!((got.coding(), got.content()), (accept, content.clone()));
        assert_eq!(got.field(CONTENT_LENGTH), Some(&*got.body.data().len().to_string()));
        assert_eq!(got.body.frames.len(), 1);
    }
}

#[test]
fn the_head_of_a_whole_response_waits_for_its_content_and_of_a_streamed_one_does_not() {
    let handler = || Handler(|_: &Request<()>| script(&TEXT, [Step::Pause, Step::Data(text()), Step::Pause]));
    assert_eq!(finish(streamed().layer(handler()).call(get(&[GZIP]))).1, 0);
    assert!(finish(whole().layer(handler()).call(get(&[GZIP]))).1 >= 2);
}

#[test]
fn streamed_and_whole_responses_have_the_same_content() {
    let of = |layer| ask(&layer, |_| plain(text()), get(&[ANY])).body.data();
    assert_eq!(of(streamed()), of(whole()));
}

#[test]
fn what_the_layer_makes_can_move_between_threads() {
    fn movable<T: Send>(_: &T) {}
    let mut service = streamed().layer(Handler(|_: &Request<()>| plain(text())));
    movable(&service);
    movable(&service.call(get(&[GZIP])));
    let body = finish(service.call(get(&[GZIP]))).0.unwrap().into_body();
    movable(&body);
}
