//! Checks that a JDK reads the object streams that we write, and writes the same.
//!
//! Its classes declare no `serialVersionUID`, so that it computes those that our streams must state.

use lastmile_testbed::peer::{Inputs, PeerSpec};
use lastmile_units::Seed;
use lastmile_wire_formats::java::{ObjectStreamReader, ObjectStreamWriter};
use lastmile_workload::WorkloadSpec;
use lastmile_workload::test_executions::{Case, TestExecutions};
use lastmile_workload::tm_packets::TmPackets;
use std::time::Duration;

/// The cases of the report of 2005 whose objects differ; case I is case H over other links.
fn cases() -> Vec<(&'static str, WorkloadSpec)> {
    let executions = |case| WorkloadSpec::TestExecutions(TestExecutions::of_case(case));
    vec![
        ("A", executions(Case::A)),
        ("B", executions(Case::B)),
        ("C", executions(Case::C)),
        ("D", executions(Case::D)),
        ("E", executions(Case::E)),
        ("F", executions(Case::F)),
        ("G", executions(Case::G)),
        ("H", WorkloadSpec::TmPackets(TmPackets::of_report())),
    ]
}

/// The JDK's bytes equal ours, and we rewrite its streams byte for byte.
pub(crate) fn streams_are_the_same_both_ways(jdk: &PeerSpec) {
    let (data, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut written = Vec::new();
    for (name, case) in cases() {
        let stream = case.generate(Seed::new(1)).unwrap();
        std::fs::write(data.path().join(name), stream.concat()).unwrap();
        written.push((name, stream));
    }
    let output = jdk
        .run_within(
            Duration::from_secs(600),
            &Inputs::new("rewrite", data.path(), state.path()),
            &|_| Ok(()),
        )
        .unwrap_or_else(|error| panic!("{error}"));
    for (name, stream) in written {
        let about = output.iter().find(|line| line["stream"] == name);
        let objects = about.and_then(|line| line["objects"].as_u64());
        assert_eq!(objects, Some(stream.objects.len() as u64), "case {name}");
        let by_jdk = std::fs::read(state.path().join(name)).unwrap();
        assert!(
            by_jdk == stream.concat(),
            "case {name}: the JDK rewrites our stream byte for byte"
        );
        assert!(
            written_again(&by_jdk) == by_jdk,
            "case {name}: we rewrite the JDK's stream byte for byte"
        );
    }
}

fn written_again(stream: &[u8]) -> Vec<u8> {
    let mut reader = ObjectStreamReader::new();
    let mut writer = ObjectStreamWriter::new();
    let mut written = Vec::new();
    reader.feed(stream);
    while let Some(value) = reader.next_value().unwrap() {
        written.extend(writer.write(&value).unwrap());
    }
    reader.finish().unwrap();
    written
}
