use super::*;
use proptest::prelude::*;

const OFFERED: [&str; 3] = ["zstd", "br", "gzip"];

/// The choice from zstd, br, gzip (our order of preference) for these field lines; `406` if nothing is acceptable.
fn chosen(lines: &[&str]) -> &'static str {
    match AcceptEncoding::parse(lines.iter().map(|line| line.as_bytes())).choose(OFFERED) {
        Choice::Coded(index) => OFFERED[index],
        Choice::Identity => "identity",
        Choice::Nothing => "406",
    }
}

#[test]
fn the_highest_weight_wins_and_among_equals_our_own_order() {
    for (field, expected) in [
        ("gzip", "gzip"),
        ("gzip, br", "br"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("zstd;q=0.8, br;q=0.9, gzip;q=0.1", "br"),
        ("gzip;q=1.0, br;q=0.999", "gzip"),
        ("gzip;q=0.002, br;q=0.001", "gzip"),
        ("compress, x-unknown", "identity"),
    ] {
        assert_eq!(chosen(&[field]), expected, "{field}");
    }
}

#[test]
fn names_are_case_insensitive_and_x_gzip_is_gzip() {
    for field in ["GZIP", "GzIp;Q=1", "x-gzip", "X-GZip;q=0.5"] {
        assert_eq!(chosen(&[field]), "gzip", "{field}");
    }
}

#[test]
fn a_star_stands_for_every_coding_that_is_not_named() {
    for (field, expected) in [
        ("*", "zstd"),
        ("*;q=0.1", "zstd"),
        ("zstd;q=0, *", "br"),
        ("gzip, *;q=0.5", "gzip"),
        ("gzip;q=0.2, *;q=0.5", "zstd"),
        ("gzip, *;q=0", "gzip"),
        ("x-gzip;q=0, br;q=0, *", "zstd"),
    ] {
        assert_eq!(chosen(&[field]), expected, "{field}");
    }
}

#[test]
fn identity_is_weighed_like_any_other_coding() {
    for (field, expected) in [
        ("identity", "identity"),
        ("identity, gzip;q=0.5", "identity"),
        ("identity;q=0.5, gzip", "gzip"),
        ("identity;q=0.5, gzip;q=0.5", "gzip"),
        ("gzip;q=0.001", "gzip"),
        ("gzip;q=0", "identity"),
        ("compress;q=0.5, *;q=0.7, zstd;q=0.6, br;q=0.6, gzip;q=0.6", "identity"),
    ] {
        assert_eq!(chosen(&[field]), expected, "{field}");
    }
}

#[test]
fn nothing_is_acceptable_only_where_identity_is_refused_too() {
    for (field, expected) in [
        ("identity;q=0", "406"),
        ("*;q=0", "406"),
        ("identity;q=0, compress", "406"),
        ("identity;q=0, gzip;q=0, br;q=0, zstd;q=0", "406"),
        ("identity;q=0, gzip", "gzip"),
        ("identity;q=0, *", "zstd"),
        ("*;q=0, identity", "identity"),
        ("*;q=0, identity;q=0.1", "identity"),
        ("compress", "identity"),
    ] {
        assert_eq!(chosen(&[field]), expected, "{field}");
    }
}

#[test]
fn an_absent_field_and_an_empty_one_get_identity() {
    assert_eq!(chosen(&[]), "identity");
    assert_eq!(chosen(&[""]), "identity");
    assert_eq!(chosen(&[" \t"]), "identity");
    assert_eq!(chosen(&[",,,"]), "identity");
}

#[test]
fn all_field_lines_are_one_list() {
    assert_eq!(chosen(&["deflate", "gzip"]), "gzip");
    assert_eq!(chosen(&["gzip;q=0.1", "br;q=0.9"]), "br");
    assert_eq!(chosen(&["identity;q=0", "gzip"]), "gzip");
    assert_eq!(chosen(&["", "zstd"]), "zstd");
}

#[test]
fn a_malformed_member_is_skipped_and_those_beside_it_count() {
    for member in [
        "zstd;q=2",
        "zstd;q=1.001",
        "zstd;q=0.1234",
        "zstd;q=.5",
        "zstd;q=-1",
        "zstd;q= 1",
        "zstd;q =1",
        "zstd;q",
        "zstd;",
        "zstd;level=3",
        "zstd;q=1;q=1",
        "zst d",
        "\"zstd\"",
        ";q=1",
        "zstd;q=1e0",
        "zstd;q=0,5",
        "=",
        "zstd\u{e9}",
        "(zstd)",
    ] {
        assert_eq!(chosen(&[&format!("{member}, gzip;q=0.3")]), "gzip", "{member}");
    }
}

#[test]
fn white_space_around_members_and_before_the_weight_is_allowed() {
    assert_eq!(chosen(&["\tgzip \t;\t q=0.5 \t, , br ; q=0.4"]), "gzip");
    assert_eq!(chosen(&["gzip;q=0.,br;q=1."]), "br");
}

#[test]
fn a_coding_that_is_named_twice_gets_the_lower_weight() {
    assert_eq!(chosen(&["gzip, gzip;q=0"]), "identity");
    assert_eq!(chosen(&["gzip;q=0", "x-gzip"]), "identity");
    assert_eq!(chosen(&["*, *;q=0"]), "406");
}

/// A member of the field, well-formed or almost.
fn any_member() -> impl Strategy<Value = String> {
    let coding = prop::sample::select(vec![
        "gzip", "x-gzip", "BR", "zstd", "identity", "*", "compress", "", "g zip",
    ]);
    let weight = prop::sample::select(vec![
        "", ";q=0", ";q=0.000", "; Q=0.", ";q=0.5", ";q=1", ";q=1.1", ";q=", ";x=1",
    ]);
    (coding, weight).prop_map(|(coding, weight)| format!("{coding}{weight}"))
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..4)) {
        let accept = AcceptEncoding::parse(lines.iter().map(Vec::as_slice));
        if let Choice::Coded(index) = accept.choose(OFFERED) {
            prop_assert!(index < OFFERED.len());
        }
    }

    #[test]
    fn a_coding_with_weight_zero_is_never_picked(
        mut members in prop::collection::vec(any_member(), 0..8),
        index in 0..8_usize,
        refused in prop::sample::select(OFFERED.to_vec()),
        zero in prop::sample::select(vec![";q=0", ";q=0.0", "; Q=0.", " ;\tq=0.000"]),
    ) {
        members.insert(index.min(members.len()), format!("{refused}{zero}"));
        prop_assert_ne!(chosen(&[&members.join(",")]), refused);
    }

    #[test]
    fn how_the_list_is_cut_into_lines_changes_nothing(members in prop::collection::vec(any_member(), 1..8), cut in 0..8_usize) {
        let (first, rest) = members.split_at(cut.min(members.len()));
        prop_assert_eq!(chosen(&[&first.join(","), &rest.join(", ")]), chosen(&[&members.join(",")]));
    }
}
