//! A tuning for every kind of doubt.

use super::*;
use crate::direction_report::DirectionReport;
use crate::measure_direction::Direction as MeasuredDirection;
use lastmile_report::record::Doubt;

/// zlib's default alone, timed as briefly as possible.
fn one_setting() -> Options {
    Options {
        grid: Grid {
            takeover: vec![true],
            window_bits: vec![WindowBits::MAX],
            levels: vec![6],
            mem_levels: vec![8],
            ..Grid::default()
        },
        beyond: false,
        repeats: NonZeroU64::MIN,
        ..options()
    }
}

fn over_a_link() -> Options {
    Options {
        links: vec![("dsl".to_owned(), lastmile_link::resolve("wpt/dsl").unwrap())],
        ..one_setting()
    }
}

/// Short messages, without times.
fn lines(count: usize) -> Vec<Message> {
    let line = |index| {
        message(&format!(
            "{{\"from\":\"user{}\",\"text\":\"number {index}\"}}",
            index % 7
        ))
    };
    (0..count).map(line).collect()
}

/// Bursts of messages, hours apart.
fn bursts() -> Vec<Message> {
    let at = |index: usize| Duration::from_secs((index / 30 * 7200 + index % 30) as u64);
    let line = |(index, message)| Message {
        at: Some(at(index)),
        ..message
    };
    lines(150).into_iter().enumerate().map(line).collect()
}

/// What `then` makes of the only direction of these messages, measured.
fn measured<T>(
    messages: &[Message],
    options: &Options,
    then: impl FnOnce(&Recording, MeasuredDirection<'_>) -> T,
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
    let direction = MeasuredDirection::measure(recording.streams().remove(0), &mut work).unwrap();
    then(&recording, direction)
}

/// The doubts of a measured direction after a change.
fn of_changed(change: impl FnOnce(&mut MeasuredDirection<'_>)) -> Vec<Doubt> {
    let options = one_setting();
    measured(&lines(300), &options, |recording, mut direction| {
        change(&mut direction);
        crate::doubts::doubts(recording, &[DirectionReport::new(&direction, &options)])
    })
}

/// The doubts of a tuning as a whole and over its links.
fn of_tuning(recording: &Recording, options: &Options) -> Vec<Doubt> {
    let tuning = tuned(recording, options);
    let of_links = tuning.links.iter().flat_map(|link| &link.doubts);
    tuning.doubts.iter().chain(of_links).cloned().collect()
}

/// The doubts of a tuning that raises one of this kind.
fn doubtful(kind: DoubtKind) -> Vec<Doubt> {
    let few = recording(&lines(20));
    match kind {
        DoubtKind::FewMessages => of_tuning(&few, &one_setting()),
        DoubtKind::OneConnection | DoubtKind::FewContexts => {
            let server = holder(1000);
            of_tuning(
                &few,
                &Options {
                    server,
                    ..one_setting()
                },
            )
        }
        DoubtKind::NoTimes => of_tuning(&few, &over_a_link()),
        DoubtKind::BeginningOnly => of_tuning(&recording(&lines(1001)), &over_a_link()),
        DoubtKind::Sampled => of_tuning(&made("{ kind = \"chat\", messages = 12000 }"), &one_setting()),
        DoubtKind::MeanMemory => {
            // Contexts that are never freed take three times as much, and no compression without contexts comes near in size.
            let options = Options {
                server: holder(1000),
                memory: Some(ByteCount::new(100_000_000)),
                beyond: true,
                ..one_setting()
            };
            of_tuning(&recording(&bursts()), &options)
        }
        // How much a sample or a machine varies is set: neither can be asked for.
        DoubtKind::WideInterval => of_changed(|direction| {
            for point in &mut direction.points {
                point.ratio_ci95 = Some([0.9, 1.1].map(|part| point.ratio * part));
            }
        }),
        DoubtKind::BusyMachine => of_changed(|direction| direction.interference.kept_waiting = 0.5),
        DoubtKind::FastClient => measured(&lines(20), &one_setting(), |_, direction| {
            crate::delivery::doubts(&[direction], &one_setting(), World::Emulated)
        }),
        other => panic!("{other} has no row"),
    }
}

#[test]
fn every_kind_of_doubt_is_raised() {
    for kind in DOUBTS {
        let doubts = doubtful(*kind);
        assert!(doubts.iter().any(|doubt| doubt.kind == *kind), "{kind}: {doubts:?}");
    }
}
