//! Reads a folder as traffic: every regular file is a response, as a static file server would send it.

use super::TrafficError;
use super::{Body, NoteCounter, Origin, Response, Traffic, TrafficFormat, media_type, url};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The host name given to files of a folder.
const HOST: &str = "localhost";

/// Reads a folder and its subfolders, in the order of paths. A symbolic link is followed where it leads to a file within the
/// folder; other links, and anything that is neither a file nor a folder, are skipped.
pub(super) fn read(root: &Path) -> Result<Traffic, TrafficError> {
    let name = root.display().to_string();
    let real_root = root.canonicalize().map_err(|error| TrafficError::io(&name, &error))?;
    let mut skipped = NoteCounter::default();
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let failed = |error| TrafficError::io(&folder.display().to_string(), &error);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() || (kind.is_symlink() && leads_to_a_file_in(&real_root, &path)) {
                files.push(path);
            } else if kind.is_symlink() {
                skipped.count(
                    "are symbolic links that do not lead to a file in the folder",
                    &path.display().to_string(),
                );
            } else {
                skipped.count("are neither files nor folders", &path.display().to_string());
            }
        }
    }
    files.sort();
    let responses = files
        .iter()
        .enumerate()
        .map(|(index, path)| response(index, root, path))
        .collect::<Result<Vec<_>, _>>()?;
    if responses.is_empty() {
        return Err(TrafficError::new(
            &name,
            "the folder contains no files",
            "name a folder with the files that a server sends",
        ));
    }
    Ok(Traffic {
        source: name,
        format: TrafficFormat::Folder,
        responses,
        load_event: None,
        dom_content_loaded: None,
        notes: Vec::new(),
        skipped: skipped.into_notes(),
    })
}

fn leads_to_a_file_in(real_root: &Path, link: &Path) -> bool {
    link.canonicalize()
        .is_ok_and(|target: PathBuf| target.starts_with(real_root) && target.is_file())
}

fn response(index: usize, root: &Path, path: &Path) -> Result<Response, TrafficError> {
    let bytes = std::fs::read(path).map_err(|error| TrafficError::io(&path.display().to_string(), &error))?;
    let relative = path.strip_prefix(root).unwrap_or(path);
    let url_path: String = relative
        .components()
        .map(|part| format!("/{}", escaped(&part.as_os_str().to_string_lossy())))
        .collect();
    let extension = url::extension(&url_path);
    Ok(Response {
        index,
        url: format!("https://{HOST}{url_path}"),
        scheme: "https".to_owned(),
        host: HOST.to_owned(),
        method: "GET".to_owned(),
        status: 200,
        media_type: Some(media_type::from_extension(extension.as_deref().unwrap_or_default()).to_owned()),
        body: Body::Present(bytes.into()),
        origin: Origin::Static,
        origin_because: "it is a file",
        ..Response::default()
    })
}

/// A path segment for a URL: all but unreserved characters (RFC 3986 section 2.3) are percent-encoded.
fn escaped(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string does not fail");
        }
    }
    out
}
