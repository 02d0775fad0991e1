//! What an application traces is what its monitor gets.

use super::EventLayer;
use lastmile_events::uplink::{Durability, Reply, Uplink};
use lastmile_events::{Chunk, Emitter, EmitterSettings, Event, Source, Value};
use std::io;
use std::sync::{Arc, Mutex};
use tracing_subscriber::layer::SubscriberExt as _;

/// Acknowledges every chunk, and keeps it.
#[derive(Debug, Clone, Default)]
struct RecordedEvents(Arc<Mutex<Vec<Event>>>);

impl Uplink for RecordedEvents {
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        self.0.lock().unwrap().extend(chunk.events());
        Ok(Reply::Acknowledged {
            next: chunk.end(),
            durability: Durability::Memory,
        })
    }
}

fn emitted(work: impl FnOnce()) -> Vec<Event> {
    let kept = RecordedEvents::default();
    let source = Source::new("app", 1).unwrap();
    let emitter = Emitter::start(source, EmitterSettings::default(), Box::new(kept.clone())).unwrap();
    let layer = EventLayer::new(emitter.clone(), tracing::Level::INFO);
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
    emitter.close();
    let events = kept.0.lock().unwrap();
    events
        .iter()
        .filter(|event| !event.subject.is_reserved())
        .cloned()
        .collect()
}

#[test]
fn events_keep_the_types_of_their_fields_and_name_their_spans() {
    let events = emitted(|| {
        let _request = tracing::info_span!(target: "shop::web", "request", id = 7).entered();
        let _query = tracing::info_span!("query").entered();
        tracing::warn!(target: "shop::cart", items = 3_u64, price = 2.5, late = true, who = "ada", "paid");
    });
    let text = |text: &str| Value::Text(text.to_owned());
    let fields = |event: &Event| event.fields.clone();
    let subjects: Vec<&str> = events.iter().map(|event| event.subject.as_str()).collect();
    assert_eq!(
        subjects,
        ["shop.cart", "lastmile_tracing.tests.query", "shop.web.request"]
    );
    let named = |name: &str, value| (name.to_owned(), value);
    let expected = [
        named("level", text("WARN")),
        named("spans", text("request:query")),
        named("message", text("paid")),
        named("items", Value::Integer(3)),
        named("price", Value::Float(2.5)),
        named("late", Value::Boolean(true)),
        named("who", text("ada")),
    ];
    assert_eq!(fields(&events[0]), expected);
    assert_eq!(events[2].field("id"), Some(&Value::Integer(7)));
    assert!(matches!(events[2].field("seconds"), Some(Value::Float(seconds)) if *seconds >= 0.0));
}

#[test]
fn what_is_less_severe_than_the_level_is_not_emitted() {
    let events = emitted(|| {
        tracing::debug!("quiet");
        tracing::info!("said");
        let _span = tracing::debug_span!("inner").entered();
    });
    assert_eq!(events.len(), 1);
}
