//! Says in words what to do on a link.

use crate::Options;
use crate::choose::{Choice, is_allowed};
use crate::codecs::Compression;
use crate::record::{EncodingDelivery, EncodingOutcome};
use crate::sizes::SettingSize;
use lastmile_document_formats::Encoding;
use lastmile_report::number::{mean_bytes, quantity, with_decimals};

/// The recommendation in words.
pub(crate) struct Summary<'a> {
    pub(crate) outcomes: &'a [EncodingOutcome],
    pub(crate) settings: &'a [SettingSize],
    pub(crate) choice: Choice,
    pub(crate) options: &'a Options,
}

impl Summary<'_> {
    pub(crate) fn text(&self) -> String {
        let plain = &self.outcomes[self.choice.plain];
        if self.choice.nothing_gained {
            return self.nothing_gained(plain);
        }
        let mut text = format!(
            "A message of plain JSON takes {} bytes of the link and {}.",
            mean_bytes(plain.link_bytes_per_message.round()),
            self.time(plain)
        );
        text += &self.single_changes(plain);
        text + &self.recommendation(plain)
    }

    /// Where plain JSON arrives as soon as anything else.
    fn nothing_gained(&self, plain: &EncodingOutcome) -> String {
        let below = self.choice.rate_of_gain.map_or_else(String::new, |rate| {
            format!(" below about {} messages a second", in_two_digits(rate))
        });
        let mut text = format!(
            "Nothing is gained{below}: plain JSON takes {} bytes of the link and {}.",
            mean_bytes(plain.link_bytes_per_message.round()),
            self.time(plain)
        );
        if self.choice.chosen != self.choice.plain {
            text += &format!(" Where bytes are paid for, use {}", self.chosen(plain));
            text += &self.not_worth_it();
        }
        text
    }

    /// How long a message takes, and how full the link is; or that it does not fit.
    fn time(&self, outcome: &EncodingOutcome) -> String {
        let per_second = quantity(self.options.rate, "1/s");
        let delay = quantity(outcome.delay_s().unwrap_or(f64::INFINITY), "s");
        match outcome.link_load {
            Some(load) if load > 1.0 => {
                format!("does not fit: {per_second} need {} of the link", percent_of(load))
            }
            Some(load) => format!("{delay}, {per_second} fill {} of the link", percent_of(load)),
            None => delay,
        }
    }

    /// What each change does alone.
    fn single_changes(&self, plain: &EncodingOutcome) -> String {
        let best = |wanted: &dyn Fn(&SettingSize) -> bool| {
            let bytes = |at: &usize| self.outcomes[*at].link_bytes_per_message;
            (0..self.settings.len())
                .filter(|at| wanted(&self.settings[*at]) && is_allowed(&self.outcomes[*at], self.options))
                .min_by(|one, other| bytes(one).total_cmp(&bytes(other)))
        };
        let compress = best(&|setting| setting.encoding == Encoding::Json && setting.batch == 1);
        let encode = best(&|setting| setting.compression == Compression::None && setting.batch == 1);
        let batch = best(&|setting| setting.encoding == Encoding::Json && setting.compression == Compression::None);
        let named = [
            compress.map(|at| (at, format!("compress ({})", self.settings[at].compression))),
            encode.map(|at| {
                (
                    at,
                    format!("change the encoding ({})", self.settings[at].encoding.label()),
                )
            }),
            batch.map(|at| (at, format!("send batches ({} messages each)", self.settings[at].batch))),
        ];
        let mut changes: Vec<(&EncodingOutcome, String)> = named
            .into_iter()
            .flatten()
            .map(|(at, name)| (&self.outcomes[at], name))
            .filter(|(outcome, _)| outcome.link_bytes_per_message < plain.link_bytes_per_message)
            .collect();
        changes.sort_by(|(one, _), (other, _)| one.link_bytes_per_message.total_cmp(&other.link_bytes_per_message));
        let alone = |(outcome, name): &(&EncodingOutcome, String)| {
            format!("{name}: {} of the bytes, {}", share(outcome, plain), self.time(outcome))
        };
        let mut text = String::new();
        if let [first, others @ ..] = &changes[..] {
            text += &format!(" First, {}.", alone(first));
            if !others.is_empty() {
                let others: Vec<String> = others.iter().map(alone).collect();
                text += &format!(" Instead, each alone: {}.", others.join("; "));
            }
        }
        text
    }

    fn recommendation(&self, plain: &EncodingOutcome) -> String {
        let all = &self.outcomes[self.choice.chosen];
        if !self.choice.fits {
            return format!(
                " Nothing that was tried fits: even {}, with the fewest bytes, takes {} of the link. Send fewer messages, or find a faster link.",
                describe(&self.settings[self.choice.chosen]),
                percent_of(all.link_load.unwrap_or(0.0))
            );
        }
        let mut text = format!(
            " With at most {} of waiting, use {}",
            quantity(self.options.wait_max.as_secs_f64(), "s"),
            self.chosen(plain)
        );
        if let (Some(all), Some(plain)) = (all.delay_s(), plain.delay_s())
            && all > plain
        {
            text += " It arrives later than plain JSON: it is worth that where bytes are paid for.";
        }
        text + &self.not_worth_it()
    }

    /// What is chosen, with its figures.
    fn chosen(&self, plain: &EncodingOutcome) -> String {
        let all = &self.outcomes[self.choice.chosen];
        let waiting = match all.batch_delay_s {
            0.0 => String::new(),
            waiting => format!(", {} of it waiting", quantity(waiting, "s")),
        };
        let load = all.link_load.map_or_else(String::new, |load| {
            format!("; it fills {} of the link", percent_of(load))
        });
        format!(
            "{}: {} bytes, {} of the plain ones, and {} from arising to arrival{waiting}{load}.",
            describe(&self.settings[self.choice.chosen]),
            mean_bytes(all.link_bytes_per_message),
            share(all, plain),
            quantity(all.delay_s().unwrap_or(f64::INFINITY), "s"),
        )
    }

    /// What would have the fewest bytes, where that is another.
    fn not_worth_it(&self) -> String {
        let Choice { chosen, least, .. } = self.choice;
        if least == chosen {
            return String::new();
        }
        let [fewest, bytes] = [least, chosen].map(|at| self.outcomes[at].link_bytes_per_message);
        format!(
            " {} saves {} % more: not worth it.",
            describe(&self.settings[least]),
            with_decimals(100.0 * (1.0 - fewest / bytes), 1)
        )
    }
}

fn share(outcome: &EncodingOutcome, plain: &EncodingOutcome) -> String {
    percent_of(outcome.link_bytes_per_message / plain.link_bytes_per_message)
}

fn percent_of(share: f64) -> String {
    let decimals = if share < 0.1 { 1 } else { 0 };
    format!("{} %", with_decimals(100.0 * share, decimals))
}

/// A rate that is only known so well.
pub(crate) fn in_two_digits(rate: f64) -> String {
    let unit = 10_f64.powf(rate.log10().floor() - 1.0);
    with_decimals((rate / unit).round() * unit, usize::from(rate < 10.0))
}

fn describe(setting: &SettingSize) -> String {
    let batch = match setting.batch {
        1 => "each message alone".to_owned(),
        batch => format!("in batches of {batch}"),
    };
    let codec = match setting.compression {
        Compression::None => "uncompressed".to_owned(),
        compression => compression.to_string(),
    };
    format!("{}, {codec}, {batch}", setting.encoding.label())
}

/// What to do, in words: for each link, or from sizes alone where no link is named.
pub(crate) fn answer(settings: &[SettingSize], links: &[EncodingDelivery]) -> String {
    if links.is_empty() {
        let smallest = settings
            .iter()
            .min_by(|one, other| one.bytes_per_message().total_cmp(&other.bytes_per_message()));
        return smallest.map_or_else(String::new, |setting| {
            format!(
                "The fewest bytes: {}: {} bytes per message.",
                describe(setting),
                mean_bytes(setting.bytes_per_message())
            )
        });
    }
    let on_link = |link: &EncodingDelivery| format!("On {}: {}", link.name, link.summary);
    links.iter().map(on_link).collect::<Vec<_>>().join("\n")
}
