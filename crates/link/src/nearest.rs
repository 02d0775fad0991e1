//! Which known name was meant?

/// How alike two names are at least, from 0 to 1 by Jaro and Winkler, for one to be offered in place of the other. Our
/// own choice.
const ALIKE: f64 = 0.75;

/// The candidate most like `name`, where one is like it; the first of equals.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best = (ALIKE, None);
    for candidate in candidates {
        let alike = strsim::jaro_winkler(name, candidate);
        if alike > best.0 {
            best = (alike, Some(candidate));
        }
    }
    best.1
}
