//! Suggests the known name that is most like an unknown one.

/// The similarity from which a known name is worth suggesting, from 0 to 1 by Jaro and Winkler, which favours a shared beginning. Our
/// own choice: it accepts a slip or two in a word of six letters and refuses unrelated words.
const SIMILARITY_MIN: f64 = 0.8;

/// The known name most like `word`, where one is similar enough to be worth suggesting; the first of equals.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for name in known {
        let similarity = strsim::jaro_winkler(word, name);
        if similarity >= SIMILARITY_MIN && best.is_none_or(|(most, _)| similarity > most) {
            best = Some((similarity, name));
        }
    }
    best.map(|(_, name)| name)
}

/// `; did you mean "..."?`, or nothing where no known name is similar.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_forgiven_and_an_unrelated_word_is_not() {
        let known = ["repeats", "seed", "interval"];
        assert_eq!(nearest("repeat", known), Some("repeats"));
        assert_eq!(nearest("sead", known), Some("seed"));
        assert_eq!(nearest("codec", known), None);
    }
}
