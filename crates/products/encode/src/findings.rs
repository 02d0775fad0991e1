//! Findings that surprise: where compression turns the order of encodings round, or makes messages larger.

use crate::codecs::Compression;
use crate::sizes::SettingSize;
use lastmile_document_formats::Encoding;
use lastmile_report::number::with_decimals;
use lastmile_report::record::Finding;

/// The codec that findings about an order are made with: the default of zstd.
const ZSTD: Compression = Compression::Alone("zstd:3");

pub(crate) fn findings(settings: &[SettingSize]) -> Vec<Finding> {
    [
        order_after_zstd(settings),
        growth(settings),
        stream(settings),
        ice_bzip2(settings),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn bytes(settings: &[SettingSize], encoding: Encoding, compression: Compression, batch: usize) -> Option<f64> {
    let is_it = |setting: &&SettingSize| {
        setting.encoding == encoding && setting.compression == compression && setting.batch == batch
    };
    settings.iter().find(is_it).map(SettingSize::bytes_per_message)
}

pub(crate) fn encodings(settings: &[SettingSize]) -> Vec<Encoding> {
    let mut encodings: Vec<Encoding> = settings.iter().map(|setting| setting.encoding).collect();
    encodings.dedup();
    encodings
}

/// Encodings that are smaller than JSON before zstd, and larger after it.
fn order_after_zstd(settings: &[SettingSize]) -> Option<Finding> {
    let batch = settings.iter().map(|setting| setting.batch).max()?;
    let json = [Compression::None, ZSTD].map(|compression| bytes(settings, Encoding::Json, compression, batch));
    let [Some(json_raw), Some(json_zstd)] = json else {
        return None;
    };
    let mut turned = Vec::new();
    for encoding in encodings(settings) {
        let (Some(raw), Some(zstd)) = (
            bytes(settings, encoding, Compression::None, batch),
            bytes(settings, encoding, ZSTD, batch),
        ) else {
            continue;
        };
        if raw < json_raw && zstd > json_zstd {
            let less = with_decimals(100.0 * (1.0 - raw / json_raw), 0);
            let more = with_decimals(100.0 * (zstd / json_zstd - 1.0), 1);
            turned.push(format!(
                "{} is {less} % smaller than JSON, and after zstd:3 {more} % larger",
                encoding.label()
            ));
        }
    }
    let text = format!("In batches of {batch}, {}.", turned.join("; "));
    (!turned.is_empty()).then(|| Finding::new("Compression turns the order round", text))
}

/// Codecs that make single messages larger.
fn growth(settings: &[SettingSize]) -> Option<Finding> {
    let mut larger = Vec::new();
    for setting in settings
        .iter()
        .filter(|setting| setting.batch == 1 && matches!(setting.compression, Compression::Alone(_)))
    {
        let raw = bytes(settings, setting.encoding, Compression::None, 1)?;
        let own = setting.bytes_per_message();
        if own > raw {
            larger.push((own / raw, setting, raw));
        }
    }
    larger.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (_, worst, raw) = larger.first()?;
    let text = format!(
        "Compressed one by one, messages grow in {} of the combinations of encoding and codec; most with {} and {}: {} B become {} B.",
        larger.len(),
        worst.encoding.label(),
        worst.compression,
        with_decimals(*raw, 1),
        with_decimals(worst.bytes_per_message(), 1),
    );
    Some(Finding::new("Short messages grow when each is compressed alone", text))
}

/// What one compressor for the connection saves against one for each message.
fn stream(settings: &[SettingSize]) -> Option<Finding> {
    let alone = bytes(settings, Encoding::Json, ZSTD, 1)?;
    let stream = bytes(settings, Encoding::Json, Compression::Stream("zstd:3"), 1)?;
    let smallest = settings
        .iter()
        .filter(|setting| setting.compression == Compression::None && setting.batch == 1)
        .min_by(|one, other| one.bytes_per_message().total_cmp(&other.bytes_per_message()))?;
    let text = format!(
        "zstd:3 takes {} B for a JSON message alone, and {} B where it remembers the connection; the smallest encoding without compression, {}, \
         takes {} B. A lost connection loses that memory.",
        with_decimals(alone, 1),
        with_decimals(stream, 1),
        smallest.encoding.label(),
        with_decimals(smallest.bytes_per_message(), 1),
    );
    (stream < alone).then(|| Finding::new("A compressor that remembers", text))
}

/// Ice's threshold, which is too low for bzip2.
fn ice_bzip2(settings: &[SettingSize]) -> Option<Finding> {
    let raw = bytes(settings, Encoding::Ice, Compression::None, 1)?;
    let own = bytes(settings, Encoding::Ice, Compression::IceBzip2, 1)?;
    let text = format!(
        "Ice compresses messages from 100 bytes on, header included, and sends the result even where it is larger: {} B become {} B here.",
        with_decimals(raw, 1),
        with_decimals(own, 1),
    );
    (own > raw).then(|| Finding::new("Ice's compression makes single messages larger", text))
}
