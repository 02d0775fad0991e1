//! Claims about transcripts: what each format gives, and what is said of a file that gives nothing.

use super::*;

fn read(content: &[u8], reading: Reading) -> Vec<Result<Message, String>> {
    let transcript = Transcript::read(std::io::Cursor::new(content.to_vec()), "talk", reading);
    match transcript {
        Ok(messages) => messages.map(|read| read.map_err(|error| error.to_string())).collect(),
        Err(error) => vec![Err(error.to_string())],
    }
}

fn payloads(content: &[u8]) -> Vec<Vec<u8>> {
    let messages = read(content, Reading::default());
    messages
        .into_iter()
        .map(|read| read.unwrap().payload.to_vec())
        .collect()
}

#[test]
fn a_line_is_a_message_however_it_ends() {
    assert_eq!(payloads(b"one\ntwo\n"), [b"one", b"two"]);
    assert_eq!(payloads(b"one\r\ntwo"), [b"one", b"two"]);
    assert_eq!(payloads(b"one\n\n"), [b"one".as_slice(), b""]);
    assert_eq!(payloads(b"\n"), [b""]);
    assert_eq!(payloads(b"o\rne\r\r\n"), [b"o\rne\r"]);
}

#[test]
fn an_empty_file_is_refused() {
    let error = read(b"", Reading::default()).remove(0).unwrap_err();
    assert_eq!(
        error,
        "talk: the file is empty; give the path of a file of messages, a line each"
    );
}

#[test]
fn a_line_that_is_not_utf_8_is_a_binary_message() {
    let kinds: Vec<Kind> = read(b"caf\xc3\xa9\ncaf\xe9\n", Reading::default())
        .into_iter()
        .map(|read| read.unwrap().kind)
        .collect();
    assert_eq!(kinds, [Kind::Text, Kind::Binary]);
}

#[test]
fn a_message_that_is_too_large_is_refused_by_its_line_and_the_next_is_read() {
    let reading = Reading {
        largest_message: Bytes::new(100_000),
        ..Reading::default()
    };
    let content = [vec![b'x'; 100_000], vec![b'y'; 100_001], b"z".to_vec()].join(b"\r\n".as_slice());
    let messages = read(&content, reading);
    let [Ok(first), Err(refused), Ok(last)] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    assert_eq!((first.payload.len(), last.payload.as_ref()), (100_000, b"z".as_slice()));
    assert_eq!(
        refused,
        "talk: line 2, column 1: the message has 100001 octets, and no more than 100000 are read; allow larger \
         messages, or leave it out"
    );
}
