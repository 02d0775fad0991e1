//! Checks every peer that makes and takes calls: its server receives what its client sends.

use lastmile_testbed::peer::{Inputs, PeerSpec, Program};
use lastmile_units::Seed;
use lastmile_workload::{bibliography, call_values, prose, ticks};
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

/// In every operation and compression, the digests of both ends are equal, and every call is reported.
pub(crate) fn arrive_as_they_were_sent(peer: &PeerSpec, server: &Program) -> String {
    let data = tempfile::tempdir().unwrap();
    let entries = bibliography::entries(bibliography::ENTRIES, Seed::new(1));
    let files = call_values::files(&prose::lines(), &entries, &ticks::ticks(100, Seed::new(1))).unwrap();
    for (name, content) in files {
        std::fs::write(data.path().join(name), content).unwrap();
    }
    let compressions = server.options["message_compression"]
        .values
        .as_deref()
        .unwrap_or_default();
    for compression in compressions {
        for operation in &server.operations {
            let about = format!("{} {operation} {compression}", peer.name);
            let (at_server, at_client) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            let inputs = |state: &tempfile::TempDir| Inputs {
                port,
                ..Inputs::new(operation, data.path(), state.path()).with("message_compression", compression)
            };
            let failed = |error: &dyn std::fmt::Display| -> ! { panic!("{about}: {error}") };
            let running = peer
                .start(&inputs(&at_server), &|_| Ok(()))
                .unwrap_or_else(|error| failed(&error));
            let result = peer
                .run_within(
                    Duration::from_secs(600),
                    &inputs(&at_client).with("calls", "3"),
                    &|_| Ok(()),
                )
                .unwrap_or_else(|error| failed(&error));
            running.stop().unwrap_or_else(|error| failed(&error));
            let output = std::fs::read_to_string(at_server.path().join("stdout.log")).unwrap();
            let received: serde_json::Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
            let sent = result.last().unwrap();
            assert_eq!(
                (&sent["calls"], &sent["digest"]),
                (&received["calls"], &received["digest"]),
                "{about}"
            );
            let calls = result.iter().filter(|event| event["event"] == "call").count();
            let wanted = if matches!(operation.as_str(), "ticks" | "batch") {
                1
            } else {
                3
            };
            assert_eq!(calls, wanted, "{about}");
        }
    }
    format!(
        "receives the calls that were sent: {} ({})",
        server.operations.join(", "),
        compressions.join(", ")
    )
}
