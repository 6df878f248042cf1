//! What one trigger plans.

use std::time::Duration;

use mainspring_cron::{Every, Micros, Rhythm, Schedule};
use mainspring_engine::TriggerRow;
use mainspring_model::spec::{Trigger, When};
use mainspring_model::{Calendars, JobSpec, Namespace, Timestamp, duration_text, time};

use super::SECOND_US;

/// A jitter up to this moves next to nothing into another hour.
const JITTER_SHORT: Duration = Duration::from_secs(60);

/// What a trigger plans.
pub(super) struct Plan {
    pub(super) namespace: Namespace,
    pub(super) job: Box<str>,
    pub(super) pool: Box<str>,
    pub(super) trigger: Trigger,
    pub(super) seed: u64,
    pub(super) schedule: Schedule,
    /// Moments up to here are accounted for.
    pub(super) after: Option<Micros>,
    /// How often it still fires.
    pub(super) left: u64,
    /// Whether it fires at moments that others may share. One with jitter is spread already, and one that fires every few seconds
    /// is everywhere.
    pub(super) crowds: bool,
    /// What a run of its job takes.
    pub(super) usual_us: u64,
}

impl Plan {
    /// None when it follows the ends of runs, or calls.
    pub(super) fn of(
        row: &TriggerRow,
        (spec, trigger): (&JobSpec, &Trigger),
        calendars: &Calendars,
        now: Timestamp,
    ) -> Option<Self> {
        let seed = Trigger::seed(&row.state.namespace, spec.name.as_str());
        let schedule = trigger.schedule(seed, calendars)?;
        let fires_at_most = trigger.count.map_or(u64::MAX, |count| u64::from(count.get()));
        Some(Self {
            namespace: row.state.namespace.clone(),
            job: spec.name.as_str().into(),
            pool: spec.placement.pool().into(),
            trigger: Trigger { parameters: Default::default(), ..trigger.clone() },
            seed,
            schedule,
            // Somebody had it go on from a later moment.
            after: Some(row.state.cursor.as_micros()).filter(|cursor| *cursor > now.as_micros()),
            left: fires_at_most.saturating_sub(row.state.fired),
            crowds: trigger.jitter.is_zero() && !is_everywhere(&trigger.when),
            usual_us: 0,
        })
    }

    /// The interval, when its firings can be counted without looking at each.
    pub(super) fn interval(&self) -> Option<&Every> {
        let is_plain = self.trigger.count.is_none()
            && self.schedule.without.is_empty()
            && self.trigger.jitter <= JITTER_SHORT;
        match &self.schedule.rhythm {
            Rhythm::Every(every) if is_plain => Some(every),
            _ => None,
        }
    }

    /// The first moment at or after this one.
    pub(super) fn first(&self, from: Micros) -> Option<Micros> {
        let before = from.saturating_sub(1);
        self.schedule.next(self.after.map_or(before, |after| after.max(before)))
    }

    /// When a planned moment fires.
    pub(super) fn fires_at(&self, planned: Micros) -> Micros {
        self.trigger.fires_at(self.seed, Timestamp::from_micros(planned)).as_micros()
    }

    /// The moments of its interval within these, without looking at each: the first, how far they are apart, and how many.
    pub(super) fn moments(&self, every: &Every, from: Micros, until: Micros) -> Option<(Micros, i64, u64)> {
        let until = self.schedule.bounds.until.map_or(until, |bound| bound.min(until));
        let first = self.first(from).filter(|first| *first < until)?;
        let period = i64::try_from(every.period().as_secs()).ok()?.saturating_mul(SECOND_US);
        let count = (until - 1 - first).div_euclid(period) + 1;
        Some((first, period, count.unsigned_abs()))
    }

    /// What it follows, as the job file has it.
    pub(super) fn when(&self) -> String {
        match &self.trigger.when {
            When::Cron { cron, .. } => cron.to_string(),
            When::Every { every, .. } => duration_text::format(*every),
            When::At { at } => time::text::format(*at),
            When::Delay { .. } | When::After { .. } | When::Webhook { .. } => String::new(),
        }
    }
}

/// Whether it fires more than once in a minute.
fn is_everywhere(when: &When) -> bool {
    match when {
        When::Cron { cron, .. } => {
            let fields: Vec<&str> = cron.split_ascii_whitespace().collect();
            let has_many = |second: &str| second.contains(['*', '/', ',', '-']);
            cron.eq_ignore_ascii_case("@secondly") || (fields.len() > 5 && has_many(fields[0]))
        }
        When::Every { every, .. } => *every < Duration::from_secs(60),
        When::At { .. } | When::Delay { .. } | When::After { .. } | When::Webhook { .. } => false,
    }
}
