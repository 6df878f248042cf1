//! A timer: when, as triggers.

use std::time::Duration;

use serde_json::{Value, json};

use super::calendar::{self, Calendar};
use super::reason::reason;
use super::span;
use super::unit::{Assignment, Unit};
use crate::import::Settings;
use crate::import::draft::{Trigger, duration, misfire_skip};
use crate::import::note::Note;
use crate::import::zone::turns_clocks;

const TIMER: &str = "Timer";
/// The keys that say when. An empty one of them forgets all of them.
const WHEN: &[&str] =
    &["OnCalendar", "OnActiveSec", "OnBootSec", "OnStartupSec", "OnUnitActiveSec", "OnUnitInactiveSec"];
/// Keys that are translated below, or that change nothing here.
const KNOWN: &[&str] = &["Unit", "Persistent", "RandomizedDelaySec", "AccuracySec", "RemainAfterElapse"];
/// How late a firing may be made up for. A timer has no bound.
const WINDOW: &str = "365d";
const ACCURACY_DEFAULT: Duration = Duration::from_secs(60);

/// A timer on its way to triggers.
pub(super) struct Timer<'a> {
    pub(super) unit: &'a Unit,
    pub(super) settings: &'a Settings,
    pub(super) notes: Vec<Note>,
    /// Whether a trigger is read in the machine's zone, for nobody named one.
    pub(super) uses_machine_zone: bool,
}

impl Timer<'_> {
    /// The assignments that say when, those that were taken back left out.
    pub(super) fn moments(unit: &Unit) -> Vec<&Assignment> {
        let mut found = Vec::new();
        let ours =
            |assignment: &&Assignment| assignment.section == TIMER && WHEN.contains(&assignment.key.as_str());
        for assignment in unit.all().iter().filter(ours) {
            if assignment.value.is_empty() {
                found.clear();
            } else {
                found.push(assignment);
            }
        }
        found
    }

    /// Its triggers.
    pub(super) fn triggers(&mut self) -> Vec<Trigger> {
        let jitter = self.span_of("RandomizedDelaySec").filter(|span| !span.is_zero()).map(duration);
        let moments = Self::moments(self.unit);
        let mut triggers = Vec::new();
        for assignment in moments {
            if let Some(mut trigger) = self.trigger(assignment) {
                if trigger.delay.is_none() {
                    trigger.jitter.clone_from(&jitter);
                } else if jitter.is_some() {
                    let message =
                        "a trigger `delay` has no `jitter`: it comes exactly so long after the last run";
                    self.notes.push(assignment.place().no_equal(message));
                }
                triggers.push(trigger);
            }
        }
        self.others();
        triggers
    }

    fn trigger(&mut self, assignment: &Assignment) -> Option<Trigger> {
        let place = assignment.place();
        match assignment.key.as_str() {
            "OnCalendar" => match calendar::translate(&assignment.value) {
                Ok(calendar) => Some(self.calendar(assignment, calendar)),
                Err(why) => {
                    self.notes.push(place.no_equal(format!("there is no trigger for it: {why}")));
                    None
                }
            },
            "OnUnitActiveSec" => {
                let span = self.span(assignment).filter(|span| span.subsec_nanos() == 0 && !span.is_zero());
                self.notes.push(match span {
                    Some(_) => place.differs(
                        "`every` is counted from 1970 UTC, the same on every machine, and not from the last start",
                    ),
                    None => place.no_equal("there is no trigger for it: an interval is whole seconds"),
                });
                let every = Some(duration(span?));
                Some(Trigger { every, misfire: misfire_skip(), ..Trigger::default() })
            }
            "OnUnitInactiveSec" => {
                let span = self.span(assignment).filter(|span| !span.is_zero())?;
                self.notes
                    .push(place.differs("the first run is due at once, not only after one by other means"));
                Some(Trigger { delay: Some(duration(span)), ..Trigger::default() })
            }
            _ => {
                self.notes.push(place.no_equal(
                    "there is no trigger for it: nothing is started by the start of a machine or of a timer",
                ));
                None
            }
        }
    }

    fn calendar(&mut self, assignment: &Assignment, calendar: Calendar) -> Trigger {
        let Calendar { cron, zone, both_days, is_elapsed } = calendar;
        self.uses_machine_zone |= zone.is_none() && self.settings.zone.is_machines;
        let zone = zone.unwrap_or_else(|| self.settings.zone.name.clone());
        let turns = turns_clocks(&zone);
        if turns && is_elapsed {
            self.notes.push(assignment.place().differs(
                "when clocks are turned back it fires in both of the two equal hours; systemd fires in the first only",
            ));
        }
        Trigger {
            cron: Some(cron),
            zone: Some(zone),
            days: both_days.then_some("and"),
            // systemd leaves out what falls into the hour that there is not.
            dst: (turns && !is_elapsed).then(|| json!({ "gap": "skip" })),
            misfire: Some(self.misfire()),
            ..Trigger::default()
        }
    }

    fn misfire(&self) -> Value {
        match self.unit.last(TIMER, "Persistent") {
            Some(persistent) if persistent.is_true() => json!({ "policy": "once", "window": WINDOW }),
            _ => json!("skip"),
        }
    }

    fn span_of(&mut self, key: &str) -> Option<Duration> {
        let assignment = self.unit.last(TIMER, key)?;
        self.span(assignment)
    }

    fn span(&mut self, assignment: &Assignment) -> Option<Duration> {
        let span =
            span::parse(&assignment.value).and_then(|span| span.ok_or_else(|| "it never passes".to_owned()));
        match span {
            Ok(span) => Some(span),
            Err(why) => {
                self.notes.push(assignment.place().left_out(why));
                None
            }
        }
    }

    /// Everything else is told.
    fn others(&mut self) {
        if let Some(assignment) = self.unit.last(TIMER, "AccuracySec")
            && self.span(assignment).is_some_and(|span| span > ACCURACY_DEFAULT)
        {
            self.notes.push(assignment.place().differs(
                "nothing is put off to fire with others; `jitter` spreads, and otherwise it fires at its moment",
            ));
        }
        for assignment in self.unit.all() {
            let (section, key) = (assignment.section.as_str(), assignment.key.as_str());
            let is_told = match section {
                TIMER => !WHEN.contains(&key) && !KNOWN.contains(&key),
                "Unit" => !matches!(key, "Description" | "Documentation" | "DefaultDependencies"),
                _ => false,
            };
            if is_told && !assignment.value.is_empty() {
                self.notes.push(assignment.place().no_equal(reason(key)));
            }
        }
    }
}
