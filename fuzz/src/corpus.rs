//! Reads the inputs that fuzzing begins with and the words of each format, and stores the inputs that broke a claim.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An input, with the name of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The name of its file.
    pub name: String,
    /// Its content.
    pub input: Vec<u8>,
}

/// This crate's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The corpus of a target, by name.
///
/// # Errors
/// When its folder cannot be read.
pub fn read(target: &str) -> io::Result<Vec<Sample>> {
    let folder = root().join("corpus").join(target);
    let mut paths = fs::read_dir(&folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<io::Result<Vec<_>>>()
        })
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?;
    paths.sort();
    let sample = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Sample {
            name,
            input: fs::read(path)?,
        })
    };
    paths.into_iter().map(sample).collect()
}

/// The words of a target's format, for mutations to insert; none where it has no dictionary.
///
/// # Errors
/// When its dictionary cannot be read, or has a line that is none of libFuzzer's (`"a word"`, with the escapes `\\`, `\"` and `\xAB`).
pub fn words(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let path = root().join("dictionaries").join(target).with_extension("dict");
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let word = |line: &str| {
        let no_word = || io::Error::other(format!("{}: {line} is no word in quotes", path.display()));
        let quoted = line.strip_prefix('"').and_then(|line| line.strip_suffix('"'));
        unescape(quoted.ok_or_else(no_word)?).ok_or_else(no_word)
    };
    text.lines().map(word).collect()
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut word = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        word.push(match byte {
            b'\\' => match bytes.next()? {
                b'x' => {
                    let digits = [bytes.next()?, bytes.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                escaped => escaped,
            },
            plain => plain,
        });
    }
    Some(word)
}

/// The folder of a target's inputs that are not part of the corpus.
pub fn artifacts(target: &str) -> PathBuf {
    root().join("artifacts").join(target)
}

/// Stores an input that broke a claim, under a name made from its content; returns its path.
///
/// # Errors
/// When it cannot be written.
pub fn keep(target: &str, input: &[u8]) -> io::Result<PathBuf> {
    let folder = artifacts(target);
    fs::create_dir_all(&folder)?;
    // FNV-1a (Fowler, Noll and Vo): a name, not a proof.
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let path = folder.join(format!("crash-{hash:016x}"));
    fs::write(&path, input)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dictionary_is_one_of_a_target_and_its_words_are_read() {
        for file in fs::read_dir(root().join("dictionaries")).unwrap() {
            let path = file.unwrap().path();
            let target = path.file_stem().unwrap().to_str().unwrap();
            assert!(crate::target::find(target).is_some(), "{target}");
            assert!(!words(target).unwrap().is_empty(), "{target}");
        }
        assert_eq!(words("ice").unwrap()[0], b"IceP\x01\x00\x01\x00");
        assert_eq!(words("frames").unwrap(), [b""; 0]);
        assert_eq!(unescape(r#"\\\"\xc2\xb5s"#).as_deref(), Some("\\\"µs".as_bytes()));
        assert_eq!(unescape(r"\x4").as_deref(), None);
    }
}
