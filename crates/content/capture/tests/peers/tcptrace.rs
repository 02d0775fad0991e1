//! Runs tcptrace on a capture, and reads its long output as comma-separated values.

use lastmile_capture::SentStatistics;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// One direction of a connection, in figures that both programs have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Direction {
    packets: u64,
    payload: u64,
    payload_once: u64,
    retransmissions: u64,
    out_of_order: u64,
}

impl Direction {
    pub(crate) fn of(sent: &SentStatistics) -> Self {
        Self {
            packets: sent.packets,
            payload: sent.payload.get(),
            payload_once: sent.payload_once.get(),
            retransmissions: sent.retransmissions,
            out_of_order: sent.out_of_order,
        }
    }
}

/// Every connection, client's direction first.
pub(crate) fn connections(path: &Path) -> Vec<[Direction; 2]> {
    let output = Command::new("tcptrace")
        .args(["-n", "-l", "--csv"])
        .arg(path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut rows = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let row = |line: &str| line.split(',').map(|field| field.trim().to_owned()).collect::<Vec<_>>();
    let heads = row(rows.next().expect("tcptrace prints its heads"));
    let connection = |line| {
        let figures: BTreeMap<String, String> = heads.iter().cloned().zip(row(line)).collect();
        ["a2b", "b2a"].map(|way| {
            let figure = |name: &str| -> u64 {
                let name = format!("{name}_{way}");
                figures
                    .get(&name)
                    .unwrap_or_else(|| panic!("{name} in {heads:?}"))
                    .parse()
                    .unwrap()
            };
            Direction {
                packets: figure("total_packets"),
                payload: figure("actual_data_bytes"),
                payload_once: figure("unique_bytes_sent"),
                retransmissions: figure("rexmt_data_pkts"),
                out_of_order: figure("outoforder_pkts"),
            }
        })
    };
    rows.map(connection).collect()
}
