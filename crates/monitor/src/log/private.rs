//! Files that only their owner may read: events are nobody else's affair.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder, with those above it, where there is none.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file to write, and makes it where there is none. What is in it stays.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes the names of the files in a folder, and that of the folder itself, survive a power failure: syncing a file does not.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        File::open(path)?.sync_all()?;
        let path = path.canonicalize()?;
        if let Some(parent) = path.parent() {
            // Where it may not be read, there is nothing more to do.
            let _ = File::open(parent).and_then(|parent| parent.sync_all());
        }
    }
    Ok(())
}
