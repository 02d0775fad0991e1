//! Claims about choices with policies, dictionaries, shared compression and limits.

use super::*;

#[test]
fn a_policy_that_spares_computing_is_chosen_on_the_setting_that_would_be_used_without_it() {
    // Media among chat: compressing them costs CPU time and saves nothing.
    let chat = chat().messages.sent;
    let messages: Vec<Message> = (0..150)
        .zip(noise(150))
        .flat_map(|(index, noise)| {
            let text = std::str::from_utf8(chat.payload(index)).unwrap();
            let media = Message {
                kind: Kind::Binary,
                payload: noise.into(),
                ..message("")
            };
            [message(&text.repeat(4)), media]
        })
        .collect();
    let tuning = tuned(&recording(&messages), &options());
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert_eq!(chosen.policy.as_deref(), Some("text only"), "{chosen:?}");
    assert!(
        chosen.deflate.is_some() && chosen.why.contains("Without the policy (text only)"),
        "{}",
        chosen.why
    );
    assert!(
        tuning
            .answer
            .text
            .contains(&format!("use {}, text only", chosen.setting)),
        "{}",
        tuning.answer.text
    );
    let row = tuning
        .codecs
        .iter()
        .find(|row| row.codec == chosen.setting && row.policy == chosen.policy)
        .expect("the chosen setting is one of the trials");
    assert_eq!((row.ratio, &row.cpu_seconds), (chosen.ratio, &chosen.cpu_seconds));
    let without = tuning.point(chosen.direction, &chosen.deflate.unwrap()).unwrap();
    assert!(
        chosen.ratio < without.ratio * 1.02,
        "{} {}",
        chosen.ratio,
        without.ratio
    );
}

#[test]
fn where_connections_are_short_a_dictionary_is_chosen_and_said_how_to_come_by() {
    let chat = chat().messages.sent;
    let messages: Vec<Message> = (0..300)
        .map(|index| Message {
            connection: index as u32 / 2,
            ..message(std::str::from_utf8(chat.payload(index)).unwrap())
        })
        .collect();
    let tuning = tuned(&recording(&messages), &options());
    let (own, all) = (
        choice(&tuning, Scope::PermessageDeflate),
        choice(&tuning, Scope::AnyCodec),
    );
    assert_eq!(own.dictionary, None, "permessage-deflate has no dictionaries");
    let known = all
        .dictionary
        .as_ref()
        .expect("two messages per connection are little history");
    assert_eq!(all.deflate, None);
    assert!(all.ratio < own.ratio, "{all:?} {own:?}");
    assert!(
        all.why.contains("load the ") || all.why.contains("zstd --train -r MESSAGES"),
        "{}",
        all.why
    );
    // Scaled by the same codec on all messages.
    let row = |dictionary: Option<&String>, part: Option<&str>| {
        let mut rows = tuning.codecs.iter();
        rows.find(|row| {
            row.codec == all.setting
                && row.dictionary.as_ref() == dictionary
                && row.policy.is_none()
                && part.is_none_or(|part| row.measured_on == part)
        })
    };
    let with = row(Some(known), None).unwrap();
    let without = row(None, Some(&with.measured_on)).unwrap();
    let whole = match all.setting.parse().unwrap() {
        lastmile_codec::message::MessageCodec::Deflate(_) => {
            let points = tuning.points.iter();
            let mut of_it = points.filter(|point| point.deflate().setting() == all.setting);
            of_it.next().unwrap().ratio
        }
        _ => row(None, Some("all")).unwrap().ratio,
    };
    let expected = whole * with.ratio / without.ratio;
    assert!((all.ratio - expected).abs() < 1e-12, "{} {expected}", all.ratio);
}

#[test]
fn what_goes_to_many_is_told_as_compressed_once_in_ratio_computing_and_memory() {
    let stated = |receivers| Options {
        server: holder(1000),
        receivers: NonZeroU64::new(receivers),
        beyond: false,
        ..options()
    };
    let once = |tuning: &Tuning| {
        let mut rows = tuning.codecs.iter();
        rows.find(|row| row.policy.as_deref() == Some("compressed once per broadcast"))
            .cloned()
    };
    assert_eq!(once(&tuned(&chat(), &stated(1))), None);
    let tuning = tuned(&chat(), &stated(1000));
    let row = once(&tuning).unwrap();
    let mut points = tuning.points.iter();
    let alone = points.find(|point| point.deflate().setting() == row.codec).unwrap();
    assert!(!alone.takeover);
    assert_eq!((row.ratio, row.compressed_bytes), (alone.ratio, alone.compressed_bytes));
    let mean = |figure: &Option<lastmile_report::record::Figure>| figure.as_ref().unwrap().mean;
    let (share, whole) = (mean(&row.cpu_seconds), mean(&alone.cpu_seconds));
    assert!((share * 1000.0 / whole - 1.0).abs() < 1e-9, "{share} {whole}");
    assert_eq!(tuning.directions[0].receivers, Some(1000.0));
    // No context per connection is ten times as fast as one without takeover; a thousandth of the latter's time is.
    let fast = Options {
        computing: Some(Duration::from_secs_f64(whole / 10.0)),
        ..stated(1000)
    };
    let tuning = tuned(&chat(), &fast);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert_eq!(
        (chosen.policy.as_deref(), chosen.fits),
        (Some("compressed once per broadcast"), Some(true))
    );
    let point = tuning.point(chosen.direction, &chosen.deflate.unwrap()).unwrap();
    assert_eq!(
        chosen.memory_total_bytes,
        point.memory_bytes + 4 * point.decompressor_memory_bytes,
        "one compressing context, and one decompressing context per core"
    );
    let said = "One context per connection does not fit the limits";
    assert!(tuning.answer.text.contains(said), "{}", tuning.answer.text);
}

#[test]
fn copies_to_several_connections_are_found_in_a_transcript() {
    let messages: Vec<Message> = (0..60)
        .map(|index: u32| Message {
            connection: index % 3,
            at: Some(Duration::from_secs(u64::from(index / 3))),
            ..message(&format!("to all three, message {}", index / 3))
        })
        .collect();
    let tuning = tuned(
        &recording(&messages),
        &Options {
            beyond: false,
            server: holder(3),
            ..options()
        },
    );
    let stream = &tuning.directions[0];
    assert_eq!((stream.copied_messages, stream.receivers), (40, Some(3.0)));
    assert_eq!(stream.copied_bytes * 3, stream.bytes * 2);
    let finding = tuning
        .findings
        .iter()
        .find(|finding| finding.title.starts_with("What a broadcast costs"));
    let text = &finding.unwrap().text;
    assert!(
        text.starts_with("66.7 % of the messages and 66.7 % of their bytes are copies"),
        "{text}"
    );
}

#[test]
fn the_cheapest_setting_that_leaves_little_enough_is_chosen_or_it_is_said_by_how_much_none_does() {
    let bounded = |ratio| {
        let options = Options {
            ratio: Some(ratio),
            beyond: false,
            ..options()
        };
        tuned(&chat(), &options)
    };
    let tuning = bounded(0.45);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert!(chosen.ratio <= 0.45 && chosen.fits == Some(true), "{chosen:?}");
    let median = |figure: &lastmile_report::record::Figure| figure.quantiles["0.5"];
    let fitting = tuning.points.iter().filter(|point| point.ratio <= 0.45);
    let fastest = fitting.filter_map(|point| point.cpu_seconds.as_ref()).map(median);
    let fastest = fastest.fold(f64::INFINITY, f64::min);
    assert!(
        median(chosen.cpu_seconds.as_ref().unwrap()) <= 1.05 * fastest,
        "{chosen:?}"
    );
    assert_eq!(tuning.options.ratio, Some(0.45));
    let tuning = bounded(0.1);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert_eq!(chosen.fits, Some(false));
    // Nothing else is limited, so the lowest ratio is closest to the limit.
    let least = tuning
        .points
        .iter()
        .filter(|point| point.cpu_seconds.is_some())
        .map(|point| point.ratio);
    assert_eq!(chosen.ratio, least.fold(1.0, f64::min));
    let too_much = lastmile_report::number::percent(chosen.ratio / 0.1 - 1.0);
    let said = format!("(limit 10 %, exceeded by {too_much})");
    assert!(
        tuning.answer.text.contains(&said) && chosen.why.contains(&said),
        "{}",
        tuning.answer.text
    );
}
