//! Where does text fit? Widths are estimated, since the reader's font is not known here.

/// A rectangle in px; y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Box2 {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Box2 {
    pub(super) fn around(x: f64, y: f64, half: f64) -> Self {
        Self {
            left: x - half,
            top: y - half,
            right: x + half,
            bottom: y + half,
        }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn holds(&self, other: &Self) -> bool {
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

/// What a chart's area is taken by, and where there is room beside a point.
#[derive(Debug)]
pub(super) struct Labels {
    area: Box2,
    taken: Vec<Box2>,
}

impl Labels {
    pub(super) fn new(area: Box2) -> Self {
        Self {
            area,
            taken: Vec::new(),
        }
    }

    pub(super) fn occupy(&mut self, taken: Box2) {
        self.taken.push(taken);
    }

    /// The base line's x and y and the anchor of a text `width` wide beside the point at `x`, `y`: right, above, below, left, then
    /// the corners; the first that meets nothing. None where all do.
    pub(super) fn place(&mut self, x: f64, y: f64, width: f64) -> Option<(f64, f64, Anchor)> {
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
        let (spot, taken) = spots.into_iter().find_map(|(x, y, anchor)| {
            let left = match anchor {
                Anchor::Start => x,
                Anchor::Middle => x - width / 2.0,
                Anchor::End => x - width,
            };
            let wanted = Box2 {
                left,
                top: y - UP,
                right: left + width,
                bottom: y + DOWN,
            };
            let free = self.area.holds(&wanted) && !self.taken.iter().any(|taken| taken.meets(&wanted));
            free.then_some(((x, y, anchor), wanted))
        })?;
        self.occupy(taken);
        Some(spot)
    }
}

/// About how wide `text` is at 13 px: em widths as in Helvetica, which the usual sans-serif fonts are near; wide scripts count 1 em.
pub(super) fn text_width(text: &str) -> f64 {
    const PX: f64 = 13.0;
    text.chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.28,
            ' ' | 'f' | 't' | 'r' | '/' | '(' | ')' | '-' | '[' | ']' | 'I' => 0.34,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.88,
            c if c.is_ascii_uppercase() => 0.68,
            c if (c as u32) < 0x1100 => 0.56,
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

/// `text` in lines no wider than `room`, broken after spaces, slashes, hyphens and plus signs; at most three, each cut where it
/// still does not fit.
pub(super) fn wrap(text: &str, room: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive([' ', '/', '-', '+']) {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && text_width(&lines[last]) + text_width(word.trim_end()) > room && lines.len() < 3 {
            lines.push(word.to_owned());
        } else {
            lines[last].push_str(word);
        }
    }
    lines.iter().map(|line| shorten(line.trim(), room.max(20.0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_goes_right_then_above_then_nowhere() {
        let mut labels = Labels::new(Box2 {
            left: 0.0,
            top: 0.0,
            right: 200.0,
            bottom: 40.0,
        });
        assert_eq!(labels.place(100.0, 20.0, 30.0), Some((108.0, 24.0, Anchor::Start)));
        assert_eq!(labels.place(100.0, 20.0, 30.0), Some((100.0, 11.0, Anchor::Middle)));
        assert_eq!(labels.place(100.0, 20.0, 500.0), None);
    }

    #[test]
    fn long_names_break_where_words_end() {
        assert_eq!(wrap("seeds/dialup-56k", 60.0), ["seeds/", "dialup-", "56k"]);
        assert_eq!(wrap("56K dial-up", 500.0), ["56K dial-up"]);
        assert_eq!(wrap("", 50.0), [""]);
        assert!(shorten("a name that goes on and on", 60.0).ends_with('…'));
    }
}
