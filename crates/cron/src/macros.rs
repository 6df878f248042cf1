//! Words in the place of fields: `@daily` and the like. `@every 90s` is told from them: it is an interval.

use crate::error::Error;

const MACROS: [(&str, &str); 9] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@minutely", "* * * * *"),
    ("@secondly", "* * * * * *"),
];

/// The span of `@every 90s`, which is an interval ([`Every`](crate::Every)) and no time of a wall clock; none for anything else.
pub fn every_of(text: &str) -> Option<&str> {
    let (word, span) = text.trim().split_once(|c: char| c.is_ascii_whitespace())?;
    word.eq_ignore_ascii_case("@every").then(|| span.trim_start())
}

/// The fields that a word stands for, or what to write instead.
pub(crate) fn expand(text: &str) -> Result<&'static str, Error> {
    let known = MACROS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    if let Some((_, fields)) = known {
        return Ok(fields);
    }
    let word = text.split_ascii_whitespace().next().unwrap_or(text).to_ascii_lowercase();
    Err(Error::new(match word.as_str() {
        "@every" => "an interval is no time of a wall clock; write `every: 90s`".to_owned(),
        "@at" => "write a moment as `at`, as in `at: 2027-01-01T00:00:00Z`".to_owned(),
        "@reboot" | "@startup" => {
            "nothing is started by a start of the scheduler; a service always runs".to_owned()
        }
        "@manual" => "a job without triggers is run by hand; leave the trigger out".to_owned(),
        _ => {
            let names: Vec<&str> = MACROS.iter().map(|(name, _)| *name).collect();
            format!("`{text}` is not known; there are {}", names.join(", "))
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_told_from_an_expression() {
        assert_eq!(every_of("@every 90s"), Some("90s"));
        assert_eq!(every_of(" @Every \t 1h30m "), Some("1h30m"));
        assert_eq!(every_of("@every 1h 30m"), Some("1h 30m"));
        assert_eq!((every_of("@every"), every_of("@everyday 1h"), every_of("* * * * *")), (None, None, None));
    }
}
