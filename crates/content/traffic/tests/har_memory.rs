//! Measures the memory for reading a HAR with one huge body, in a process of its own, so that the peak is this reader's.

#![cfg(target_os = "linux")]

use lastmile_traffic::responses::{Body, Traffic};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const BODY: usize = 48_000_000;

#[test]
fn a_har_with_one_huge_body_peaks_near_twice_the_file_and_ends_near_the_body() {
    let folder = tempfile::tempdir().unwrap();
    for (name, form) in [("text.har", ""), ("base64.har", r#","encoding":"base64""#)] {
        let path = folder.path().join(name);
        write_har(&path, form);
        let file = std::fs::metadata(&path).unwrap().len();
        let before = resident("VmRSS:");
        let traffic = Traffic::open(&path).unwrap();
        let Body::Present(body) = &traffic.responses[0].body else {
            panic!("{name} lost its body")
        };
        let decoded = if form.is_empty() { BODY } else { BODY / 4 * 3 };
        assert_eq!(body.len(), decoded, "{name}");
        let peak = resident("VmHWM:").saturating_sub(before);
        // The unescaped and the stored body at once, and a tenth for buffers and the allocator's rounding.
        assert!(peak * 10 <= file * 21, "{name}: a file of {file} B used {peak} B");
        let kept = resident("VmRSS:").saturating_sub(before);
        assert!(
            kept <= decoded as u64 + file / 10,
            "{name}: a body of {decoded} B keeps {kept} B"
        );
    }
}

/// A HAR with one body of `BODY` characters, which are also valid base64.
fn write_har(path: &Path, form: &str) {
    let mut to = BufWriter::new(File::create(path).unwrap());
    to.write_all(br#"{"log":{"entries":[{"request":{"method":"GET","url":"https://shop.example/"},"#)
        .unwrap();
    to.write_all(br#""response":{"status":200,"content":{"mimeType":"text/plain","text":""#)
        .unwrap();
    (0..BODY / 8).for_each(|_| to.write_all(b"bGFzdA12").unwrap());
    write!(to, "\"{form}}}}}}}]}}}}").unwrap();
    to.flush().unwrap();
}

/// A line of `/proc/self/status`, in bytes.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}
