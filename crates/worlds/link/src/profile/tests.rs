use super::*;
use crate::{Capacity, Loss, resolve};
use lastmile_units::duration;
use std::collections::BTreeSet;
use std::time::Duration;

const HEAD: &str = "set = \"own\"\ntitle = \"t\"\ncertainty = \"read\"\nk = 1000\nframing_overhead = \"0 B\"\n";

#[test]
fn every_set_is_there() {
    let sets: BTreeSet<_> = all_profiles().map(|profile| profile.set.as_str()).collect();
    let expected = [
        "apple",
        "browserstack",
        "chrome",
        "firefox",
        "g1050",
        "lighthouse",
        "lora",
        "lpwan",
        "published",
        "satellite",
        "sitespeed",
        "wpt",
    ];
    assert_eq!(sets.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn every_profile_has_a_source_and_says_what_is_not_read_in_it() {
    for profile in all_profiles() {
        assert!(
            profile.source.len() > 10 && !profile.set_title.is_empty(),
            "{}",
            profile.id
        );
        if [Certainty::Inferred, Certainty::OwnChoice].contains(&profile.certainty) {
            assert!(
                profile.note.as_ref().is_some_and(|note| note.len() > 40),
                "{} explains itself",
                profile.id
            );
        }
    }
}

#[test]
fn every_profile_states_rate_and_delay() {
    for profile in all_profiles() {
        let unlimited = profile.spec.down.capacity == Capacity::Unlimited;
        assert!(
            !unlimited || ["published/local-host"].contains(&profile.id.as_str()) || profile.set == "g1050",
            "{}",
            profile.id
        );
        assert!(profile.spec.down.one_way_delay > Duration::ZERO, "{}", profile.id);
        assert!(profile.spec.up.one_way_delay > Duration::ZERO, "{}", profile.id);
    }
}

#[test]
fn figures_are_those_of_their_tools() {
    // Down and up in bit/s, round trip in ms.
    let figures = [
        ("chrome/slow-3g", 500_000, 500_000, 400),
        ("lighthouse/slow-4g", 1_638_400, 750_000, 150),
        ("wpt/3g", 1_600_000, 768_000, 300),
        ("sitespeed/3g", 1_600_000, 768_000, 150),
        ("firefox/gprs", 51_200, 20_480, 500),
        ("apple/edge", 240_000, 200_000, 840),
        ("browserstack/hspa-good", 1_800_000, 400_000, 100),
        ("satellite/geo", 20_000_000, 2_000_000, 600),
        ("lora/dr0", 250, 250, 1050),
        ("published/adsl-512k", 512_000, 128_000, 250),
    ];
    for (id, down, up, round_trip) in figures {
        let link = resolve(id).unwrap();
        assert_eq!(link.down.rate_mean().unwrap().bits_per_second(), down, "{id}");
        assert_eq!(link.up.rate_mean().unwrap().bits_per_second(), up, "{id}");
        assert_eq!(link.round_trip(), Duration::from_millis(round_trip), "{id}");
    }
    assert_eq!(
        resolve("apple/very-bad").unwrap().up.loss,
        "10 %".parse::<Loss>().unwrap()
    );
    assert_eq!(
        duration::print(resolve("g1050/h").unwrap().down.one_way_delay),
        "512 ms"
    );
}

#[test]
fn the_inferred_round_trip_is_labelled_so() {
    for id in ["published/adsl-512k", "published/broadband-10m"] {
        let profile = find(id).unwrap();
        assert_eq!(profile.certainty, Certainty::Inferred);
        assert!(profile.note.as_ref().unwrap().contains("inferred, not printed"));
    }
}

#[test]
fn a_profile_without_a_source_does_not_load() {
    let profile = "[[profile]]\nname = \"x\"\nlink = { rate = \"1 Mbit/s\", one_way_delay = \"1 ms\" }\n";
    let without = parse_set("own.toml", &format!("{HEAD}{profile}"))
        .unwrap_err()
        .to_string();
    assert!(
        without.contains("own.toml") && without.contains("missing field `source`"),
        "{without}"
    );
    let empty = parse_set("own.toml", &format!("source = \" \"\n{HEAD}{profile}"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        empty,
        "profiles in own.toml: own/x has no source; every profile must name one"
    );
    assert!(parse_set("own.toml", &format!("source = \"here\"\n{HEAD}{profile}")).is_ok());
}

#[test]
fn what_is_wrong_in_a_set_is_named() {
    let with = |profile: &str| {
        parse_set("own.toml", &format!("source = \"here\"\n{HEAD}{profile}"))
            .unwrap_err()
            .to_string()
    };
    let twice = "[[profile]]\nname = \"x\"\nlink = { rate = \"1 Mbit/s\" }\n".repeat(2);
    assert!(with(&twice).contains("own/x is defined twice"));
    let key = with("[[profile]]\nname = \"x\"\nlink = { rat = \"1 Mbit/s\" }\n");
    assert!(key.contains("line 9") && key.contains("did you mean rate?"), "{key}");
    assert!(with("[[profile]]\nname = \"x\"\nspeed = 1\nlink = {}\n").contains("unknown field `speed`"));
}
