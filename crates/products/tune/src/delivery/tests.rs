//! Claims about which messages of a direction are delivered; claims about times are in `websocket`.

use super::*;
use crate::result_cache::ResultCache;
use crate::tests::{message, recording};
use lastmile_codec::message::WindowBits;
use lastmile_sweep::Grid;
use lastmile_testbed::messaging::CpuCost as _;
use lastmile_traffic::messages::Message;
use lastmile_units::workers::Workers;
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

/// A chat with this interval between messages.
fn chat(count: u32, interval: Duration) -> Vec<Message> {
    let line = |index| Message {
        at: Some(interval * index),
        ..message(&format!(
            "{{\"from\":\"user{}\",\"text\":\"message number {index}\"}}",
            index % 7
        ))
    };
    (0..count).map(line).collect()
}

/// Two settings, timed as briefly as possible.
fn options(repeats: u64) -> Options {
    Options {
        grid: Grid {
            window_bits: vec![WindowBits::MAX],
            levels: vec![6],
            mem_levels: vec![8],
            ..Grid::default()
        },
        timing: Duration::ZERO,
        beyond: false,
        repeats: NonZeroU64::new(repeats).unwrap(),
        threads: NonZeroUsize::MIN,
        ..Options::default()
    }
}

/// Calls `then` with the deliveries of the messages over a slow link.
fn delivering<T>(
    messages: &[Message],
    options: &Options,
    then: impl FnOnce(&LinkDeliveryRun<'_, '_>, &mut TuneContext<'_>) -> T,
) -> T {
    let recording = recording(messages);
    let mut work = TuneContext {
        options,
        kept: &mut ResultCache::in_memory(),
        progress: &mut |_| {},
        workers: Workers {
            threads: options.threads,
            interrupt: &options.interrupt,
        },
    };
    let stream = recording.streams().remove(0);
    let direction = Direction::measure(stream, &mut work).unwrap();
    let deliveries = LinkDeliveryRun {
        direction: &direction,
        name: "slow",
        link: &lastmile_link::resolve("t+rate=80kbit/s+one_way_delay=50ms").unwrap(),
        steps: ProgressTotals { done: 0, total: 1 },
    };
    then(&deliveries, &mut work)
}

#[test]
fn in_real_time_as_many_messages_are_sent_as_are_there_within_the_budget() {
    let hour = chat(3600, Duration::from_secs(1));
    // 20 s in all: five repeats of 4 s send the messages due after 0 to 3 s; one repeat sends those due after 0 to 19 s.
    for (repeats, expected) in [(5, 4), (1, 20)] {
        let options = options(repeats);
        let (fitting, doubt) = delivering(&hour, &options, |deliveries, work| {
            let fitting = deliveries.messages_within_budget(&(0..1000), work.options).unwrap();
            let doubt = deliveries.left_out(&fitting, work.options).unwrap();
            (fitting, doubt.text)
        });
        assert_eq!(fitting, 0..expected);
        assert!(
            doubt.starts_with(&format!(
                "sent: only {expected} of a connection's 3600 messages are delivered"
            )),
            "{doubt}"
        );
    }
    let rare = chat(3, Duration::from_secs(3600));
    let fitting = delivering(&rare, &options(5), |deliveries, work| {
        deliveries.messages_within_budget(&(0..3), work.options)
    });
    assert_eq!(fitting.unwrap(), 0..1, "at least one");
    let few = chat(3, Duration::from_millis(10));
    let doubt = delivering(&few, &options(5), |deliveries, work| {
        deliveries.left_out(&(0..3), work.options)
    });
    assert_eq!(doubt, None, "nothing is left out");
}

#[test]
fn a_message_computes_its_share_of_what_was_timed_by_its_bytes() {
    let messages = [message("ten bytes."), message("and these are thirty of bytes.")];
    let setting = Candidate {
        codec: "deflate".parse().unwrap(),
        timed: crate::timing::Timed {
            compressing: vec![2e-3],
            decompressing: vec![4e-3],
            ..Default::default()
        },
        ..Candidate::identity()
    };
    delivering(&messages, &options(1), |deliveries, work| {
        let shares = CpuCostBySize::new(deliveries.direction, &setting);
        let conversation = message_schedule::conversation(deliveries.direction, work.options.pace, &setting, &(0..2));
        let times = |of: &dyn Fn(&lastmile_testbed::messaging::ScheduledMessage) -> Duration| {
            conversation.connections[0].down.iter().map(of).collect::<Vec<_>>()
        };
        let milliseconds = |times: [u64; 2]| times.map(Duration::from_millis);
        assert_eq!(times(&|message| shares.encoding(message)), milliseconds([1, 3]));
        assert_eq!(times(&|message| shares.decoding(message)), milliseconds([2, 6]));
    });
}

#[test]
fn what_a_policy_leaves_as_it_is_computes_nothing_and_the_rest_what_was_timed_of_all() {
    let messages = [message("ten bytes."), message("and these are thirty of bytes.")];
    let setting = Candidate {
        codec: "deflate".parse().unwrap(),
        policy: lastmile_codec::message::Policy {
            threshold: lastmile_units::ByteCount::new(20),
            ..Default::default()
        },
        timed: crate::timing::Timed {
            compressing: vec![2e-3],
            ..Default::default()
        },
        ..Candidate::identity()
    };
    delivering(&messages, &options(1), |deliveries, work| {
        let shares = CpuCostBySize::new(deliveries.direction, &setting);
        let conversation = message_schedule::conversation(deliveries.direction, work.options.pace, &setting, &(0..2));
        let down = &conversation.connections[0].down;
        assert_eq!(shares.encoding(&down[0]), Duration::ZERO);
        assert_eq!(shares.encoding(&down[1]), Duration::from_millis(4));
    });
}

#[test]
fn a_dictionary_is_delivered_with_messages_that_it_was_not_learnt_from() {
    let options = Options {
        beyond: true,
        ..options(1)
    };
    let messages = chat(60, Duration::from_millis(50));
    delivering(&messages, &options, |deliveries, work| {
        let tried = deliveries.direction.results.iter().map(|tried| &tried.trial);
        let with: Vec<Candidate> = tried
            .filter_map(|trial| {
                Some(Candidate {
                    codec: trial.codec,
                    dictionary: Some(trial.dictionary.as_ref()?.0.clone()),
                    ..Candidate::identity()
                })
            })
            .collect();
        assert!(!with.is_empty());
        for setting in with {
            let among = message_schedule::outside_training_set(deliveries.direction, &setting).unwrap();
            assert!(among.start > 0 && among.end == 60, "{among:?}");
            let without = Candidate {
                dictionary: None,
                ..setting.clone()
            };
            let [with, without] = [setting, without].map(|setting| {
                let run = deliveries.run::<sim::World>(&setting, &among, 0, work.options);
                run.unwrap().carried
            });
            assert!(with < without, "{with} {without}");
        }
    });
}

#[test]
fn disturbed_deliveries_are_told_once() {
    let run = |doubts| Run {
        times: Vec::new(),
        carried: 0.0,
        doubts,
    };
    let disturbed = |how: &str| run(vec![lastmile_testbed::doubt::disturbed(&how)]);
    let runs = [run(Vec::new()), disturbed("late by 3 ms"), disturbed("late by 2 ms")];
    assert_eq!(
        disturbances(runs.iter()).unwrap().text,
        "2 of 3 deliveries: late by 3 ms"
    );
    assert_eq!(disturbances(runs[..1].iter()), None);
}

#[test]
fn a_world_is_named_where_it_is_not_clear_without() {
    let in_worlds = |worlds: &[World]| Options {
        worlds: worlds.to_vec(),
        ..options(1)
    };
    let both = in_worlds(&[World::Simulated, World::Emulated]);
    assert_eq!(link_label("a", World::Simulated, &options(1)), "a");
    assert_eq!(link_label("a", World::Simulated, &both), "a, simulated");
    assert_eq!(link_label("a", World::Emulated, &both), "a, emulated");
    assert_eq!(
        link_label("a", World::Emulated, &in_worlds(&[World::Emulated])),
        "a, emulated"
    );
}
