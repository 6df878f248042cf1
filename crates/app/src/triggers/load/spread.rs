//! What a trigger could say to leave a crowd: a minute of its own, an offset, or jitter.

use std::time::Duration;

use mainspring_model::duration_text;
use mainspring_model::spec::{Trigger, When};
use mainspring_wire::api::Spread;

/// The jitter that is suggested.
const JITTER: Duration = Duration::from_secs(300);
/// The same for what fires every minute.
const JITTER_SHORT: Duration = Duration::from_secs(30);

/// The words of crontabs, with a minute of their own.
const MACROS: [(&str, &str); 7] = [
    ("@yearly", "H 0 1 1 *"),
    ("@annually", "H 0 1 1 *"),
    ("@monthly", "H 0 1 * *"),
    ("@weekly", "H 0 * * 0"),
    ("@daily", "H 0 * * *"),
    ("@midnight", "H 0 * * *"),
    ("@hourly", "H * * * *"),
];

/// What would take a trigger out of a crowd; none when its moment is drawn already.
pub(super) fn spread(trigger: &Trigger, seed: u64) -> Option<Spread> {
    match &trigger.when {
        When::Cron { cron, .. } if draws(cron) => None,
        When::Cron { cron, .. } => Some(match drawn(cron) {
            Some(value) => Spread { field: "cron".to_owned(), value },
            None => jitter(if is_often(cron) { JITTER_SHORT } else { JITTER }),
        }),
        When::Every { every, .. } => {
            let minutes = every.as_secs() / 60;
            let offset = Duration::from_secs(60 * seed.checked_rem(minutes)?);
            Some(match offset.is_zero() {
                true => jitter(JITTER_SHORT),
                false => Spread { field: "offset".to_owned(), value: duration_text::format(offset) },
            })
        }
        When::At { .. } => Some(jitter(JITTER)),
        When::Delay { .. } | When::After { .. } | When::Webhook { .. } => None,
    }
}

fn jitter(at_most: Duration) -> Spread {
    Spread { field: "jitter".to_owned(), value: duration_text::format(at_most) }
}

/// The minute, and the fields before and after it.
fn minute(cron: &str) -> Option<(usize, Vec<&str>)> {
    let fields: Vec<&str> = cron.split_ascii_whitespace().collect();
    let minute = match fields.len() {
        5 => 0,
        6 | 7 => 1,
        _ => return None,
    };
    Some((minute, fields))
}

/// Whether the minute is drawn.
fn draws(cron: &str) -> bool {
    minute(cron).is_some_and(|(minute, fields)| fields[minute].starts_with('H'))
}

/// Whether it fires in every minute.
fn is_often(cron: &str) -> bool {
    minute(cron).is_some_and(|(minute, fields)| fields[minute] == "*") || cron.trim() == "@minutely"
}

/// The expression with a minute that is drawn: instead of a fixed one, or of every so many.
fn drawn(cron: &str) -> Option<String> {
    let cron = cron.trim();
    if let Some((_, drawn)) = MACROS.iter().find(|(name, _)| name.eq_ignore_ascii_case(cron)) {
        return Some((*drawn).to_owned());
    }
    let (minute, mut fields) = minute(cron)?;
    let written = fields[minute];
    let is_fixed = written.bytes().all(|byte| byte.is_ascii_digit());
    let step = written.strip_prefix('*').filter(|step| step.starts_with('/') && *step != "/1");
    let drawn = match step {
        _ if is_fixed => "H".to_owned(),
        Some(step) => format!("H{step}"),
        None => return None,
    };
    fields[minute] = &drawn;
    Some(fields.join(" "))
}

#[cfg(test)]
mod tests {
    use mainspring_model::spec;
    use serde_json::{Value, json};

    use super::*;

    fn check(trigger: Value, expected: Option<(&str, &str)>) {
        let file = json!({"name": "etl", "script": "true", "triggers": [trigger]});
        let job = spec::from_value(&file).unwrap();
        let found = spread(&job.triggers[0], 17).map(|spread| (spread.field, spread.value));
        let found = found.as_ref().map(|(field, value)| (field.as_str(), value.as_str()));
        assert_eq!(found, expected, "{file}");
        // What is suggested can be written.
        if let Some((field, value)) = expected {
            let mut file = file.clone();
            file["triggers"][0][field] = value.into();
            spec::from_value(&file).unwrap();
        }
    }

    #[test]
    fn a_fixed_minute_is_drawn() {
        check(json!({"cron": "0 3 * * *"}), Some(("cron", "H 3 * * *")));
        check(json!({"cron": "30 */2 * * MON-FRI"}), Some(("cron", "H */2 * * MON-FRI")));
        check(json!({"cron": "0 15 3 * * *"}), Some(("cron", "0 H 3 * * *")));
        check(json!({"cron": "*/15 * * * *"}), Some(("cron", "H/15 * * * *")));
        check(json!({"cron": "@daily"}), Some(("cron", "H 0 * * *")));
    }

    #[test]
    fn what_has_no_single_minute_is_moved() {
        check(json!({"cron": "0,30 * * * *"}), Some(("jitter", "5m")));
        check(json!({"cron": "* * * * *"}), Some(("jitter", "30s")));
        check(json!({"at": "2030-01-01T00:00:00Z"}), Some(("jitter", "5m")));
        check(json!({"every": "1h"}), Some(("offset", "17m")));
        check(json!({"every": "1m"}), Some(("jitter", "30s")));
    }

    #[test]
    fn what_is_drawn_stays() {
        check(json!({"cron": "H 3 * * *"}), None);
        check(json!({"cron": "0 3 * * THU"}), Some(("cron", "H 3 * * THU")));
    }
}
