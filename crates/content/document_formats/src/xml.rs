//! XML: an element for each value, named after its field, with text for scalars.
//!
//! A field whose name is no XML name is an element `member` with the attribute `name`; an element of a list is an `item`; null is an
//! element with the attribute `null`. Types come from the schema, as they would from an XML Schema.

use crate::infer::integer;
use crate::scalar::{complete, mismatch};
use crate::schema::{Field, Presence, Schema};
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, BytesText, Event};
use quick_xml::name::QName;
use quick_xml::{Reader, Writer};
use serde_json::{Map, Value};

/// The deepest nesting that is read: our own choice.
const DEPTH_MAX: usize = 128;

const ROOT: &str = "document";
const ITEM: &str = "item";
const MEMBER: &str = "member";

pub(crate) fn encode(schema: &Schema, value: &Value) -> Result<Vec<u8>, String> {
    let mut writer = Writer::new(Vec::new());
    write(schema, value, BytesStart::new(ROOT), &mut writer)?;
    Ok(writer.into_inner())
}

fn write(
    schema: &Schema,
    value: &Value,
    mut start: BytesStart<'_>,
    writer: &mut Writer<Vec<u8>>,
) -> Result<(), String> {
    let mut event = |event: Event<'_>| writer.write_event(event).map_err(|error| error.to_string());
    let text = match (schema, value) {
        (Schema::Nullable(_), Value::Null) => {
            start.push_attribute(("null", "true"));
            return event(Event::Empty(start));
        }
        (Schema::Nullable(inner), value) => return write(inner, value, start, writer),
        (Schema::List(element), Value::Array(values)) => {
            let end = start.to_end().into_owned();
            event(Event::Start(start))?;
            values
                .iter()
                .try_for_each(|value| write(element, value, BytesStart::new(ITEM), writer))?;
            return writer.write_event(Event::End(end)).map_err(|error| error.to_string());
        }
        (Schema::Map(_) | Schema::Struct(_), Value::Object(members)) => {
            let end = start.to_end().into_owned();
            event(Event::Start(start))?;
            for (name, value) in members {
                let schema = match schema {
                    Schema::Map(element) => element,
                    Schema::Struct(fields) => match fields.iter().find(|field| field.name == *name) {
                        Some(field) if field.presence == Presence::NullIfMissing && value.is_null() => continue,
                        Some(field) => &field.schema,
                        None => return Err(format!("field {name:?} is not in the schema")),
                    },
                    _ => unreachable!("it is a map or a struct"),
                };
                write(schema, value, member(name)?, writer).map_err(|problem| format!("field {name:?}: {problem}"))?;
            }
            return writer.write_event(Event::End(end)).map_err(|error| error.to_string());
        }
        (Schema::Json, value) => value.to_string(),
        (Schema::Text, Value::String(text)) => text.clone(),
        (Schema::Bool, Value::Bool(value)) => value.to_string(),
        (Schema::Integer { .. } | Schema::Float, Value::Number(number)) => number.to_string(),
        (schema, value) => return Err(mismatch(schema, value)),
    };
    check_text(&text)?;
    let end = start.to_end().into_owned();
    event(Event::Start(start))?;
    event(Event::Text(BytesText::from_escaped(escape(&text))))?;
    event(Event::End(end))
}

fn member(name: &str) -> Result<BytesStart<'static>, String> {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && name != MEMBER
        && !name.to_ascii_lowercase().starts_with("xml");
    if is_plain {
        return Ok(BytesStart::new(name.to_owned()));
    }
    check_text(name)?;
    let mut start = BytesStart::new(MEMBER);
    start.push_attribute(Attribute {
        key: QName("name"),
        value: escape(name).into(),
    });
    Ok(start)
}

/// XML 1.0, section 2.2: these characters cannot be written, even escaped.
fn check_text(text: &str) -> Result<(), String> {
    let refused = |c: char| matches!(c, '\0'..='\x08' | '\x0B' | '\x0C' | '\x0E'..='\x1F' | '\u{FFFE}' | '\u{FFFF}');
    match text.chars().find(|c| refused(*c)) {
        Some(character) => Err(format!("XML cannot hold the character U+{:04X}", character as u32)),
        None => Ok(()),
    }
}

/// Escapes what a parser would take for markup, or change: ends of lines and tabs in attributes too.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\r' => escaped.push_str("&#13;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// An element as it was read: its text, or the elements in it.
#[derive(Debug, Default)]
struct Element {
    name: String,
    null: bool,
    text: String,
    children: Vec<Element>,
}

pub(crate) fn decode(schema: &Schema, bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
    value(schema, parse(text)?)
}

fn parse(text: &str) -> Result<Element, String> {
    let mut reader = Reader::from_str(text);
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => {
                if open.len() > DEPTH_MAX {
                    return Err(format!("elements are nested more than {DEPTH_MAX} deep"));
                }
                open.push(element(&start)?);
            }
            Event::Empty(start) => open
                .last_mut()
                .ok_or("an element is closed too often")?
                .children
                .push(element(&start)?),
            Event::End(_) => {
                let closed = open.pop().ok_or("an element is closed too often")?;
                open.last_mut()
                    .ok_or("an element is closed too often")?
                    .children
                    .push(closed);
            }
            Event::Text(text) => {
                open.last_mut().ok_or("text is outside")?.text.push_str(&text);
            }
            Event::GeneralRef(reference) => {
                let character = quick_xml::escape::unescape(&format!("&{};", &*reference))
                    .map_err(|error| error.to_string())?
                    .into_owned();
                open.last_mut().ok_or("text is outside")?.text.push_str(&character);
            }
            Event::Eof => break,
            other => return Err(format!("{other:?} is not expected")),
        }
    }
    match open.as_mut_slice() {
        [outside] if outside.children.len() == 1 => Ok(outside.children.remove(0)),
        _ => Err("there must be one element, closed".to_owned()),
    }
}

fn element(start: &BytesStart<'_>) -> Result<Element, String> {
    let mut element = Element {
        name: start.name().as_ref().to_owned(),
        ..Element::default()
    };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        match attribute.key.as_ref() {
            "null" => element.null = true,
            "name" => {
                element.name = quick_xml::escape::unescape(&attribute.value)
                    .map_err(|error| error.to_string())?
                    .into_owned();
            }
            other => return Err(format!("the attribute {other:?} is not expected")),
        }
    }
    Ok(element)
}

fn value(schema: &Schema, element: Element) -> Result<Value, String> {
    let number = |text: &str| {
        text.parse::<serde_json::Number>()
            .map_err(|error| format!("{text:?} is no number: {error}"))
    };
    Ok(match schema {
        Schema::Nullable(_) if element.null => Value::Null,
        Schema::Nullable(inner) => value(inner, element)?,
        Schema::List(inner) => {
            let values = element.children.into_iter().map(|child| value(inner, child));
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        Schema::Map(inner) => {
            let entry = |child: Element| Ok((child.name.clone(), value(inner, child)?));
            Value::Object(element.children.into_iter().map(entry).collect::<Result<_, String>>()?)
        }
        Schema::Struct(fields) => object(fields, element)?,
        Schema::Json => serde_json::from_str(&element.text).map_err(|error| error.to_string())?,
        Schema::Text => Value::String(element.text),
        Schema::Bool => Value::Bool(
            element
                .text
                .parse()
                .map_err(|_| format!("{:?} is neither true nor false", element.text))?,
        ),
        Schema::Float => Value::Number(number(&element.text)?),
        Schema::Integer { .. } => {
            let number = number(&element.text)?;
            integer(&number).ok_or_else(|| format!("{number} is no whole number"))?;
            Value::Number(number)
        }
    })
}

fn object(fields: &[Field], element: Element) -> Result<Value, String> {
    let mut members = Map::new();
    for child in element.children {
        let field = fields.iter().find(|field| field.name == child.name);
        let field = field.ok_or_else(|| format!("the element {:?} is not in the schema", child.name))?;
        let read = value(&field.schema, child).map_err(|problem| format!("field {:?}: {problem}", field.name))?;
        members.insert(field.name.clone(), read);
    }
    for field in fields.iter().filter(|field| field.presence == Presence::NullIfMissing) {
        members.entry(&field.name).or_insert(Value::Null);
    }
    complete(fields, members)
}
