//! Errors of a TOML file as a person reads them: the line, the caret, and the key that was probably meant.

use lastmile_units::suggest::nearest;

/// The TOML reader's message with its line and caret, and the key that was probably meant.
pub fn toml_problem(error: &toml::de::Error) -> String {
    let shown = error.to_string();
    let shown = shown.trim_end();
    match meant(error.message()) {
        Some(name) => format!("{shown}\ndid you mean `{name}`?"),
        None => shown.to_owned(),
    }
}

/// The name that was probably meant, if `message` is serde's about an unknown key or word: "unknown field `x`, expected one
/// of `a`, `b`". It puts every name between backticks, the unknown one first.
fn meant(message: &str) -> Option<&str> {
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return None;
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    nearest(unknown, names)
}
