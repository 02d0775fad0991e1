//! What the examples name: files, programs and a server that sends messages back.

use super::{LASTMILE, Running, shell};
use crate::sandbox::Sandbox;
use crate::tune::capture;
use lastmile_websocket::{Event, MESSAGE_LIMIT, SendOptions, ServerDeflate, ServerSettings, Session};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::thread;

/// Programs as shell scripts.
const PROGRAMS: [(&str, &str); 10] = [
    (
        "bin/curl",
        "exec 3<>/dev/tcp/host.lastmile/8000; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
    ),
    ("bin/git", "exit 0"),
    ("bin/jq", "cat"),
    ("bin/less", "cat"),
    ("bin/make", "exit 0"),
    ("bin/man", "cat"),
    ("bin/ssh", "cat client.pcapng"),
    ("bin/sudo", "\"$@\""),
    ("report", "exit 0"),
    // A real server of HTTP.
    ("server", "exec lastmile monitor served --listen 127.0.0.1:8000"),
];

/// Files that the product makes.
const PREPARATION: &str = "set -e
mkdir -p .config/fish/completions .local/share/man/man1
lastmile studies show bulk >mine.toml
gzip -k shop.har
lastmile run bulk --out runs/bulk-20260131-142359
lastmile run bulk --out runs/bulk-20260201-091500
lastmile run bulk --format json --no-report --repeats 1 >before.json
cp before.json after.json";

/// Writes all that the examples name, and starts the server of messages.
pub(super) fn write(sandbox: &Sandbox) {
    for folder in ["bin", "dist"] {
        fs::create_dir(sandbox.path().join(folder)).unwrap();
    }
    symlink(LASTMILE, sandbox.path().join("bin/lastmile")).unwrap();
    for (name, script) in PROGRAMS {
        sandbox.file(name, format!("#!/bin/bash\n{script}\n"));
        fs::set_permissions(sandbox.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let numbered = |line: &str| (0..60).map(|n| line.replace('N', &n.to_string())).collect::<String>();
    sandbox.file("dist/index.html", numbered("<p>Number N of the list</p>\n"));
    sandbox.file("dist/app.js", numbered("export const fN = a => a * N;\n"));
    sandbox.file("chat.txt", numbered("message N of the chat\n"));
    sandbox.file(
        "chat.jsonl",
        numbered("{\"direction\":\"sent\",\"payload\":\"message N of the chat\"}\n"),
    );
    sandbox.file("app.jsonl", numbered("{\"dir\":\"out\",\"data\":\"{\\\"id\\\":N}\"}\n"));
    sandbox.file(
        "app.log",
        numbered("12:00:00 INFO sent payload=message N of the chat\n"),
    );
    sandbox.file("client.pcapng", capture::of_messages(60));
    sandbox.file(
        "events.jsonl",
        numbered("{\"id\":N,\"name\":\"event N\",\"late\":false}\n"),
    );
    sandbox.file("orders.jsonl", numbered("{\"id\":N,\"name\":\"order N\"}\n"));
    sandbox.file(
        "shop.proto",
        "syntax = \"proto3\";\nmessage Order { int32 id = 1; string name = 2; }\n",
    );
    sandbox.file("shop.har", page().to_string());
    sandbox.file("page.har", page().to_string());
    sandbox.file("rules.txt", "prices * tick\nnews anna headline\n");
    sandbox.file("app.events", "app.started seconds=1.5\n");
    sandbox.file("key", "0123456789abcdef0123456789abcdef\n");
    fs::set_permissions(sandbox.path().join("key"), fs::Permissions::from_mode(0o600)).unwrap();
    let prepared = shell(sandbox, PREPARATION).output().unwrap();
    assert!(
        prepared.status.success(),
        "{}",
        String::from_utf8_lossy(&prepared.stderr)
    );
    for folder in ["kept", "events"] {
        let _monitor = Running::service(sandbox, &format!("lastmile monitor {folder}"));
        sandbox.data(&["emit", "run.done", "cell=1", "seconds=3"]);
    }
    let listener = TcpListener::bind("127.0.0.1:9001").unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || send_back(stream.unwrap()));
        }
    });
}

/// A recording of a page with two files and a WebSocket connection.
fn page() -> Value {
    let entry = |path: &str, kind: &str, text: String| {
        json!({
            "startedDateTime": "2026-01-31T14:23:59Z", "time": 10,
            "request": { "method": "GET", "url": format!("http://shop.example/{path}"), "httpVersion": "HTTP/1.1", "headers": [] },
            "response": {
                "status": 200, "httpVersion": "HTTP/1.1", "headers": [{ "name": "Content-Type", "value": kind }],
                "content": { "size": text.len(), "mimeType": kind, "text": text }
            },
            "timings": { "send": 0, "wait": 5, "receive": 5 }
        })
    };
    let messages: Vec<Value> = (0..60)
        .map(|n| json!({"type": "send", "time": 1_700_000_000.0 + f64::from(n), "opcode": 1, "data": format!("{{\"id\":{n}}}")}))
        .collect();
    let html = format!("<script src=app.js></script>{}", "<p>one of the list</p>\n".repeat(60));
    let mut socket = entry("chat", "", String::new());
    socket["_webSocketMessages"] = messages.into();
    socket["_resourceType"] = "websocket".into();
    socket["request"]["url"] = "ws://shop.example/chat".into();
    socket["response"]["status"] = 101.into();
    let entries = [
        entry("", "text/html", html),
        entry("app.js", "text/javascript", "let sum = a => a + 1;\n".repeat(60)),
        socket,
    ];
    json!({"log": {"version": "1.2", "creator": {"name": "a browser", "version": "1"}, "entries": entries}})
}

/// A WebSocket server that sends each message back.
fn send_back(mut stream: TcpStream) {
    let mut session = Session::server(ServerSettings {
        deflate: Some(ServerDeflate::default()),
        protocols: Vec::new(),
        message_limit: MESSAGE_LIMIT,
    });
    let mut bytes = vec![0; 1 << 16];
    loop {
        while let Some(event) = session.next_event() {
            if let Event::Message(message) = event {
                session
                    .send(message.kind, &message.payload, SendOptions::default())
                    .unwrap();
            }
        }
        if stream.write_all(&session.take_output()).is_err() || session.is_over() {
            return;
        }
        match stream.read(&mut bytes) {
            Ok(count) if count > 0 => session.receive(&bytes[..count]),
            _ => return,
        }
    }
}
