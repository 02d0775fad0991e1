//! Tests of studies that cannot be read: exit 2, nothing on stdout, and the file, the position and the remedy on stderr.

use crate::run::LOSSY;
use crate::sandbox::Sandbox;

#[test]
fn a_study_that_is_not_there_is_named_with_the_nearest() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["run", "bulc"])
        .refused(2, &["\"bulc\"", "did you mean bulk?", "lastmile studies"]);
    sandbox
        .run(&["run", "nowhere.toml"])
        .refused(2, &["nowhere.toml", "no such file"]);
    sandbox.run(&["run", "."]).refused(2, &["."]);
    assert!(sandbox.runs().is_empty(), "no folder is made for it");
}

#[test]
fn a_file_that_is_no_study_is_refused() {
    let sandbox = Sandbox::new();
    let run = |content: &[u8]| sandbox.run(&["run", sandbox.file("mine.toml", content)]);
    run(b"").refused(2, &["mine.toml", "empty"]);
    run(b"\x7fELF\x02\x01\xff\xfe\x00").refused(2, &["mine.toml", "not text"]);
    run(b"name = 'x").refused(2, &["mine.toml", "line 1"]);
    run(b"name = 'x'").refused(2, &["mine.toml", "question"]);
    run(LOSSY.replace("[factors]", "[factors").as_bytes()).refused(2, &["mine.toml", "line "]);
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest() {
    let sandbox = Sandbox::new();
    let run = |from, to| sandbox.run(&["run", sandbox.file("mine.toml", LOSSY.replace(from, to))]);
    run("repeats = 4", "repeat = 4").refused(2, &["mine.toml", "line 4", "repeat", "did you mean `repeats`?"]);
    run("delivery =", "delivry =").refused(2, &["line 9", "delivry", "did you mean `delivery`?"]);
    run("loss=2%", "los=2%").refused(2, &["line 12", "los", "loss"]);
    run("wpt/cable+", "wpt/cabel+").refused(2, &["line 12", "\"wpt/cabel\"", "wpt/cable"]);
    run("bytes = \"50 kB\"", "bytes = \"50\"").refused(2, &["line 8", "unit"]);
}

#[test]
fn a_study_that_lacks_a_setting_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("mine.toml", "name = 'mine'\nquestion = ''\n[fixed]\ndelivery = 'tcp'");
    sandbox.run(&["run", study]).refused(2, &["link", "[fixed]"]);
    assert!(sandbox.runs().is_empty());
}

#[test]
fn a_figure_that_no_cell_measures_is_refused_before_anything_runs_with_those_that_are_measured() {
    let sandbox = Sandbox::new();
    let asking = |figures: &str| {
        let study = format!(
            "name = 'mine'\nquestion = ''\n[fixed]\ndelivery = 'tcp'\nlink = 'wpt/3g'\n\
             workload = {{ kind = 'bulk', bytes = '1 kB' }}\n[measure]\nfigures = [{figures}]"
        );
        sandbox.file("mine.toml", study);
    };
    let measured = "its cells measure link_bytes, handshake_time, first_byte_time, transfer_time, goodput, ";
    asking("'transfer_time', 'delivery_time', 'response_time'");
    for more in [[].as_slice(), &["--dry-run"]] {
        sandbox.run(&[&["run", "mine.toml"], more].concat()).refused(
            2,
            &["no cell measures \"delivery_time\" or \"response_time\"", measured],
        );
    }
    asking("'xyz'");
    sandbox
        .run(&["run", "mine.toml"])
        .refused(2, &["unknown figure", "xyz", "the figures are response_bytes, "]);
    asking("'transfer_tme'");
    sandbox
        .run(&["run", "mine.toml"])
        .refused(2, &["did you mean", "transfer_time"]);
    assert!(sandbox.runs().is_empty());
    asking("'transfer_time'");
    sandbox.data(&["run", "mine.toml"]);
}

#[test]
fn a_setting_that_cannot_be_set_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let set = |text| sandbox.run(&["run", "bulk", "--set", text]);
    set("delivry=tcp").refused(
        2,
        &["--set", "\"delivry\" is not a setting", "did you mean \"delivery\"?"],
    );
    set("delivery").refused(2, &["--set", "has no \"=\"", "window_bits=12"]);
    set("delivery=pigeon").refused(2, &["unknown delivery \"pigeon\"", "websocket"]);
    set("link=wpt/3g").refused(
        2,
        &[
            "link=wpt/3g would change nothing",
            "change link in the study's file; begin with a copy: `lastmile studies show bulk > mine.toml`",
        ],
    );
    sandbox.file("mine.toml", sandbox.data(&["studies", "show", "bulk"]));
    let own = sandbox.run(&["run", "mine.toml", "--set", "link=wpt/3g"]);
    own.refused(2, &["change link in the study's file"]);
    assert!(!own.stderr.contains("studies show"), "{}", own.stderr);
    let nowhere = sandbox.run(&["run", "permessage-deflate", "--set", "workload=nowhere.txt"]);
    nowhere.refused(
        2,
        &[
            "transcript nowhere.txt: No such file",
            "relative to the folder that lastmile is run in",
        ],
    );
    assert!(sandbox.runs().is_empty());
}

#[test]
fn a_rule_or_a_cost_table_that_is_not_understood_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let rule = |rule| sandbox.run(&["run", "bulk", "--fail-on", rule]);
    rule("p95(transfer_time)").refused(2, &["--fail-on", "neither > nor <", "p95(transfer_time)>20s"]);
    rule("p95(transfer_tim)>20s").refused(2, &["did you mean \"transfer_time\"?"]);
    rule("p95(transfer_time)>+5%").refused(2, &["lastmile compare"]);
    rule("p95(transfer_time)>20").refused(2, &["unit"]);
    sandbox
        .run(&["run", "bulk", "--cpu", "measurd"])
        .refused(2, &["measurd", "reference, measured, free"]);
    let table = sandbox.file("costs.toml", "machine = 3");
    sandbox
        .run(&["run", "bulk", "--cpu", table])
        .refused(2, &["costs.toml", "line 1"]);
    assert!(sandbox.runs().is_empty());
}

#[test]
fn what_the_emulated_world_cannot_do_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("emu.toml", LOSSY.replace("[fixed]", "[fixed]\nnagle = 'classic'"));
    sandbox
        .run(&["run", study, "--world", "emu"])
        .refused(2, &["lossy", "nagle = \"classic\"", "only in the simulated world"]);
    sandbox.data(&["run", study, "--world", "sim"]);
}
