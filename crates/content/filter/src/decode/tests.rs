use super::*;
use crate::NoCost;
use crate::test_bodies::{BodyOutput, Meter, ScriptedBody, Step, read};
use http_body_util::Full;
use lastmile_codec::content::{Encoder, encode};

const LIMIT: ByteCount = ByteCount::new(1 << 20);

fn text() -> Vec<u8> {
    (0..3000_u32)
        .flat_map(|line| format!("line {line}, {}\n", line.wrapping_mul(2_654_435_761)).into_bytes())
        .collect()
}

fn coded(codecs: &[&str]) -> Vec<u8> {
    codecs
        .iter()
        .fold(text(), |content, codec| encode(codec.parse().unwrap(), &content))
}

fn response<B>(lines: &[&str], body: B) -> Response<B> {
    lines
        .iter()
        .fold(Response::builder(), |response, line| {
            response.header(CONTENT_ENCODING, *line)
        })
        .body(body)
        .unwrap()
}

fn decoded<B: Body>(lines: &[&str], body: B) -> BodyOutput<DecodeBodyError<B::Error>> {
    read(decode(response(lines, body), LIMIT, NoCost).unwrap().into_body())
}

#[test]
fn every_coding_is_undone_however_its_bytes_arrive() {
    for (codec, token) in [
        ("gzip:6", "x-gzip"),
        ("deflate:6", "Deflate"),
        ("br:5", "br"),
        ("zstd:3", "zstd"),
        ("identity", "identity"),
    ] {
        for size in [1, 1000, 1 << 20] {
            let given = decoded(&[token], ScriptedBody::chunks(&coded(&[codec]), size));
            assert!(given.error.is_none() && given.data() == text(), "{codec} {size}");
        }
    }
}

#[test]
fn several_codings_are_undone_in_the_reverse_of_their_order() {
    let body = || Full::new(Bytes::from(coded(&["gzip:6", "br:1", "zstd:3"])));
    assert_eq!(decoded(&["gzip, identity, br", "zstd"], body()).data(), text());
    assert!(matches!(
        decoded(&["zstd, br, gzip"], body()).error,
        Some(DecodeBodyError::Decode(DecodeError::Corrupt { .. }))
    ));
}

#[test]
fn what_was_true_of_the_coded_content_alone_is_removed_and_the_rest_stays() {
    let mut coded_response = response(&["gzip"], Full::new(Bytes::from(coded(&["gzip:6"]))));
    for (name, value) in [
        ("content-length", "5"),
        ("content-digest", "x"),
        ("etag", "W/\"x\""),
        ("vary", "Accept-Encoding"),
    ] {
        coded_response.headers_mut().insert(name, value.parse().unwrap());
    }
    let decoded = decode(coded_response, LIMIT, NoCost).unwrap();
    let names: Vec<_> = decoded.headers().keys().map(http::HeaderName::as_str).collect();
    assert!(
        names.len() == 2 && names.contains(&"etag") && names.contains(&"vary"),
        "{names:?}"
    );

    let mut plain = response(&[], Full::new(Bytes::from_static(b"plain")));
    plain.headers_mut().insert(CONTENT_LENGTH, "5".parse().unwrap());
    assert_eq!(decode(plain, LIMIT, NoCost).unwrap().headers()[CONTENT_LENGTH], "5");
}

#[test]
fn an_unknown_coding_and_too_many_are_refused_by_name() {
    let error = |lines: &[&str]| {
        decode(response(lines, Full::<Bytes>::default()), LIMIT, NoCost)
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        error(&["gzip, compress"]),
        "Content-Encoding \"compress\" cannot be decoded: it is not one of gzip, deflate, br and zstd; leave it out of Accept-Encoding"
    );
    assert!(
        error(&["gzip, gzip, gzip, gzip, br"]).contains("\"br\" cannot be decoded: it is one of more than 4 codings")
    );
}

#[test]
fn content_over_the_limit_fails_and_gives_no_more_than_the_limit() {
    let zeros = vec![0; 8 << 20];
    for codecs in [
        &["gzip:6"][..],
        &["br:5"],
        &["zstd:3"],
        &["identity"],
        &["gzip:6", "gzip:6"],
    ] {
        let bomb = codecs
            .iter()
            .fold(zeros.clone(), |content, codec| encode(codec.parse().unwrap(), &content));
        let tokens: Vec<_> = codecs.iter().map(|codec| codec.split(':').next().unwrap()).collect();
        let given = decoded(&tokens, Full::new(Bytes::from(bomb)));
        assert!(
            matches!(given.error, Some(DecodeBodyError::Decode(DecodeError::TooLarge { .. }))),
            "{codecs:?}"
        );
        assert!(ByteCount::from(given.data().len()) <= LIMIT, "{codecs:?}");
    }
}

#[test]
fn cut_off_content_gives_what_there_was_and_then_an_error() {
    let whole = coded(&["gzip:6"]);
    let given = decoded(&["gzip"], Full::new(Bytes::copy_from_slice(&whole[..whole.len() - 1])));
    assert_eq!(given.data(), text());
    assert!(matches!(
        given.error,
        Some(DecodeBodyError::Decode(DecodeError::Truncated { .. }))
    ));
}

#[test]
fn a_body_of_no_bytes_is_empty_whatever_its_head_says() {
    let given = decoded(&["gzip, br"], Full::<Bytes>::default());
    assert!(given.error.is_none() && given.frames.is_empty());
}

#[test]
fn an_error_of_the_coded_body_and_its_trailers_are_passed_on() {
    let trailers: HeaderMap = [("server-timing".parse().unwrap(), "db".parse().unwrap())]
        .into_iter()
        .collect();
    let given = decoded(
        &["gzip"],
        ScriptedBody::new([Step::Data(coded(&["gzip:6"])), Step::Trailers(trailers.clone())]),
    );
    assert_eq!((given.data(), given.trailers), (text(), Some(trailers)));
    let given = decoded(
        &["gzip"],
        ScriptedBody::new([Step::Data(coded(&["gzip:6"])), Step::Fail("reset")]),
    );
    assert!(matches!(given.error, Some(DecodeBodyError::Body("reset"))));
}

#[test]
fn decoding_is_charged_by_coding_and_adds_up() {
    let meter = Meter {
        pauses: 2,
        ..Meter::default()
    };
    let body = coded(&["gzip:6", "zstd:3"]);
    let response = response(&["gzip, zstd"], Full::new(Bytes::from(body.clone())));
    assert_eq!(
        read(decode(response, LIMIT, meter.clone()).unwrap().into_body()).data(),
        text()
    );
    let done = meter.done.borrow();
    let total = |coding, of: fn(&CompressionStep) -> ByteCount| -> ByteCount {
        done.iter()
            .filter(|work| work.operation == Operation::Decode(coding))
            .map(of)
            .sum()
    };
    let between = ByteCount::from(coded(&["gzip:6"]).len());
    assert_eq!(
        (total(Coding::Zstd, |w| w.input), total(Coding::Zstd, |w| w.output)),
        (ByteCount::from(body.len()), between)
    );
    assert_eq!(
        (total(Coding::Gzip, |w| w.input), total(Coding::Gzip, |w| w.output)),
        (between, ByteCount::from(text().len()))
    );
    for coding in [Coding::Gzip, Coding::Zstd] {
        let of = || done.iter().filter(|work| work.operation == Operation::Decode(coding));
        assert_eq!(
            (
                of().filter(|work| work.first).count(),
                of().filter(|work| work.last).count()
            ),
            (1, 1)
        );
    }
}

#[test]
fn a_body_that_was_not_coded_costs_nothing() {
    let meter = Meter::default();
    let decoded = decode(response(&[], Full::new(Bytes::from(text()))), LIMIT, meter.clone()).unwrap();
    assert_eq!(read(decoded.into_body()).data(), text());
    assert!(meter.done.borrow().is_empty());
}

#[test]
fn what_the_server_flushed_is_decoded_before_it_sends_more() {
    let (mut encoder, mut flushed, mut rest) = (Encoder::new("gzip:6".parse().unwrap()), Vec::new(), Vec::new());
    encoder.write(b"first", &mut flushed);
    encoder.flush(&mut flushed);
    encoder.write(b"second", &mut rest);
    encoder.finish(&mut rest);
    let given = decoded(
        &["gzip"],
        ScriptedBody::new([Step::Data(flushed), Step::Pause, Step::Data(rest)]),
    );
    assert_eq!(given.frames, ["first", "second"]);
    assert_eq!(given.pauses, [5]);
}
