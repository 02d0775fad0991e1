//! Messages of a stock ticker: one quote per message, of a few recurring symbols, each price near the one before it.
//!
//! Prices are a random walk in cents; the steps, and how often each symbol is traded, are our own choice. The form determines the
//! compressed sizes: the same keys in each message, few symbols, digits that change at their end.

use super::{Timeline, sent};
use lastmile_codec::message::Kind;
use lastmile_traffic::messages::Message;
use lastmile_units::random::{below, between};
use lastmile_units::{Rng, Seed};
use std::num::NonZeroU32;
use std::time::Duration;

/// A stock ticker: `{ kind = "ticker", messages = 1000 }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticker {
    /// The number of quotes.
    pub messages: NonZeroU32,
    /// The number of symbols; 40 if not given.
    #[serde(default = "usual_symbols")]
    pub symbols: NonZeroU32,
}

fn usual_symbols() -> NonZeroU32 {
    NonZeroU32::new(40).expect("40 is not 0")
}

/// Trading begins half an hour after nine.
const OPENING: Duration = Duration::from_secs(9 * 3600 + 1800);

impl Ticker {
    pub(crate) fn generate(&self, seed: Seed) -> Vec<Message> {
        let mut rng = seed.derive("ticker").rng();
        let mut stocks: Vec<Stock> = (0..self.symbols.get())
            .map(|index| Stock::new(index, &mut rng))
            .collect();
        let mut clock = Timeline::at(OPENING);
        let mut quote = |_| {
            clock.pause(&mut rng, Duration::from_millis(1), 5, 800);
            // Some are traded much more than others.
            let stock = below(&mut rng, stocks.len()).min(below(&mut rng, stocks.len()));
            let text = stocks[stock].quote(clock, &mut rng);
            sent(clock, Kind::Text, text.into_bytes())
        };
        (0..self.messages.get()).map(&mut quote).collect()
    }
}

struct Stock {
    symbol: String,
    /// In cents.
    opened_at: i64,
    price: i64,
    volume: usize,
}

impl Stock {
    fn new(index: u32, rng: &mut Rng) -> Self {
        let letters = between(rng, 2, 4);
        let mut symbol: String = (0..letters).map(|_| letter(below(rng, 26))).collect();
        if index >= 26 {
            // The number makes symbols distinct where the random letters are equal.
            symbol.push_str(&index.to_string());
        } else {
            symbol.push(letter(index as usize));
        }
        let price = between(rng, 400, 40_000) as i64;
        Self {
            symbol,
            opened_at: price,
            price,
            volume: 0,
        }
    }

    /// The message after a trade.
    fn quote(&mut self, clock: Timeline, rng: &mut Rng) -> String {
        let step = between(rng, 0, 4) as i64 - 2;
        self.price = (self.price + step).max(1);
        self.volume += 100 * between(rng, 1, 20);
        let (bid, ask) = (self.price - 1, self.price + 1);
        format!(
            r#"{{"type":"quote","symbol":"{}","time":"{}.{:03}","price":{},"bid":{},"ask":{},"change":{},"volume":{}}}"#,
            self.symbol,
            clock.time_of_day(),
            clock.milliseconds() % 1000,
            decimal(self.price),
            decimal(bid),
            decimal(ask),
            decimal(self.price - self.opened_at),
            self.volume
        )
    }
}

fn letter(index: usize) -> char {
    char::from(b'A' + index as u8)
}

/// Cents, as a decimal number.
fn decimal(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}
