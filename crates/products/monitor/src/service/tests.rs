use super::*;
use crate::block_on;
use crate::log::{LogSettings, Retention};
use lastmile_codec::content::decode;
use lastmile_events::{ChunkBuilder, Source, Value};
use lastmile_units::ByteCount;
use serde_json::Value as Json;

struct Setup {
    monitor: Arc<Monitor>,
    _folder: tempfile::TempDir,
}

fn monitor(token: Option<&str>, retention: Retention) -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let settings = LogSettings {
        durability: Durability::Process,
        retention,
        ..LogSettings::default()
    };
    let log = Log::open(folder.path(), settings).unwrap();
    Setup {
        monitor: Arc::new(Monitor::new(Arc::new(log), token.map(str::to_owned))),
        _folder: folder,
    }
}

fn chunk(first: u64, count: u64) -> Chunk {
    let mut builder = ChunkBuilder::new(Source::new("a", 1).unwrap(), first);
    for i in 0..count {
        let fields = [("i", Value::Integer((first + i) as i64))];
        builder
            .push(Timestamp::from_unix_nanoseconds(i as i64), "a.b", fields)
            .unwrap();
    }
    builder.finish().unwrap()
}

fn ask(setup: &Setup, request: http::request::Builder, body: Vec<u8>) -> Response<AnswerBody> {
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    block_on(Arc::clone(&setup.monitor).answer(request)).unwrap()
}

fn whole_body(response: Response<AnswerBody>) -> Vec<u8> {
    block_on(response.into_body().collect())
        .unwrap()
        .unwrap()
        .to_bytes()
        .to_vec()
}

fn post(setup: &Setup, chunk: &Chunk) {
    let response = ask(setup, Request::post("/v1/chunks"), chunk.bytes().to_vec());
    assert_eq!(response.status(), StatusCode::OK);
}

fn lines(body: &[u8]) -> Vec<Json> {
    let text = std::str::from_utf8(body).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The first pages of an answer that does not end.
fn first_frames(response: Response<AnswerBody>, count: usize) -> String {
    let mut body = response.into_body();
    let mut text = String::new();
    for _ in 0..count {
        let frame = block_on(body.frame()).unwrap().unwrap().unwrap();
        text += std::str::from_utf8(&frame.into_data().unwrap()).unwrap();
    }
    text
}

#[test]
fn a_request_without_the_token_is_refused_whatever_it_asks_for() {
    let setup = monitor(Some("0123456789abcdef"), Retention::default());
    for path in [
        "/v1/events",
        "/v1/subscribe",
        "/v1/audit",
        "/metrics",
        "/v1/sensors",
        "/nothing",
    ] {
        for given in [
            None,
            Some("Bearer 0123456789abcdeg"),
            Some("Bearer 0123456789abcde"),
            Some("0123456789abcdef"),
        ] {
            let mut request = Request::get(path);
            if let Some(given) = given {
                request = request.header(AUTHORIZATION, given);
            }
            let response = ask(&setup, request, Vec::new());
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path} {given:?}");
        }
    }
    let bearing = Request::get("/v1/audit").header(AUTHORIZATION, "Bearer 0123456789abcdef");
    assert_eq!(ask(&setup, bearing, Vec::new()).status(), StatusCode::OK);
}

#[test]
fn a_browser_gets_server_sent_events_and_resumes_after_the_last_one() {
    let setup = monitor(None, Retention::default());
    post(&setup, &chunk(1, 3));
    let stream = || Request::get("/v1/subscribe").header(ACCEPT, EVENT_STREAM);
    let text = first_frames(ask(&setup, stream(), Vec::new()), 1);
    let events: Vec<&str> = text.split_terminator("\n\n").collect();
    assert_eq!(events.len(), 3);
    let (id, data) = events[0].split_once('\n').unwrap();
    let id = id.strip_prefix("id: ").unwrap();
    let data: Json = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(
        (data["cursor"].as_str(), data["fields"]["i"].as_u64()),
        (Some(id), Some(1))
    );
    let resumed = ask(&setup, stream().header("last-event-id", id), Vec::new());
    let text = first_frames(resumed, 1);
    assert!(text.contains("\"i\":2") && !text.contains("\"i\":1,"), "{text}");
}

#[test]
fn answers_and_posts_are_compressed_as_the_client_asks() {
    let setup = monitor(None, Retention::default());
    let chunk = chunk(1, 500);
    let coded = lastmile_codec::content::encode("zstd".parse().unwrap(), chunk.bytes());
    let request = Request::post("/v1/chunks").header("content-encoding", "zstd");
    assert_eq!(ask(&setup, request, coded).status(), StatusCode::OK);
    let plain = whole_body(ask(&setup, Request::get("/v1/events"), Vec::new()));
    assert_eq!(lines(&plain).len(), 501);
    for (accepted, coding) in [
        ("br, zstd", Coding::Zstd),
        ("gzip", Coding::Gzip),
        ("zstd;q=0, gzip;q=0.5", Coding::Gzip),
    ] {
        let response = ask(
            &setup,
            Request::get("/v1/events").header("accept-encoding", accepted),
            Vec::new(),
        );
        assert_eq!(response.headers()["content-encoding"], coding.token());
        let body = whole_body(response);
        assert!(body.len() * 4 < plain.len(), "{} of {}", body.len(), plain.len());
        assert_eq!(decode(coding, &body, ByteCount::new(1 << 30)).unwrap(), plain);
    }
    let request = Request::post("/v1/chunks").header("content-encoding", "compress");
    assert_eq!(
        ask(&setup, request, vec![1]).status(),
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    let request = Request::post("/v1/chunks").header("content-encoding", "zstd");
    assert_eq!(
        ask(&setup, request, vec![1, 2, 3]).status(),
        StatusCode::UNPROCESSABLE_ENTITY
    );
}

#[test]
fn a_cursor_before_what_is_kept_is_told_how_much_is_gone() {
    let bytes = Some(chunk(301, 100).bytes().len() as u64 * 3 / 2);
    let setup = monitor(None, Retention { age: None, bytes });
    for i in 0..4 {
        post(&setup, &chunk(1 + i * 100, 100));
    }
    block_on(setup.monitor.tick(Timestamp::default())).unwrap();
    let cursor = setup.monitor.log.cursor(50);
    let body = whole_body(ask(
        &setup,
        Request::get(format!("/v1/events?from={cursor}")),
        Vec::new(),
    ));
    let lines = lines(&body);
    assert_eq!(lines[0]["deleted"]["events"], 250);
    assert_eq!(lines[1]["sequence"], 301);
    assert_eq!(lines.last().unwrap()["end"]["complete"], false);
    // Whoever asks for what is there gets it whole.
    let body = whole_body(ask(&setup, Request::get("/v1/events"), Vec::new()));
    assert!(String::from_utf8_lossy(&body).contains("\"complete\":true"));
    let audit: Json = serde_json::from_slice(&whole_body(ask(&setup, Request::get("/v1/audit"), Vec::new()))).unwrap();
    assert_eq!(
        (
            audit["deleted"][0]["why"].as_str(),
            audit["deleted"][0]["events"].as_u64()
        ),
        (Some("size"), Some(300))
    );
    assert_eq!(audit["problems"], json!([]));
}

#[test]
fn each_client_has_its_count_and_its_limit() {
    let setup = monitor(None, Retention::default());
    post(&setup, &chunk(1, 7));
    whole_body(ask(&setup, Request::get("/v1/events?client=shop"), Vec::new()));
    let open: Vec<_> = (0..clients::OPEN_MAX)
        .map(|_| ask(&setup, Request::get("/v1/subscribe?client=many"), Vec::new()))
        .collect();
    let refused = ask(&setup, Request::get("/v1/subscribe?client=many"), Vec::new());
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        ask(&setup, Request::get("/v1/subscribe?client=one"), Vec::new()).status(),
        StatusCode::OK
    );
    drop(open);
    assert_eq!(
        ask(&setup, Request::get("/v1/subscribe?client=many"), Vec::new()).status(),
        StatusCode::OK
    );
    let audit: Json = serde_json::from_slice(&whole_body(ask(&setup, Request::get("/v1/audit"), Vec::new()))).unwrap();
    let clients = audit["clients"].as_array().unwrap();
    let shop = clients.iter().find(|client| client["client"] == "shop").unwrap();
    assert_eq!(
        (shop["delivered"].as_u64(), shop["subscriptions"].as_u64()),
        (Some(7), Some(0))
    );
}

#[test]
fn subscribers_who_ask_for_the_same_get_the_same_pages() {
    let setup = monitor(None, Retention::default());
    post(&setup, &chunk(1, 5));
    let one = first_frames(ask(&setup, Request::get("/v1/subscribe?subject=a.*"), Vec::new()), 1);
    let two = first_frames(
        ask(&setup, Request::get("/v1/subscribe?client=x&subject=a.*"), Vec::new()),
        1,
    );
    let other = first_frames(
        ask(
            &setup,
            Request::get("/v1/subscribe?subject=a.*&where=i%3E3"),
            Vec::new(),
        ),
        1,
    );
    assert_eq!(one, two);
    assert_eq!((one.lines().count(), other.lines().count()), (5, 2));
}

#[test]
fn a_monitor_knows_which_sensors_are_alive() {
    let setup = monitor(None, Retention::default());
    let at = |seconds: i64| {
        let now = Timestamp::from_unix_nanoseconds(seconds * 1_000_000_000);
        block_on(setup.monitor.tick(now)).unwrap();
    };
    let register = |name: &str| {
        let state = json!({"sensor": name, "waiting": 3}).to_string();
        ask(&setup, Request::post("/v1/sensors"), state.into()).status()
    };
    at(100);
    assert_eq!(
        (register("a"), register("")),
        (StatusCode::OK, StatusCode::UNPROCESSABLE_ENTITY)
    );
    at(108);
    register("b");
    at(112);
    let sensors: Json =
        serde_json::from_slice(&whole_body(ask(&setup, Request::get("/v1/sensors"), Vec::new()))).unwrap();
    let alive: Vec<_> = sensors
        .as_array()
        .unwrap()
        .iter()
        .map(|sensor| sensor["alive"].as_bool().unwrap())
        .collect();
    assert_eq!((alive, sensors[0]["waiting"].as_u64()), (vec![false, true], Some(3)));
}
