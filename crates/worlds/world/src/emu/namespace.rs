//! Network namespaces: a program can enter one, and it lives as long as a handle to it.
//!
//! A namespace lives as long as a process has its descriptor or runs inside. Descriptors end with the process, however it ends, so
//! nothing is left behind.

use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A network namespace: interfaces, addresses, routes and ports of its own. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct Namespace(Arc<File>);

impl Namespace {
    /// The namespace that the calling thread is in.
    ///
    /// # Errors
    /// When there is no `/proc`.
    pub fn of_this_thread() -> io::Result<Self> {
        Ok(Self(Arc::new(File::open("/proc/thread-self/ns/net")?)))
    }

    /// Moves the calling thread into a new namespace, whose only interface is a loopback interface that is down.
    ///
    /// # Errors
    /// When this process lacks the right: see [`acquire`](super::acquire).
    pub fn move_into_new() -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        Self::of_this_thread()
    }

    /// Makes a new namespace; the calling thread stays in its own, which this process must have made.
    ///
    /// # Errors
    /// When this process lacks the right.
    pub fn new() -> io::Result<Self> {
        let here = Self::of_this_thread()?;
        let made = Self::move_into_new();
        here.move_into()?;
        made
    }

    /// Moves the calling thread here.
    ///
    /// # Errors
    /// When this process lacks the right.
    pub fn move_into(&self) -> io::Result<()> {
        Ok(setns(&*self.0, CloneFlags::CLONE_NEWNET)?)
    }

    /// Runs `act` in this namespace, and returns to the previous one. Sockets that `act` opens, and processes and threads that it
    /// starts, stay in this one.
    ///
    /// # Errors
    /// When this process may not enter it.
    ///
    /// # Panics
    /// Where the thread cannot return: it was in a namespace that this process did not make.
    pub fn enter<T>(&self, act: impl FnOnce() -> T) -> io::Result<T> {
        let back = ReturnGuard(Self::of_this_thread()?);
        self.move_into()?;
        let result = act();
        drop(back);
        Ok(result)
    }
}

impl AsFd for Namespace {
    /// The descriptor that keeps it alive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Returns the thread to its namespace, also after a panic.
struct ReturnGuard(Namespace);

impl Drop for ReturnGuard {
    fn drop(&mut self) {
        self.0
            .move_into()
            .expect("a thread can leave a namespace that this process made for another of its own");
    }
}
