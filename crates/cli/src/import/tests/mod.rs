//! Whole crontabs and units, through the public verbs: what is read back, when it fires next, what is noted.

mod any_text;
mod crontabs;
mod units;

use mainspring_model::spec::Trigger;
use mainspring_model::{Calendars, Namespace, Timestamp, time};

use super::{Import, Imported, Kind, Settings, Zone};

fn settings(zone: &str) -> Settings {
    Settings { zone: Zone { name: zone.to_owned(), is_machines: false }, namespace: None }
}

/// The next firings of a trigger of a job, as the wall clock of its zone shows them.
fn firings(job: &Imported, trigger: usize, after: &str, count: usize) -> Vec<String> {
    let trigger = &job.spec.triggers[trigger];
    let seed = Trigger::seed(&"default".parse::<Namespace>().unwrap(), job.spec.name.as_str());
    let schedule = trigger.schedule(seed, Calendars::NONE).unwrap();
    let mut at = time::text::parse(after).unwrap().as_micros();
    let mut found = Vec::new();
    while let Some(next) = schedule.next(at).filter(|_| found.len() < count) {
        found.push(trigger.zone().wall_clock(next / 1_000_000));
        assert!(next > at && Timestamp::from_micros(next).as_micros() == next);
        at = next;
    }
    found
}

/// The notes of a kind, as a person reads them.
fn notes(import: &Import, kind: Kind) -> Vec<String> {
    import.all_notes().into_iter().filter(|note| note.kind == kind).map(ToString::to_string).collect()
}

/// Some note of the kind holds these words.
fn assert_noted(import: &Import, kind: Kind, words: &str) {
    let notes = notes(import, kind);
    assert!(notes.iter().any(|note| note.contains(words)), "`{words}` is missing in {notes:#?}");
}
