//! A layer for the crate `tracing`: what an application already traces goes to lastmile's emitter.
//!
//! An event's target is its subject (`shop::cart` becomes `shop.cart`); its fields keep their types, and `spans` names the spans that enclose it.
//! A span that closes is an event too: its target and name are the subject, and `seconds` says how long it was open.
//!
//! ```no_run
//! use lastmile_events::{Emitter, EmitterSettings};
//! use lastmile_tracing::EventLayer;
//! use tracing_subscriber::layer::SubscriberExt as _;
//!
//! let emitter = Emitter::from_environment("shop", EmitterSettings::default()).unwrap();
//! let layer = emitter.map(|emitter| EventLayer::new(emitter, tracing::Level::INFO));
//! tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
//! ```

mod fields;

use fields::Fields;
use lastmile_events::{Emitter, Subject, Timestamp, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use tracing_core::callsite::Identifier;
use tracing_core::span::{Attributes, Id};
use tracing_core::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Emits what a subscriber sees, from a level on.
#[derive(Debug, Clone)]
pub struct EventLayer {
    emitter: Emitter,
    level: Level,
}

/// When a span was opened.
struct OpeningTime(Timestamp);

thread_local! {
    /// The subject of each place in the source that has emitted on this thread: made once, since it is the same each time.
    static SUBJECTS: RefCell<HashMap<Identifier, Subject>> = RefCell::default();
}

/// The subject of a target that has no character a subject may have.
const NAMELESS: &str = "trace";

impl EventLayer {
    /// A layer that emits events and spans of this level and of more severe ones.
    pub const fn new(emitter: Emitter, level: Level) -> Self {
        Self { emitter, level }
    }

    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn emit(&self, metadata: &Metadata<'static>, time: Timestamp, fields: &[(&str, Value<&str>)]) {
        SUBJECTS.with_borrow_mut(|subjects| {
            let subject = subjects.entry(metadata.callsite()).or_insert_with(|| subject(metadata));
            self.emitter.emit_at(time, subject, fields);
        });
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for EventLayer {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !self.wants(event.metadata()) {
            return;
        }
        let time = Timestamp::now();
        let mut fields = Fields::default();
        event.record(&mut fields);
        let spans = context.event_scope(event).map(|scope| {
            let names: Vec<&str> = scope.from_root().map(|span| span.name()).collect();
            names.join(":")
        });
        let level = event.metadata().level().as_str();
        let mut values = vec![("level", Value::Text(level))];
        values.extend(
            spans
                .as_deref()
                .filter(|spans| !spans.is_empty())
                .map(|spans| ("spans", Value::Text(spans))),
        );
        values.extend(fields.values());
        self.emit(event.metadata(), time, &values);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id).filter(|span| self.wants(span.metadata())) else {
            return;
        };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let mut kept = span.extensions_mut();
        kept.insert(OpeningTime(Timestamp::now()));
        kept.insert(fields);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let kept = span.extensions();
        let (Some(OpeningTime(opened)), Some(fields)) = (kept.get::<OpeningTime>(), kept.get::<Fields>()) else {
            return;
        };
        let now = Timestamp::now();
        let open = now.unix_nanoseconds() - opened.unix_nanoseconds();
        let mut values = vec![("seconds", Value::Float(open as f64 / 1e9))];
        values.extend(fields.values());
        self.emit(span.metadata(), now, &values);
    }
}

/// `shop::cart` is `shop.cart`; a span's name follows its target.
fn subject(metadata: &Metadata<'_>) -> Subject {
    let refused = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '=' | '*' | '>');
    let mut text: String = metadata.target().replace("::", ".");
    if metadata.is_span() {
        text = format!("{text}.{}", metadata.name());
    }
    let text: String = text.chars().map(|c| if refused(c) { '_' } else { c }).collect();
    let tokens: Vec<&str> = text
        .trim_start_matches('_')
        .split('.')
        .filter(|token| !token.is_empty())
        .collect();
    Subject::new(&tokens.join(".")).unwrap_or_else(|_| Subject::new(NAMELESS).expect("it is one word"))
}

#[cfg(test)]
mod tests;
