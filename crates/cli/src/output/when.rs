//! Times, spans, sizes and numbers as people read them. Programs get the exact values, in `-o json`.

use std::time::{Duration, SystemTime};

use mainspring_model::Timestamp;

/// The person's clock. Only for words such as "3m ago": no decision follows from it.
pub(crate) fn clock() -> Timestamp {
    let micros = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros();
    Timestamp::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

/// A span in at most two units: `2d3h`, `1m5s`, `250ms`.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match seconds {
        0 => format!("{}ms", span.as_millis()),
        1..=9 => format!("{:.1}s", span.as_secs_f64()),
        10..=59 => format!("{seconds}s"),
        60..=3_599 => format!("{minutes}m{}s", seconds % 60),
        3_600..=86_399 => format!("{hours}h{minutes}m"),
        _ => format!("{days}d{hours}h"),
    }
}

/// How long ago, in one unit.
pub(crate) fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(at).as_secs();
    match seconds {
        0..=59 => format!("{seconds}s"),
        60..=3_599 => format!("{}m", seconds / 60),
        3_600..=86_399 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A number of things: `1 job`, `2 jobs`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// A size: `512 B`, `1.5 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_sizes_are_short() {
        let check = |millis, words| assert_eq!(span(Duration::from_millis(millis)), words);
        check(0, "0ms");
        check(250, "250ms");
        check(1_250, "1.2s");
        check(59_999, "59s");
        check(65_000, "1m5s");
        check(3_700_000, "1h1m");
        check(200_000_000, "2d7h");
        assert_eq!((count(1, "job"), count(2, "job")), ("1 job".into(), "2 jobs".into()));
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        let now = Timestamp::from_micros(100_000_000);
        assert_eq!(age(Timestamp::ZERO, now), "1m");
        assert_eq!(age(now, Timestamp::ZERO), "0s");
    }
}
