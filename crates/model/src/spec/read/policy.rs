//! Reading the small policies: timeout, concurrency, rate limit, priority, retention.
//!
//! Each is a map with a shorthand for its one important field, except the rate limit, which has two.
//! Retry is large enough for files of its own.

use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::Value;

use super::Reader;
use super::scalar::{choice, duration, integer, positive_duration, template};
use crate::duration_text;
use crate::limits::COUNT_MAX;
use crate::spec::{Concurrency, Keep, Overlap, Priority, PriorityClass, RateLimit, Retention, Timeouts};

pub(super) fn timeouts(reader: &mut Reader, value: &Value) -> Option<Timeouts> {
    if !value.is_object() {
        return positive_duration(reader, value)
            .map(|run| Timeouts { run: Some(run), ..Timeouts::default() });
    }
    let mut fields = reader.fields("timeout", value)?;
    let queue = fields.optional("queue", positive_duration);
    let start = fields.optional("start", positive_duration);
    let run = fields.optional("run", positive_duration);
    let heartbeat = fields.optional("heartbeat", positive_duration);
    let total = fields.optional("total", positive_duration);
    let stop_grace = fields.optional("stop_grace", duration).unwrap_or(Timeouts::STOP_GRACE_DEFAULT);
    for (name, part, whole_name, whole) in [
        ("queue", queue, "total", total),
        ("start", start, "total", total),
        ("run", run, "total", total),
        ("heartbeat", heartbeat, "run", run),
    ] {
        if let (Some(part), Some(whole)) = (part, whole)
            && part > whole
        {
            fields.problem(name, never_passes(part, whole_name, whole));
        }
    }
    fields.finish();
    let start = start.unwrap_or(Timeouts::START_DEFAULT);
    Some(Timeouts { queue, start, run, heartbeat, total, stop_grace })
}

fn never_passes(part: Duration, whole_name: &str, whole: Duration) -> String {
    let (part, whole) = (duration_text::format(part), duration_text::format(whole));
    format!("{part} never passes, because `timeout.{whole_name}` is {whole}")
}

/// Concurrency; `Some(None)` when the file says that there is no limit.
pub(super) fn concurrency(reader: &mut Reader, value: &Value) -> Option<Option<Concurrency>> {
    if value.is_number() {
        return count(reader, value).map(|limit| Some(Concurrency::new(limit)));
    }
    let mut fields = reader.fields_or_number("concurrency", value)?;
    let words: Vec<(&str, Option<Overlap>)> = [("allow", None)]
        .into_iter()
        .chain(Overlap::ALL.map(|overlap| (overlap.name(), Some(overlap))))
        .collect();
    let limit = fields.optional("limit", count);
    let key = fields.optional("key", template);
    let overlap = fields.optional("overlap", choice("overlap", &words));
    if overlap == Some(None) && (fields.has("limit") || fields.has("key")) {
        fields.problem("overlap", "`allow` means no limit, so `limit` and `key` say nothing");
    }
    let queue_max = fields.optional("queue_max", count);
    if fields.has("queue_max") && !matches!(overlap, None | Some(Some(Overlap::QueueAll))) {
        fields
            .problem("queue_max", "bounds the runs that wait, and only `overlap: queue_all` lets them wait");
    }
    if !fields.has("limit") && !fields.has("overlap") {
        fields.problem_here("says no limit", "write `limit`, such as `limit: 1`");
    }
    fields.finish();
    let overlap = match overlap {
        Some(None) => return Some(None),
        Some(Some(overlap)) => overlap,
        None => Overlap::default(),
    };
    Some(Some(Concurrency { limit: limit.unwrap_or(NonZeroU32::MIN), key, overlap, queue_max }))
}

pub(super) fn rate_limit(reader: &mut Reader, value: &Value) -> Option<RateLimit> {
    let mut fields = reader.fields("rate_limit", value)?;
    let limit = fields.required("limit", count);
    let per = fields.required("per", positive_duration);
    let key = fields.optional("key", template);
    fields.finish();
    Some(RateLimit { limit: limit?, per: per?, key })
}

pub(super) fn priority(reader: &mut Reader, value: &Value) -> Option<Priority> {
    let classes = PriorityClass::ALL.map(|class| (class.name(), class));
    let class = choice("priority", &classes);
    if value.is_string() {
        return class(reader, value).map(|class| Priority { class, ..Priority::default() });
    }
    let mut fields = reader.fields("priority", value)?;
    let class = fields.or_default("class", class);
    let level = fields.optional("level", integer(0..=Priority::LEVEL_MAX)).unwrap_or(Priority::LEVEL_DEFAULT);
    fields.finish();
    Some(Priority { class, level })
}

pub(super) fn retention(reader: &mut Reader, value: &Value) -> Option<Retention> {
    let mut fields = reader.fields("retention", value)?;
    let runs = fields.or_default("runs", keep);
    fields.finish();
    Some(Retention { runs })
}

fn keep(reader: &mut Reader, value: &Value) -> Option<Keep> {
    if !value.is_object() {
        return positive_duration(reader, value).map(|age| Keep { age: Some(age), count: None });
    }
    let mut fields = reader.fields("keep", value)?;
    let keep =
        Keep { age: fields.optional("age", positive_duration), count: fields.optional("count", count) };
    fields.finish();
    Some(keep)
}

/// A number of runs, at least one.
fn count(reader: &mut Reader, value: &Value) -> Option<NonZeroU32> {
    integer(1..=COUNT_MAX)(reader, value).and_then(NonZeroU32::new)
}
