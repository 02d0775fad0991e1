use super::*;
use crate::profile::all_profiles;
use crate::{Capacity, Loss, Queue};
use lastmile_units::BitRate;
use std::time::Duration;

fn error(text: &str) -> String {
    resolve(text).unwrap_err().to_string()
}

#[test]
fn every_profile_prints_as_its_name_and_resolves_to_itself() {
    for profile in all_profiles() {
        assert_eq!(profile.spec.to_string(), profile.id);
        assert_eq!(resolve(&profile.id).unwrap(), profile.spec);
    }
}

#[test]
fn a_formula_changes_a_profile_and_prints_canonically() {
    let link = resolve("wpt/3g+loss=1%+jitter=20ms+queue=20packets+rate_up=64kbit/s").unwrap();
    assert_eq!(
        link.to_string(),
        "wpt/3g+rate_up=64kbit/s+jitter=20ms+queue=20packets+loss=1%"
    );
    assert_eq!(link.name(), link.to_string());
    assert_eq!(link.up.rate_mean(), BitRate::new(64_000));
    assert_eq!(link.down.rate_mean(), BitRate::new(1_600_000));
    assert_eq!(link.down.queue, Queue::Packets(20));
    assert_eq!(resolve(&link.to_string()).unwrap(), link);
}

#[test]
fn spaces_do_not_matter() {
    let spaced = resolve(" wpt/3g + loss = gilbert-elliott(p = 1 %, r = 30 %) + reordering = 1 % by 20 ms ").unwrap();
    assert_eq!(
        spaced,
        resolve("wpt/3g+loss=gilbert-elliott(p=1%,r=30%)+reordering=1%by20ms").unwrap()
    );
    assert_eq!(
        spaced.to_string(),
        "wpt/3g+reordering=1%by20ms+loss=gilbert-elliott(p=1%,r=30%)"
    );
}

#[test]
fn a_change_that_changes_nothing_is_not_printed_and_the_last_one_counts() {
    assert_eq!(resolve("wpt/3g+loss=1%+loss=0%").unwrap().to_string(), "wpt/3g");
    assert_eq!(resolve("wpt/3g+round_trip=300ms").unwrap().to_string(), "wpt/3g");
}

#[test]
fn a_round_trip_is_halved_and_an_odd_nanosecond_goes_down() {
    let link = resolve("wpt/3g+round_trip=250ms").unwrap();
    assert_eq!(
        (link.down.one_way_delay, link.up.one_way_delay),
        (Duration::from_millis(125), Duration::from_millis(125))
    );
    assert_eq!(
        link,
        resolve("wpt/3g").unwrap().with_round_trip(Duration::from_millis(250))
    );
    let odd = link.with_round_trip(Duration::from_nanos(7));
    assert_eq!(
        (odd.down.one_way_delay, odd.round_trip()),
        (Duration::from_nanos(4), Duration::from_nanos(7))
    );
}

#[test]
fn each_with_does_what_its_formula_does() {
    let link = || resolve("wpt/3g").unwrap();
    let rate = |text: &str| text.parse().unwrap();
    let with = |change: fn(&mut DirectionSpec)| {
        let mut link = link();
        change(&mut link.down);
        change(&mut link.up);
        link
    };
    let pairs = [
        (
            link().with_rates(rate("1 Mbit/s"), rate("64 kbit/s")),
            "rate_down=1Mbit/s+rate_up=64kbit/s",
        ),
        (with(|direction| direction.loss = "1 %".parse().unwrap()), "loss=1%"),
        (
            with(|direction| direction.jitter = "20 ms".parse().unwrap()),
            "jitter=20ms",
        ),
        (
            with(|direction| direction.reordering = "jitter".parse().unwrap()),
            "reordering=jitter",
        ),
    ];
    for (changed, formula) in pairs {
        assert_eq!(changed.to_string(), format!("wpt/3g+{formula}"));
        assert_eq!(resolve(&changed.to_string()).unwrap(), changed);
    }
}

#[test]
fn an_unknown_profile_is_told_the_nearest() {
    assert_eq!(
        error("wpt/3gg"),
        "\"wpt/3gg\" is not a link profile; did you mean wpt/3g? (`lastmile profiles list` lists them all)"
    );
    assert!(error("cable").contains("did you mean wpt/cable?"), "{}", error("cable"));
    assert!(error("").contains("is not a link profile"));
}

#[test]
fn an_unknown_key_is_told_the_nearest_and_the_list() {
    let error = error("wpt/3g+los_up=1%");
    assert!(
        error.contains("\"los_up\" is not a link setting; did you mean loss_up?"),
        "{error}"
    );
    assert!(error.contains("settings: rate, trace, one_way_delay"), "{error}");
}

#[test]
fn a_wrong_value_is_named_with_its_key_and_an_example() {
    assert_eq!(
        error("wpt/3g+loss_up=lots"),
        "link \"wpt/3g+loss_up=lots\": loss_up: \"lots\" is not a loss: \"lots\" is not a probability: it does not begin with a number; \
         write it like \"1 %\", \"bursty(rate=1 %, burst=3)\" or \"gilbert-elliott(p=1 %, r=30 %, loss_good=0 %, loss_bad=100 %)\""
    );
    assert!(
        error("wpt/3g+rate=5MBps").contains("\"5MBps\" is not a bit rate"),
        "{}",
        error("wpt/3g+rate=5MBps")
    );
    assert!(error("wpt/3g+loss").contains("\"loss\" is not a setting: write it like \"loss=1%\""));
    assert!(error("wpt/3g+framing_overhead=18kB").contains("more than 1.5 kB"));
    assert!(error("wpt/3g+round_trip_up=1s").contains("one_way_delay_down"));
}

#[test]
fn jitter_larger_than_the_delay_is_refused_with_a_way_out() {
    let found = error("published/intranet-100m+jitter=20ms");
    assert!(
        found.contains("is too large for a one-way delay of 200 us; write jitter=added(40 ms)"),
        "{found}"
    );
    assert!(resolve("published/intranet-100m+jitter=added(40 ms)").is_ok());
    assert!(error("wpt/cable+jitter=normal(5 ms)").contains("down: a jitter of normal(5 ms)"));
}

#[test]
fn a_rate_and_a_round_trip_are_a_link_in_a_list_too() {
    let links = parse_list("wpt/3g,2Mbps,100ms+loss=1%,512 kbit/s,1s,none").unwrap();
    let printed: Vec<String> = links
        .iter()
        .map(|link| link.resolve_with(&mut no_traces).unwrap().to_string())
        .collect();
    assert_eq!(
        printed,
        [
            "wpt/3g",
            "2Mbps-100ms+rate=2Mbit/s+one_way_delay=50ms+loss=1%",
            "512kbit-1s+rate=512kbit/s+one_way_delay=500ms",
            "none+rate=unlimited+one_way_delay=0s",
        ]
    );
    for printed in &printed {
        assert_eq!(resolve(printed).unwrap().to_string(), *printed);
    }
    assert_eq!(
        resolve("wpt/3g+rtt=1s+delay_up=2s").unwrap().round_trip(),
        Duration::from_millis(2500)
    );
    assert!(
        error("2Mbps").contains("write it like \"2Mbps,100ms\""),
        "{}",
        error("2Mbps")
    );
    assert!(
        error("2Mbps,wpt").contains("\"wpt\" is not a duration"),
        "{}",
        error("2Mbps,wpt")
    );
}

#[test]
fn a_link_of_ones_own_states_rate_and_delay() {
    let link = resolve("mine+rate=unlimited+one_way_delay=0s").unwrap();
    assert_eq!(
        (link.name().as_str(), link.down.clone()),
        ("mine", DirectionSpec::IDEAL)
    );
    assert_eq!(resolve(&link.to_string()).unwrap(), link);
    let found = error("mine+rate_down=1Mbit/s+round_trip=20ms");
    assert!(found.contains("does not state rate_up;"), "{found}");
    assert!(error("cable+loss=1%").contains("did you mean wpt/cable?"));
    assert!(error("my link+rate=1Mbit/s+one_way_delay=1ms").contains("use letters, digits"));
    assert!(error("own/link+rate=1Mbit/s+one_way_delay=1ms").contains("not a link profile"));
}

#[test]
fn a_list_splits_at_commas_outside_parentheses() {
    let links = parse_list("wpt/3g+loss=bursty(rate=1%,burst=3),published/dialup-56k").unwrap();
    let names: Vec<_> = links
        .iter()
        .map(|link| link.resolve_with(&mut no_traces).unwrap().name())
        .collect();
    assert_eq!(names, ["wpt/3g+loss=bursty(rate=1%,burst=3)", "published/dialup-56k"]);
}

#[derive(Debug, Deserialize)]
struct File {
    link: Vec<LinkSpec>,
}

fn from_file(text: &str) -> Result<LinkSpec, String> {
    let file: Result<File, _> = toml::from_str(&format!("link = [{text}]"));
    file.map(|mut file| file.link.remove(0))
        .map_err(|error| error.to_string())
}

#[test]
fn a_table_means_both_directions_unless_it_says_which() {
    let table = r#"{ name = "short-queue", rate_up = "64 kbit/s", rate = "512 kbit/s", one_way_delay = "50 ms", queue = "20 packets", loss = "0 %" }"#;
    let link = from_file(table).unwrap();
    let formula = "short-queue+rate_down=512kbit/s+rate_up=64kbit/s+one_way_delay=50ms+queue=20packets";
    assert_eq!(link.to_string(), formula);
    assert_eq!(link.name(), "short-queue");
    assert_eq!(resolve(formula).unwrap(), link);
}

#[test]
fn a_table_may_change_a_profile() {
    assert_eq!(
        from_file(r#"{ name = "wpt/3g", loss = "1 %" }"#).unwrap(),
        resolve("wpt/3g+loss=1%").unwrap()
    );
}

#[test]
fn what_is_wrong_in_a_table_is_shown_with_its_line_and_place() {
    let key = from_file(r#"{ name = "x", rate = "1 Mbit/s", one_way_delay = "1 ms", los = "1 %" }"#).unwrap_err();
    assert!(key.contains("line 1") && key.contains("did you mean loss?"), "{key}");
    // The caret stands under the key, 58 characters into the array.
    assert!(key.contains(&format!("{}^^^", " ".repeat(57 + 8))), "{key}");
    let value = from_file(r#"{ name = "x", rate = "1 MB/s", one_way_delay = "1 ms" }"#).unwrap_err();
    assert!(
        value.contains("line 1") && value.contains("unknown unit \"MB/s\""),
        "{value}"
    );
    let number = from_file(r#"{ name = "x", rate = 512 }"#).unwrap_err();
    assert!(number.contains("expected a string"), "{number}");
    let nameless = from_file(r#"{ rate = "1 Mbit/s", one_way_delay = "1 ms" }"#).unwrap_err();
    assert!(nameless.contains("needs a name"), "{nameless}");
    let both = from_file(r#"{ name = "x", rate_up = "1 Mbit/s", trace = "a", one_way_delay = "1 ms" }"#).unwrap_err();
    assert!(both.contains("both rate and trace"), "{both}");
    assert!(from_file("17").unwrap_err().contains("expected a link like"));
    assert!(from_file("\"wpt/3gg\"").unwrap_err().contains("did you mean wpt/3g?"));
}

#[test]
fn a_trace_is_read_by_the_caller_and_its_path_survives_printing() {
    let request = LinkRequest::parse("cell+trace_down=my traces/cell.down+rate_up=1Mbit/s+one_way_delay=20ms").unwrap();
    let mut asked = Vec::new();
    let mut read = |path: &str| {
        asked.push(path.to_owned());
        Ok("1\n2\n".to_owned())
    };
    let link = request.resolve_with(&mut read).unwrap();
    assert_eq!(asked, ["my traces/cell.down"]);
    assert_eq!(
        link.to_string(),
        "cell+rate_up=1Mbit/s+trace_down=my traces/cell.down+one_way_delay=20ms"
    );
    let again = LinkRequest::parse(&link.to_string())
        .unwrap()
        .resolve_with(&mut |_| Ok("1\n2\n".to_owned()));
    assert_eq!(again.unwrap(), link);
}

#[test]
fn a_trace_that_cannot_be_read_is_named() {
    let request = LinkRequest::parse("wpt/3g+trace=cell.down").unwrap();
    let error = request
        .resolve_with(&mut |_| Err("no such file".to_owned()))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "delivery trace \"cell.down\" cannot be read: no such file"
    );
    let error = request.resolve_with(&mut |_| Ok("x".to_owned())).unwrap_err();
    assert!(error.to_string().contains("\"cell.down\", line 1"));
    assert!(
        resolve("wpt/3g+trace=cell.down")
            .unwrap_err()
            .to_string()
            .contains("give the link a rate")
    );
}

#[test]
fn it_serialises_as_its_formula() {
    #[derive(serde::Serialize)]
    struct Stored {
        link: LinkSpec,
    }
    let stored = toml::to_string(&Stored {
        link: resolve("wpt/3g+loss=1%").unwrap(),
    })
    .unwrap();
    assert_eq!(stored, "link = \"wpt/3g+loss=1%\"\n");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 2000, rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn foreign_text_is_refused_or_understood_and_never_panics(text in "[a-z0-9/+=%(),. _-]{0,40}") {
        if let Ok(link) = resolve(&text) {
            proptest::prop_assert_eq!(resolve(&link.to_string()).unwrap(), link);
        }
    }

    #[test]
    fn changed_profiles_read_back(
        rate in 1_u64..20_000_000_000,
        delay in 0_u64..10_000_000_000,
        loss in 0.0_f64..=1.0,
        packets in 0_u64..1_000_000,
        burst in 2.0_f64..100.0,
    ) {
        let mut link = resolve("wpt/3g").unwrap();
        link.down.one_way_delay = Duration::from_nanos(delay);
        link.up.one_way_delay = Duration::from_nanos(delay);
        link.down.capacity = Capacity::Rate(BitRate::new(rate).unwrap());
        link.down.loss = Loss::Bernoulli(lastmile_units::Probability::new(loss).unwrap());
        link.up.loss = Loss::Bursty { rate: lastmile_units::Probability::new(loss / 2.0).unwrap(), burst };
        link.up.queue = Queue::Packets(packets);
        proptest::prop_assert_eq!(resolve(&link.to_string()).unwrap(), link);
    }
}
