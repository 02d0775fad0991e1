//! The tables and sentence on a WebSocket server's conformance.

use crate::record::{Conformance, RuleStatus};
use lastmile_report::csv::Rows;
use lastmile_report::document::{Block, Detail, Grid, Record, RowEmphasis};
use lastmile_report::screen::Screen;

impl Record for Conformance {
    /// The answer, then every rule: the broken ones first, since those need mending.
    fn blocks(&self, _: Detail) -> Vec<Block> {
        let stood = [
            (RuleStatus::Broken, "Broken", RowEmphasis::Bad),
            (RuleStatus::Held, "Held", RowEmphasis::Good),
            (RuleStatus::NotApplicable, "Not applicable", RowEmphasis::Plain),
        ];
        let tables = stood.into_iter().filter_map(|(standing, title, tone)| {
            let mut grid = Grid::new(title, "").word_columns(["rule", "requirement", "what the server did", "source"]);
            for verdict in self.verdicts.iter().filter(|verdict| verdict.standing == standing) {
                let cells = [&verdict.name, &verdict.asks, &verdict.found, &verdict.source];
                grid.row(cells.map(String::clone).to_vec(), tone, &[]);
            }
            (!grid.rows.is_empty()).then_some(Block::Grid(grid))
        });
        [Block::Answer(answer(self, true))].into_iter().chain(tables).collect()
    }

    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        rows.head(&[], &[], &["rule", "standing", "asks", "found", "source"]);
        for verdict in &self.verdicts {
            let standing = verdict.standing.label();
            rows.row([&verdict.name, standing, &verdict.asks, &verdict.found, &verdict.source].map(str::to_owned));
        }
        rows
    }

    fn screen(&self) -> Option<Screen> {
        let broken = self
            .verdicts
            .iter()
            .filter(|verdict| verdict.standing == RuleStatus::Broken);
        let grid = Grid::new("", "").word_columns(["broken rule", "source", "what the server did"]);
        let rows = broken.map(|verdict| {
            let source = verdict.source.replace(" section", "");
            vec![verdict.name.clone(), source, verdict.found.clone()]
        });
        let grid = grid.plain_rows(rows);
        Some(Screen {
            question: format!("{}: {} rules tried.", self.target, self.verdicts.len()),
            table: (!grid.rows.is_empty()).then_some(grid),
            spare_columns: vec!["source"],
            answer: answer(self, false),
            ..Screen::default()
        })
    }
}

/// How many rules the server keeps, and the names of the broken ones where nothing else shows them.
fn answer(conformance: &Conformance, is_named: bool) -> String {
    let server = conformance
        .server
        .as_deref()
        .map_or(String::new(), |server| format!(" ({server})"));
    let (target, held) = (&conformance.target, conformance.held);
    let broken: Vec<_> = conformance
        .verdicts
        .iter()
        .filter(|verdict| verdict.standing == RuleStatus::Broken)
        .map(|verdict| verdict.name.as_str())
        .collect();
    let kept = match &broken[..] {
        [] => format!("keeps all {held} rules that apply to it"),
        broken => {
            let asked = held + broken.len() as u64;
            let names = if is_named {
                format!(": {}", broken.join(", "))
            } else {
                String::new()
            };
            format!("breaks {} of the {asked} rules that apply to it{names}", broken.len())
        }
    };
    let not_applicable = match conformance.not_applicable {
        0 => String::new(),
        1 => " 1 rule does not apply: the server does not offer the optional feature it tests.".to_owned(),
        count => format!(" {count} rules do not apply: the server does not offer the optional features they test."),
    };
    format!("{target}{server} {kept}.{not_applicable}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Verdict;
    use lastmile_report::testing::{check_record, check_schema, check_screen};

    fn conformance() -> Conformance {
        let verdict = |name: &str, standing, found: &str| Verdict {
            name: name.to_owned(),
            asks: format!("{name} is refused"),
            source: "RFC 6455 section 5.2".to_owned(),
            standing,
            found: found.to_owned(),
        };
        let verdicts = vec![
            verdict("rsv1", RuleStatus::Held, "it closes with 1002"),
            verdict("rsv2", RuleStatus::Broken, "the server sends nothing more"),
            verdict("rsv3", RuleStatus::NotApplicable, "the server declines"),
        ];
        Conformance::new("0.1.0", "ws://127.0.0.1:9001/", Some("ws 8".to_owned()), verdicts)
    }

    #[test]
    fn the_screen_looks_like_this() {
        insta::assert_snapshot!(check_screen(&conformance()));
    }

    #[test]
    fn the_record_keeps_what_every_record_must() {
        check_schema("conform", &conformance());
        check_record(&conformance(), &["held", "broken", "not-applicable"]);
    }

    #[test]
    fn what_is_broken_comes_before_what_is_held() {
        let blocks = conformance().blocks(Detail::Short);
        let titles: Vec<&str> = blocks
            .iter()
            .filter_map(|block| match block {
                Block::Grid(grid) => Some(grid.title.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(titles, ["Broken", "Held", "Not applicable"]);
    }

    #[test]
    fn what_is_broken_is_named_in_the_answer() {
        assert_eq!(
            answer(&conformance(), true),
            "ws://127.0.0.1:9001/ (ws 8) breaks 1 of the 2 rules that apply to it: rsv2. 1 rule does not apply: the server does not offer the optional feature it tests."
        );
    }
}
