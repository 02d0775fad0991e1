//! Claims about contexts: priming, resetting and following give the history that they promise.

use super::*;

#[test]
fn a_primed_or_reset_context_is_a_fresh_one_with_or_without_that_history() {
    let mut rng = rng("prime");
    let history = chat(&mut rng, 100_000);
    let message = chat(&mut rng, 300);
    for codec in codecs_both_ways() {
        let fresh = |dictionary: Option<&Dictionary>| {
            let mut coded = Vec::new();
            MessageEncoder::new(&codec, dictionary)
                .unwrap()
                .encode(&message, &mut coded);
            coded
        };
        let (as_first, as_after) = (fresh(None), fresh(Some(&Dictionary::raw(history.clone()))));
        let mut encoder = MessageEncoder::new(&codec, None).unwrap();
        let mut decoder = MessageDecoder::new(&codec, None).unwrap();
        let next = |encoder: &mut MessageEncoder, decoder: &mut MessageDecoder| {
            let (mut coded, mut decoded) = (Vec::new(), Vec::new());
            encoder.encode(&message, &mut coded);
            decoder.decode(&coded, ByteCount::new(300), &mut decoded).unwrap();
            assert_eq!(decoded, message);
            coded
        };
        assert_eq!(next(&mut encoder, &mut decoder), as_first, "{codec}");
        encoder.prime(&history);
        decoder.prime(&history);
        assert_eq!(next(&mut encoder, &mut decoder), as_after, "{codec}");
        let second = next(&mut encoder, &mut decoder);
        if !codec.takeover() {
            assert_eq!(
                second, as_first,
                "{codec}: without takeover, only the next message is primed"
            );
        }
        encoder.reset();
        decoder.reset();
        assert_eq!(next(&mut encoder, &mut decoder), as_first, "{codec}");
    }
}

#[test]
fn priming_deflate_at_levels_4_to_9_is_the_same_as_having_coded_the_history() {
    let mut rng = rng("shards");
    let messages: Vec<Vec<u8>> = (0..400).map(|index| chat(&mut rng, 20 + index)).collect();
    for level in 4..=9 {
        for (window, mem_level) in [(9, 1), (11, 4), (15, 8), (15, 9)] {
            let codec: MessageCodec = format!("deflate:{level}/w{window}/m{mem_level}").parse().unwrap();
            let mut through = MessageEncoder::new(&codec, None).unwrap();
            let sizes: Vec<usize> = messages
                .iter()
                .map(|message| through.compressed_size(message))
                .collect();
            let mut primed = MessageEncoder::new(&codec, None).unwrap();
            primed.prime(&messages[..300].concat());
            let again: Vec<usize> = messages[300..]
                .iter()
                .map(|message| primed.compressed_size(message))
                .collect();
            assert_eq!(again, sizes[300..], "{codec}");
        }
    }
}

#[test]
fn a_history_of_any_length_leaves_no_string_out_that_a_message_goes_on_with() {
    let mut rng = rng("lengths");
    let codec = "deflate:6/w9/m1".parse().unwrap();
    for length in 3..1100 {
        let history: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
        // The string that begins with the last two bytes of the history occurs again.
        let again = [&history[length - 2..], b"!"].concat();
        let message = [b"! and then ", again.as_slice()].concat();
        let mut through = MessageEncoder::new(&codec, None).unwrap();
        through.compressed_size(&history);
        let mut primed = MessageEncoder::new(&codec, None).unwrap();
        primed.prime(&history);
        assert_eq!(
            primed.compressed_size(&message),
            through.compressed_size(&message),
            "{length}"
        );
    }
}

#[test]
fn deflate_at_levels_4_to_9_goes_on_from_what_it_was_only_told_of_as_if_it_had_coded_it() {
    let mut rng = rng("follow");
    let lengths = (0..500).map(|index| if index % 3 == 0 { index % 4 } else { 20 + index });
    let messages: Vec<Vec<u8>> = lengths
        .map(|length| {
            let mut message = chat(&mut rng, length);
            message.truncate(length);
            message
        })
        .collect();
    for level in 4..=9 {
        for (window, mem_level) in [(9, 1), (11, 4), (15, 8)] {
            let codec: MessageCodec = format!("deflate:{level}/w{window}/m{mem_level}").parse().unwrap();
            let mut through = MessageEncoder::new(&codec, None).unwrap();
            let mut encoder = MessageEncoder::new(&codec, None).unwrap();
            let mut left = messages.as_slice();
            while let Some((message, rest)) = left.split_first() {
                assert_eq!(
                    encoder.compressed_size(message),
                    through.compressed_size(message),
                    "{codec}"
                );
                let (gap, after) = rest.split_at(rest.len().min((rng.next_u64() % 6) as usize));
                for message in gap {
                    through.compressed_size(message);
                }
                encoder.append_history(&gap.concat());
                left = after;
            }
        }
    }
}

#[test]
fn without_takeover_a_message_is_coded_the_same_wherever_it_stands() {
    let messages = messages();
    for codec in codecs_both_ways().iter().filter(|codec| codec.is_shareable()) {
        let mut encoder = MessageEncoder::new(codec, None).unwrap();
        let first: Vec<usize> = messages
            .iter()
            .map(|message| encoder.compressed_size(message))
            .collect();
        let mut backwards: Vec<usize> = messages
            .iter()
            .rev()
            .map(|message| encoder.compressed_size(message))
            .collect();
        backwards.reverse();
        assert_eq!(first, backwards, "{codec}");
    }
}
