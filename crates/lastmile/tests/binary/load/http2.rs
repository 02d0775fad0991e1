//! HTTP/2 against a real nginx, whose own log says how many requests it served.

use crate::sandbox::{Sandbox, parsed};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// An nginx that speaks HTTP/2 over clear text and over TLS, and ends with this value.
struct Nginx {
    process: Child,
    folder: tempfile::TempDir,
    clear: u16,
    secure: u16,
}

impl Nginx {
    /// None where there is no nginx, or no openssl that makes a certificate.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        make_certificate(root)?;
        let [clear, secure] = [(); 2].map(|()| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        });
        let user = if nix_is_root() { "user root;" } else { "" };
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|name| format!("{name}_temp_path {}/{name};\n", root.display()))
            .collect();
        let configuration = format!(
            "{user}\ndaemon off;\nworker_processes 1;\npid {root}/pid;\nerror_log {root}/error.log;\nevents {{}}\n\
             http {{\naccess_log {root}/access.log;\n{temporary}keepalive_requests 100;\n\
             server {{ listen 127.0.0.1:{clear} http2; root {root}; }}\n\
             server {{ listen 127.0.0.1:{secure} ssl http2; root {root}; ssl_certificate {root}/own.pem; \
             ssl_certificate_key {root}/key.pem; }}\n}}\n",
            root = root.display(),
        );
        fs::write(root.join("nginx.conf"), configuration).unwrap();
        fs::write(root.join("1k.html"), "x".repeat(1024)).unwrap();
        let process = Command::new("nginx")
            .arg("-p")
            .arg(root)
            .args(["-c", "nginx.conf"])
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let nginx = Self {
            process,
            folder,
            clear,
            secure,
        };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", secure)).is_ok() {
                return Some(nginx);
            }
            thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// The requests that it served, by its log, which it writes after each response.
    fn served(&self, expected: usize) -> usize {
        let count = || {
            let log = fs::read_to_string(self.folder.path().join("access.log")).unwrap();
            log.lines().filter(|line| line.contains("HTTP/2.0\" 200")).count()
        };
        for _ in 0..100 {
            if count() >= expected {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        count()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its master ends its worker on SIGTERM, and not on SIGKILL.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

fn nix_is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

fn make_certificate(folder: &Path) -> Option<()> {
    let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out own.pem -days 2 -subj /CN=localhost \
                 -addext subjectAltName=DNS:localhost";
    let made = Command::new("openssl")
        .args(words.split_whitespace())
        .current_dir(folder)
        .stderr(Stdio::null())
        .status();
    made.ok()?.success().then_some(())
}

#[test]
fn nginx_has_served_every_request_over_clear_text_and_over_tls() {
    let Some(nginx) = Nginx::start() else {
        eprintln!("skipped: nginx or openssl is not installed");
        return;
    };
    let sandbox = Sandbox::new();
    let certificate = nginx.folder.path().join("own.pem");
    let clear = format!("http://127.0.0.1:{}/1k.html", nginx.clear);
    let secure = format!("https://localhost:{}/1k.html", nginx.secure);
    let mut served = 0;
    for (url, demand) in [
        (&clear, ["--rate", "500"].as_slice()),
        (&secure, &["--rate", "500"]),
        (&clear, &["--closed", "6", "--streams", "3", "--think-time", "5ms"]),
        (&secure, &["--closed", "6", "--think-time", "5ms"]),
    ] {
        let mut words = vec!["load", url, "--http2", "--duration", "1s", "--format", "json", "--ca"];
        words.push(certificate.to_str().unwrap());
        words.extend(demand);
        // A busy machine may make the sender late, and the run invalid; the requests are counted nevertheless.
        let record = parsed(&sandbox.run(&words).stdout);
        let run = &record["runs"][0];
        assert_eq!(record["plan"]["http_version"], "HTTP/2");
        let completed = run["completed"].as_u64().unwrap();
        assert!(completed >= 300, "{run}");
        assert_eq!(
            (&run["failed"], run["intended"].as_u64()),
            (&0.into(), Some(completed)),
            "{run}"
        );
        served += completed as usize;
        assert_eq!(nginx.served(served), served);
        let connections = run["connections"].as_u64().unwrap();
        // nginx ends a connection by GOAWAY after a hundred requests.
        assert!((completed / 100..=completed / 100 + 12).contains(&connections), "{run}");
        for times in ["response", "service", "first_byte", "transfer", "lateness"] {
            assert_eq!(run["times"][times]["n"].as_u64(), Some(completed), "{times}");
        }
        for times in ["connect", "connection_duration", "round_trip"] {
            assert_eq!(run["times"][times]["n"].as_u64(), Some(connections), "{times}");
        }
        let secured = (url == &secure).then_some(connections);
        assert_eq!(run["times"]["tls"]["n"].as_u64(), secured);
    }
}

#[test]
fn why_a_handshake_failed_stands_in_every_format() {
    let Some(nginx) = Nginx::start() else {
        eprintln!("skipped: nginx or openssl is not installed");
        return;
    };
    let sandbox = Sandbox::new();
    let certificate = nginx.folder.path().join("own.pem");
    let by_address = format!("https://127.0.0.1:{}/1k.html", nginx.secure);
    let mut words = vec!["load", &by_address, "--rate", "20", "--duration", "500ms", "--ca"];
    words.push(certificate.to_str().unwrap());
    words.extend(["--report", "load.html", "--format", "json"]);
    let record = parsed(&sandbox.run(&words).stdout);
    let reason = "the certificate is for another name";
    assert_eq!(record["runs"][0]["error_reasons"]["tls"][reason], 10, "{record}");
    assert!(sandbox.read("load.html").contains(reason));
    *words.last_mut().unwrap() = "md";
    assert!(sandbox.run(&words).stdout.contains(reason));
    let by_name = format!("https://localhost:{}/1k.html", nginx.secure);
    let unknown = sandbox.run(&["load", &by_name, "--rate", "20", "--duration", "500ms"]);
    assert_eq!(unknown.code, Some(4), "{}", unknown.stdout);
    assert!(
        unknown.stdout.contains("\nFAILED: every request failed: tls ("),
        "{}",
        unknown.stdout
    );
    assert!(
        unknown.stdout.contains("--ca FILE") && unknown.stdout.contains("--insecure"),
        "{}",
        unknown.stdout
    );
}
