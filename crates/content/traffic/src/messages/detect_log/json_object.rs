//! Proposes where the parts of a message stand in a JSON object of a log.

use super::field_role::{Role, role};
use super::{Evidence, Proposal, is_json};
use crate::messages::Direction;
use crate::messages::json_members::{Members, scalar_text};
use crate::messages::log_mapping::{FieldMapping, LogMapping, direction, time};
use serde_json::value::RawValue;

/// How far into nested objects fields are looked for: our own choice.
const DEPTH: usize = 3;

/// A value somewhere in an object.
struct Field<'a> {
    path: String,
    key: String,
    depth: usize,
    value: &'a RawValue,
}

impl Field<'_> {
    fn role(&self) -> Option<Role> {
        role(&self.key)
    }

    /// The text, where the value is one.
    fn text(&self) -> Option<String> {
        self.value.get().starts_with('"').then(|| scalar_text(self.value))?
    }

    /// Whether the value is a text, a list or an object: what may be a payload.
    fn is_long(&self) -> bool {
        self.value.get().starts_with(['"', '{', '['])
    }

    /// Whether this is within the value at `path`, or is it.
    fn is_within(&self, path: &str) -> bool {
        self.path
            .strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// All values of an object, those of nested objects too.
fn fields<'a>(members: &Members<'a>, within: &str, depth: usize, found: &mut Vec<Field<'a>>) {
    for (key, value) in &members.0 {
        let path = if within.is_empty() {
            key.clone()
        } else {
            format!("{within}.{key}")
        };
        if depth + 1 < DEPTH
            && let Some(nested) = Members::of(value)
        {
            fields(&nested, &path, depth + 1, found);
        }
        found.push(Field {
            path,
            key: key.clone(),
            depth,
            value,
        });
    }
}

/// The proposal for an object; none where it may be a message.
pub(super) fn propose(line: &str) -> Option<(Evidence, Proposal)> {
    let members: Members = serde_json::from_str(line).ok()?;
    let mut found = Vec::new();
    fields(&members, "", 0, &mut found);
    let holds_json = |field: &&Field| field.text().is_some_and(|text| is_json(&text));
    let json = found
        .iter()
        .filter(holds_json)
        .max_by_key(|field| field.value.get().len());
    let (evidence, payload) = match json {
        Some(field) => (Evidence::Json, field),
        None => (Evidence::Envelope, enveloped(line, &found)?),
    };
    let others = || found.iter().filter(|field| !field.is_within(&payload.path));
    let ways = || {
        others().filter_map(|field| {
            let text = field.text()?;
            let way = direction(&text, Direction::Sent)?;
            Some((field, text, way))
        })
    };
    let way = ways()
        .find(|(field, ..)| field.role() == Some(Role::Direction))
        .or_else(|| ways().next());
    let path = |field: &Field| field.path.clone();
    let of_role = |wanted| move |field: &&Field| field.role() == Some(wanted);
    let mapping = FieldMapping {
        payload: payload.path.clone(),
        direction: way.as_ref().map(|(field, ..)| path(field)),
        connection: others()
            .filter(of_role(Role::Connection))
            .find(|field| scalar_text(field.value).is_some())
            .map(path),
        time: others()
            .filter(of_role(Role::Time))
            .find(|field| {
                scalar_text(field.value)
                    .and_then(|text| time(&field.key, &text))
                    .is_some()
            })
            .map(path),
    };
    let proposal = Proposal {
        mapping: LogMapping::Fields(mapping),
        direction: way.map(|(_, text, way)| (text, way)),
    };
    Some((evidence, proposal))
}

/// The field that holds the message of an object whose others are a log's; none where the object may be the message.
fn enveloped<'a, 'b>(line: &str, found: &'b [Field<'a>]) -> Option<&'b Field<'a>> {
    let top = || found.iter().filter(|field| field.depth == 0);
    let has = |role| top().any(|field| field.role() == Some(role));
    let is_way = |field: &&Field| {
        let text = || {
            field
                .text()
                .is_some_and(|text| direction(&text, Direction::Sent).is_some())
        };
        field.role() == Some(Role::Direction) && text()
    };
    let may_be = |field: &&Field| field.is_long() && matches!(field.role(), None | Some(Role::Payload));
    // An object within with a direction has the payload beside it.
    let is_marked = has(Role::Time) || has(Role::Level);
    if is_marked && let Some(way) = found.iter().filter(is_way).find(|field| field.depth > 0) {
        let within = way.path.strip_suffix(way.key.as_str()).unwrap_or_default();
        let beside = || {
            found
                .iter()
                .filter(may_be)
                .filter(|field| field.path.strip_prefix(within) == Some(field.key.as_str()))
        };
        let named = beside().find(|field| field.role() == Some(Role::Payload));
        return named.or_else(|| beside().max_by_key(|field| field.value.get().len()));
    }
    let has_direction = top().any(|field| is_way(&field));
    let payloads = || top().filter(may_be);
    let has_most = |field: &Field| field.value.get().len() * 2 > line.len();
    let largest = payloads().max_by_key(|field| field.value.get().len())?;
    let mut named = payloads().filter(|field| field.role() == Some(Role::Payload));
    if has(Role::Time) && (has(Role::Level) || has_direction) {
        // A log's own words for an event are a text of these names; what it holds is elsewhere, if anywhere.
        let is_event =
            |field: &Field| field.text().is_some() && ["msg", "message", "text"].contains(&field.key.as_str());
        return named
            .find(|field| !is_event(field))
            .or(Some(largest).filter(|field| has_most(field)));
    }
    let alone = |payload: &Field| {
        let envelope = |field: &Field| !matches!(field.role(), None | Some(Role::Payload));
        top().all(|field| field.path == payload.path || envelope(field))
    };
    let payload = Some(largest).filter(|field| has_most(field)).or(named.next())?;
    ((is_marked || has_direction) && alone(payload)).then_some(payload)
}
