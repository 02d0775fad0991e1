//! Which known name did the writer of an unknown one mean?

/// The known name most like `word`, where one is alike enough to be worth suggesting.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Jaro-Winkler similarity runs from 0 to 1 and favours a shared beginning; 0.8 is our own choice: it accepts a slip or
    // two in a word of six letters and refuses unrelated words.
    let alike = |name: &str| strsim::jaro_winkler(word, name);
    known
        .into_iter()
        .filter(|name| alike(name) >= 0.8)
        .max_by(|a, b| alike(a).total_cmp(&alike(b)))
}

/// `; did you mean "…"?`, or nothing where no known name is near.
pub(crate) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

/// What the TOML reader found, with its line and caret, and the key that was probably meant.
pub(crate) fn toml_problem(error: &toml::de::Error) -> String {
    let shown = error.to_string();
    let shown = shown.trim_end();
    match meant(error.message()) {
        Some(name) => format!("{shown}\ndid you mean `{name}`?"),
        None => shown.to_owned(),
    }
}

/// The name that was probably meant, where the message is serde's about an unknown key or word: "unknown field `x`, expected one
/// of `a`, `b`". Every name stands between backticks there, the unknown one first.
fn meant(message: &str) -> Option<&str> {
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return None;
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    nearest(unknown, names)
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
