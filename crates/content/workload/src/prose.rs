//! Prose: four pages of English, as lines of 80 columns, and the lines of a user's own text.
//!
//! The text was written for this project. It has the shape of the text in ZeroC's "Slow Connections Performance Tests" (2008): 1,241
//! words in 116 lines, with empty lines between paragraphs.

/// The lines of the built-in text.
pub fn lines() -> Vec<String> {
    split(include_str!("data/prose.txt"))
}

/// The lines of any text, without their ends; a carriage return before an end is removed.
pub fn split(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_wire_formats::{cdr, ice};

    #[test]
    fn the_text_has_the_published_shape() {
        let lines = lines();
        let words: usize = lines.iter().map(|line| line.split_whitespace().count()).sum();
        assert_eq!((lines.len(), words), (116, 1_241));
        assert!(lines.iter().all(|line| line.is_ascii() && line.len() <= 80));
    }

    #[test]
    fn the_text_is_within_five_percent_of_the_published_sizes() {
        // 6.9 kB and 7.6 kB are messages, whose headers add about 40 and 60 bytes to these.
        let within = |size: usize, printed: f64| (size as f64 / printed - 1.0).abs() < 0.05;
        assert!(within(ice::to_vec(&lines()).unwrap().len(), 6_900.0));
        assert!(within(cdr::to_vec(&lines()).unwrap().len(), 7_600.0));
    }
}
