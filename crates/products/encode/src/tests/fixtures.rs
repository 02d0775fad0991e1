//! A sample comparison of encodings for tests.

use crate::record::{EncodingComparison, EncodingDelivery, EncodingOutcome, EncodingSetting, Refusal};
use lastmile_report::record::Figure;
use lastmile_units::Seed;

pub(crate) fn encoding() -> EncodingComparison {
    let figure =
        |value: f64| Figure::of_runs("s", "message", &[vec![value, value]], &[], Seed::new(1)).expect("two samples");
    let setting = |encoding: &str, codec: &str, bytes: u64| EncodingSetting {
        encoding: encoding.to_owned(),
        codec: codec.to_owned(),
        batch: 1,
        batches: 10,
        batches_compressed: 10,
        bytes,
        bytes_per_message: bytes as f64 / 10.0,
        cpu: Some(figure(2e-6)),
    };
    EncodingComparison {
        schema: EncodingComparison::SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        source: "events.jsonl".to_owned(),
        documents: 10,
        json_bytes: 1_000,
        rate: 10.0,
        seed: 1,
        cpu_machine: Some("a machine".to_owned()),
        inferred_schema: "syntax = \"proto3\";\n\nmessage Document {\n  uint64 id = 1;\n}\n".to_owned(),
        answer: "Compress first.".to_owned(),
        settings: vec![
            setting("json", "none", 1_000),
            setting("json", "gzip:6", 800),
            setting("protobuf", "none", 400),
        ],
        refusals: vec![Refusal {
            encoding: "xml".to_owned(),
            location: "line 3".to_owned(),
            problem: "XML cannot hold the character U+0000".to_owned(),
            documents: 1,
        }],
        links: vec![EncodingDelivery {
            name: "published/dialup-56k".to_owned(),
            description: lastmile_report::testing::link_description(),
            summary: "Compress first.".to_owned(),
            rate_of_gain_per_second: Some(314.0),
            outcomes: vec![EncodingOutcome {
                encoding: "json".to_owned(),
                codec: "none".to_owned(),
                batch: 1,
                framing: "length-prefix".to_owned(),
                delivery_time: Some(figure(0.1)),
                link_bytes_per_message: 156.0,
                link_load: Some(0.25),
                batch_delay_s: 0.0,
                predicted_s: Some(0.1),
                frontier: true,
                to_use: true,
            }],
        }],
        findings: Vec::new(),
        charts: Vec::new(),
        doubts: Vec::new(),
        notes: Vec::new(),
    }
}
