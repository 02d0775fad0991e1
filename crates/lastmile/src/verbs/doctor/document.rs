//! The tables and sentences on what a machine can do.

use super::record::{Check, CheckStatus, DoctorReport};
use lastmile_report::csv::Rows;
use lastmile_report::document::{Block, Detail, Grid, Record, RowEmphasis};
use lastmile_report::number::counted;
use lastmile_report::screen::Screen;

impl Record for DoctorReport {
    /// The answer, then what was found, with remedies.
    fn blocks(&self, _: Detail) -> Vec<Block> {
        let machine = grid("This machine", "", &self.machine);
        let peers = "Real servers and clients that studies run in the emulated world; nothing else needs them.";
        let peers = grid("Peers", peers, &self.peers);
        vec![Block::Answer(answer(self)), Block::Grid(machine), Block::Grid(peers)]
    }

    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        rows.row(["part", "name", "standing", "found", "remedy"]);
        for (part, abilities) in [("machine", &self.machine), ("peers", &self.peers)] {
            for ability in abilities {
                let remedy = ability.remedy.as_deref().unwrap_or_default();
                rows.row([part, &ability.name, ability.standing.label(), &ability.found, remedy]);
            }
        }
        rows
    }

    /// What is not ready, and what to do about it.
    fn screen(&self) -> Option<Screen> {
        let is_ready = |check: &&Check| check.standing == CheckStatus::Ready;
        let ready = |checks: &[Check]| {
            let all = counted(checks.len() as u64, "check");
            format!("{} of {all}", checks.iter().filter(is_ready).count())
        };
        let others = self.machine.iter().filter(|check| !is_ready(check));
        let rows = others.map(|check| {
            let remedy = check.remedy.clone().unwrap_or_default();
            vec![check.name.clone(), check.standing.label().to_owned(), remedy]
        });
        let grid = Grid::new("", "").word_columns(["check", "status", "remedy"]);
        let grid = grid.plain_rows(rows);
        Some(Screen {
            question: format!(
                "This machine: {} ready. Real servers and clients, which only studies of the emulated world need: {} of {} installed.",
                ready(&self.machine),
                self.peers.iter().filter(is_ready).count(),
                self.peers.len(),
            ),
            table: (!grid.rows.is_empty()).then_some(grid),
            answer: answer(self),
            next: "lastmile doctor --details".to_owned(),
            ..Screen::default()
        })
    }
}

fn answer(examination: &DoctorReport) -> String {
    let named = |standing| {
        let of = examination
            .machine
            .iter()
            .filter(|ability| ability.standing == standing);
        of.map(|ability| ability.name.as_str()).collect::<Vec<_>>()
    };
    match (&named(CheckStatus::Missing)[..], &named(CheckStatus::Limited)[..]) {
        ([], []) => "The emulated world works here, with everything that it can use.".to_owned(),
        ([], limited) => format!("The emulated world works here. Limited: {}.", limited.join(", ")),
        (missing, _) => format!(
            "The emulated world does not work here, since this machine lacks {}; the simulated world does.",
            missing.join(", ")
        ),
    }
}

fn grid(title: &str, note: &str, abilities: &[Check]) -> Grid {
    let mut grid = Grid::new(title, note).word_columns(["check", "status", "found", "remedy"]);
    for ability in abilities {
        let tone = match ability.standing {
            CheckStatus::Ready => RowEmphasis::Good,
            CheckStatus::Limited => RowEmphasis::Plain,
            CheckStatus::Missing => RowEmphasis::Bad,
        };
        let cells = vec![
            ability.name.clone(),
            ability.standing.label().to_owned(),
            ability.found.clone(),
            ability.remedy.clone().unwrap_or_default(),
        ];
        grid.row(cells, tone, &[]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_report::terminal::{self, TerminalStyle};
    use lastmile_report::testing::{check_record, check_schema, check_screen};

    fn examination() -> DoctorReport {
        let ability = |name: &str, standing, found: &str, remedy: &str| Check {
            name: name.to_owned(),
            standing,
            found: found.to_owned(),
            remedy: (!remedy.is_empty()).then(|| remedy.to_owned()),
        };
        let machine = vec![
            ability(
                "user namespaces",
                CheckStatus::Ready,
                "entered: this user may make network namespaces inside",
                "",
            ),
            ability("/dev/net/tun", CheckStatus::Ready, "a host can be attached by it", ""),
            ability(
                "SCHED_FIFO",
                CheckStatus::Limited,
                "refused: on a busy machine packets will be late",
                "run as root",
            ),
        ];
        let peers = vec![ability(
            "nginx",
            CheckStatus::Limited,
            "there is no program nginx",
            "`make peers` installs it (as root: apt-get install nginx-light)",
        )];
        DoctorReport::new("0.1.0", machine, peers)
    }

    #[test]
    fn the_record_keeps_what_every_record_must() {
        check_schema("doctor", &examination());
        check_record(&examination(), &["ready", "limited", "missing"]);
    }

    #[test]
    fn a_machine_is_shown_like_this() {
        let style = TerminalStyle {
            width: 120,
            colour: false,
        };
        insta::assert_snapshot!(terminal::render(&examination(), Detail::Short, style));
    }

    #[test]
    fn the_screen_looks_like_this() {
        insta::assert_snapshot!(check_screen(&examination()));
    }

    #[test]
    fn one_thing_missing_is_enough_for_no_emulated_world() {
        let sample = examination();
        assert!(sample.emulated_world);
        assert_eq!(answer(&sample), "The emulated world works here. Limited: SCHED_FIFO.");
        let mut machine = sample.machine;
        machine[0].standing = CheckStatus::Missing;
        let without = DoctorReport::new("0.1.0", machine, Vec::new());
        assert!(!without.emulated_world);
        assert!(
            answer(&without).contains("since this machine lacks user namespaces"),
            "{}",
            answer(&without)
        );
    }
}
