//! Claims about tasks: their order, wakers that outlive them, reuse of slots, and dropping.

use super::*;
use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;

/// A log that tasks write to.
type Log = Rc<RefCell<Vec<&'static str>>>;

async fn note(log: Log, line: &'static str) {
    log.borrow_mut().push(line);
}

/// Yields to other tasks: the task wakes itself.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[test]
fn tasks_run_in_the_order_in_which_they_were_woken() {
    let (executor, log) = (Executor::default(), Log::default());
    for (first, second) in [("a", "a again"), ("b", "b again")] {
        let log = Rc::clone(&log);
        executor.spawn(async move {
            note(Rc::clone(&log), first).await;
            yield_now().await;
            note(log, second).await;
        });
    }
    executor.run_ready();
    assert_eq!(*log.borrow(), ["a", "b", "a again", "b again"]);
}

/// Gives its waker away, and waits for ever.
async fn hand_out(to: Rc<RefCell<Option<Waker>>>, polls: Rc<Cell<u32>>) {
    poll_fn(move |context| {
        polls.set(polls.get() + 1);
        *to.borrow_mut() = Some(context.waker().clone());
        Poll::<()>::Pending
    })
    .await;
}

#[test]
fn a_task_that_is_woken_twice_runs_once() {
    let (executor, waker, polls) = (Executor::default(), Rc::default(), Rc::new(Cell::new(0)));
    executor.spawn(hand_out(Rc::clone(&waker), Rc::clone(&polls)));
    executor.run_ready();
    let waker: Waker = waker.borrow_mut().take().unwrap();
    waker.wake_by_ref();
    waker.wake();
    executor.run_ready();
    assert_eq!(polls.get(), 2);
}

#[test]
fn a_waker_that_outlives_its_task_does_not_wake_the_next_in_its_slot() {
    let (executor, kept) = (Executor::default(), Rc::new(RefCell::new(None::<Waker>)));
    let keep = Rc::clone(&kept);
    executor.spawn(poll_fn(move |context| {
        *keep.borrow_mut() = Some(context.waker().clone());
        Poll::Ready(())
    }));
    executor.run_ready();
    let polls = Rc::new(Cell::new(0));
    executor.spawn(hand_out(Rc::default(), Rc::clone(&polls)));
    executor.run_ready();
    assert_eq!(executor.tasks.borrow().len(), 1, "the slot is used again");
    kept.borrow_mut().take().unwrap().wake();
    executor.run_ready();
    assert_eq!(polls.get(), 1);
}

/// Spawns once more when it is dropped.
struct Heir(Rc<Executor>);

impl Drop for Heir {
    fn drop(&mut self) {
        self.0.spawn(pending());
    }
}

#[test]
fn clearing_lets_go_of_tasks_that_wait_to_run_and_of_those_that_their_end_begins() {
    let (executor, held) = (Rc::new(Executor::default()), Rc::new(()));
    let (heir, witness) = (Heir(Rc::clone(&executor)), Rc::clone(&held));
    executor.spawn(async {});
    executor.run_ready();
    executor.spawn(async move {
        let _kept = (heir, witness);
        pending::<()>().await;
    });
    executor.clear();
    assert_eq!((Rc::strong_count(&held), Rc::strong_count(&executor)), (1, 1));
    assert_eq!(Arc::strong_count(&executor.ready), 1, "nothing is left that could wake");
    executor.spawn(async {});
    executor.run_ready();
}
