//! Real servers with the configuration that their distribution installs. Changed are the paths, the address, the user, and what a test adds to the site.

use crate::sandbox::Sandbox;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that accepts connections until it is dropped.
pub(crate) struct Running {
    child: Child,
    address: Address,
}

#[derive(Clone)]
enum Address {
    Socket(PathBuf),
    /// A port of the loopback interface, and the file that names the server's process once it listens there: another process may have taken the port.
    Port(u16, PathBuf),
}

/// What a server serves: a folder of files, and what a program behind it makes at `/page`.
pub(crate) struct ServedPage {
    /// Where everything is that belongs to the test.
    pub(crate) sandbox: Sandbox,
    pub(crate) page: String,
}

impl ServedPage {
    pub(crate) fn new(page: String) -> Self {
        Self {
            sandbox: Sandbox::new(),
            page,
        }
    }

    pub(crate) fn files(&self) -> PathBuf {
        self.sandbox.path().join("www/html")
    }

    /// Starts the program behind the server, which ends with the test.
    pub(crate) fn start_program(&self) {
        let listener = UnixListener::bind(self.program()).unwrap();
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
            self.page.len(),
            self.page
        );
        std::thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let mut head = Vec::new();
                let mut more = [0; 4096];
                while !head.ends_with(b"\r\n\r\n") {
                    match connection.read(&mut more) {
                        Ok(length @ 1..) => head.extend(&more[..length]),
                        _ => break,
                    }
                }
                // A server may have left.
                let _ = connection.write_all(answer.as_bytes());
            }
        });
    }

    fn program(&self) -> PathBuf {
        self.sandbox.path().join("program.sock")
    }

    /// nginx as Debian configures it, with a block in its default server; or what it says in refusing that. `modules` is whether it loads those that are
    /// installed beside it.
    pub(crate) fn nginx(&self, block: &str, modules: bool) -> Result<Running, String> {
        let folder = self.sandbox.path().display().to_string();
        let socket = self.sandbox.path().join("nginx.sock");
        let temporary: String = ["client_body", "proxy", "fastcgi", "scgi", "uwsgi"]
            .iter()
            .map(|kind| format!("{kind}_temp_path {folder}/{kind};\n"))
            .collect();
        let user = if is_root() { "user root root;" } else { "" };
        let mut main = replaced(
            "/etc/nginx/nginx.conf",
            &[
                ("user www-data;", user),
                ("/run/nginx.pid", &format!("{folder}/nginx.pid")),
                ("/var/log/nginx", &folder),
                (
                    "include /etc/nginx/sites-enabled/*;",
                    &format!("include {folder}/site;"),
                ),
                ("http {", &format!("http {{\n{temporary}")),
            ],
        );
        if !modules {
            main = main.replace("include /etc/nginx/modules-enabled/*.conf;", "");
        }
        let program = self.program().display().to_string();
        let served_page = replaced(
            "/etc/nginx/sites-available/default",
            &[
                (
                    "listen 80 default_server;",
                    &format!("listen unix:{};", socket.display()),
                ),
                ("listen [::]:80 default_server;", ""),
                ("/var/www/html", &format!("{folder}/www/html")),
                (
                    "server_name _;",
                    &format!("server_name _;\nlocation /page {{ proxy_pass http://unix:{program}; }}\n{block}"),
                ),
            ],
        );
        self.sandbox.file("site", served_page);
        self.sandbox.file("nginx.conf", main);
        let mut command = program_named("nginx").expect("the caller looked for it");
        command
            .args(["-e", "stderr", "-g", "daemon off;", "-c"])
            .arg(self.sandbox.path().join("nginx.conf"));
        // A server that was killed leaves its socket.
        let _ = std::fs::remove_file(&socket);
        start(command, Address::Socket(socket))
    }

    /// Apache as Debian configures it, with a block in its default virtual host, after the commands that the block names.
    pub(crate) fn apache(&self, block: &str) -> Result<Running, String> {
        let path = |name: &str| self.sandbox.path().join(name).display().to_string();
        let run = |command: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(self.sandbox.path());
            shell.env("PATH", SEARCHED).env("APACHE_CONFDIR", path("apache2"));
            shell.env("APACHE_STATE_DIRECTORY", path("apache2-state"));
            let output = shell.output().unwrap();
            assert!(output.status.success(), "{command}: {output:?}");
        };
        run("rm -rf apache2 && cp -a /etc/apache2 apache2 && a2enmod --quiet proxy proxy_http");
        for command in commands(block).filter(|command| command.starts_with("a2enmod ")) {
            run(command);
        }
        // Another process may take a port that was free.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let write = |name: &str, changes: &[(&str, &str)]| {
                self.sandbox.file(
                    &format!("apache2/{name}"),
                    replaced(&format!("/etc/apache2/{name}"), changes),
                );
            };
            write("apache2.conf", &[("/var/www", &path("www"))]);
            write("ports.conf", &[("Listen 80", &format!("Listen 127.0.0.1:{port}"))]);
            let page = format!("ProxyPass /page unix:{}|http://localhost/page", path("program.sock"));
            write(
                "sites-available/000-default.conf",
                &[
                    ("*:80>", &format!("*:{port}>")),
                    ("/var/www", &path("www")),
                    ("</VirtualHost>", &format!("{page}\n{block}\n</VirtualHost>")),
                ],
            );
            let mut command = as_nobody("apache2");
            command.args([
                "-DFOREGROUND",
                "-d",
                &path("apache2"),
                "-f",
                "apache2.conf",
                "-C",
                "ServerName localhost",
                "-E",
            ]);
            command.arg("/dev/stderr");
            for name in ["APACHE_RUN_DIR", "APACHE_LOCK_DIR", "APACHE_LOG_DIR"] {
                command.env(name, self.sandbox.path());
            }
            command.env("APACHE_PID_FILE", path("apache2.pid"));
            command
                .env("APACHE_RUN_USER", "www-data")
                .env("APACHE_RUN_GROUP", "www-data");
            match start(command, Address::Port(port, self.sandbox.path().join("apache2.pid"))) {
                Err(said) if said.contains("Address already in use") => {}
                ended => return ended,
            }
        }
        Err("every port was taken".to_owned())
    }

    /// Caddy with the Caddyfile that its packages install, with a block in its site, which may take the place of the file server that is there.
    pub(crate) fn caddy(&self, block: &str) -> Result<Running, String> {
        let socket = self.sandbox.path().join("caddy.sock");
        let file_server = if block.contains("file_server") {
            ""
        } else {
            "file_server"
        };
        let caddyfile = CADDYFILE
            .replace(":80 {", &format!("http:// {{\nbind unix/{}", socket.display()))
            .replace("/usr/share/caddy", &self.files().display().to_string())
            .replace("\tfile_server", &format!("{file_server}\n{block}"))
            .replace(
                "# reverse_proxy localhost:8080",
                &format!("reverse_proxy /page unix/{}", self.program().display()),
            );
        self.sandbox.file(
            "Caddyfile",
            format!("{{\nadmin off\npersist_config off\n}}\n{caddyfile}"),
        );
        let mut command = program_named("caddy").expect("the caller looked for it");
        command
            .args(["run", "--adapter", "caddyfile", "--config"])
            .arg(self.sandbox.path().join("Caddyfile"));
        for name in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, self.sandbox.path());
        }
        let _ = std::fs::remove_file(&socket);
        start(command, Address::Socket(socket))
    }
}

/// <https://github.com/caddyserver/dist/blob/master/config/Caddyfile>, without its introduction.
const CADDYFILE: &str = "\
:80 {
\t# Set this path to your site's directory.
\troot * /usr/share/caddy

\t# Enable the static file server.
\tfile_server

\t# Another common task is to set up a reverse proxy:
\t# reverse_proxy localhost:8080

\t# Or serve a PHP site through php-fpm:
\t# php_fastcgi localhost:9000
}
";

/// Where servers and what belongs to them are.
const SEARCHED: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The commands in the comments of a block, one a line.
pub(crate) fn commands(block: &str) -> impl Iterator<Item = &str> {
    block.lines().filter_map(|line| line.strip_prefix("#   "))
}

/// Whether all of these programs are there; those that are not are named.
pub(crate) fn are_installed(programs: &[&str]) -> bool {
    let missing: Vec<&str> = programs
        .iter()
        .copied()
        .filter(|name| program_named(name).is_none())
        .collect();
    if !missing.is_empty() {
        eprintln!(
            "skipped: {} is not installed (make peers installs it)",
            missing.join(", ")
        );
    }
    missing.is_empty()
}

fn program_named(name: &str) -> Option<Command> {
    let found = SEARCHED
        .split(':')
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file())?;
    Some(Command::new(found))
}

/// The program as nobody in a user namespace of its own, if this is root and there can be one: Apache refuses to serve as root, and www-data may enter no
/// folder of a test.
fn as_nobody(name: &str) -> Command {
    let nobody = || {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-user=65534", "--map-group=65534"]);
        unshare
    };
    if is_root() && nobody().arg("true").status().is_ok_and(|status| status.success()) {
        let mut command = nobody();
        command.arg(name).env("PATH", SEARCHED);
        return command;
    }
    program_named(name).expect("the caller looked for it")
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A file of a distribution, with these changes, each of which must be possible.
fn replaced(path: &str, changes: &[(&str, &str)]) -> String {
    let mut text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    for (from, to) in changes {
        assert!(
            text.contains(from),
            "{path} is not as Debian installs it: {from:?} is not in it"
        );
        text = text.replace(from, to);
    }
    text
}

/// Starts a server, and waits until it accepts connections; if it ends, what it said.
fn start(mut command: Command, address: Address) -> Result<Running, String> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut running = Running { child, address };
    loop {
        let accepts = match &running.address {
            Address::Socket(path) => UnixStream::connect(path).is_ok(),
            Address::Port(_, process) => {
                std::fs::read_to_string(process).is_ok_and(|id| id.trim() == running.child.id().to_string())
            }
        };
        if let Some(status) = running.child.try_wait().unwrap() {
            let mut said = String::new();
            running.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            return Err(format!("{status}: {said}"));
        }
        if accepts {
            return Ok(running);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Running {
    /// The arguments of curl that ask it for a path.
    pub(crate) fn asked_for(&self, path: &str) -> Vec<String> {
        match &self.address {
            Address::Socket(socket) => vec![
                "--unix-socket".to_owned(),
                socket.display().to_string(),
                format!("http://localhost{path}"),
            ],
            Address::Port(port, _) => vec![format!("http://127.0.0.1:{port}{path}")],
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // By SIGTERM, as its workers end with it.
            let _ = Command::new("kill").arg(self.child.id().to_string()).status();
            let _ = self.child.wait();
        }
    }
}
