//! Finds room for text in a chart. Widths are estimated, since the reader's font is not known here.

/// A rectangle in px; y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    pub(super) fn around(x: f64, y: f64, half: f64) -> Self {
        Self {
            left: x - half,
            top: y - half,
            right: x + half,
            bottom: y + half,
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn contains_point(&self, (x, y): (f64, f64)) -> bool {
        self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
    }

    fn contains_rect(&self, other: &Self) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }
}

/// At which end of a text its x lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    /// As SVG names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// The occupied parts of a chart's area, and the search for room beside a point.
#[derive(Debug)]
pub(super) struct Labels {
    area: Rect,
    taken: Vec<Rect>,
    /// Points along lines: text over a line is readable, but text beside it reads better.
    crossed: Vec<(f64, f64)>,
}

impl Labels {
    pub(super) fn new(area: Rect) -> Self {
        Self {
            area,
            taken: Vec::new(),
            crossed: Vec::new(),
        }
    }

    pub(super) fn occupy(&mut self, taken: Rect) {
        self.taken.push(taken);
    }

    /// Whether nothing lies there, lines included.
    pub(super) fn is_free(&self, wanted: &Rect) -> bool {
        self.area.contains_rect(wanted)
            && !self.taken.iter().any(|taken| taken.overlaps(wanted))
            && !self.crossed.iter().any(|point| wanted.contains_point(*point))
    }

    /// Notes the line through `points`.
    pub(super) fn occupy_line(&mut self, points: &[(f64, f64)]) {
        const STEP: f64 = 5.0;
        for pair in points.windows(2) {
            let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
            let steps = ((to_x - x).abs().max((to_y - y).abs()) / STEP).ceil();
            let at = |step: u32| {
                let share = f64::from(step) / steps.max(1.0);
                (x + share * (to_x - x), y + share * (to_y - y))
            };
            self.crossed.extend((0..=steps as u32).map(at));
        }
    }

    /// The base line's x and y and the anchor of a text `width` wide beside the point at `x`, `y`: right, above, below, left, then
    /// the corners; the first that overlaps nothing, else the first that overlaps only a line. None where there is neither.
    pub(super) fn find_room(&mut self, x: f64, y: f64, width: f64) -> Option<(f64, f64, Anchor)> {
        // From the base line, text of 12 px reaches about 10 px up and 3 px down.
        const UP: f64 = 10.0;
        const DOWN: f64 = 3.0;
        let spots = [
            (x + 8.0, y + 4.0, Anchor::Start),
            (x, y - 9.0, Anchor::Middle),
            (x, y + 17.0, Anchor::Middle),
            (x - 8.0, y + 4.0, Anchor::End),
            (x + 7.0, y - 7.0, Anchor::Start),
            (x + 7.0, y + 15.0, Anchor::Start),
            (x - 7.0, y - 7.0, Anchor::End),
            (x - 7.0, y + 15.0, Anchor::End),
        ];
        let candidates = spots.map(|(x, y, anchor)| {
            let left = match anchor {
                Anchor::Start => x,
                Anchor::Middle => x - width / 2.0,
                Anchor::End => x - width,
            };
            (
                (x, y, anchor),
                Rect {
                    left,
                    top: y - UP,
                    right: left + width,
                    bottom: y + DOWN,
                },
            )
        });
        let free =
            |wanted: &Rect| self.area.contains_rect(wanted) && !self.taken.iter().any(|taken| taken.overlaps(wanted));
        let clear = |wanted: &Rect| free(wanted) && !self.crossed.iter().any(|point| wanted.contains_point(*point));
        let found = candidates
            .iter()
            .find(|(_, wanted)| clear(wanted))
            .or_else(|| candidates.iter().find(|(_, wanted)| free(wanted)));
        let (spot, taken) = *found?;
        self.occupy(taken);
        Some(spot)
    }
}

/// The approximate width of `text` at 13 px: em widths a little over Helvetica's, since
/// DejaVu and Verdana are wider; East Asian scripts count 1 em.
pub(super) fn text_width(text: &str) -> f64 {
    const PX: f64 = 13.0;
    text.chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.28,
            ' ' | 'f' | 't' | 'r' | '/' | '(' | ')' | '-' | '[' | ']' | 'I' => 0.34,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.88,
            c if c.is_ascii_uppercase() => 0.68,
            c if (c as u32) < 0x1100 => 0.6,
            _ => 1.0,
        })
        .sum::<f64>()
        * PX
}

/// `text`, cut with an ellipsis where it is wider than `room`.
pub(super) fn shorten(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if text_width(&short) + text_width("m…") > room {
            break;
        }
        short.push(c);
    }
    short + "…"
}

/// `text` in at most `lines_max` lines no wider than `room`, broken after spaces, slashes, hyphens and plus signs, and within words that
/// are wider themselves. Where it does not fit, its last line is cut.
pub(super) fn wrap(text: &str, room: f64, lines_max: usize) -> Vec<String> {
    let room = room.max(20.0);
    let mut lines = vec![String::new()];
    for word in text.split_inclusive([' ', '/', '-', '+']) {
        let is_full = |line: &str, more: &str| text_width(line) + text_width(more) > room;
        if lines
            .last()
            .is_some_and(|last| !last.is_empty() && is_full(last, word.trim_end()))
            && lines.len() < lines_max
        {
            lines.push(String::new());
        }
        for letter in word.chars() {
            let is_full = lines
                .last()
                .is_some_and(|last| is_full(last, letter.encode_utf8(&mut [0; 4])));
            if is_full && letter != ' ' && lines.len() < lines_max {
                lines.push(String::new());
            }
            let last = lines.len() - 1;
            lines[last].push(letter);
        }
    }
    lines.iter().map(|line| shorten(line.trim(), room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_goes_right_then_above_then_nowhere() {
        let mut labels = Labels::new(Rect {
            left: 0.0,
            top: 0.0,
            right: 200.0,
            bottom: 40.0,
        });
        assert_eq!(labels.find_room(100.0, 20.0, 30.0), Some((108.0, 24.0, Anchor::Start)));
        assert_eq!(labels.find_room(100.0, 20.0, 30.0), Some((100.0, 11.0, Anchor::Middle)));
        assert_eq!(labels.find_room(100.0, 20.0, 500.0), None);
    }

    #[test]
    fn a_label_keeps_clear_of_lines_where_it_can() {
        let mut labels = Labels::new(Rect {
            left: 0.0,
            top: 0.0,
            right: 200.0,
            bottom: 100.0,
        });
        labels.occupy_line(&[(100.0, 50.0), (200.0, 50.0)]);
        assert_eq!(labels.find_room(100.0, 50.0, 30.0), Some((100.0, 41.0, Anchor::Middle)));
        labels.occupy_line(&[(0.0, 35.0), (200.0, 35.0)]);
        labels.occupy_line(&[(0.0, 65.0), (200.0, 65.0)]);
        labels.occupy_line(&[(0.0, 50.0), (100.0, 50.0)]);
        assert_eq!(labels.find_room(100.0, 50.0, 30.0), Some((108.0, 54.0, Anchor::Start)));
    }

    #[test]
    fn long_names_break_where_words_end() {
        assert_eq!(wrap("chrome/dialup-56k", 60.0, 3), ["chrome/", "dialup-", "56k"]);
        assert_eq!(wrap("56K dial-up", 500.0, 3), ["56K dial-up"]);
        assert_eq!(wrap("", 50.0, 3), [""]);
        assert_eq!(wrap("mmmmmmmm", 50.0, 3), ["mmmm", "mmmm"]);
        assert!(wrap("mmmmmmmmmmmm", 50.0, 2)[1].ends_with('…'));
        assert!(shorten("a name that goes on and on", 60.0).ends_with('…'));
    }
}
