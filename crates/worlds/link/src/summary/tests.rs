use super::*;
use crate::resolve;

fn value(link: &str, what: &str) -> String {
    describe(&resolve(link).unwrap())
        .into_iter()
        .find(|row| row.what == what)
        .unwrap()
        .value
}

#[test]
fn an_unstated_queue_is_shown_with_its_length_and_as_our_own_choice() {
    let queue = "50 packets besides the one in service (auto: no queue is stated, the length is our own choice)";
    assert_eq!(value("wpt/3g", "queue, down"), queue);
    // 20 Mbit/s x 600 ms = 12 Mbit, which is 1,000 packets of 12,000 bits.
    assert!(value("satellite/geo", "queue, down").starts_with("1000 packets"));
    assert_eq!(
        value("wpt/3g+queue=20packets", "queue, up"),
        "20 packets besides the one in service"
    );
    assert_eq!(
        value("published/local-host", "queue, up"),
        "nothing queues at an unlimited rate"
    );
}

#[test]
fn a_bursty_loss_is_shown_with_its_rate_and_bursts() {
    assert_eq!(
        value("wpt/3g+loss=gilbert-elliott(p=1%,r=25%)", "loss, down"),
        "gilbert-elliott(p=1 %, r=25 %): long-run rate 3.8461538462 %, mean burst 4.00 frames"
    );
    assert_eq!(value("wpt/3g+loss=1%", "loss, down"), "1 %");
}

#[test]
fn a_profile_tells_target_from_applied() {
    assert_eq!(
        value("chrome/slow-3g", "applied by the source"),
        "400/400 kbit/s, 2,000 ms added to each request"
    );
    assert_eq!(value("chrome/slow-3g", "rate, down"), "500 kbit/s");
    assert_eq!(value("firefox/gprs", "K in the source"), "1024");
}

#[test]
fn a_difference_has_the_lines_that_differ_and_no_others() {
    let [a, b] = ["wpt/3g", "wpt/3g+loss_up=1%"].map(|link| resolve(link).unwrap());
    let differences = diff(&a, &b);
    let whats: Vec<_> = differences.iter().map(|row| row.what.as_str()).collect();
    assert_eq!(whats, ["link", "loss, up"]);
    assert_eq!((differences[1].a.as_str(), differences[1].b.as_str()), ("0 %", "1 %"));
    assert_eq!(diff(&a, &a), []);
    let own = resolve("mine+rate=1Mbit/s+one_way_delay=1ms").unwrap();
    let source = diff(&own, &a).into_iter().find(|row| row.what == "source").unwrap();
    assert!(source.a.contains("user's own") && source.b.contains("WebPageTest"));
    let set = diff(&own, &a).into_iter().find(|row| row.what == "set").unwrap();
    assert!(set.a.is_empty() && !set.b.is_empty());
}
