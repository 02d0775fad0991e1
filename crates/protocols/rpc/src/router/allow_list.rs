//! The allow-list of a router: which back end may call which operation of which client.

/// Rules, of which one must fit a call. Without rules nothing is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowList {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    back_end: String,
    client: String,
    operation: String,
}

/// A line that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line}: {found:?} is no rule; write a back end, a client and an operation, each as its name or * for all: prices * tick"
)]
pub struct AllowListError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The line.
    pub found: String,
}

impl AllowList {
    /// A list that allows everything.
    pub fn everything() -> Self {
        Self::parse("* * *").expect("it is a rule")
    }

    /// Reads rules, one per line; empty lines and what follows a `#` are left out.
    ///
    /// # Errors
    /// The first line that is no rule.
    pub fn parse(text: &str) -> Result<Self, AllowListError> {
        let mut rules = Vec::new();
        for (index, written) in text.lines().enumerate() {
            let line = written.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                [back_end, client, operation] => rules.push(Rule {
                    back_end: back_end.to_owned(),
                    client: client.to_owned(),
                    operation: operation.to_owned(),
                }),
                _ => {
                    return Err(AllowListError {
                        line: index + 1,
                        found: written.to_owned(),
                    });
                }
            }
        }
        Ok(Self { rules })
    }

    /// Whether a back end may call an operation of a client.
    pub fn allows(&self, back_end: &str, client: &str, operation: &str) -> bool {
        let fits = |pattern: &str, name: &str| pattern == "*" || pattern == name;
        self.rules.iter().any(|rule| {
            fits(&rule.back_end, back_end) && fits(&rule.client, client) && fits(&rule.operation, operation)
        })
    }
}
