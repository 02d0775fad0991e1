//! Checks of every HTTP server of `peers/`.

use super::http::get;
use lastmile_codec::content::{self, CodecSpec};
use lastmile_testbed::peer::{Inputs, PeerSpec, Program, Server};
use lastmile_units::{ByteCount, Seed};
use lastmile_workload::WorkloadSpec;
use lastmile_workload::test_executions::{Case, TestExecutions};
use std::fs::Permissions;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MEDIA_TYPE: &str = "application/x-java-serialized-object";
/// The user that owns nothing.
pub(crate) const NOBODY: u32 = 65_534;

/// Checks a server as every user that this process can run it as, and returns these users.
pub(crate) fn keeps_to_the_contract(peer: &PeerSpec, program: &Program) -> &'static str {
    a_server_keeps_to_the_contract(peer, None);
    a_higher_level_makes_fewer_bytes(peer, program);
    a_server_outlives_nobody(peer);
    if nix::unistd::geteuid().is_root() {
        a_server_keeps_to_the_contract(peer, Some(NOBODY));
        "as root and as nobody"
    } else {
        "as an ordinary user"
    }
}

/// It starts; answers with the bytes of its files, compressed where that is accepted; uses CPU time for it; and ends on SIGTERM.
fn a_server_keeps_to_the_contract(peer: &PeerSpec, user: Option<u32>) {
    let about = format!(
        "peer {} as {}",
        peer.name,
        user.map_or("the current user", |_| "nobody")
    );
    for compression in [CodecSpec::IDENTITY, "gzip:6".parse().unwrap()] {
        let peer_testbed = PeerTestbed::new(user);
        let inputs = peer_testbed.inputs(compression);
        let server = start(peer, &inputs, user);
        let before = server.cpu_time().unwrap();
        for (path, body) in bodies() {
            answer_holds(&format!("{about}, {compression}, {path}"), &inputs, path, &body);
        }
        assert!(server.cpu_time().unwrap() > before, "{about}: answers cost CPU time");
        server.stop().unwrap_or_else(|error| panic!("{about}: {error}"));
        assert_eq!(
            processes_told_of(&peer_testbed.state),
            0,
            "{about}: a server that was stopped is gone"
        );
    }
}

/// It ends when the thread that started it ends without stopping it.
fn a_server_outlives_nobody(peer: &PeerSpec) {
    let peer_testbed = PeerTestbed::new(None);
    let inputs = peer_testbed.inputs(CodecSpec::IDENTITY);
    std::thread::scope(|threads| {
        threads.spawn(|| std::mem::forget(start(peer, &inputs, None)));
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    while processes_told_of(&peer_testbed.state) > 0 {
        assert!(
            Instant::now() < deadline,
            "peer {} outlives the thread that started it",
            peer.name
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Checks that the level has an effect, on servers that support several levels.
fn a_higher_level_makes_fewer_bytes(peer: &PeerSpec, program: &Program) {
    let [least, most] = ["gzip:1", "gzip:9"].map(|level| level.parse().unwrap());
    if !program.compresses(least) || !program.compresses(most) {
        return;
    }
    let [least, most] = [least, most].map(|compression| {
        let peer_testbed = PeerTestbed::new(None);
        let inputs = peer_testbed.inputs(compression);
        let _server = start(peer, &inputs, None);
        get(inputs.address(), "/A/1", Some("gzip")).body.len()
    });
    assert!(
        most < least,
        "peer {}: {most} B at level 9, {least} B at level 1",
        peer.name
    );
}

/// The folders of a server.
pub(crate) struct PeerTestbed {
    _folder: tempfile::TempDir,
    state: PathBuf,
    data: PathBuf,
}

impl PeerTestbed {
    /// Folders with a space in their names, writable for `user`.
    pub(crate) fn new(user: Option<u32>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (state, data) = (folder.path().join("its state"), folder.path().join("its data"));
        for folder in [folder.path(), &state, &data.join("A")] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        chown(&state, user, user).unwrap();
        for (path, body) in bodies() {
            std::fs::write(data.join(path), body).unwrap();
        }
        Self {
            _folder: folder,
            state,
            data,
        }
    }

    /// Puts a file into the data folder.
    pub(crate) fn write_data(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.data.join(name), bytes).unwrap();
    }

    fn inputs(&self, compression: CodecSpec) -> Inputs {
        self.inputs_of("get")
            .with("compression", &compression)
            .with("media_type", MEDIA_TYPE)
    }

    /// The inputs of an operation, with a free port.
    pub(crate) fn inputs_of(&self, operation: &str) -> Inputs {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        Inputs {
            port: listener.local_addr().unwrap().port(),
            ..Inputs::new(operation, &self.data, &self.state)
        }
    }
}

/// An object stream, the same as the filter gets in the study, and a body that is hardly worth compressing.
fn bodies() -> Vec<(&'static str, Vec<u8>)> {
    let stream = WorkloadSpec::TestExecutions(TestExecutions::of_case(Case::B))
        .generate(Seed::new(1))
        .unwrap();
    vec![("A/1", stream.concat()), ("small", "alike, ".repeat(10).into_bytes())]
}

fn answer_holds(about: &str, inputs: &Inputs, path: &str, body: &[u8]) {
    let path = format!("/{path}");
    let plain = get(inputs.address(), &path, None);
    let accepted = get(inputs.address(), &path, Some("gzip"));
    for answer in [&plain, &accepted] {
        assert_eq!(answer.status, 200, "{about}");
        assert_eq!(answer.fields["content-type"], MEDIA_TYPE, "{about}");
    }
    assert_eq!(plain.coding(), None, "{about}");
    assert!(plain.body == body, "{about}: a plain answer is the file");
    if inputs.options["compression"] == "identity" {
        assert_eq!(accepted.coding(), None, "{about}");
        assert!(
            accepted.body == body,
            "{about}: an answer that is not compressed is the file"
        );
    } else {
        assert_eq!(accepted.coding(), Some("gzip"), "{about}");
        let limit = ByteCount::from(body.len());
        let decoded = content::decode(content::Coding::Gzip, &accepted.body, limit);
        assert_eq!(
            decoded.as_deref(),
            Ok(body),
            "{about}: a compressed answer decodes to the file"
        );
    }
}

pub(crate) fn start(peer: &PeerSpec, inputs: &Inputs, user: Option<u32>) -> Server {
    let started = peer.start(inputs, &|command| {
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        Ok(())
    });
    started.unwrap_or_else(|error| panic!("{error}"))
}

/// The number of processes with that folder in their environment, as a server and everything that it started have.
fn processes_told_of(state: &Path) -> usize {
    let state = state.as_os_str().as_encoded_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| std::fs::read(process.path().join("environ")).ok())
        .filter(|environ| environ.windows(state.len()).any(|window| window == state))
        .count()
}
