use super::*;

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

fn asked(change: impl Fn(String) -> String) -> Result<ClientRequest, HandshakeError> {
    let request = Request {
        host: "server.example.com".to_owned(),
        target: "/chat".to_owned(),
        protocols: vec!["chat".to_owned(), "superchat".to_owned()],
        offers: vec![Offer::default()],
        fields: vec![("Origin".to_owned(), "http://example.com".to_owned())],
    };
    let head = String::from_utf8(request.write(&Key::read(KEY).unwrap())).unwrap();
    let changed = change(head.clone());
    ClientRequest::read(changed.as_bytes())
}

#[test]
fn a_request_is_read_as_it_was_written() {
    let asked = asked(|head| head).unwrap();
    assert_eq!(asked.target, "/chat");
    assert_eq!(asked.host, "server.example.com");
    assert_eq!(asked.protocols, ["chat", "superchat"]);
    assert_eq!(asked.extensions, [Offer::default().extension()]);
    assert_eq!(asked.key.as_str(), KEY);
}

#[test]
fn a_request_may_list_more_in_fields_that_are_lists_and_in_any_case() {
    let changed = asked(|head| {
        head.replace("Upgrade: websocket", "UPGRADE: h2c, WebSocket")
            .replace("Connection: Upgrade", "connection: keep-alive, upgrade")
    });
    changed.unwrap();
}

#[test]
fn a_request_that_breaks_a_rule_is_refused_with_a_status() {
    let cases = [
        ("GET /chat", "POST /chat", "400"),
        ("HTTP/1.1", "HTTP/1.0", "400"),
        ("Host: server.example.com\r\n", "", "400"),
        ("Upgrade: websocket\r\n", "", "400"),
        ("Upgrade: websocket", "Upgrade: websockets", "400"),
        ("Connection: Upgrade", "Connection: close", "400"),
        ("Version: 13", "Version: 8", "426"),
        ("Sec-WebSocket-Version: 13\r\n", "", "426"),
        (KEY, "dGhlIHNhbXBsZSBub25j", "400"),
        (KEY, "not base64", "400"),
        ("Origin:", "Sec-WebSocket-Key:", "400"),
        (
            "Extensions: permessage-deflate",
            "Extensions: permessage-deflate;",
            "400",
        ),
        ("GET", "\u{1}", "400"),
    ];
    for (from, to, status) in cases {
        let error = asked(|head| {
            assert!(head.contains(from));
            head.replacen(from, to, 1)
        })
        .unwrap_err();
        let refusal = String::from_utf8(error.refusal()).unwrap();
        assert!(refusal.starts_with(&format!("HTTP/1.1 {status} ")), "{to}: {refusal}");
        assert!(refusal.contains(&error.to_string()));
        assert_eq!(refusal.contains("Sec-WebSocket-Version: 13"), status == "426");
    }
}

fn response(change: impl Fn(String) -> String) -> Result<Established, HandshakeError> {
    let key = Key::read(KEY).unwrap();
    let request = Request {
        host: "server.example.com".to_owned(),
        protocols: vec!["chat".to_owned()],
        offers: vec![Offer::default()],
        ..Request::default()
    };
    let asked = ClientRequest::read(&request.write(&key)).unwrap();
    let head = String::from_utf8(asked.accept(Some("chat"), Some(&Response::default()))).unwrap();
    request.accept_response(&key, change(head).as_bytes())
}

#[test]
fn a_response_is_read_as_it_was_written() {
    let opened = response(|head| head).unwrap();
    assert_eq!(opened.protocol.as_deref(), Some("chat"));
    assert!(opened.deflate.unwrap().client.takeover);
    let declined = response(|head| head.replace("Sec-WebSocket-Extensions", "X"));
    assert_eq!(declined.unwrap().deflate, None);
}

#[test]
fn a_response_names_the_protocol_in_any_case_and_may_say_more_of_the_connection() {
    let changed = response(|head| {
        head.replace("Upgrade: websocket", "upgrade: WebSocket")
            .replace("Connection: Upgrade", "Connection: keep-alive, upgrade")
    });
    changed.unwrap();
}

/// RFC 6455 section 4.1, of the nonce of the bytes 1 to 16.
#[test]
fn the_nonce_of_the_rfcs_example_is_read_and_answered_as_it_was_sent() {
    let key = Key::read("AQIDBAUGBwgJCgsMDQ4PEC==").unwrap();
    let canonical = Key::read("AQIDBAUGBwgJCgsMDQ4PEA==").unwrap();
    assert_ne!(key.accept(), canonical.accept());
    assert_eq!(Key::read("AQIDBAUGBwgJCgsMDQ4PEC"), None);
}

#[test]
fn a_response_that_breaks_a_rule_fails_the_connection() {
    let cases = [
        ("101 Switching Protocols", "200 OK"),
        ("HTTP/1.1", "HTTP/1.0"),
        ("Upgrade: websocket\r\n", ""),
        ("Upgrade: websocket", "Upgrade: h2c, websocket"),
        ("Upgrade: websocket", "Upgrade: h2c\r\nUpgrade: websocket"),
        ("Connection: Upgrade\r\n", ""),
        ("Connection: Upgrade", "Connection: close"),
        ("Connection", "Sec-WebSocket-Accept: AAAA\r\nConnection"),
        ("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "s3pPLMBiTxaQ9kYGzzhZRbK+xOp="),
        ("Protocol: chat", "Protocol: superchat"),
        ("permessage-deflate", "permessage-bzip2"),
        ("permessage-deflate", "permessage-deflate; client_max_window_bits=10"),
    ];
    for (from, to) in cases {
        let result = response(|head| {
            assert!(head.contains(from));
            head.replacen(from, to, 1)
        });
        result.expect_err(to);
    }
}

#[test]
fn a_head_ends_with_its_empty_line() {
    assert_eq!(head_length(b"GET / HTTP/1.1\r\n\r\nrest"), Some(18));
    assert_eq!(head_length(b"GET / HTTP/1.1\r\n\r"), None);
}
