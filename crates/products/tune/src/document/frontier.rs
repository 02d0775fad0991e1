//! The chart of ratio against memory: the answer among the settings that it was chosen from.

use super::settings::remarks;
use crate::record::{Choice, CodecPoint, Direction, Point, Tuning};
use lastmile_codec::message::MessageCodec;
use lastmile_report::number::quantity;
use lastmile_report::record::{self, Axis, Chart, Limit, LimitAxis, Scale, Series, Source};

/// The frontier of ratio against memory, each point labelled with its CPU time; none where there is no point.
///
/// Labels are placed in the order of the series: the setting to use first, then those with a name.
pub(super) fn frontier(tuning: &Tuning, direction: Direction) -> Option<Chart> {
    let of_direction = tuning.points.iter().filter(|point| point.direction == direction);
    let remarked: Vec<(&Point, Vec<&str>)> = of_direction.map(|point| (point, remarks(tuning, point))).collect();
    let limit = budget(tuning);
    let is_limited = limit.is_some();
    let drawn = |name: &str, wanted: &dyn Fn(&Point, &[&str]) -> bool| {
        let wanted = remarked.iter().filter(|(point, remarks)| wanted(point, remarks));
        let named = |remarks: &[&str]| {
            remarks
                .iter()
                .filter(|remark| **remark != "frontier")
                .map(ToString::to_string)
                .collect()
        };
        let drawn = wanted.map(|(point, remarks)| {
            let drawn = labelled(named(remarks), &tuning.as_codec_point(point));
            let chosen = limit.as_ref().and_then(|_| share_of_chosen(tuning, point));
            record::Point {
                x: chosen.unwrap_or(drawn.x),
                ..drawn
            }
        });
        series(name, drawn.collect())
    };
    let to_use = |remarks: &[&str]| remarks.contains(&"to use");
    let only_frontier = |remarks: &[&str]| remarks == ["frontier"];
    let whole =
        |point: &&CodecPoint| point.direction == direction && point.measured_on == "all" && point.policy.is_none();
    // A codec that keeps nothing between messages may use no memory, which a logarithmic axis cannot show.
    let keeps_contexts = |point: &&CodecPoint| point.codec.parse().is_ok_and(|codec: MessageCodec| codec.takeover());
    let others = tuning
        .codecs
        .iter()
        .filter(whole)
        .filter(|point| !is_limited || keeps_contexts(point))
        .filter(|point| point.memory_bytes + point.decompressor_memory_bytes > 0);
    let all = [
        drawn("to use", &|_, remarks| to_use(remarks)),
        drawn("settings with a name", &|point, remarks| {
            (point.takeover || !is_limited) && !remarks.is_empty() && !to_use(remarks) && !only_frontier(remarks)
        }),
        drawn("frontier, with takeover", &|point, remarks| {
            point.takeover && only_frontier(remarks)
        }),
        drawn("frontier, without takeover", &|point, remarks| {
            !point.takeover && !is_limited && only_frontier(remarks)
        }),
        series(
            "other codecs",
            others.map(|point| labelled(Vec::new(), point)).collect(),
        ),
    ];
    let all: Vec<Series> = all.into_iter().filter(|series| !series.points.is_empty()).collect();
    (!all.is_empty()).then(|| Chart {
        title: "Ratio against memory".to_owned(),
        note: note(tuning),
        x: Axis::new("Memory of a connection's contexts", "B", Scale::Log),
        y: Axis::new("Compressed / raw payload", "", Scale::Linear),
        series: all,
        limits: limit.into_iter().collect(),
        ..Chart::default()
    })
}

fn note(tuning: &Tuning) -> String {
    let read = "Left and low is better. Labels give the CPU time to compress one message.";
    if tuning.options.memory_bytes.is_none() {
        return read.to_owned();
    }
    format!(
        "{read} The line is the limit on memory, shared among the connections; without takeover, a core needs two contexts, and not each connection."
    )
}

/// The limit on the memory of all connections, as each one's share: what two contexts may take that are kept between messages.
fn budget(tuning: &Tuning) -> Option<Limit> {
    let most = tuning.options.memory_bytes? as f64 / tuning.options.connections as f64;
    Some(Limit {
        axis: LimitAxis::X,
        most,
        label: format!("does not fit: above {}", quantity(most, "B")),
    })
}

/// The memory of a setting to use, as each connection's share: its contexts may be freed, shared, or needed by cores alone.
fn share_of_chosen(tuning: &Tuning, point: &Point) -> Option<f64> {
    let is_it = |choice: &&Choice| choice.direction == point.direction && choice.deflate == Some(point.deflate());
    let choice = tuning.answer.choices.iter().find(is_it)?;
    Some(choice.memory_total_bytes as f64 / tuning.options.connections as f64)
}

fn series(name: &str, mut points: Vec<record::Point>) -> Series {
    points.sort_by(|one, other| one.x.total_cmp(&other.x).then(one.y.total_cmp(&other.y)));
    Series {
        name: name.to_owned(),
        source: Source::Measured,
        joined: false,
        points,
    }
}

/// A setting, labelled with its names, its text and its CPU time.
fn labelled(mut words: Vec<String>, point: &CodecPoint) -> record::Point {
    words.push(point.codec.clone());
    let time = point.cpu_seconds.as_ref();
    words.extend(time.map(|figure| quantity(figure.mean, &figure.unit)));
    record::Point {
        x: (point.memory_bytes + point.decompressor_memory_bytes) as f64,
        y: point.ratio,
        spread: point.ratio_ci95,
        label: Some(words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixtures;

    #[test]
    fn the_setting_to_use_is_a_series_of_its_own_and_the_first_to_be_labelled() {
        let chart = frontier(&fixtures::tuning(), Direction::Sent).expect("there are points");
        let first = &chart.series[0];
        assert_eq!((first.name.as_str(), first.points.len()), ("to use", 1));
        assert_eq!(
            first.points[0].label.as_deref(),
            Some("to use, deflate:6/w13/m6, 6.70 µs")
        );
        let others = chart.series[1..].iter().flat_map(|series| &series.points);
        assert!(
            others
                .filter_map(|point| point.label.as_ref())
                .all(|label| !label.contains("to use"))
        );
    }

    #[test]
    fn the_budget_is_what_each_connection_may_take() {
        let mut tuning = fixtures::tuning();
        (tuning.options.connections, tuning.options.memory_bytes) = (50_000, Some(8 << 30));
        let chart = frontier(&tuning, Direction::Sent).expect("there are points");
        let [limit] = &chart.limits[..] else {
            panic!("{:?}", chart.limits)
        };
        assert_eq!((limit.axis, limit.most.round()), (LimitAxis::X, 171_799.0));
        let drawn = chart.series.iter().flat_map(|series| &series.points);
        let labels: Vec<&str> = drawn.filter_map(|point| point.label.as_deref()).collect();
        assert!(
            !labels.is_empty() && labels.iter().all(|label| !label.contains("no-takeover")),
            "{labels:?}"
        );
        tuning.options.memory_bytes = None;
        assert_eq!(frontier(&tuning, Direction::Sent).unwrap().limits, []);
    }
}
