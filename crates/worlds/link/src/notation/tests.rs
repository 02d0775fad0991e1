use super::*;
use crate::{CoDel, Jitter, Loss, Queue, Reordering};
use std::str::FromStr;
use std::time::Duration;

fn reads_back<T: FromStr + fmt::Display + PartialEq + fmt::Debug>(texts: &[&str])
where
    T::Err: fmt::Debug,
{
    for text in texts {
        let value: T = text.parse().unwrap();
        assert_eq!(&value.to_string(), text, "the printed form of {value:?}");
        assert_eq!(compact(text).parse::<T>().unwrap(), value, "{text} without spaces");
    }
}

#[test]
fn what_is_printed_reads_back_with_spaces_or_without() {
    reads_back::<Queue>(&[
        "auto",
        "unlimited",
        "1 packet",
        "20 packets",
        "0 packets",
        "64 kB",
        "codel",
    ]);
    reads_back::<Queue>(&["codel(target=15 ms, interval=300 ms, limit=50 packets)"]);
    reads_back::<Loss>(&[
        "0 %",
        "1 %",
        "0.01 %",
        "0.3333333333333333",
        "bursty(rate=1 %, burst=2.5)",
    ]);
    reads_back::<Loss>(&["gilbert-elliott(p=1 %, r=30 %)"]);
    reads_back::<Loss>(&["gilbert-elliott(p=1 %, r=30 %, loss_good=0.1 %, loss_bad=90 %)"]);
    reads_back::<Jitter>(&["none", "20 ms", "normal(5 ms)", "added(1.5 s)"]);
    reads_back::<Reordering>(&["none", "jitter", "1 % by 20 ms"]);
}

#[test]
fn what_does_nothing_has_one_form() {
    assert_eq!("0 ms".parse(), Ok(Jitter::None));
    assert_eq!("normal(0 s)".parse(), Ok(Jitter::None));
    assert_eq!("0 % by 20 ms".parse(), Ok(Reordering::None));
}

#[test]
fn codel_takes_what_is_not_stated_from_the_rfc() {
    let codel = CoDel {
        target: Duration::from_millis(20),
        ..CoDel::default()
    };
    assert_eq!("codel(target=20ms)".parse(), Ok(Queue::CoDel(codel)));
}

#[test]
fn a_wrong_queue_is_shown_right_ones() {
    let error = "20".parse::<Queue>().unwrap_err().to_string();
    assert!(error.starts_with("\"20\" is not a queue: "), "{error}");
    assert!(error.contains("\"20 packets\", \"64 kB\""), "{error}");
    for wrong in [
        "",
        "packets",
        "-1 packets",
        "1.5 packets",
        "codel(",
        "codel(goal=5 ms)",
        "codel(target)",
        "codel(limit=5)",
    ] {
        assert!(wrong.parse::<Queue>().is_err(), "{wrong:?}");
    }
    assert!(
        "codel(target=5 ms, target=6 ms)"
            .parse::<Queue>()
            .unwrap_err()
            .to_string()
            .contains("given twice")
    );
    assert!(
        "codel(interval=0 s)"
            .parse::<Queue>()
            .unwrap_err()
            .to_string()
            .contains("interval is 0")
    );
}

#[test]
fn a_wrong_loss_is_told_what_is_wrong_with_it() {
    let problem = |text: &str| text.parse::<Loss>().unwrap_err().to_string();
    assert!(problem("101 %").contains("outside 0 to 100 %"));
    assert!(problem("bursty(rate=1 %)").contains("both a rate and a burst"));
    assert!(problem("bursty(rate=1 %, burst=0.5)").contains("1 to 10^9 frames"));
    assert!(problem("bursty(rate=60 %, burst=1)").contains("cannot lose this many frames"));
    assert!(problem("gilbert-elliott(p=1 %)").contains("both p and r"));
    assert!(problem("gilbert-elliott(p=0, r=0)").contains("never changes"));
    assert!(problem("gilbert-elliott(q=1 %, r=2 %)").contains("\"q\" is not one of p, r, loss_good, loss_bad"));
}

#[test]
fn a_wrong_jitter_and_a_wrong_reordering_are_shown_right_ones() {
    assert!(
        "20".parse::<Jitter>()
            .unwrap_err()
            .to_string()
            .contains("unit is missing")
    );
    assert!(
        "pareto(5 ms)"
            .parse::<Jitter>()
            .unwrap_err()
            .to_string()
            .contains("\"normal(5 ms)\"")
    );
    assert!(
        "1 %"
            .parse::<Reordering>()
            .unwrap_err()
            .to_string()
            .contains("\"1 % by 20 ms\"")
    );
}
