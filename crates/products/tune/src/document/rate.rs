//! What a setting costs a server at a rate of messages: cores, bits a second and memory, beside no compression and zlib's default.

use super::memory;
use crate::record::{Choice, CodecPoint, Stream, Tuning};
use lastmile_report::number::{counted, quantity, with_decimals};
use lastmile_report::record::Figure;

/// A recorded rate is taken of as many messages at least: our own choice.
const MESSAGES_MIN: u64 = 10;

/// The memory of all connections, with one compressing and one decompressing context each.
pub(super) fn memory_of_all(tuning: &Tuning, point: &CodecPoint) -> u64 {
    point
        .memory_bytes
        .saturating_add(point.decompressor_memory_bytes)
        .saturating_mul(tuning.options.connections)
}

/// How many messages a second each connection carries in a direction, and whether the transcript says so; none where nothing says it.
///
/// A transcript of several connections does not say how long each was open, so only one of a single connection has a rate.
fn rate(tuning: &Tuning, stream: &Stream) -> Option<(f64, bool)> {
    if let Some(rate) = tuning.options.rate_per_second {
        return Some((rate, false));
    }
    let transcript = &tuning.transcript;
    let duration = transcript.duration_seconds.filter(|duration| *duration > 0.0)?;
    (transcript.connections == 1 && stream.messages >= MESSAGES_MIN).then(|| (stream.messages as f64 / duration, true))
}

/// `At 2 messages a second on each of 50,000 connections, deflate:6/w13/m6 takes 0.67 cores, 39.0 Mbit/s (106 Mbit/s not compressed) and
/// 3.58 GB; zlib's default takes ...`; none where no rate is known.
pub(super) fn cost(
    tuning: &Tuning,
    stream: &Stream,
    choice: &Choice,
    zlib_default: Option<&CodecPoint>,
) -> Option<String> {
    let (rate, is_recorded) = rate(tuning, stream)?;
    let connections = tuning.options.connections;
    let total = rate * connections as f64;
    let plain = total * 8.0 * stream.bytes as f64 / stream.messages.max(1) as f64;
    let takes = |cpu: Option<&Figure>, ratio: f64, plain_text: &str, bytes: u64| {
        let cores = cpu.map_or_else(String::new, |cpu| format!("{} cores, ", two_digits(cpu.mean * total)));
        format!(
            "{cores}{}{plain_text} and {}",
            quantity(ratio * plain, "bit/s"),
            memory(bytes)
        )
    };
    let mut text = format!(
        "At {} message{} a second{}{}, {} takes {}",
        two_digits(rate),
        if rate == 1.0 { "" } else { "s" },
        if is_recorded { " (as recorded)" } else { "" },
        match connections {
            1 => String::new(),
            _ => format!(" on each of {}", counted(connections, "connection")),
        },
        choice.name(),
        takes(
            choice.cpu_seconds.as_ref(),
            choice.ratio,
            &format!(" ({} not compressed)", quantity(plain, "bit/s")),
            choice.memory_total_bytes,
        ),
    );
    if let Some(point) = zlib_default.filter(|point| point.codec != choice.name()) {
        text += &format!(
            "; zlib's default takes {}",
            takes(
                point.cpu_seconds.as_ref(),
                point.ratio,
                "",
                memory_of_all(tuning, point)
            )
        );
    }
    Some(text + ".")
}

/// A number above 1 in whole, with thousands set apart, and a smaller one in two digits.
fn two_digits(number: f64) -> String {
    let magnitude = if number > 0.0 { number.log10().floor() } else { 0.0 };
    let decimals = (1.0 - magnitude).clamp(0.0, 9.0) as usize;
    let text = with_decimals(number, decimals);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use crate::record::Tuning;
    use crate::tests::fixtures::tuning;
    use lastmile_report::testing::check_screen;

    fn screen(tuning: &Tuning) -> String {
        check_screen(tuning).replace('\n', " ")
    }

    /// By hand: 666 messages of 87,904 bytes are 132 bytes each; 50,000 connections with 2 a second send 100,000 a second, or 105.6 Mbit/s.
    /// 36.9 % of that are 39.0 Mbit/s, and 6.7 µs for each message keep 0.67 cores busy; zlib's default has 30.7 % and 6.9 µs.
    #[test]
    fn a_rate_costs_cores_bits_and_memory() {
        let mut tuning = tuning();
        tuning.options.rate_per_second = Some(2.0);
        let text = screen(&tuning);
        assert!(
            text.contains(
                "At 2 messages a second on each of 50,000 connections, deflate:6/w13/m6 takes 0.67 cores, 39.0 Mbit/s (106 Mbit/s not \
                 compressed) and 3.58 GB; zlib's default takes 0.69 cores, 32.4 Mbit/s and 15.4 GB."
            ),
            "{text}"
        );
        tuning.answer.choices[0].cpu_seconds = None;
        let text = screen(&tuning);
        assert!(
            text.contains("deflate:6/w13/m6 takes 39.0 Mbit/s (106 Mbit/s not compressed)"),
            "{text}"
        );
    }

    #[test]
    fn only_one_connection_with_times_has_a_recorded_rate() {
        let mut tuning = tuning();
        assert!(!screen(&tuning).contains("messages a second"), "3 connections");
        tuning.transcript.connections = 1;
        // 666 messages in 61.5 s.
        assert!(screen(&tuning).contains("At 11 messages a second (as recorded) on each of 50,000 connections"));
        tuning.transcript.duration_seconds = Some(0.0);
        assert!(!screen(&tuning).contains("messages a second"));
        (tuning.transcript.duration_seconds, tuning.directions[0].messages) = (Some(61.5), 1);
        assert!(
            !screen(&tuning).contains("messages a second"),
            "one message has no rate"
        );
    }
}
