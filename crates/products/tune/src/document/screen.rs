//! The answer of a tuning on one screen.

use super::{computing, connections_label, memory, rate};
use crate::record::{Choice, CodecPoint, Deflate, DeliveryOutcome, Direction, Scope, Strategy, Tuning};
use lastmile_report::document::{Grid, RowEmphasis};
use lastmile_report::number::{counted, percent, quantity, signed_percent, with_decimals};
use lastmile_report::screen::{Bar, BarGroup, STANDARD_INPUT, Screen, Tile, shell_word};

/// zlib's defaults.
const ZLIB_DEFAULT: Deflate = Deflate {
    takeover: true,
    window_bits: 15,
    level: 6,
    mem_level: 8,
    strategy: Strategy::Default,
};

pub(super) fn screen(tuning: &Tuning) -> Screen {
    let transcript = &tuning.transcript;
    let source = &transcript.source;
    let link_doubts = tuning.links.iter().flat_map(|link| &link.doubts);
    let bars: Vec<BarGroup> = tuning
        .directions
        .iter()
        .map(|stream| bars(tuning, stream.direction))
        .collect();
    Screen {
        question: format!(
            "{source}: {}, {}, of {}; {} settings tried.",
            counted(transcript.messages, "message"),
            quantity(transcript.bytes as f64, "B"),
            counted(transcript.connections, "connection"),
            tuning.points.len() + tuning.codecs.len(),
        ),
        tiles: Tile::of_changes(&bars),
        bars,
        table: Some(table(tuning)),
        spare_columns: vec!["fits"],
        doubts: Screen::doubt_texts(tuning.doubts.iter().chain(link_doubts)),
        answer: answer(tuning),
        next: match tuning.options.memory_bytes {
            None if source != STANDARD_INPUT => {
                let connections = match tuning.options.connections {
                    1 => 50_000,
                    connections => connections,
                };
                format!(
                    "lastmile tune {} --connections {connections} --memory 8GiB",
                    shell_word(source)
                )
            }
            _ => String::new(),
        },
    }
}

/// zlib's default and the settings to use, each once.
fn settings(tuning: &Tuning, direction: Direction) -> Vec<(String, CodecPoint)> {
    let default = tuning
        .point(direction, &ZLIB_DEFAULT)
        .map(|point| tuning.as_codec_point(point));
    let mut settings: Vec<(String, CodecPoint)> = default
        .map(|point| ("zlib's default".to_owned(), point))
        .into_iter()
        .collect();
    for choice in tuning
        .answer
        .choices
        .iter()
        .filter(|choice| choice.direction == direction)
    {
        if settings.iter().any(|(_, point)| {
            point.codec == choice.setting && point.policy == choice.policy && point.dictionary == choice.dictionary
        }) {
            continue;
        }
        let is_it = |point: &&CodecPoint| {
            (point.direction, &point.codec, &point.dictionary, &point.policy)
                == (direction, &choice.setting, &choice.dictionary, &choice.policy)
        };
        let deflate = choice
            .deflate
            .as_ref()
            .filter(|_| choice.dictionary.is_none() && choice.policy.is_none());
        let point = deflate
            .and_then(|deflate| tuning.point(direction, deflate))
            .map(|point| tuning.as_codec_point(point));
        if let Some(point) = point.or_else(|| tuning.codecs.iter().find(is_it).cloned()) {
            settings.push((choice.name(), point));
        }
    }
    settings
}

/// The bytes of a direction, uncompressed and under each setting.
fn bars(tuning: &Tuning, direction: Direction) -> BarGroup {
    let bytes = tuning.stream(direction).map_or(0, |stream| stream.bytes);
    let plain = Bar {
        label: "not compressed".to_owned(),
        length: 1.0,
        figure: quantity(bytes as f64, "B"),
        ..Bar::default()
    };
    let bar = |(name, point): (String, CodecPoint)| Bar {
        label: name,
        length: point.ratio,
        figure: quantity(point.ratio * bytes as f64, "B"),
        change: signed_percent(point.ratio - 1.0),
        interval: String::new(),
    };
    BarGroup {
        name: direction.name().to_owned(),
        detail: String::new(),
        bars: std::iter::once(plain)
            .chain(settings(tuning, direction).into_iter().map(bar))
            .collect(),
    }
}

/// What each setting costs.
fn table(tuning: &Tuning) -> Grid {
    let mut grid = Grid::new("", "")
        .word_columns(["direction", "setting"])
        .figure_columns([
            "ratio",
            "CPU per message",
            &format!("memory {}", connections_label(tuning.options.connections)),
        ])
        .word_columns(["fits"]);
    for stream in &tuning.directions {
        for (name, point) in settings(tuning, stream.direction) {
            let choice = tuning
                .answer
                .choices
                .iter()
                .find(|choice| choice.direction == stream.direction && choice.name() == name);
            let total = choice.map_or(rate::memory_of_all(tuning, &point), |choice| choice.memory_total_bytes);
            let fits = choice
                .and_then(|choice| choice.fits)
                .map_or("", |fits| if fits { "yes" } else { "no" });
            let cells = [
                stream.direction.name().to_owned(),
                name,
                with_decimals(point.ratio, 4),
                computing(point.cpu_seconds.as_ref()),
                memory(total),
                fits.to_owned(),
            ];
            grid.row(cells.to_vec(), RowEmphasis::Plain, &[]);
        }
    }
    grid
}

/// What to use for each direction, what it saves and costs, and what a message then takes on each link.
fn answer(tuning: &Tuning) -> String {
    let broken = tuning.thresholds.iter().filter(|threshold| !threshold.held);
    let mut sentences: Vec<String> = broken.map(|threshold| format!("BROKEN: {}.", threshold.rule)).collect();
    for stream in &tuning.directions {
        let choices = || {
            tuning
                .answer
                .choices
                .iter()
                .filter(|choice| choice.direction == stream.direction)
        };
        let of = |scope: Scope| choices().find(|choice| choice.scope == scope);
        let Some(choice) = of(Scope::PermessageDeflate).or_else(|| of(Scope::AnyCodec)) else {
            continue;
        };
        let fewer = |choice: &Choice| percent(((1.0 - choice.ratio) * 100.0).round() / 100.0);
        let zlib_default = tuning
            .point(stream.direction, &ZLIB_DEFAULT)
            .map(|point| tuning.as_codec_point(point));
        let at_rate = rate::cost(tuning, stream, choice, zlib_default.as_ref());
        let mut sentence = format!(
            "For messages {} use {}: {} fewer bytes",
            stream.direction.name(),
            choice.name(),
            fewer(choice),
        );
        if at_rate.is_none() {
            if let Some(cpu) = &choice.cpu_seconds {
                sentence += &format!(", {} of CPU per message", quantity(cpu.mean, &cpu.unit));
            }
            sentence += &format!(
                ", {} for {}",
                memory(choice.memory_total_bytes),
                counted(tuning.options.connections, "connection"),
            );
        }
        if choice.fits == Some(false) {
            sentence += ", which is beyond the limits";
        }
        if let Some(any) = of(Scope::AnyCodec).filter(|any| any.name() != choice.name()) {
            sentence += &format!("; of all codecs, {} ({} fewer)", any.name(), fewer(any));
        }
        sentences.push(sentence + ".");
        sentences.extend(at_rate);
        for link in &tuning.links {
            let median = |outcome: &DeliveryOutcome| {
                outcome
                    .delivery_time
                    .quantiles
                    .get("0.5")
                    .map(|value| quantity(*value, "s"))
            };
            let of = |setting: &str| {
                link.outcomes
                    .iter()
                    .find(|outcome| outcome.direction == stream.direction && outcome.setting == setting)
            };
            if let (Some(plain), Some(chosen)) = (of("identity").and_then(median), of(&choice.setting).and_then(median))
            {
                let times = if plain == chosen {
                    format!("{chosen} as before")
                } else {
                    format!("{chosen} in place of {plain}")
                };
                sentences.push(format!("On {} a message takes {times}.", tuning.link_label(link)));
            }
        }
    }
    if sentences.is_empty() {
        tuning.answer.text.clone()
    } else {
        sentences.join(" ")
    }
}
