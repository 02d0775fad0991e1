use super::*;

fn expected(settings: &str) -> Duration {
    let study = Study::parse(
        "t.toml",
        &format!("name = 't'\nquestion = ''\n[fixed]\nlink = 'wpt/3g'\n{settings}"),
    );
    let cells = expand(&study.unwrap()).unwrap();
    Programs.expected_time(&cells[0])
}

#[test]
fn the_expected_time_grows_with_what_is_delivered() {
    let bulk = |bytes: &str| {
        expected(&format!(
            "workload = {{ kind = 'bulk', bytes = '{bytes}' }}\ndelivery = 'tcp'"
        ))
    };
    // 50 us, and 0.6 us for each of 10,000 full packets.
    assert_eq!(bulk("14480 kB"), Duration::from_micros(6050));
    let packets = |count: u32| expected(&format!("workload = {{ kind = 'tm-packets', packets = {count} }}"));
    let (few, many) = (packets(10), packets(1000));
    // A packet's object has about 400 B, and each octet 25 ns.
    assert!(
        few > Duration::from_micros(100) && few < Duration::from_micros(200),
        "{few:?}"
    );
    assert!(
        many > Duration::from_millis(8) && many < Duration::from_millis(12),
        "{many:?}"
    );
}
