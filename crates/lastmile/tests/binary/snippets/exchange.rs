//! Requests by curl, which takes responses apart and decodes their bodies with code that is not ours.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;

/// What was received for a request.
pub(crate) struct Exchange {
    pub(crate) status: u16,
    /// By lower-case name; the values of fields that came more than once are joined.
    head: BTreeMap<String, String>,
    /// Decoded.
    pub(crate) body: Vec<u8>,
    /// Head and body as they came, without the Vary field, which a response that may come in several codings must have.
    pub(crate) bytes: usize,
}

impl Exchange {
    /// Asks with these arguments of curl; results go to files in the folder.
    pub(crate) fn new(folder: &Path, arguments: &[&str]) -> Self {
        let (head, body) = (folder.join("head"), folder.join("body"));
        // curl writes no file for a body that does not come.
        std::fs::write(&body, "").unwrap();
        let output = Command::new("curl")
            .args([
                "--silent",
                "--show-error",
                "--max-time",
                "60",
                "--write-out",
                "%{size_download}",
            ])
            .arg("--dump-header")
            .arg(&head)
            .arg("--output")
            .arg(&body)
            .args(arguments)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let head = std::fs::read_to_string(head).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let mut fields = BTreeMap::<String, String>::new();
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            let joined = fields.entry(name.to_ascii_lowercase()).or_default();
            let comma = if joined.is_empty() { "" } else { ", " };
            *joined += &format!("{comma}{value}");
        }
        let downloaded: usize = said.parse().unwrap();
        let is_vary = |line: &&str| line.to_ascii_lowercase().starts_with("vary:");
        let vary: usize = head.lines().filter(is_vary).map(|line| line.len() + "\r\n".len()).sum();
        // At least: of one chunk, and the last one.
        let framing = match fields.get("transfer-encoding") {
            Some(_) if downloaded > 0 => format!("{downloaded:x}\r\n\r\n0\r\n\r\n").len(),
            _ => 0,
        };
        Self {
            status,
            head: fields,
            body: std::fs::read(body).unwrap(),
            bytes: head.len() - vary + downloaded + framing,
        }
    }

    /// The value of a field; empty without it.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.head.get(name).map_or("", String::as_str)
    }

    /// The content coding; `identity` without one.
    pub(crate) fn coding(&self) -> &str {
        match self.field("content-encoding") {
            "" => "identity",
            coding => coding,
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}, {} B, {:?}", self.status, self.bytes, self.head)
    }
}
