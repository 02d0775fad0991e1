//! Any JSON text comes back from every encoding as it was, or is refused.
//!
//! The texts are compared by a reader of their own: numbers are their digits, and objects lists of members.

use crate::Document;
use crate::sizes::encode_and_check;
use lastmile_document_formats::{Encoder, Encoding, infer};
use lastmile_traffic::messages::Location;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

/// A text, read without any rounding.
#[derive(Debug, PartialEq)]
enum Exact {
    Other(String),
    Number(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn next(&mut self) -> Exact {
        self.0 = self.0.trim_start();
        match self.0.as_bytes()[0] {
            b'{' => Exact::Object(self.list('}', |reader| {
                let Exact::Other(key) = reader.next() else {
                    panic!("a key is a string")
                };
                reader.skip(':');
                (key, reader.next())
            })),
            b'[' => Exact::Array(self.list(']', Self::next)),
            b'"' => {
                let mut escaped = false;
                let is_end = |(at, c): &(usize, char)| {
                    let ends = *at > 0 && *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    ends
                };
                let (end, _) = self.0.char_indices().find(is_end).unwrap();
                Exact::Other(serde_json::from_str(self.take(end + 1)).unwrap())
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                let end = self.0.find(|c| !is_part(c)).unwrap_or(self.0.len());
                Exact::Number(self.take(end).to_owned())
            }
            _ => {
                let end = self.0.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(self.0.len());
                // A word is no string: the line end is in none of the strings that are words.
                Exact::Other(format!("\n{}", self.take(end)))
            }
        }
    }

    fn list<T>(&mut self, end: char, mut element: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut list = Vec::new();
        self.0 = &self.0[1..];
        loop {
            self.0 = self.0.trim_start().trim_start_matches(',').trim_start();
            if self.0.starts_with(end) {
                self.skip(end);
                return list;
            }
            list.push(element(self));
        }
    }

    fn take(&mut self, length: usize) -> &str {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn skip(&mut self, character: char) {
        self.0 = self.0.trim_start().strip_prefix(character).unwrap();
    }
}

/// Whether a number is that of the text: an integer to its last digit, a float wherever it prints the digits that the text has.
fn is_number(text: &str, number: &serde_json::Number) -> bool {
    if let (Ok(text), Some(number)) = (text.parse::<i128>(), number.as_i128()) {
        return text == number;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let point = mantissa.find('.').map_or(0, |point| mantissa.len() - point - 1);
    let significant = digits.trim_start_matches('0');
    let float = number.as_f64().unwrap();
    if significant.is_empty() {
        return float == 0.0;
    }
    let power_of_text = exponent.parse::<i64>().unwrap() - point as i64 + significant.len() as i64 - 1;
    let significant = significant.trim_end_matches('0');
    let printed = format!("{:.*e}", significant.len() - 1, float.abs());
    let (printed, power) = printed.split_once('e').unwrap();
    printed.replace('.', "") == significant
        && power.parse::<i64>().unwrap() == power_of_text
        && float.is_sign_negative() == text.starts_with('-')
}

fn is_same(text: &Exact, value: &Value) -> bool {
    match (text, value) {
        (Exact::Number(text), Value::Number(number)) => is_number(text, number),
        (Exact::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Exact::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| is_same(left, right)))
        }
        (Exact::Other(left), Value::String(right)) => left == right,
        (Exact::Other(left), Value::Null | Value::Bool(_)) => *left == format!("\n{value}"),
        _ => false,
    }
}

fn digits(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec(0..10_u8, count).prop_map(|digits| digits.iter().map(|digit| char::from(b'0' + digit)).collect())
}

fn number() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 11] = [
        "1e3",
        "-0",
        "1.10",
        "-0.0",
        "1E-7",
        "5e-324",
        "1e400",
        "0.1",
        "9007199254740993",
        "1e22",
        "100.0",
    ];
    let fraction = prop_oneof![
        Just(String::new()),
        digits(1..25).prop_map(|digits| format!(".{digits}"))
    ];
    let exponent = prop_oneof![
        Just(String::new()),
        (-330..330_i32).prop_map(|exponent| format!("e{exponent}"))
    ];
    let sign = prop_oneof![Just(""), Just("-")];
    let whole = prop_oneof![
        Just("0".to_owned()),
        (1..10_u8, digits(0..40)).prop_map(|(first, rest)| format!("{first}{rest}"))
    ];
    let made = (sign, whole, fraction, exponent).prop_map(|(a, b, c, d)| format!("{a}{b}{c}{d}"));
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has no other", |float| float.is_finite())
            .prop_map(|float| format!("{float:?}")),
        (-300..300_i32).prop_map(|number| number.to_string()),
        proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned),
        made,
    ]
}

fn string() -> impl Strategy<Value = String> {
    let escaped = |text: String| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        format!("\"{}\"", units.collect::<String>())
    };
    let plain = |text: String| serde_json::to_string(&text).unwrap();
    let text = || vec(any::<char>(), 0..6).prop_map(String::from_iter);
    prop_oneof![text().prop_map(plain), text().prop_map(escaped)]
}

fn key() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 7] = ["\"a\"", "\"b\"", "\"z\"", "\"\\u0061\"", "\"item\"", "\"null\"", "\"\""];
    prop_oneof![3 => proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned), 1 => string()]
}

fn document() -> impl Strategy<Value = String> {
    const WORDS: [&str; 3] = ["null", "true", "false"];
    let word = proptest::sample::select(&WORDS[..]).prop_map(str::to_owned);
    let leaf = prop_oneof![1 => word, 3 => number(), 1 => string()];
    leaf.prop_recursive(5, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(|elements| format!("[{}]", elements.join(" ,"))),
            vec((key(), inner), 0..5).prop_map(|members| {
                let members: Vec<String> = members.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("{{ {} }}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_comes_back_from_every_encoding_or_is_refused(texts in vec(document(), 1..4), depth in 0..200_usize) {
        let deep = format!("{}{}{}", "[".repeat(depth), texts[0], "]".repeat(depth));
        // The reader refuses what is nested deeper than 128.
        let parse = |text: &String| Document::parse(Location::Line(1), text).ok();
        let documents: Vec<Document> = texts.iter().chain([&deep]).filter_map(parse).collect();
        let schema = infer(documents.iter().map(|document| &document.value));
        for encoding in Encoding::ALL {
            let encoder = Encoder::new(*encoding, &schema);
            for document in &documents {
                let message = match encode_and_check(&encoder, document) {
                    Ok(message) => message,
                    Err(problem) => {
                        prop_assert!(!problem.is_empty() && *encoding != Encoding::Json);
                        continue;
                    }
                };
                if *encoding == Encoding::Json {
                    prop_assert_eq!(&message, document.text.as_bytes());
                    continue;
                }
                let decoded = encoder.decode(&message).unwrap();
                let exact = Reader(&document.text).next();
                prop_assert!(
                    is_same(&exact, &decoded),
                    "{}: {} came back as {decoded}", encoding.label(), document.text
                );
            }
        }
    }

    #[test]
    fn what_is_refused_is_not_what_it_would_be_decoded_as(text in document()) {
        if let Ok(document) = Document::parse(Location::Line(1), &text) {
            let is_held = is_same(&Reader(&text).next(), &document.value);
            // Digits beyond the seventeenth are refused even where they happen to be those of a float.
            prop_assert!(is_held || document.loss.is_some(), "{text}");
        }
    }
}
