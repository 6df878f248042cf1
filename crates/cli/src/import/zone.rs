//! The zone in which times without one are read, and whether a name is one.

use mainspring_model::spec::{self, Trigger};
use serde_json::json;

/// A zone and who said so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Zone {
    /// Its name.
    pub(crate) name: String,
    /// Whether it was taken from this machine, for nobody named one.
    pub(crate) is_machines: bool,
}

/// Whether the parser of job files knows the zone.
pub(crate) fn is_zone(name: &str) -> bool {
    probe(name).is_some()
}

/// What the wall clock of a zone is ahead of UTC at a second, in seconds; none when there is no such zone.
pub(crate) fn offset_of(name: &str) -> Option<impl Fn(i64) -> i64 + use<>> {
    let zone = probe(name)?.zone();
    Some(move |second| zone.offset(second))
}

/// Whether clocks are turned there, in these years.
pub(super) fn turns_clocks(name: &str) -> bool {
    const BEGIN: i64 = 1_767_225_600; // 2026
    const MONTH: i64 = 30 * 86_400;
    let Some(trigger) = probe(name) else { return false };
    let zone = trigger.zone();
    (0..24).any(|month| zone.offset(BEGIN + month * MONTH) != zone.offset(BEGIN))
}

/// A trigger in the zone.
fn probe(name: &str) -> Option<Trigger> {
    let job = json!({ "name": "probe", "script": "true", "triggers": [{ "cron": "@daily", "zone": name }] });
    spec::from_value(&job).ok()?.triggers.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_known_and_some_turn_their_clocks() {
        assert!(is_zone("Europe/Berlin") && is_zone("UTC") && !is_zone("Mars/Olympus") && !is_zone(""));
        assert!(turns_clocks("Europe/Berlin") && turns_clocks("Africa/Casablanca"));
        assert!(!turns_clocks("Asia/Shanghai") && !turns_clocks("Etc/UTC") && !turns_clocks("Mars/Olympus"));
    }
}
