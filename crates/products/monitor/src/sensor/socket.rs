//! The Unix socket of a sensor: it takes the place of one that nobody serves, and of nothing else.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use tokio::net::UnixListener;

/// A socket's file. Dropping it removes the file, unless another has taken its place.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    identity: Identity,
}

/// What tells a file from the next of its name: the number of a file that was removed may be given to another at once.
type Identity = (u64, u64, i64, i64);

fn identity(path: &Path) -> io::Result<Identity> {
    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
}

/// Listens at a path.
///
/// # Errors
/// When there is a file that is no socket, another program serves the socket, or it cannot be made.
pub(super) fn listen(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    if let Ok(metadata) = std::fs::symlink_metadata(path) {
        if !metadata.file_type().is_socket() {
            let message = "there is a file that is no socket; name another path";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        // A sensor that was killed leaves its socket behind: nobody answers there.
        match UnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path)?,
            _ => {
                let message = "another program serves this socket; stop it, or name another path";
                return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
            }
        }
    }
    let listener = UnixListener::bind(path)?;
    let file = SocketFile {
        path: path.to_owned(),
        identity: identity(path)?,
    };
    Ok((listener, file))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_that_nobody_serves_is_replaced_and_only_ones_own_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, data) = (folder.path().join("s"), folder.path().join("data.csv"));
        std::fs::write(&data, "1,2").unwrap();
        let work = async {
            assert_eq!(listen(&data).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            let (listener, file) = listen(&path).unwrap();
            assert_eq!(listen(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
            // As a sensor that was killed leaves it.
            drop(listener);
            let (_listener, other) = listen(&path).unwrap();
            drop(file);
            assert!(path.exists(), "it is another's now");
            drop(other);
            assert!(!path.exists());
        };
        crate::block_on(work).unwrap();
        assert_eq!(std::fs::read_to_string(&data).unwrap(), "1,2");
    }
}
