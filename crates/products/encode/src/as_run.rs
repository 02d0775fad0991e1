//! A comparison of encodings as a run of a study, so that two of them can be compared: a cell per setting, and one per link, setting and framing.

use crate::record::{EncodingComparison, EncodingDelivery, EncodingOutcome, EncodingSetting};
use lastmile_report::record::{Cell, Figure, Run};

impl EncodingComparison {
    /// The sizes of all settings, and their deliveries.
    pub fn as_run(&self) -> Run {
        let sizes = self.settings.iter().map(size);
        let deliveries = self.links.iter().flat_map(|link| {
            let cells = link.outcomes.iter().map(|outcome| delivery(link, outcome));
            cells.collect::<Vec<_>>()
        });
        let machine = self.cpu_machine.clone().unwrap_or_default();
        Run {
            cpu: "measured".to_owned(),
            cpu_machine: machine,
            ..Run::of_cells(
                format!("encode {}", self.source),
                &self.version,
                self.seed,
                sizes.chain(deliveries).collect(),
            )
        }
    }
}

fn size(setting: &EncodingSetting) -> Cell {
    let batch = setting.batch.to_string();
    let levels = [
        ("encoding", setting.encoding.as_str()),
        ("codec", setting.codec.as_str()),
        ("batch", batch.as_str()),
    ];
    let figures = [
        (
            "bytes_per_message",
            Some(Figure::of_value("B", setting.bytes_per_message)),
        ),
        ("encode_time", setting.cpu.clone()),
    ];
    Cell::of_figures("sizes", levels, figures, &[])
}

fn delivery(link: &EncodingDelivery, outcome: &EncodingOutcome) -> Cell {
    let batch = outcome.batch.to_string();
    let levels = [
        ("link", link.name.as_str()),
        ("encoding", outcome.encoding.as_str()),
        ("codec", outcome.codec.as_str()),
        ("batch", batch.as_str()),
        ("framing", outcome.framing.as_str()),
    ];
    let figures = [
        (
            "link_bytes_per_message",
            Some(Figure::of_value("B", outcome.link_bytes_per_message)),
        ),
        ("delivery_time", outcome.delivery_time.clone()),
    ];
    Cell::of_figures("delivery", levels, figures, &[])
}
