//! Files that only their owner may read: events are nobody else's affair.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder, with those above it, where there is none. Their names survive a power failure.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if path.is_dir() {
        // It may be new; where the system cannot sync the one above, whoever made it has to.
        let _ = sync_folder(parent.unwrap_or(Path::new(".")));
        return Ok(());
    }
    if let Some(parent) = parent {
        create_folder(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if !path.is_dir() => Err(error),
        _ => sync_folder(parent.unwrap_or(Path::new("."))),
    }
}

/// Opens a file to read and write, and makes it where there is none. What is in it stays.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Writes bytes at a place of a file.
pub(super) fn write_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, at);
    #[cfg(not(unix))]
    {
        use std::io::{Seek as _, Write as _};
        let mut file = file;
        file.seek(io::SeekFrom::Start(at))?;
        file.write_all(bytes)
    }
}

/// Makes the names of the files in a folder survive a power failure: syncing a file does not.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    match File::open(path) {
        // A folder that may be written and not read cannot be synced.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        folder => folder?.sync_all()?,
    }
    Ok(())
}
