//! Triggers: when a job fires by itself.
//!
//! A trigger is a rhythm (cron, interval, delay, moment, another job's end, a call), bounds, and what becomes of firings that could
//! not happen in time. What a rhythm means is in the crate `cron`; what happens at a moment is the engine's.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use mainspring_cron::{Bounds, Cron, DayRule, Dst, Every, Rhythm, Schedule, Zone};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{Budget, LogicalTime, Template, Webhook, schema};
use crate::calendar::Calendars;
use crate::name::Name;
use crate::namespace::Namespace;
use crate::time::Timestamp;
use crate::{duration_text, hash, time};

/// When a job fires by itself.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Trigger {
    /// What it is called within the job. Without a name, by its kind: `cron`, `every`, `delay`, `at`, `after`, `webhook`.
    pub name: Name,
    /// What it follows.
    #[serde(flatten)]
    pub when: When,
    /// Nothing is planned before this.
    #[schema(value_type = Option<schema::Moment>)]
    #[serde(with = "time::text::option", skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Nothing is planned at this or later.
    #[schema(value_type = Option<schema::Moment>)]
    #[serde(with = "time::text::option", skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// It fires at most so often.
    #[schema(value_type = Option<u32>, minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<NonZeroU32>,
    /// Calendars of the namespace, or of one above it, that say when it does not fire.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Option<schema::CalendarNames>)]
    pub calendar: Vec<Name>,
    /// Jobs of the same namespace that have to succeed first: a moment waits for them as long as it may be late.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Fires up to so much later, always by the same for one planned moment, so that many do not fire at once.
    #[schema(value_type = schema::DurationText)]
    #[serde(with = "duration_text", skip_serializing_if = "Duration::is_zero")]
    pub jitter: Duration,
    /// What becomes of moments that passed while it could not fire.
    #[serde(skip_serializing_if = "Misfire::is_default")]
    pub misfire: Misfire,
    /// Values for the job's parameters. Text is a template that knows `logical_time`, the planned moment, and of a
    /// webhook also `payload` and `headers`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub parameters: BTreeMap<Box<str>, Value>,
    /// Pauses itself after so many of its runs in a row failed for good.
    #[schema(value_type = Option<u32>, minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_after: Option<NonZeroU32>,
}

/// What a trigger follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum When {
    /// The wall clock of a zone.
    Cron {
        /// The expression: 5 fields, 6 with seconds first, 7 with years last, or a macro such as `@daily`.
        /// `@every 90s` is read as `every: 90s`.
        cron: Box<str>,
        /// Where the wall clock is read. Without one, UTC.
        #[serde(skip_serializing_if = "is_utc")]
        zone: Box<str>,
        /// What holds when both a day of the month and a day of the week are given.
        #[serde(skip_serializing_if = "Days::is_default")]
        days: Days,
        /// What happens when clocks are turned.
        #[schema(value_type = Option<schema::DstChoice>)]
        #[serde(skip_serializing_if = "is_default_dst")]
        dst: Dst,
    },
    /// An interval that is counted from 1970 UTC, the same on every machine.
    Every {
        /// How often, in whole seconds.
        #[schema(value_type = schema::DurationText)]
        #[serde(with = "duration_text")]
        every: Duration,
        /// How much later than counted from 1970.
        #[schema(value_type = schema::DurationText)]
        #[serde(with = "duration_text", skip_serializing_if = "Duration::is_zero")]
        offset: Duration,
    },
    /// The end of its own last run, and so much later.
    Delay {
        /// How long after the end.
        #[schema(value_type = schema::DurationText)]
        #[serde(with = "duration_text")]
        delay: Duration,
    },
    /// One moment.
    At {
        /// When.
        #[schema(value_type = schema::Moment)]
        #[serde(with = "time::text")]
        at: Timestamp,
    },
    /// The end of runs of another job of the same namespace.
    After {
        /// Which.
        after: After,
    },
    /// Calls of a URL with a token of its own.
    Webhook {
        /// Which count.
        webhook: Webhook,
    },
}

/// The end of runs of another job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct After {
    /// The name of the job.
    pub job: Name,
    /// Which ends count.
    #[serde(default, skip_serializing_if = "On::is_default")]
    pub on: On,
}

/// A job that has to succeed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Need {
    /// The name of the job.
    pub job: Name,
    /// Its last success counts for moments up to so long after it.
    #[schema(value_type = schema::DurationText)]
    #[serde(with = "duration_text", skip_serializing_if = "Need::is_default")]
    pub within: Duration,
}

impl Need {
    /// How long a success counts when nothing is said.
    pub const WITHIN_DEFAULT: Duration = Duration::from_secs(86_400);

    fn is_default(within: &Duration) -> bool {
        *within == Self::WITHIN_DEFAULT
    }
}

/// Which ends count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// Those that succeeded.
    #[default]
    Success,
    /// Those that failed for good.
    Failure,
    /// Both.
    Any,
}

/// What holds when both a day of the month and a day of the week are given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Days {
    /// One of the two fits, as in cron.
    #[default]
    Or,
    /// Both fit.
    And,
}

/// What becomes of moments that passed while the trigger could not fire: nobody was there, or it was paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Misfire {
    /// Which of them fire.
    #[serde(skip_serializing_if = "MisfirePolicy::is_default")]
    pub policy: MisfirePolicy,
    /// Those that are older are missed whatever the policy.
    #[schema(value_type = schema::DurationText)]
    #[serde(with = "duration_text", skip_serializing_if = "is_default_window")]
    pub window: Duration,
    /// Of `all`, the latest so many.
    #[schema(value_type = u32, minimum = 1, maximum = 1_000)]
    #[serde(skip_serializing_if = "is_default_max")]
    pub max: NonZeroU32,
}

/// Which of the moments that passed fire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MisfirePolicy {
    /// None.
    Skip,
    /// The latest, for all.
    #[default]
    Once,
    /// Each.
    All,
}

impl Misfire {
    /// The oldest moment that still fires.
    pub const WINDOW_DEFAULT: Duration = Duration::from_secs(3_600);
    /// How many fire late at once.
    pub const MAX_DEFAULT: NonZeroU32 = NonZeroU32::new(100).unwrap();
    /// How many may be asked for.
    pub const MAX_MAX: u32 = 1_000;
    /// What is so late or less is in time: a takeover takes a few seconds.
    pub const GRACE: Duration = Duration::from_secs(60);

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Misfire {
    fn default() -> Self {
        Self { policy: MisfirePolicy::default(), window: Self::WINDOW_DEFAULT, max: Self::MAX_DEFAULT }
    }
}

impl MisfirePolicy {
    /// Every policy.
    pub const ALL: [(&'static str, Self); 3] =
        [("skip", Self::Skip), ("once", Self::Once), ("all", Self::All)];

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl On {
    /// Whether an end in this state counts.
    pub const fn counts(self, state: crate::state::RunState) -> bool {
        use crate::state::RunState::{FinalFailed, Success};
        match self {
            Self::Success => matches!(state, Success),
            Self::Failure => matches!(state, FinalFailed),
            Self::Any => matches!(state, Success | FinalFailed),
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Days {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn rule(self) -> DayRule {
        match self {
            Self::Or => DayRule::Or,
            Self::And => DayRule::And,
        }
    }
}

impl When {
    /// The word of its kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Cron { .. } => "cron",
            Self::Every { .. } => "every",
            Self::Delay { .. } => "delay",
            Self::At { .. } => "at",
            Self::After { .. } => "after",
            Self::Webhook { .. } => "webhook",
        }
    }
}

impl Trigger {
    /// What `H` and jitter are drawn from: the same for a job of this name wherever and whenever it is asked.
    pub fn seed(namespace: &Namespace, job: &str) -> u64 {
        hash::mix(hash::bytes(namespace.as_str().as_bytes()) ^ hash::bytes(job.as_bytes()).rotate_left(1))
    }

    /// When it is due; none when it follows no clock. A calendar that is not among those given leaves nothing out.
    pub fn schedule(&self, seed: u64, calendars: &Calendars) -> Option<Schedule> {
        let rhythm = match &self.when {
            When::Cron { cron, days, dst, .. } => {
                Rhythm::Cron { cron: Box::new(Cron::parse(cron, days.rule(), seed).ok()?), dst: *dst }
            }
            When::Every { every, offset } => Rhythm::Every(Every::new(*every, *offset).ok()?),
            When::At { at } => Rhythm::At(at.as_micros()),
            When::Delay { .. } | When::After { .. } | When::Webhook { .. } => return None,
        };
        let bounds =
            Bounds { from: self.from.map(Timestamp::as_micros), until: self.until.map(Timestamp::as_micros) };
        let without = self.calendar.iter().filter_map(|name| calendars.get(name.as_str()).cloned()).collect();
        Some(Schedule { zone: self.zone(), bounds, without, ..Schedule::new(rhythm) })
    }

    /// Where its wall clock is read.
    pub fn zone(&self) -> Zone {
        match &self.when {
            When::Cron { zone, .. } => zone.parse().unwrap_or_default(),
            When::Every { .. }
            | When::Delay { .. }
            | When::At { .. }
            | When::After { .. }
            | When::Webhook { .. } => Zone::UTC,
        }
    }

    /// When a planned moment fires.
    pub fn fires_at(&self, seed: u64, planned: Timestamp) -> Timestamp {
        let seed = seed ^ hash::bytes(self.name.as_str().as_bytes());
        planned + mainspring_cron::jitter(seed, planned.as_micros(), self.jitter)
    }

    /// The values that it gives for a planned moment.
    pub fn parameters_at(&self, planned: Timestamp) -> Result<Map<String, Value>, String> {
        let time = LogicalTime::new(planned, &self.zone());
        let (mut values, mut budget) = (Map::new(), Budget::default());
        for (name, value) in &self.parameters {
            let value = match value {
                Value::String(text) => {
                    let rendered = Template::from(text.as_str()).render_at(&time, &mut budget);
                    Value::String(rendered.map_err(|wrong| format!("{name}: {wrong}"))?)
                }
                other => other.clone(),
            };
            values.insert(String::from(&**name), value);
        }
        Ok(values)
    }
}

fn is_utc(zone: &str) -> bool {
    zone == "UTC"
}

fn is_default_dst(dst: &Dst) -> bool {
    *dst == Dst::default()
}

fn is_default_window(window: &Duration) -> bool {
    *window == Misfire::WINDOW_DEFAULT
}

fn is_default_max(max: &NonZeroU32) -> bool {
    *max == Misfire::MAX_DEFAULT
}
