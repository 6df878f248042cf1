//! Assignments of a crontab, and what they mean for the entries below them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::import::is_zone;
use crate::import::note::{Note, Place};

/// What holds for the entries below.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    pub(super) zone: String,
    zone_outside: String,
    /// The shell, when it is not the usual one.
    pub(super) shell: Option<String>,
    pub(super) home: Option<String>,
    /// How long a start may be put off at most.
    pub(super) delay_max: Duration,
    pub(super) variables: BTreeMap<String, String>,
}

/// Reads `NAME = value` as cron does: both may be in quotes, and nothing is expanded.
pub(super) fn read(line: &str) -> Option<(String, String)> {
    let (name, value) = match line.strip_prefix(['"', '\'']).zip(line.chars().next()) {
        Some((rest, quote)) => {
            let (name, rest) = rest.split_once(quote)?;
            (name, rest.trim_start().strip_prefix('=')?)
        }
        None => {
            let (name, value) = line.split_once('=')?;
            let name = name.trim_end();
            if name.is_empty() || name.contains(char::is_whitespace) {
                return None;
            }
            (name, value)
        }
    };
    let value = value.trim();
    let value = match value.strip_prefix(['"', '\'']).zip(value.chars().next()) {
        Some((inside, quote)) => inside.strip_suffix(quote).filter(|inside| !inside.contains(quote))?,
        None => value,
    };
    Some((name.to_owned(), value.to_owned()))
}

impl Surroundings {
    pub(super) fn new(zone: &str) -> Self {
        Self {
            zone: zone.to_owned(),
            zone_outside: zone.to_owned(),
            shell: None,
            home: None,
            delay_max: Duration::ZERO,
            variables: BTreeMap::new(),
        }
    }

    /// Takes an assignment, and says what is different about it.
    pub(super) fn assign(&mut self, place: Place<'_>, name: &str, value: String) -> Option<Note> {
        match name {
            "CRON_TZ" => self.set_zone(place, &value),
            "RANDOM_DELAY" => self.set_delay(place, &value),
            "SHELL" => {
                self.shell = Some(value).filter(|shell| !matches!(shell.as_str(), "" | "/bin/sh" | "sh"));
                None
            }
            "HOME" => {
                self.home = Some(value.clone()).filter(|home| !home.is_empty());
                self.keep(place, name, value)
            }
            "TZ" => {
                let message = format!(
                    "as in cron, `TZ` is for the command alone; times are read in {}, and `CRON_TZ` or `--zone` says otherwise",
                    self.zone
                );
                self.keep(place, name, value).or_else(|| Some(place.differs(message)))
            }
            "MAILTO" if value.is_empty() => {
                Some(place.no_equal("nothing is ever mailed; `mainspring logs` shows what a run wrote"))
            }
            "MAILTO" => {
                Some(place.no_equal("what a run writes is kept and not mailed; `mainspring logs` shows it"))
            }
            "MAILFROM" | "CONTENT_TYPE" | "CONTENT_TRANSFER_ENCODING" => {
                Some(place.no_equal("nothing is mailed"))
            }
            "LOGNAME" => Some(place.no_equal("cron does not let it be set either")),
            _ => self.keep(place, name, value),
        }
    }

    fn set_zone(&mut self, place: Place<'_>, value: &str) -> Option<Note> {
        let name = value.strip_prefix(':').unwrap_or(value);
        let known = !name.is_empty() && is_zone(name);
        self.zone = if known { name.to_owned() } else { self.zone_outside.clone() };
        (!known && !name.is_empty()).then(|| {
            place.left_out(format!("`{name}` is not a zone; times are read in {}", self.zone_outside))
        })
    }

    fn set_delay(&mut self, place: Place<'_>, value: &str) -> Option<Note> {
        match value.parse::<u32>() {
            Ok(minutes) => {
                self.delay_max = Duration::from_secs(60 * u64::from(minutes));
                (minutes > 0).then(|| {
                    place.differs("cron draws one delay when it starts; here each planned moment has its own")
                })
            }
            Err(_) => Some(place.left_out("a delay is a whole number of minutes")),
        }
    }

    fn keep(&mut self, place: Place<'_>, name: &str, value: String) -> Option<Note> {
        if name.contains(char::is_whitespace) || name.starts_with("MAINSPRING_") {
            return Some(place.no_equal("a task cannot be given a variable of this name"));
        }
        self.variables.insert(name.to_owned(), value);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_told_from_entries() {
        let check = |line: &str, expected: Option<(&str, &str)>| {
            let found = read(line);
            let found = found.as_ref().map(|(name, value)| (name.as_str(), value.as_str()));
            assert_eq!(found, expected, "{line}");
        };
        check("A=b", Some(("A", "b")));
        check("A = b c  ", Some(("A", "b c")));
        check("A=\" b \"", Some(("A", " b ")));
        check("'A b' = 'c=d'", Some(("A b", "c=d")));
        check("A=", Some(("A", "")));
        check("MAILTO=\"\"", Some(("MAILTO", "")));
        check("PATH=$PATH:/x", Some(("PATH", "$PATH:/x")));
        check("A='b", None);
        check("A='b' c", None);
        check("*/5 * * * * X=1 cmd", None);
        check("@daily X=1 cmd", None);
        check("=b", None);
    }
}
