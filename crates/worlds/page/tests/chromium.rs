//! Claims about pages in Chromium, in the emulated world: a recording loads whole, with its own bytes, by both protocols in every coding,
//! and each host by its own protocol where the recording states them.
//!
//! As root, all of it runs again as an ordinary user. Where Chromium is not installed, or this machine allows no network namespaces, the
//! test reports so and checks nothing.

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("chromium: skipped, since only Linux has network namespaces");
}

#[cfg(target_os = "linux")]
fn main() {
    // Whatever hangs, the system ends it.
    nix::unistd::alarm::set(300);
    linux::a_recording_loads_whole();
    if nix::unistd::geteuid().is_root() {
        linux::again_as_nobody();
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use bytes::Bytes;
    use lastmile_codec::content::CodecSpec;
    use lastmile_page::Page;
    use lastmile_page::chromium::{self, BrowserLoads, BrowserOptions};
    use lastmile_page::playback::{Playback, compressed_uniformly};
    use lastmile_page::testing::{response, text, traffic};
    use lastmile_testbed::http::Version;
    use lastmile_testbed::peer::PeerSpec;
    use lastmile_traffic::responses::{Body, HttpVersion, Origin, Response, Traffic};
    use lastmile_units::{ByteCount, Seed};
    use lastmile_world::emu::acquire;
    use std::fs::{self, Permissions};
    use std::num::NonZeroU64;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::Command;
    use std::rc::Rc;
    use std::time::Duration;

    /// A document with a style sheet; and on another host a script, the data that it fetches, and an image of which only the size is known.
    fn recording() -> Traffic {
        let words = |bytes| String::from_utf8(text(bytes).to_vec()).unwrap();
        let html = format!(
            "<!DOCTYPE html><link rel=icon href='data:,'><link rel=stylesheet href=/a.css>\
             <script src=https://b.example/b.js?v=1></script><img src=https://b.example/d.png><p>{}",
            words(20_000)
        );
        let css = format!("p {{ color: red }} /* {} */", words(5_000));
        let script = format!("fetch('https://b.example/c.json?id=7'); // {}", words(40_000));
        let json = format!("{{\"a\": \"{}\"}}", words(9_000));
        traffic(vec![
            recorded("https://a.example/", "text/html", Origin::Dynamic, html),
            recorded("https://a.example/a.css", "text/css", Origin::Static, css),
            recorded("https://b.example/b.js?v=1", "text/javascript", Origin::Static, script),
            recorded(
                "https://b.example/c.json?id=7",
                "application/json",
                Origin::Dynamic,
                json,
            ),
            Response {
                body: Body::SizeOnly(ByteCount::new(30_000)),
                ..recorded("https://b.example/d.png", "image/png", Origin::Static, String::new())
            },
        ])
    }

    fn recorded(url: &str, media_type: &str, origin: Origin, body: String) -> Response {
        let host = url.trim_start_matches("https://").split('/').next().unwrap();
        Response {
            url: url.to_owned(),
            host: host.to_owned(),
            ..response("/", media_type, origin, Body::Present(Bytes::from(body)))
        }
    }

    const REPEATS: u64 = 2;

    /// 5 Mbit/s, with this round trip.
    const LINK: &str = "wpt/cable";
    const ROUND_TRIP: Duration = Duration::from_millis(28);

    fn load(playback: &Rc<Playback>, protocol: Option<Version>) -> BrowserLoads {
        let link = lastmile_link::resolve(LINK).unwrap();
        let options = BrowserOptions {
            protocol,
            repeats: NonZeroU64::new(REPEATS).unwrap(),
            ..BrowserOptions::default()
        };
        chromium::load(playback, &link, &options, Seed::new(1)).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(super) fn a_recording_loads_whole() {
        match chromium::is_installed() {
            Ok(version) => println!("chromium: installed, {version}"),
            Err(missing) => {
                println!("chromium: MISSING, skipped: {missing}");
                return;
            }
        }
        if let Err(error) = acquire() {
            println!("chromium: skipped, since {error}");
            return;
        }
        let mut traffic = recording();
        for response in &mut traffic.responses {
            let is_first = response.host == "a.example";
            response.http_version = Some(if is_first {
                HttpVersion::Http11
            } else {
                HttpVersion::Http2
            });
        }
        let page = Page::from_traffic(&traffic);
        for protocol in [Some(Version::Http11), Some(Version::H2), None] {
            for codec in ["identity", "gzip:6", "br:5"] {
                if protocol.is_none() && codec != "gzip:6" {
                    continue;
                }
                let codec: CodecSpec = codec.parse().unwrap();
                let deliveries = compressed_uniformly(&page, &traffic, codec);
                let playback = Rc::new(Playback::new(&page, &traffic, &deliveries));
                let loads = load(&playback, protocol);
                let about = format!("{protocol:?}, {codec}");
                assert_eq!(loads.log.requests, [REPEATS; 5], "{about}");
                let sizes: Vec<u64> = deliveries
                    .iter()
                    .map(|delivery| REPEATS * delivery.size.get())
                    .collect();
                assert_eq!(loads.log.body_bytes, sizes, "{about}");
                assert_eq!(
                    (&*loads.log.not_recorded, loads.log.other_query),
                    (&[][..], 0),
                    "{about}"
                );
                assert!(loads.cut_short().is_empty(), "{about}: {:?}", loads.cut_short());
                is_whole(&loads, protocol, &about);
                println!("chromium: {about}: ok");
            }
        }
    }

    fn is_whole(loads: &BrowserLoads, protocol: Option<Version>, about: &str) {
        assert_eq!(
            (loads.loads.len() as u64, &loads.failed),
            (REPEATS, &Vec::new()),
            "{about}"
        );
        for load in &loads.loads {
            assert_eq!(load.not_requested, [0; 0], "{about}");
            for request in &load.requests {
                assert_eq!(
                    (request.status, &request.error),
                    (Some(200), &None),
                    "{about}: {request:?}"
                );
                let recorded = if request.url.starts_with("https://a.example") {
                    Version::Http11
                } else {
                    Version::H2
                };
                let expected = protocol.unwrap_or(recorded).protocol_name();
                let spoken = request.protocol.as_deref().map(str::as_bytes);
                assert_eq!(spoken, Some(expected), "{about}: {request:?}");
            }
            // Each host costs a round trip for TCP, one for TLS and one for a response; the data is asked for after its script.
            assert!(load.page_time >= 7 * ROUND_TRIP, "{about}: {:?}", load.page_time);
        }
    }

    /// The user that owns nothing.
    const NOBODY: u32 = 65534;

    /// Runs all of it again in a process that may nothing.
    pub(super) fn again_as_nobody() {
        // That user may not be able to get at where the program and the peer lie.
        let folder = tempfile::tempdir().unwrap();
        let (program, peer) = (folder.path().join("chromium"), folder.path().join("peers/chromium"));
        fs::create_dir_all(&peer).unwrap();
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        if let Ok(installed) = PeerSpec::named("chromium") {
            for file in ["peer.toml", "load.mjs"] {
                copy(&installed.folder().join(file), &peer.join(file));
            }
        }
        for path in [folder.path(), &folder.path().join("peers"), &peer, &program] {
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
        println!("chromium: again, as an ordinary user");
        let mut again = Command::new(&program);
        again
            .current_dir("/")
            .env("LASTMILE_PEERS", folder.path().join("peers"));
        let ended = again.uid(NOBODY).gid(NOBODY).status().unwrap();
        assert!(ended.success(), "some claims do not hold as an ordinary user");
    }

    fn copy(from: &Path, to: &Path) {
        fs::copy(from, to).unwrap();
        fs::set_permissions(to, Permissions::from_mode(0o644)).unwrap();
    }
}
