//! What is a network namespace to a program? Something to step into, and alive for as long as it is held.
//!
//! A namespace lives as long as someone holds its descriptor or runs inside. Descriptors end with the process, however it
//! ends, so nothing is left behind.

use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A network namespace: interfaces, addresses, routes and ports of its own. Cloning gives another hold on the same one.
#[derive(Debug, Clone)]
pub struct Namespace(Arc<File>);

impl Namespace {
    /// The one that the calling thread is in.
    ///
    /// # Errors
    /// When there is no `/proc`.
    pub fn of_this_thread() -> io::Result<Self> {
        Ok(Self(Arc::new(File::open("/proc/thread-self/ns/net")?)))
    }

    /// Moves the calling thread into a new one, which has nothing but a loopback interface that is down.
    ///
    /// # Errors
    /// When this process may not: see [`acquire`](super::acquire).
    pub fn move_into_new() -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        Self::of_this_thread()
    }

    /// Makes a new one; the calling thread stays where it is, which must be one that this process made.
    ///
    /// # Errors
    /// When this process may not.
    pub fn new() -> io::Result<Self> {
        let here = Self::of_this_thread()?;
        let made = Self::move_into_new();
        here.move_into()?;
        made
    }

    /// Moves the calling thread here.
    ///
    /// # Errors
    /// When this process may not.
    pub fn move_into(&self) -> io::Result<()> {
        Ok(setns(&*self.0, CloneFlags::CLONE_NEWNET)?)
    }

    /// Does something in here, and comes back. Sockets that are opened, and processes and threads that are started, stay.
    ///
    /// # Errors
    /// When this process may not step into it.
    ///
    /// # Panics
    /// Where there is no way back: the calling thread was in a namespace that is not this process's own.
    pub fn enter<T>(&self, act: impl FnOnce() -> T) -> io::Result<T> {
        let back = Return(Self::of_this_thread()?);
        self.move_into()?;
        let result = act();
        drop(back);
        Ok(result)
    }
}

impl AsFd for Namespace {
    /// The descriptor that holds it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Brings the thread back, also when what was done panics.
struct Return(Namespace);

impl Drop for Return {
    fn drop(&mut self) {
        self.0
            .move_into()
            .expect("a thread steps out of a namespace that this process made into another of its own");
    }
}
