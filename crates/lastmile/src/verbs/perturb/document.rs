//! The table and sentences on what a sensor costs the program that it observes.

use super::record::{Effect, Perturbation};
use lastmile_report::csv::{Rows, STATISTICS, statistics_of};
use lastmile_report::document::{Block, Detail, Grid, Record, RowEmphasis};
use lastmile_report::number::{counted, interval, mean_and_spread, percent, quantity, signed_percent};
use lastmile_report::screen::{Screen, shell_word};

impl Record for Perturbation {
    fn blocks(&self, _: Detail) -> Vec<Block> {
        vec![Block::Answer(answer(self)), Block::Grid(grid(self))]
    }

    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        rows.head(&["figure", "sensor"], &[], &STATISTICS);
        for effect in &self.effects {
            for (sensor, figure) in [("without", &effect.without), ("with", &effect.with)] {
                let mut row = vec![effect.name.clone(), sensor.to_owned()];
                row.extend(statistics_of(figure));
                rows.row(row);
            }
        }
        rows
    }

    fn screen(&self) -> Option<Screen> {
        let command: Vec<String> = self.command.iter().map(|word| shell_word(word)).collect();
        let mut table = grid(self);
        table.title.clear();
        Some(Screen {
            question: format!(
                "{}: {} of runs, without and with its sensor in turns. Differences have 95 % intervals.",
                command.join(" "),
                counted(self.pairs, "pair")
            ),
            table: Some(table),
            spare_columns: vec!["with", "without", "share"],
            answer: answer(self),
            ..Screen::default()
        })
    }
}

fn answer(perturbation: &Perturbation) -> String {
    if perturbation.events == 0.0 {
        return "The program emitted no event: nothing was observed, so nothing can be said of its sensor. It finds the sensor by \
                LASTMILE_SENSOR, or by OTEL_EXPORTER_OTLP_ENDPOINT."
            .to_owned();
    }
    let sentences: Vec<String> = perturbation.effects.iter().map(sentence).collect();
    let per_run = format!("It emitted {} per run.", quantity(perturbation.events, "events"));
    format!("{} {per_run}", sentences.join(" "))
}

/// `With its sensor the CPU time is 3.1 % more (1.2 to 5.0 %): 40 ms.`
fn sentence(effect: &Effect) -> String {
    let name = title(effect);
    let unit = &effect.with.unit;
    let Some([low, high]) = effect.difference_ci95 else {
        return format!("With its sensor the {name} does not change.");
    };
    if !effect.is_certain() {
        return format!("No effect on the {name} is certain ({}).", interval([low, high], unit));
    }
    let more = if effect.difference > 0.0 { "more" } else { "less" };
    let share = effect
        .share
        .map_or_else(String::new, |share| format!("{} ", percent(share.abs())));
    let shares = effect.share_ci95.map_or_else(String::new, |[low, high]| {
        format!(" ({} to {})", signed_percent(low), signed_percent(high))
    });
    format!(
        "With its sensor the {name} is {share}{more}{shares}: by {}.",
        quantity(effect.difference.abs(), unit)
    )
}

/// A figure's name as a person reads it.
fn title(effect: &Effect) -> &str {
    match effect.name.as_str() {
        "cpu_time" => "CPU time",
        "run_time" => "run time",
        "response_time_median" => "median response time",
        "response_time_p99" => "99th percentile of response times",
        other => other,
    }
}

fn grid(perturbation: &Perturbation) -> Grid {
    let note = format!(
        "{} pairs of runs, in turns; the difference is the mean of the pairs with its 95 % interval",
        perturbation.pairs
    );
    let mut grid = Grid::new("With and without the sensor", note)
        .word_columns(["figure"])
        .figure_columns(["without", "with", "difference", "share"]);
    for effect in &perturbation.effects {
        let unit = &effect.with.unit;
        let difference = match effect.difference_ci95 {
            Some(ends) => format!("{} ({})", quantity(effect.difference, unit), interval(ends, unit)),
            None => quantity(effect.difference, unit),
        };
        let tone = match (effect.is_certain(), effect.difference > 0.0) {
            (true, true) => RowEmphasis::Bad,
            (true, false) => RowEmphasis::Good,
            (false, _) => RowEmphasis::Plain,
        };
        let cells = vec![
            title(effect).to_owned(),
            mean_and_spread(&effect.without),
            mean_and_spread(&effect.with),
            difference,
            effect.share.map_or_else(String::new, signed_percent),
        ];
        grid.row(cells, tone, &[]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_report::record::Figure;
    use lastmile_report::testing::{check_record, check_schema, check_screen};
    use lastmile_units::Seed;

    fn perturbation() -> Perturbation {
        let figure = |values: &[f64]| {
            let runs: Vec<Vec<f64>> = values.iter().map(|value| vec![*value]).collect();
            Figure::of_runs("s", "run", &runs, &["machine".to_owned()], Seed::new(1)).expect("it has runs")
        };
        let effect = |name: &str, with: &[f64], ends: [f64; 2]| Effect {
            name: name.to_owned(),
            without: figure(&[0.19, 0.2, 0.21]),
            with: figure(with),
            difference: 0.02,
            difference_ci95: Some(ends),
            share: Some(0.1),
            share_ci95: Some(ends.map(|end| end / 0.2)),
        };
        Perturbation {
            schema: Perturbation::SCHEMA.to_owned(),
            version: "0.1.0".to_owned(),
            command: vec!["./program".to_owned()],
            pairs: 3,
            events: 1000.0,
            effects: vec![
                effect("cpu_time", &[0.21, 0.22, 0.23], [0.016, 0.024]),
                effect("run_time", &[0.2, 0.22, 0.24], [-0.01, 0.05]),
            ],
        }
    }

    #[test]
    fn the_screen_looks_like_this() {
        insta::assert_snapshot!(check_screen(&perturbation()));
    }

    #[test]
    fn the_record_keeps_what_every_record_must() {
        check_schema("perturb", &perturbation());
        check_record(&perturbation(), &[]);
    }

    #[test]
    fn an_effect_is_stated_with_its_interval_and_chance_is_not_called_an_effect() {
        let answer = answer(&perturbation());
        assert!(
            answer.contains("the CPU time is 10 % more (+8 % to +12 %): by 20 ms."),
            "{answer}"
        );
        assert!(
            answer.contains("No effect on the run time is certain (-10 to 50 ms)."),
            "{answer}"
        );
    }

    #[test]
    fn a_program_without_events_gets_no_figure_but_the_way_to_its_sensor() {
        let silent = Perturbation {
            events: 0.0,
            ..perturbation()
        };
        assert!(answer(&silent).contains("LASTMILE_SENSOR"));
    }
}
