use super::*;
use crate::document::RowEmphasis;

fn bar(label: &str, length: f64, change: &str, interval: &str) -> Bar {
    Bar {
        label: label.to_owned(),
        length,
        figure: format!("{length} s"),
        change: change.to_owned(),
        interval: interval.to_owned(),
    }
}

fn screen(links: usize, kinds: usize) -> Screen {
    let group = |at: usize| BarGroup {
        name: format!("wpt/3g+loss={at}%"),
        detail: "1.6 Mbit/s".to_owned(),
        bars: vec![
            bar("as recorded", 11.8, "", ""),
            bar("gzip:6", 11.2, "-5 %", ""),
            bar("best", 5.5, "-53 %", "(50 to 55 %)"),
        ],
    };
    let mut table = Grid::new("", "")
        .word_columns(["kind", "use"])
        .figure_columns(["files", "bytes now", "then", "without it"])
        .word_columns(["stops paying above"]);
    for at in 0..kinds {
        let cells = [
            &format!("kind-{at}"),
            "br:11",
            "12",
            "402 kB",
            "117 kB",
            "+1.9 s",
            "10 Gbit/s",
        ];
        table.row(cells.map(str::to_owned).to_vec(), RowEmphasis::Plain, &[]);
    }
    Screen {
        question: "shop.har: 69 requests of 4 hosts, 1.91 MB; simulated, 7 to 28 loads each".to_owned(),
        bars: (1..=links).map(group).collect(),
        table: Some(table),
        spare_columns: vec!["stops paying above", "files"],
        doubts: vec!["too-few: there are few responses, so the figure may be of chance, and another page may differ".to_owned(), "b: c".to_owned()],
        answer: "Compress files with brotli 11 and what is made on request with brotli 5: 6 s less on all links that were named.".to_owned(),
        next: "lastmile advise shop.har --server nginx".to_owned(),
        ..Screen::default()
    }
}

fn shown(screen: &Screen, width: u16) -> String {
    render(screen, TerminalStyle { width, colour: false })
}

#[test]
fn a_screen_looks_like_this() {
    insta::assert_snapshot!(shown(&screen(2, 5), 80));
}

#[test]
fn a_screen_has_no_more_lines_and_columns_than_the_terminal_and_ends_with_the_next_step() {
    for (links, kinds) in [(0, 0), (1, 1), (3, 5), (9, 40), (40, 9)] {
        for width in [60, 80, 120] {
            let text = shown(&screen(links, kinds), width);
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines.len() <= LINES_MAX, "{} lines: {text}", lines.len());
            assert!(lines.iter().all(|line| length(line) <= width.into()), "{width}: {text}");
            assert!(lines.last().is_some_and(|line| line.starts_with("next: ")), "{text}");
            assert!(kinds < 3 || text.contains("kind-2"), "three rows at least: {text}");
        }
    }
}

#[test]
fn a_narrow_table_loses_its_spare_columns_in_their_order() {
    let heads = |width| {
        shown(&screen(1, 2), width)
            .lines()
            .find(|line| line.starts_with("kind "))
            .map(str::to_owned)
    };
    assert!(heads(80).is_some_and(|head| head.ends_with("stops paying above")));
    assert!(heads(60).is_some_and(|head| head.contains("files") && head.ends_with("without it")));
}

#[test]
fn control_characters_and_long_names_do_no_harm() {
    let mut hostile = screen(1, 1);
    hostile.bars[0].name = format!("\u{1b}[2J{}", "x".repeat(300));
    hostile.question = "y".repeat(500);
    hostile.doubts = vec!["z".repeat(500)];
    let text = shown(&hostile, 60);
    assert!(
        !text.contains('\u{1b}') && text.lines().all(|line| length(line) <= 60),
        "{text}"
    );
}

#[test]
fn a_bar_is_as_long_as_its_share() {
    for (share, bar) in [
        (0.0, ""),
        (1e-9, "▏"),
        (0.5, "██"),
        (0.53, "██▏"),
        (1.0, "████"),
        (7.0, "████"),
    ] {
        assert_eq!(bar_of(share, 4), bar, "{share}");
    }
}

#[test]
fn a_path_with_blanks_can_be_pasted_into_a_shell() {
    assert_eq!(shell_word("runs/bulk-1"), "runs/bulk-1");
    assert_eq!(shell_word("my runs/it's"), r"'my runs/it'\''s'");
}

#[test]
fn a_doubt_that_several_links_share_is_told_once() {
    let doubt = |text: &str| Doubt {
        kind: crate::record::DoubtKind::CutOff,
        text: text.to_owned(),
    };
    let texts = Screen::doubt_texts(&[doubt("one. More."), doubt("two."), doubt("one. Other.")]);
    assert_eq!(texts, ["cut-off: one.", "cut-off: two."]);
}

#[test]
fn no_name_beside_bars_is_cut_at_60_columns() {
    let mut narrow = screen(1, 0);
    narrow.bars[0].name = "published/dialup-56k".to_owned();
    narrow.bars[0].bars[1].label = "stream deflate:6, by 10".to_owned();
    let text = shown(&narrow, 60);
    for whole in ["published/dialup-56k  ", "stream deflate:6, by 10  ", "11.8"] {
        assert!(text.contains(whole), "{text}");
    }
    assert!(text.lines().all(|line| length(line) <= 60), "{text}");
}
