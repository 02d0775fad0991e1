//! A single-threaded executor: tasks run in the order in which they were woken.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// The tasks of one world.
#[derive(Default)]
pub(super) struct Executor {
    tasks: RefCell<Vec<Slot>>,
    free: RefCell<Vec<usize>>,
    ready: Arc<Ready>,
}

struct Slot {
    /// None while the task runs, and once it is done.
    task: Option<Task>,
    wake: Arc<TaskWake>,
}

/// The tasks that were woken. Wakers must be `Send`, hence the lock; it is never contended.
#[derive(Default)]
struct Ready(Mutex<VecDeque<Arc<TaskWake>>>);

struct TaskWake {
    index: usize,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for TaskWake {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            let ready = Arc::clone(&self.ready);
            ready.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(self);
        }
    }
}

impl Executor {
    /// Adds a task; it first runs after the others that are ready.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks.borrow_mut();
        let index = self.free.borrow_mut().pop().unwrap_or(tasks.len());
        let wake = Arc::new(TaskWake {
            index,
            queued: AtomicBool::new(false),
            ready: Arc::clone(&self.ready),
        });
        let slot = Slot {
            task: Some(Box::pin(task)),
            wake: Arc::clone(&wake),
        };
        if index == tasks.len() {
            tasks.push(slot);
        } else {
            tasks[index] = slot;
        }
        drop(tasks);
        wake.wake();
    }

    /// Runs tasks until none is ready.
    pub(super) fn run_ready(&self) {
        while let Some(wake) = self.next_ready() {
            wake.queued.store(false, Ordering::Relaxed);
            let index = wake.index;
            // A waker may outlive its task: the slot may now be empty, or another task's.
            let task = match self.tasks.borrow_mut().get_mut(index) {
                Some(slot) if Arc::ptr_eq(&slot.wake, &wake) => slot.task.take(),
                _ => None,
            };
            let Some(mut task) = task else { continue };
            let waker = Waker::from(wake);
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                self.free.borrow_mut().push(index);
            } else if let Some(slot) = self.tasks.borrow_mut().get_mut(index) {
                slot.task = Some(task);
            }
        }
    }

    fn next_ready(&self) -> Option<Arc<TaskWake>> {
        self.ready.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Drops every task. Dropping a task may wake others or spawn new ones, so none is dropped while the list is borrowed, and new
    /// ones are dropped as well.
    pub(super) fn clear(&self) {
        loop {
            self.free.borrow_mut().clear();
            let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
            if tasks.is_empty() {
                break;
            }
        }
        // Entries of the queue refer to the queue itself.
        while self.next_ready().is_some() {}
    }
}

#[cfg(test)]
mod tests;
