//! Tests of waiting for the cost of compression.

use super::*;

#[test]
fn the_pieces_of_work_add_up_to_the_body_and_only_the_ends_are_marked() {
    for layer in [streamed(), whole()] {
        let meter = Meter {
            pauses: 3,
            ..Meter::default()
        };
        let got = ask(
            &layer.with_compute(meter.clone()),
            |_| respond_with(&TEXT, ScriptedBody::chunks(&text(), 5000)),
            get(&[GZIP]),
        );
        let done = meter.done.borrow();
        assert_eq!(
            done.iter().map(|work| work.input).sum::<ByteCount>(),
            ByteCount::from(text().len())
        );
        assert_eq!(
            done.iter().map(|work| work.output).sum::<ByteCount>(),
            ByteCount::from(got.body.data().len())
        );
        assert!(
            done.iter()
                .all(|work| work.operation == Operation::Encode("gzip:6".parse().unwrap()))
        );
        let ends: Vec<_> = done.iter().map(|work| (work.first, work.last)).collect();
        assert_eq!((ends[0], ends[ends.len() - 1]), ((true, false), (false, true)));
        assert!(ends[1..ends.len() - 1].iter().all(|&ends| ends == (false, false)));
    }
}

#[test]
fn nothing_leaves_before_the_work_that_made_it_is_done() {
    let meter = Meter {
        pauses: 7,
        ..Meter::default()
    };
    let done = Rc::clone(&meter.done);
    let layer = streamed().with_compute(meter.clone());
    let body = finish(layer.layer(Handler(|_: &Request<()>| plain(text()))).call(get(&[GZIP])))
        .0
        .unwrap()
        .into_body();
    let mut body = std::pin::pin!(body);
    let mut sent = 0;
    loop {
        match body
            .as_mut()
            .poll_frame(&mut Context::from_waker(std::task::Waker::noop()))
        {
            Poll::Pending => {}
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => {
                sent += frame.unwrap().into_data().unwrap().len();
                assert!(!meter.busy.get());
                assert!(ByteCount::from(sent) <= done.borrow().iter().map(|work| work.output).sum());
            }
        }
    }
    assert!(sent > 0);
}

#[test]
fn a_response_that_is_not_coded_costs_nothing() {
    let meter = Meter::default();
    ask(&whole().with_compute(meter.clone()), |_| plain(text()), get(&[]));
    ask(
        &streamed().with_compute(meter.clone()),
        |_| plain(text()),
        head(&[GZIP]),
    );
    assert!(meter.done.borrow().is_empty());
}
