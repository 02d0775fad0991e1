//! The end of a log, and waiting until it moves on.

use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

/// The position after the last committed event. Those who wait for it are woken in the order in which they began to: a world in virtual time is
/// the same in each run only with such an order, which `tokio::sync::watch` does not have.
#[derive(Debug)]
pub(super) struct LogEnd {
    position: AtomicU64,
    moved: Notify,
}

impl LogEnd {
    pub(super) fn new(position: u64) -> Self {
        Self {
            position: AtomicU64::new(position),
            moved: Notify::new(),
        }
    }

    pub(super) fn position(&self) -> u64 {
        self.position.load(Ordering::Acquire)
    }

    pub(super) fn move_to(&self, position: u64) {
        self.position.store(position, Ordering::Release);
        self.moved.notify_waiters();
    }

    /// Waits until the end is after a position.
    pub(super) async fn wait_past(&self, position: u64) {
        loop {
            // It is told of each move from here on, so that none between the look and the wait is missed.
            let moved = self.moved.notified();
            if self.position() > position {
                return;
            }
            moved.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;
    use tokio::task::{LocalSet, yield_now};

    #[test]
    fn those_who_wait_are_woken_in_the_order_in_which_they_began_to() {
        let (end, woken) = (Rc::new(LogEnd::new(0)), Rc::new(RefCell::new(Vec::new())));
        let tasks = LocalSet::new();
        for number in 0..100 {
            let (end, woken) = (Rc::clone(&end), Rc::clone(&woken));
            tasks.spawn_local(async move {
                end.wait_past(4).await;
                woken.borrow_mut().push(number);
            });
        }
        let moving = async {
            for position in [3, 5] {
                // A tick of tokio runs some of the tasks.
                for _ in 0..100 {
                    yield_now().await;
                }
                assert!(woken.borrow().is_empty());
                end.move_to(position);
            }
        };
        let all = async {
            moving.await;
            while woken.borrow().len() < 100 {
                yield_now().await;
            }
        };
        crate::block_on(tasks.run_until(all)).unwrap();
        assert!(woken.borrow().is_sorted());
    }
}
