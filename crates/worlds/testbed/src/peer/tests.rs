use super::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

const ECHO: &str = r#"name = "echo"
title = "a program that prints its environment"
purpose = "whether a peer gets its inputs"

[install]
programs = ["sh"]

[version]
command = ["echo", "echo version: 1.2 (ours)"]

[server]
command = ["sh", "-c", "env; echo READY; exec sleep 600"]
operations = ["get"]

[server.options]
compression = { default = "identity", values = ["identity", "gzip:6"] }
media_type = { default = "application/octet-stream" }
message_compression = { default = "identity" }
minimum_size = { default = "20", at_least = 20 }
"#;

/// A folder of peers that contains one, described by `text`.
fn folder_with(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let peer = folder.path().join("echo");
    std::fs::create_dir(&peer).unwrap();
    std::fs::write(peer.join("peer.toml"), text).unwrap();
    (folder, peer)
}

fn load(text: &str) -> Result<PeerSpec, PeerError> {
    PeerSpec::load(&folder_with(text).1)
}

fn refusal(from: &str, to: &str) -> String {
    assert!(ECHO.contains(from), "{from}");
    load(&ECHO.replace(from, to)).unwrap_err().to_string()
}

fn inputs(state: &Path) -> Inputs {
    Inputs {
        port: 8080,
        ..Inputs::new("get", state, state).with("compression", "gzip:6")
    }
}

#[test]
fn the_peers_of_this_tree_are_read_and_are_called_as_their_folders() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../peers");
    let peers = PeerSpec::all(&source).unwrap();
    assert!(peers.iter().any(|peer| peer.name == "nginx"), "{peers:?}");
}

#[test]
fn what_a_peer_must_not_say_is_refused_with_its_line_and_the_remedy() {
    let key = refusal("purpose =", "purposes =");
    assert!(
        key.contains("line 3") && key.ends_with("did you mean `purpose`?"),
        "{key}"
    );
    let nested = refusal("operations =", "operation =");
    assert!(
        nested.contains("line 13") && nested.ends_with("did you mean `operations`?"),
        "{nested}"
    );
    let codec = refusal("gzip:6", "gzip:12");
    assert!(
        codec.contains("server.options.compression") && codec.contains("gzip:12"),
        "{codec}"
    );
    let name = refusal("\"echo\"", "\"ekko\"");
    assert!(name.contains("must be that of its folder"), "{name}");
    let empty = refusal("[\"echo\", \"echo version: 1.2 (ours)\"]", "[]");
    assert!(empty.contains("version.command is empty"), "{empty}");
    let neither = load(&ECHO[..ECHO.find("[server]").unwrap()]).unwrap_err().to_string();
    assert!(neither.contains("neither a [server] nor a [client]"), "{neither}");
}

#[test]
fn a_version_is_what_the_program_says_it_is() {
    let (_folder, peer) = folder_with(ECHO);
    let version = PeerSpec::load(&peer).unwrap().is_installed().unwrap();
    assert_eq!(version, "1.2 (ours)");
}

#[test]
fn what_is_missing_is_named_with_what_brings_it() {
    let debian = "[install]\ndebian = [\"no-such-package\"]";
    let program = load(
        &ECHO
            .replace("[\"sh\"]", "[\"no-such-program\"]")
            .replace("[install]", debian),
    );
    assert_eq!(
        program.unwrap().is_installed().unwrap_err().to_string(),
        "peer echo is not installed: there is no program no-such-program; `make peers` installs it (by hand, as root: apt-get \
         install no-such-package)"
    );
    let file = load(&ECHO.replace("[install]", "[install]\ndebian = [\"gcc\"]\nfiles = [\"target/it\"]"))
        .unwrap()
        .is_installed()
        .unwrap_err()
        .to_string();
    let expected = "peer echo is not installed: target/it has not been built; `make peers` installs it (by hand, as root: apt-get \
                    install gcc; then /";
    assert!(file.starts_with(expected) && file.ends_with("/echo/build)"), "{file}");
}

#[test]
fn a_server_is_told_what_the_contract_says_and_nothing_else() {
    let state = tempfile::tempdir().unwrap();
    let (_folder, peer) = folder_with(ECHO);
    let server = PeerSpec::load(&peer)
        .unwrap()
        .start(&inputs(state.path()), &|command| {
            command.env("ADDED", "yes");
            Ok(())
        })
        .unwrap();
    server.stop().unwrap();
    let state_text = std::fs::read_to_string(state.path().join("stdout.log")).unwrap();
    let mut names: Vec<_> = state_text
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    // A shell adds these itself.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    let expected = "ADDED HOME LASTMILE_COMPRESSION LASTMILE_DATA LASTMILE_HOST LASTMILE_MEDIA_TYPE \
                    LASTMILE_MESSAGE_COMPRESSION LASTMILE_MINIMUM_SIZE LASTMILE_OPERATION LASTMILE_PORT LASTMILE_STATE LC_ALL PATH TMPDIR";
    assert_eq!(names.join(" "), expected);
    for line in [
        "LASTMILE_COMPRESSION=gzip:6",
        "LASTMILE_PORT=8080",
        "LASTMILE_MINIMUM_SIZE=20",
    ] {
        assert!(
            state_text.lines().any(|state_text| state_text == line),
            "{line} in {state_text}"
        );
    }
}

#[test]
fn what_a_peer_does_not_do_is_not_asked_of_it() {
    let state = tempfile::tempdir().unwrap();
    let (_folder, peer) = folder_with(ECHO);
    let peer = PeerSpec::load(&peer).unwrap();
    let refusal = |inputs: &Inputs| peer.start(inputs, &|_| Ok(())).unwrap_err().to_string();
    let asked = inputs(state.path());
    assert_eq!(
        refusal(&Inputs {
            operation: "put".to_owned(),
            ..asked.clone()
        }),
        "peer echo: it does not support operation \"put\", only get"
    );
    assert_eq!(
        refusal(&asked.clone().with("compression", "gzip:9")),
        "peer echo: it does not support compression gzip:9, only identity, gzip:6"
    );
    assert_eq!(
        refusal(&asked.clone().with("minimum_size", &0)),
        "peer echo: it does not support minimum_size 0, only 20 and above"
    );
    assert_eq!(
        refusal(&asked.with("minimum_sise", &20)),
        "peer echo: it has no option \"minimum_sise\"; did you mean \"minimum_size\"?"
    );
}

#[test]
fn a_server_that_ends_before_it_is_ready_is_quoted() {
    let state = tempfile::tempdir().unwrap();
    let failing = "echo it is not to be >&2; exit 3";
    let (_folder, peer) = folder_with(&ECHO.replace("env; echo READY; exec sleep 600", failing));
    let error = PeerSpec::load(&peer)
        .unwrap()
        .start(&inputs(state.path()), &|_| Ok(()))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "peer echo ended before it was ready, with exit status: 3; its standard error: it is not to be"
    );
}

#[test]
fn a_server_that_is_dropped_is_gone_with_what_it_started() {
    let state = tempfile::tempdir().unwrap();
    let leaving = "sleep 600 & other=$!; trap 'kill $other; exit' TERM; echo READY; wait";
    let (_folder, peer) = folder_with(&ECHO.replace("env; echo READY; exec sleep 600", leaving));
    let server = PeerSpec::load(&peer)
        .unwrap()
        .start(&inputs(state.path()), &|_| Ok(()))
        .unwrap();
    let group = nix::unistd::Pid::from_raw(server.id().cast_signed());
    assert_eq!(process_tree::living_in_group(group).unwrap().len(), 2);
    drop(server);
    assert_eq!(process_tree::living_in_group(group).unwrap(), []);
}

#[test]
fn a_server_is_told_to_end_when_whoever_started_it_is_gone() {
    let state = tempfile::tempdir().unwrap();
    let asked = inputs(state.path());
    let telling = "trap 'touch $LASTMILE_STATE/told; exit' TERM; echo READY; while :; do sleep 0.01; done";
    let (_folder, peer) = folder_with(&ECHO.replace("env; echo READY; exec sleep 600", telling));
    let peer = PeerSpec::load(&peer).unwrap();
    let started = std::thread::spawn(move || peer.start(&asked, &|_| Ok(())).unwrap());
    let server = started.join().unwrap();
    while !state.path().join("told").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    server.stop().unwrap();
}

/// A client that runs `script` in a shell.
fn client(script: &str) -> Result<Vec<serde_json::Value>, PeerError> {
    let state = tempfile::tempdir().unwrap();
    let text = ECHO
        .replace("[server", "[client")
        .replace("env; echo READY; exec sleep 600", script);
    let (_folder, peer) = folder_with(&text);
    let peer = PeerSpec::load(&peer).unwrap();
    peer.run_within(Duration::from_secs(600), &inputs(state.path()), &|_| Ok(()))
}

#[test]
fn what_a_client_tells_is_given_line_by_line_and_counts_when_it_says_end() {
    let state_text = client("echo '{}'; echo '{\\\"event\\\": \\\"end\\\"}'").unwrap();
    assert_eq!(state_text, [serde_json::json!({}), serde_json::json!({"event": "end"})]);
    let refusal = |script| client(script).unwrap_err().to_string();
    assert_eq!(
        refusal("echo '{}'"),
        "peer echo ended without the event \"end\"; its standard error: nothing"
    );
    assert_eq!(
        refusal("echo too bad >&2; exit 4"),
        "peer echo ended with exit status: 4; its standard error: too bad"
    );
    assert!(refusal("echo READY").contains("printed a line that is not JSON"));
}

#[test]
fn a_client_that_reads_commands_is_told_and_heard_one_by_one() {
    let state = tempfile::tempdir().unwrap();
    let script = r#"printf '{\"event\": \"ready\"}\\n'; while read -r told; do printf '{\"event\": \"note\"}\\n{\"event\": \"%s\"}\\n' $told; done"#;
    let text = ECHO
        .replace("[server", "[client")
        .replace("env; echo READY; exec sleep 600", script);
    let (_folder, peer) = folder_with(&text);
    let peer = PeerSpec::load(&peer).unwrap();
    let mut talk = peer.converse(&inputs(state.path()), &|_| Ok(())).unwrap();
    let soon = std::time::Duration::from_secs(20);
    assert_eq!(talk.await_event("ready", soon).unwrap()["event"], "ready");
    for command in ["one", "two"] {
        talk.tell(command).unwrap();
        assert_eq!(talk.await_event(command, soon).unwrap()["event"], command);
    }
    let error = talk
        .await_event("three", std::time::Duration::from_millis(50))
        .unwrap_err();
    assert!(error.to_string().contains("did not tell \"three\""), "{error}");
}
