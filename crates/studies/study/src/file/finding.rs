//! Findings as a study file states them: sentences with figures of the run in them.
//!
//! `{mean(transfer_time; cases; codec=gzip:6)|s}` is the mean of a figure in the cell of that part with those levels. Expressions calculate
//! with such statistics, `holds` and `when` compare them, and a text with `each` is written once for each level of a factor. Inside it, a
//! statistic is of a cell with that level.

use super::{Study, SubStudy};
use crate::figure;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Cell, Finding, Levels, Run};
use lastmile_report::rules::{RuleText, Statistic};
use lastmile_units::suggest::suggestion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A finding: a title and a text with figures. It is left out where the run lacks a cell that it needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FindingSpec {
    pub title: String,
    /// Empty for a finding of a built-in study that is computed by its code.
    pub text: String,
    /// Whether it rests on something that was inferred, rather than printed or measured.
    pub inferred: bool,
    /// The rules of a claim. The text then begins with "Held", "Held in part" (where some hold) or "Did not hold".
    pub holds: Vec<String>,
    /// The rules under which it is made.
    pub when: Vec<String>,
    /// Expressions with a name.
    pub values: BTreeMap<String, String>,
    /// What stands in sentences in place of a level.
    pub names: BTreeMap<String, String>,
    /// Texts with a name.
    pub texts: BTreeMap<String, TextSpec>,
}

/// A text that stands in a finding under a condition, or once for each level of a factor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextSpec {
    pub text: String,
    /// `codec of cases`: the text is repeated for each level of `codec` in the part `cases`.
    pub each: String,
    /// Levels that are not repeated for.
    pub except: Vec<String>,
    /// `first`, `last`, or an expression: the text stands for that level alone, or for the one where the expression is greatest.
    pub pick: String,
    /// The rules under which it stands.
    pub when: Vec<String>,
    /// Stands between repetitions, where that is not a semicolon.
    pub join: Option<String>,
    /// Stands in its place where a rule does not hold or there is no level; where this is not given, the finding is then left out.
    pub otherwise: Option<String>,
    /// Whether it is left out, and not the whole finding, where its figures are missing.
    pub optional: bool,
}

/// Why there is no text.
enum Problem {
    /// The run lacks a cell or a figure.
    Missing,
    /// The study file has a mistake.
    Mistake(String),
}

fn mistake<T>(text: String) -> Result<T, Problem> {
    Err(Problem::Mistake(text))
}

impl FindingSpec {
    /// The finding in a run; none where the run lacks a cell that it needs.
    pub fn in_run(&self, run: &Run) -> Option<Finding> {
        let text = Scope::new(self, Source::Run(run)).finding().ok()?;
        Some(self.with_text(text))
    }

    pub(crate) fn with_text(&self, text: String) -> Finding {
        Finding {
            title: self.title.clone(),
            text,
            inferred: self.inferred,
        }
    }

    /// Checks that the study has what the finding refers to.
    pub(super) fn check(&self, study: &Study) -> Result<(), String> {
        let has_more =
            !(self.holds.is_empty() && self.when.is_empty() && self.values.is_empty() && self.texts.is_empty());
        if self.text.is_empty() && has_more {
            return Err("it has no text; a finding says something in its text".to_owned());
        }
        match Scope::new(self, Source::Study(study)).finding() {
            Err(Problem::Mistake(mistake)) => Err(mistake),
            _ => Ok(()),
        }
    }
}

/// Where figures and levels come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    Run(&'a Run),
    /// Every figure is 1: what is referred to is checked.
    Study(&'a Study),
}

/// What the names in an expression or text stand for, and which cells statistics are of.
#[derive(Clone)]
struct Scope<'a> {
    finding: &'a FindingSpec,
    source: Source<'a>,
    part: Option<&'a str>,
    levels: Levels,
    /// How many names were followed to here.
    depth: usize,
}

/// A name may stand for an expression with names, and so on to this depth: a circle is a mistake.
const DEPTH_MAX: usize = 30;

impl<'a> Scope<'a> {
    fn new(finding: &'a FindingSpec, source: Source<'a>) -> Self {
        Self {
            finding,
            source,
            part: None,
            levels: Levels::new(),
            depth: 0,
        }
    }

    fn finding(&self) -> Result<String, Problem> {
        let held = self.finding.holds.iter().map(|rules| self.holds(rules));
        let held: Vec<bool> = held.collect::<Result<_, _>>()?;
        let text = self.text(&self.finding.text)?.trim().to_owned();
        if !self.all_hold(&self.finding.when)? || text.is_empty() {
            return Err(Problem::Missing);
        }
        Ok(match held.iter().filter(|holds| **holds).count() {
            _ if held.is_empty() => text,
            0 => format!("Did not hold. {text}"),
            count if count == held.len() => format!("Held. {text}"),
            _ => format!("Held in part. {text}"),
        })
    }

    /// Writes a text with what stands in braces.
    fn text(&self, template: &'a str) -> Result<String, Problem> {
        let mut written = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inside, after)) = after.split_once('}') else {
                return mistake(format!("{{{after} has no closing brace"));
            };
            written += before;
            written += &self.insertion(inside)?;
            rest = after;
        }
        Ok(written + rest)
    }

    fn insertion(&self, inside: &'a str) -> Result<String, Problem> {
        if let Some((expression, format)) = inside.rsplit_once('|') {
            return formatted(self.number(expression)?, format);
        }
        match (self.finding.texts.get(inside), self.levels.get(inside)) {
            (Some(text), _) => self.named_text(text),
            (_, Some(level)) => Ok(self.finding.names.get(level).unwrap_or(level).clone()),
            _ => Ok(self.number(inside)?.to_string()),
        }
    }

    fn named_text(&self, spec: &'a TextSpec) -> Result<String, Problem> {
        let scopes = self.deeper()?.repetitions(&spec.each)?;
        if let Source::Study(..) = self.source {
            // Every branch is checked, those too that the rules leave out.
            for scope in scopes {
                scope.all_hold(&spec.when)?;
                scope.text(&spec.text)?;
            }
            return self.text(spec.otherwise.as_deref().unwrap_or_default());
        }
        let mut found: Vec<(Self, String)> = Vec::new();
        for scope in scopes {
            if scope.levels.values().any(|level| spec.except.contains(level)) {
                continue;
            }
            let holds = scope.all_hold(&spec.when);
            match holds.and_then(|holds| holds.then(|| scope.text(&spec.text)).transpose()) {
                Ok(Some(text)) => found.push((scope, text)),
                Ok(None) => (),
                Err(Problem::Missing) if spec.optional => (),
                Err(problem) => return Err(problem),
            }
        }
        match spec.pick.as_str() {
            "" => (),
            "first" => found.truncate(1),
            "last" => drop(found.drain(..found.len().saturating_sub(1))),
            greatest => {
                let values = found.iter().map(|(scope, _)| scope.number(greatest));
                let values: Vec<f64> = values.collect::<Result<_, _>>()?;
                let best = (0..values.len()).max_by(|one, other| values[*one].total_cmp(&values[*other]));
                found = best.map(|best| found.swap_remove(best)).into_iter().collect();
            }
        }
        let texts: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
        match (&spec.otherwise, texts.is_empty()) {
            (_, false) => Ok(texts.join(spec.join.as_deref().unwrap_or("; "))),
            (Some(otherwise), true) => self.text(otherwise),
            // The greatest of none is missing.
            (None, true) if spec.optional && spec.pick.is_empty() => Ok(String::new()),
            (None, true) => Err(Problem::Missing),
        }
    }

    /// The scopes of `codec of cases` (each level of a factor in a part) or `cells of cases` (each cell); this scope alone for nothing.
    fn repetitions(&self, each: &'a str) -> Result<Vec<Self>, Problem> {
        if each.is_empty() {
            return Ok(vec![self.clone()]);
        }
        let Some((factor, parts)) = each.split_once(" of ") else {
            return mistake(format!("{each:?} is not understood; write it like \"codec of cases\""));
        };
        let mut all = Vec::new();
        for part in parts.split(", ") {
            let levels = self.levels_in_part(factor, Some(part).filter(|part| *part != "study"))?;
            all.extend(levels.into_iter().map(|levels| Self {
                part: Some(part).filter(|part| *part != "study"),
                levels: self.levels.clone().into_iter().chain(levels).collect(),
                ..self.clone()
            }));
        }
        Ok(all)
    }

    /// The levels of each cell of a part, or those of one factor, each once.
    fn levels_in_part(&self, factor: &str, part: Option<&str>) -> Result<Vec<Levels>, Problem> {
        let mut all: Vec<Levels> = Vec::new();
        match self.source {
            Source::Run(run) => {
                for cell in run.cells.iter().filter(|cell| cell.part.as_deref() == part) {
                    let mut levels = cell.levels.clone();
                    levels.retain(|key, _| factor == "cells" || factor == key);
                    if !levels.is_empty() && !all.contains(&levels) {
                        all.push(levels);
                    }
                }
            }
            Source::Study(study) if factor == "cells" => {
                let first = |key: &str| Some((key.to_owned(), study.levels_of(key).into_iter().next()?));
                all.push(study.varied_keys().into_iter().filter_map(first).collect());
                check_cell(study, part, [])?;
            }
            Source::Study(study) => {
                let levels = study.levels_of(factor).into_iter().take(1);
                all.extend(levels.map(|level| Levels::from([(factor.to_owned(), level)])));
                check_cell(study, part, [(factor, None)])?;
            }
        }
        Ok(all)
    }

    fn deeper(&self) -> Result<Self, Problem> {
        let depth = self.depth + 1;
        if depth > DEPTH_MAX {
            return mistake("a name stands for itself".to_owned());
        }
        Ok(Self { depth, ..self.clone() })
    }

    /// This scope with `cases; codec=gzip:6`: a part, and levels.
    fn selected(&self, selectors: impl Iterator<Item = &'a str>) -> Result<Self, Problem> {
        let mut scope = self.clone();
        for selector in selectors.map(str::trim) {
            match selector.split_once('=') {
                Some((key, level)) => drop(scope.levels.insert(key.to_owned(), level.to_owned())),
                None => scope.part = Some(selector),
            }
        }
        if let Source::Study(study) = self.source {
            let levels = scope
                .levels
                .iter()
                .map(|(key, level)| (key.as_str(), Some(level.as_str())));
            check_cell(study, scope.part, levels)?;
        }
        Ok(scope)
    }

    fn all_hold(&self, rules: &'a [String]) -> Result<bool, Problem> {
        rules.iter().try_fold(true, |all, rule| Ok(self.holds(rule)? && all))
    }

    /// Whether rules joined by `and` hold.
    fn holds(&self, rules: &'a str) -> Result<bool, Problem> {
        let mut all = true;
        for rule in rules.split(" and ") {
            let parsed = RuleText::parse(rule).map_err(|error| Problem::Mistake(format!("rule {rule:?}: {error}")))?;
            all &= parsed
                .comparison
                .holds(self.number(parsed.subject)?, self.number(parsed.bound)?);
        }
        Ok(all)
    }

    /// The value of an expression.
    fn number(&self, expression: &'a str) -> Result<f64, Problem> {
        let mut reader = Reader {
            rest: expression,
            scope: &self.deeper()?,
        };
        let value = reader.sum()?;
        match self.source {
            _ if !reader.rest.trim().is_empty() => {
                mistake(format!("{:?} in {expression:?} is not understood", reader.rest))
            }
            // A share of nothing.
            Source::Run(_) if !value.is_finite() => Err(Problem::Missing),
            _ => Ok(value),
        }
    }

    /// The value of a name.
    fn named(&self, name: &str) -> Result<f64, Problem> {
        if let Some(value) = self.finding.values.get(name) {
            return self.number(value);
        }
        match (self.levels.get(name), self.source) {
            (Some(_), Source::Study(..)) => Ok(1.0),
            (Some(level), Source::Run(_)) => level.parse().map_err(|_| Problem::Missing),
            (None, _) => {
                let known = self.finding.values.keys().map(String::as_str);
                mistake(format!("nothing is called {name:?}{}", suggestion(name, known)))
            }
        }
    }

    /// The value of `name(arguments)`.
    fn call(&self, name: &str, arguments: &'a str) -> Result<f64, Problem> {
        let (first, others) = arguments.split_once(';').unwrap_or((arguments, ""));
        let others = others.split(';').filter(|selector| !selector.is_empty());
        match name {
            "abs" => Ok(self.number(arguments)?.abs()),
            "ceil" => Ok(self.number(arguments)?.ceil()),
            "max" | "min" | "count" => self.aggregate(name, arguments),
            "ratio" => match self.source {
                Source::Run(run) => {
                    let ratio = only(run.ratios.iter().filter(|ratio| ratio.name == arguments));
                    Ok(ratio.ok_or(Problem::Missing)?.mean)
                }
                Source::Study(study) if study.ratios.iter().any(|ratio| ratio.name == arguments) => Ok(1.0),
                Source::Study(..) => mistake(format!("no ratio is called {arguments:?}")),
            },
            _ if self.finding.values.contains_key(name) => self.selected(arguments.split(';'))?.named(name),
            _ => self.selected(others)?.statistic(name, first.trim()),
        }
    }

    /// `max(rate of servers: expression)`, or `max(one, other)`. All must have the figures; `count` counts those that have.
    fn aggregate(&self, name: &str, arguments: &'a str) -> Result<f64, Problem> {
        let mut values = Vec::new();
        match arguments.split_once(": ") {
            Some((each, expression)) => {
                for scope in self.repetitions(each)? {
                    match scope.number(expression) {
                        Err(Problem::Missing) if name == "count" => (),
                        value => values.push(value?),
                    }
                }
            }
            None => {
                for expression in arguments.split(", ") {
                    values.push(self.number(expression)?);
                }
            }
        }
        match name {
            "count" => Some(values.len() as f64),
            "max" => values.into_iter().max_by(f64::total_cmp),
            _ => values.into_iter().min_by(f64::total_cmp),
        }
        .ok_or(Problem::Missing)
    }

    /// A statistic of a figure in the cell of this scope; `first` and `rest` are the first repeat's mean and that of the others.
    fn statistic(&self, name: &str, figure: &str) -> Result<f64, Problem> {
        let statistic = Statistic::parse_recorded(name);
        if let (Err(error), false) = (&statistic, ["first", "rest"].contains(&name)) {
            return mistake(error.to_string());
        }
        let found = figure::find(figure).map_err(Problem::Mistake)?;
        let run = match self.source {
            Source::Run(run) => run,
            Source::Study(study) => return self.check_one_cell(study).map(|()| 1.0),
        };
        let has = |cell: &Cell, (key, level)| cell.levels.get(key) == Some(level);
        let is_meant =
            |cell: &&Cell| cell.part.as_deref() == self.part && self.levels.iter().all(|level| has(cell, level));
        let found = only(run.cells.iter().filter(is_meant))
            .filter(|cell| cell.valid)
            .and_then(|cell| cell.figures.get(found.name));
        let value = found.and_then(|found| match (statistic, name) {
            (Ok(statistic), _) => statistic.of_figure(found),
            (_, "first") => found.first_against_rest.map(|[first, _]| first),
            _ => found.first_against_rest.map(|[_, rest]| rest),
        });
        value.ok_or(Problem::Missing)
    }

    /// Checks that a statistic is not of several cells, one of which would be taken for all.
    fn check_one_cell(&self, study: &Study) -> Result<(), Problem> {
        let is_meant = |layer: &(Option<&SubStudy>, _, _)| layer.0.map(|part| &*part.name) == self.part;
        let axes = study
            .layers()
            .into_iter()
            .find(is_meant)
            .into_iter()
            .flat_map(|(_, _, factors)| factors.axes());
        match axes
            .into_iter()
            .find(|axis| axis.levels.len() > 1 && !self.levels.contains_key(axis.key))
        {
            Some(axis) => mistake(format!("a statistic is of several cells; name a level of {}", axis.key)),
            None => Ok(()),
        }
    }
}

/// The only one of `all`; none where there are more.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

/// Checks that a study has a part, factors and levels.
fn check_cell<'a>(
    study: &Study,
    part: Option<&str>,
    levels: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) -> Result<(), Problem> {
    let checked = study.check_parts(part.map(str::to_owned).iter()).and_then(|()| {
        let mut levels = levels.into_iter();
        levels.try_for_each(|(key, level)| {
            study.check_factor(key)?;
            level.map_or(Ok(()), |level| study.check_level("", key, level))
        })
    });
    checked.map_err(Problem::Mistake)
}

/// Reads an expression: numbers, names and calls, joined by `+`, `-`, `*` and `/`.
struct Reader<'a, 's> {
    rest: &'a str,
    scope: &'s Scope<'a>,
}

impl<'a> Reader<'a, '_> {
    fn sum(&mut self) -> Result<f64, Problem> {
        let mut value = self.product()?;
        loop {
            if self.skip("+") {
                value += self.product()?;
            } else if self.skip("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, Problem> {
        let mut value = self.factor()?;
        loop {
            if self.skip("*") {
                value *= self.factor()?;
            } else if self.skip("/") {
                value /= self.factor()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<f64, Problem> {
        if self.skip("(") {
            let inside = self.bracketed()?;
            return self.scope.number(inside);
        }
        let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c| !is_part_of_name(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        if let Ok(number) = name.parse() {
            return Ok(number);
        }
        if !self.skip("(") {
            return self.scope.named(name);
        }
        let arguments = self.bracketed()?;
        self.scope.call(name, arguments)
    }

    fn skip(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(sign).map(str::trim_start);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// What stands before the bracket that closes the one before it.
    fn bracketed(&mut self) -> Result<&'a str, Problem> {
        let mut open = 1;
        for (at, character) in self.rest.char_indices() {
            open += i32::from(character == '(') - i32::from(character == ')');
            if open == 0 {
                let inside = &self.rest[..at];
                self.rest = &self.rest[at + 1..];
                return Ok(inside);
            }
        }
        mistake(format!("{:?}: a bracket is not closed", self.rest))
    }
}

/// A number as `%`, with a unit, with decimals (`.3`), in `KiB`, or `slower`: a time divided by that of another setting.
fn formatted(value: f64, format: &str) -> Result<String, Problem> {
    Ok(match format {
        "%" => percent(value),
        "" | "1" | "s" | "B" | "bit/s" | "1/s" => quantity(value, format),
        "KiB" if (value / 1024.0).fract() == 0.0 => format!("{} KiB", value / 1024.0),
        "KiB" => format!("{:.1} KiB", value / 1024.0),
        "slower" if value == 1.0 => "as fast".to_owned(),
        "slower" if value > 1.0 => format!("{} slower", percent(value - 1.0)),
        "slower" => format!("{} faster", percent(1.0 - value)),
        _ => match format.strip_prefix('.').and_then(|digits| digits.parse::<usize>().ok()) {
            Some(decimals) => format!("{value:.decimals$}"),
            None => {
                return mistake(format!(
                    "{format:?} is no format; there are %, s, B, bit/s, 1, 1/s, KiB, slower and .1, .2, ..."
                ));
            }
        },
    })
}

#[cfg(test)]
mod tests;
