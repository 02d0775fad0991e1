//! Measures how fast Ice and CDR are written and read, beside MessagePack (rmp-serde) and Protocol Buffers (prost), on one core.
//!
//! All do the same work, a bibliography of 1,000 entries, in turns, so that a disturbance does not fall on only one of them. MB/s are bytes of
//! the own encoding; entries a second compare formats of different sizes. Each prints a line for people, then one for machines.

use lastmile_bench::spread::Spread;
use lastmile_units::Seed;
use lastmile_wire_formats::{cdr, ice};
use lastmile_workload::bibliography::{self, Entry};
use prost::Message as _;
use std::hint::black_box;
use std::time::Instant;

/// How often each runs; odd, so that there is a median.
const RUNS: usize = 9;

/// How many entries, and how often they are written or read in one run.
const ENTRIES: usize = 1_000;
const REPEATS: usize = 50;

#[derive(Clone, PartialEq, prost::Message)]
struct ProtoBibliography {
    #[prost(message, repeated, tag = "1")]
    entries: Vec<ProtoEntry>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ProtoEntry {
    #[prost(message, repeated, tag = "1")]
    authors: Vec<ProtoName>,
    #[prost(string, tag = "2")]
    title: String,
    #[prost(string, tag = "3")]
    journal: String,
    #[prost(int32, tag = "4")]
    year: i32,
    #[prost(string, tag = "5")]
    publisher: String,
    #[prost(string, tag = "6")]
    location: String,
    #[prost(string, tag = "7")]
    edition: String,
    #[prost(string, tag = "8")]
    hyperlink: String,
    #[prost(int32, tag = "9")]
    volume: i32,
    #[prost(int32, tag = "10")]
    issue: i32,
    #[prost(message, optional, tag = "11")]
    pages: Option<ProtoPages>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ProtoName {
    #[prost(string, tag = "1")]
    lastname: String,
    #[prost(string, tag = "2")]
    initials: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ProtoPages {
    #[prost(int32, tag = "1")]
    start: i32,
    #[prost(int32, tag = "2")]
    end: i32,
}

impl From<&Entry> for ProtoEntry {
    fn from(entry: &Entry) -> Self {
        let name = |name: &bibliography::Name| ProtoName {
            lastname: name.lastname.clone(),
            initials: name.initials.clone(),
        };
        Self {
            authors: entry.authors.iter().map(name).collect(),
            title: entry.title.clone(),
            journal: entry.journal.clone(),
            year: entry.year.into(),
            publisher: entry.publisher.clone(),
            location: entry.location.clone(),
            edition: entry.edition.clone(),
            hyperlink: entry.hyperlink.clone(),
            volume: entry.volume.into(),
            issue: entry.issue.into(),
            pages: Some(ProtoPages {
                start: entry.pages.start.into(),
                end: entry.pages.end.into(),
            }),
        }
    }
}

/// A format: how it writes and reads, and the size that it writes.
struct Subject {
    name: &'static str,
    bytes: usize,
    write: Box<dyn Fn()>,
    read: Box<dyn Fn()>,
}

fn subject(name: &'static str, bytes: &[u8], write: impl Fn() + 'static, read: impl Fn() + 'static) -> Subject {
    Subject {
        name,
        bytes: bytes.len(),
        write: Box::new(write),
        read: Box::new(read),
    }
}

fn subjects() -> Vec<Subject> {
    let entries: &'static [Entry] = bibliography::entries(ENTRIES, Seed::new(1)).leak();
    let proto: &'static ProtoBibliography = Box::leak(Box::new(ProtoBibliography {
        entries: entries.iter().map(ProtoEntry::from).collect(),
    }));
    let ice_bytes: &'static [u8] = ice::to_vec(entries).expect("Ice holds entries").leak();
    let cdr_bytes: &'static [u8] = cdr::to_vec(entries).expect("CDR holds entries").leak();
    let msgpack_bytes: &'static [u8] = rmp_serde::to_vec(entries).expect("MessagePack holds entries").leak();
    let proto_bytes: &'static [u8] = proto.encode_to_vec().leak();
    assert_eq!(
        ice::from_slice::<Vec<Entry>>(ice_bytes).expect("it was written"),
        entries
    );
    assert_eq!(
        cdr::from_slice::<Vec<Entry>>(cdr_bytes).expect("it was written"),
        entries
    );
    vec![
        subject(
            "ice",
            ice_bytes,
            move || drop(black_box(ice::to_vec(black_box(entries)))),
            move || drop(black_box(ice::from_slice::<Vec<Entry>>(black_box(ice_bytes)))),
        ),
        subject(
            "cdr",
            cdr_bytes,
            move || drop(black_box(cdr::to_vec(black_box(entries)))),
            move || drop(black_box(cdr::from_slice::<Vec<Entry>>(black_box(cdr_bytes)))),
        ),
        subject(
            "rmp-serde",
            msgpack_bytes,
            move || drop(black_box(rmp_serde::to_vec(black_box(entries)))),
            move || drop(black_box(rmp_serde::from_slice::<Vec<Entry>>(black_box(msgpack_bytes)))),
        ),
        subject(
            "prost",
            proto_bytes,
            move || drop(black_box(black_box(proto).encode_to_vec())),
            move || drop(black_box(ProtoBibliography::decode(black_box(proto_bytes)))),
        ),
    ]
}

/// Seconds for one pass over all entries.
fn seconds(work: &dyn Fn()) -> f64 {
    let began = Instant::now();
    for _ in 0..REPEATS {
        work();
    }
    began.elapsed().as_secs_f64() / REPEATS as f64
}

fn main() {
    let subjects = subjects();
    let mut writes = vec![Vec::new(); subjects.len()];
    let mut reads = vec![Vec::new(); subjects.len()];
    for _ in 0..RUNS {
        for (at, subject) in subjects.iter().enumerate() {
            writes[at].push(seconds(&subject.write));
            reads[at].push(seconds(&subject.read));
        }
    }
    println!(
        "{ENTRIES} entries of a bibliography, written and read on one core: median of {RUNS} runs (least to most)"
    );
    let mut machine = Vec::new();
    for (operation, times) in [("serialise", &writes), ("deserialise", &reads)] {
        for (at, subject) in subjects.iter().enumerate() {
            let Some(time) = Spread::of(times[at].clone()) else {
                continue;
            };
            let rate = |seconds: f64| subject.bytes as f64 / seconds / 1e6;
            let ratio = |peer: &str| {
                let peer = subjects
                    .iter()
                    .position(|subject| subject.name == peer)
                    .expect("it is a subject");
                // Paired: the runs of one turn are compared.
                Spread::of(
                    times[at]
                        .iter()
                        .zip(&times[peer])
                        .map(|(own, other)| other / own)
                        .collect(),
                )
                .expect("there are runs")
            };
            let (rmp, prost) = (ratio("rmp-serde"), ratio("prost"));
            println!(
                "{operation:<12} {:<10} {:>7} B {:>7.0} MB/s ({:.0} to {:.0}); against rmp-serde {:.2} ({:.2} to {:.2}), against prost {:.2} ({:.2} to {:.2})",
                subject.name,
                subject.bytes,
                rate(time.median),
                rate(time.max),
                rate(time.min),
                rmp.median,
                rmp.min,
                rmp.max,
                prost.median,
                prost.min,
                prost.max,
            );
            machine.push(format!(
                r#"{{"bench": "encoding_speed", "operation": "{operation}", "name": "{}", "bytes": {}, "megabytes_per_second": {:.1}, "ratio_to_rmp_serde": {:.3}, "ratio_to_prost": {:.3}}}"#,
                subject.name,
                subject.bytes,
                rate(time.median),
                rmp.median,
                prost.median,
            ));
        }
    }
    println!("{}", machine.join("\n"));
}
