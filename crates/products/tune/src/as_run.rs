//! A tuning as a run of a study, so that two of them can be compared: a cell per direction for the advised setting, one per measured setting, and
//! one per delivery over a link.

use crate::record::{Choice, CodecPoint, DeliveryOutcome, LinkDelivery, Scope, Tuning, setting_name};
use lastmile_report::record::{Cell, Figure, Run};

impl Tuning {
    /// The advised settings, the measured ones, and the deliveries.
    pub fn as_run(&self) -> Run {
        let points = self.points.iter().map(|point| self.as_codec_point(point));
        let points = points.chain(self.codecs.iter().cloned());
        let deliveries = self.links.iter().flat_map(|link| {
            let cells = link.outcomes.iter().map(|outcome| delivery(link, outcome));
            cells.collect::<Vec<_>>()
        });
        let cells = self
            .answer
            .choices
            .iter()
            .map(advised)
            .chain(points.map(|point| measured(&point)));
        let machine = self.cpu_machine.clone().unwrap_or_default();
        Run {
            cpu: "measured".to_owned(),
            cpu_machine: machine,
            ..Run::of_cells(
                format!("tune {}", self.transcript.source),
                &self.version,
                self.seed,
                cells.chain(deliveries).collect(),
            )
        }
    }
}

fn ratio(value: f64, ci95: Option<[f64; 2]>) -> Option<Figure> {
    let figure = Figure::of_value("1", value);
    Some(Figure { ci95, ..figure })
}

fn bytes(count: u64) -> Option<Figure> {
    Some(Figure::of_value("B", count as f64))
}

fn advised(choice: &Choice) -> Cell {
    let scope = match choice.scope {
        Scope::PermessageDeflate => "permessage-deflate",
        Scope::AnyCodec => "any codec",
    };
    let levels = [("direction", choice.direction.name()), ("scope", scope)];
    let figures = [
        ("compression_ratio", ratio(choice.ratio, choice.ratio_ci95)),
        ("memory_bytes", bytes(choice.memory_bytes)),
        ("memory_total_bytes", bytes(choice.memory_total_bytes)),
        ("compress_time", choice.cpu_seconds.clone()),
    ];
    Cell::of_figures("advised", levels, figures, &[])
}

fn measured(point: &CodecPoint) -> Cell {
    let mut setting = setting_name(&point.codec, point.dictionary.as_ref(), point.policy.as_ref());
    if point.measured_on != "all" {
        setting += &format!(" (measured on {})", point.measured_on);
    }
    let levels = [("direction", point.direction.name()), ("setting", setting.as_str())];
    let figures = [
        ("compression_ratio", ratio(point.ratio, point.ratio_ci95)),
        ("memory_bytes", bytes(point.memory_bytes)),
        ("decoder_memory_bytes", bytes(point.decompressor_memory_bytes)),
        ("compress_time", point.cpu_seconds.clone()),
    ];
    Cell::of_figures("settings", levels, figures, &[])
}

fn delivery(link: &LinkDelivery, outcome: &DeliveryOutcome) -> Cell {
    let levels = [
        ("direction", outcome.direction.name()),
        ("link", link.name.as_str()),
        ("setting", outcome.setting.as_str()),
        ("world", link.world.as_str()),
    ];
    let figures = [
        ("delivery_time", Some(outcome.delivery_time.clone())),
        ("link_bytes", Some(outcome.link_bytes.clone())),
    ];
    Cell::of_figures("delivery", levels, figures, &link.doubts)
}
