//! Reading triggers.
//!
//! A trigger follows exactly one thing; what belongs to another kind is refused, not ignored. Expressions and zones are
//! checked by the crate that evaluates them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use mainspring_cron::{Cron, Dst, Every, Gap, Overlap, Zone, every_of};
use serde_json::Value;

use super::Reader;
use super::fields::Fields;
use super::scalar::{choice, duration, integer, list, map, parsed, positive_duration, text};
use super::webhook::{OF_CALLS, root, webhook};
use crate::duration_text;
use crate::limits::{COUNT_MAX, LINE_BYTES_MAX, TRIGGER_CALENDARS_MAX, TRIGGER_NEEDS_MAX, TRIGGERS_MAX};
use crate::name::Name;
use crate::spec::read::check_value;
use crate::spec::{
    After, Days, Misfire, MisfirePolicy, Need, On, ParameterType, Parameters, Presence, Problem, Template,
    Trigger, When,
};
use crate::time::{self, Timestamp};

/// The kinds of triggers, and the fields that only one of them has.
const KINDS: [&str; 6] = ["cron", "every", "delay", "at", "after", "webhook"];
const OF_CRON: [&str; 3] = ["zone", "days", "dst"];
/// What makes no sense for what happens once, or when something else does.
const OF_REPEATED: [&str; 3] = ["from", "until", "count"];
/// What makes no sense for what does not repeat by the clock.
const OF_RHYTHMS: [&str; 1] = ["calendar"];
/// What makes no sense for what no clock plans.
const OF_CLOCKS: [&str; 3] = ["jitter", "misfire", "needs"];

pub(super) fn triggers(reader: &mut Reader, value: &Value) -> Option<Vec<Trigger>> {
    let found = list(trigger)(reader, value)?;
    if found.len() > TRIGGERS_MAX {
        reader.problem(format!("has {} triggers; at most {TRIGGERS_MAX} are allowed", found.len()));
        return None;
    }
    let mut names = BTreeSet::new();
    for (index, trigger) in found.iter().enumerate() {
        if !names.insert(&trigger.name) {
            let message = format!("another trigger is called `{}` too", trigger.name.as_str());
            reader.at_index(index, |reader| reader.problem_with_hint(message, "give it a `name` of its own"));
        }
    }
    Some(found)
}

fn trigger(reader: &mut Reader, value: &Value) -> Option<Trigger> {
    let mut fields = reader.fields("trigger", value)?;
    let name = fields.optional("name", parsed::<Name>);
    let is_named = fields.has("name");
    let when = when(&mut fields);
    let from = fields.optional("from", moment);
    let until = fields.optional("until", moment);
    let count = fields.optional("count", integer(1..=COUNT_MAX)).and_then(NonZeroU32::new);
    let calendar = fields.or_default("calendar", calendars);
    let needs = fields.or_default("needs", needs);
    let jitter = fields.or_default("jitter", duration);
    let misfire = fields.or_default("misfire", misfire);
    let is_called = fields.has("webhook");
    let parameters = fields.or_default("parameters", |reader, value| parameters(reader, value, is_called));
    let pause_after = fields.optional("pause_after", integer(1..=COUNT_MAX)).and_then(NonZeroU32::new);
    if let (Some(from), Some(until)) = (from, until)
        && from >= until
    {
        fields.problem("until", "nothing is between `from` and `until`");
    }
    fields.finish();
    let when = when?;
    let name = match name {
        Some(name) => name,
        None if is_named => return None,
        None => when.kind().parse().ok()?,
    };
    Some(Trigger {
        name,
        when,
        from,
        until,
        count,
        calendar,
        needs,
        jitter,
        misfire,
        parameters,
        pause_after,
    })
}

fn when(fields: &mut Fields<'_, '_>) -> Option<When> {
    let given: Vec<&str> = KINDS.into_iter().filter(|kind| fields.has(kind)).collect();
    let cron = fields.optional("cron", |reader, value| text(reader, value, LINE_BYTES_MAX).map(Box::from));
    let zone = fields.optional("zone", zone);
    let days = fields.or_default("days", choice("days", &[("or", Days::Or), ("and", Days::And)]));
    let dst = fields.or_default("dst", dst);
    let every = fields.optional("every", positive_duration);
    let offset = fields.or_default("offset", duration);
    let delay = fields.optional("delay", positive_duration);
    let at = fields.optional("at", moment);
    let after = fields.optional("after", after);
    let webhook = fields.optional("webhook", webhook);
    let [kind] = given.as_slice() else {
        let message = match given.as_slice() {
            [] => "says not when it fires".to_owned(),
            several => format!("follows several things: {}", several.join(", ")),
        };
        fields.problem_here(message, "write one of `cron`, `every`, `delay`, `at`, `after`, `webhook`");
        return None;
    };
    // `cron: "@every 90s"` is `every: 90s`.
    let (kind, every, why) = match cron.as_deref().and_then(every_of) {
        Some(span) => {
            ("every", interval(fields, span), "belongs to the wall clock, and `@every` is an interval")
        }
        None => (*kind, every, "belongs to `cron`"),
    };
    refuse(fields, OF_CRON, kind == "cron", why);
    refuse(fields, ["offset"], kind == "every", "belongs to `every`");
    let repeats = matches!(kind, "cron" | "every");
    let why = "belongs to `cron`, `every` and `webhook`, which fire again and again";
    refuse(fields, OF_REPEATED, repeats || kind == "webhook", why);
    refuse(fields, OF_RHYTHMS, repeats, "belongs to `cron` and `every`, which repeat by the clock");
    let why = "belongs to `cron`, `every` and `at`, which follow the clock";
    refuse(fields, OF_CLOCKS, repeats || kind == "at", why);
    match kind {
        "cron" => {
            let cron: Box<str> = cron?;
            if let Err(wrong) = Cron::parse(&cron, days.rule(), 0) {
                fields.problem("cron", wrong.to_string());
                return None;
            }
            let zone = zone.unwrap_or_else(|| "UTC".into());
            Some(When::Cron { cron, zone, days, dst })
        }
        "every" => {
            let every = every?;
            if let Err(wrong) = Every::new(every, offset) {
                let written = if fields.has("cron") { "cron" } else { "every" };
                fields.problem(written, wrong.to_string());
                return None;
            }
            Some(When::Every { every, offset })
        }
        "delay" => {
            let delay = delay?;
            if delay < Every::PERIOD_MIN {
                fields.problem("delay", "a delay is at least 1s");
                return None;
            }
            Some(When::Delay { delay })
        }
        "at" => at.map(|at| When::At { at }),
        "after" => after.map(|after| When::After { after }),
        _ => webhook.map(|webhook| When::Webhook { webhook }),
    }
}

/// The span of `@every`.
fn interval(fields: &mut Fields<'_, '_>, span: &str) -> Option<Duration> {
    match duration_text::parse(span) {
        Ok(every) => Some(every),
        Err(wrong) => {
            fields.problem("cron", wrong.to_string());
            None
        }
    }
}

/// The names of calendars: one, or several.
fn calendars(reader: &mut Reader, value: &Value) -> Option<Vec<Name>> {
    if value.is_string() {
        return parsed::<Name>(reader, value).map(|name| vec![name]);
    }
    let names = list(parsed::<Name>)(reader, value)?;
    if names.len() > TRIGGER_CALENDARS_MAX {
        reader
            .problem(format!("names {} calendars; at most {TRIGGER_CALENDARS_MAX} are allowed", names.len()));
        return None;
    }
    Some(names)
}

fn refuse<const N: usize>(fields: &mut Fields<'_, '_>, words: [&'static str; N], allowed: bool, why: &str) {
    for word in words {
        if !allowed && fields.has(word) {
            fields.problem(word, why);
        }
    }
}

fn moment(reader: &mut Reader, value: &Value) -> Option<Timestamp> {
    let text = text(reader, value, 64)?;
    match time::text::parse(text) {
        Ok(at) => Some(at),
        Err(wrong) => {
            reader.problem(wrong);
            None
        }
    }
}

/// A zone by the name that it has in the database.
fn zone(reader: &mut Reader, value: &Value) -> Option<Box<str>> {
    parsed::<Zone>(reader, value).map(|zone| zone.name().into())
}

fn dst(reader: &mut Reader, value: &Value) -> Option<Dst> {
    let mut fields = reader.fields("dst", value)?;
    let gap = fields.or_default("gap", choice("dst", &[("once", Gap::Once), ("skip", Gap::Skip)]));
    let overlaps = [("first", Overlap::First), ("both", Overlap::Both)];
    let overlap = fields.or_default("overlap", choice("dst", &overlaps));
    fields.finish();
    Some(Dst { gap, overlap })
}

fn after(reader: &mut Reader, value: &Value) -> Option<After> {
    if value.is_string() {
        return parsed(reader, value).map(|job| After { job, on: On::default() });
    }
    let mut fields = reader.fields("after", value)?;
    let job = fields.required("job", parsed);
    let ends = [("success", On::Success), ("failure", On::Failure), ("any", On::Any)];
    let on = fields.or_default("on", choice("after", &ends));
    fields.finish();
    Some(After { job: job?, on })
}

/// The jobs that have to succeed first: one, or several.
fn needs(reader: &mut Reader, value: &Value) -> Option<Vec<Need>> {
    if !value.is_array() {
        return need(reader, value).map(|need| vec![need]);
    }
    let found = list(need)(reader, value)?;
    let twice =
        found.iter().enumerate().find(|(n, need)| found[..*n].iter().any(|other| other.job == need.job));
    if let Some((_, need)) = twice {
        reader.problem(format!("`{}` is named twice", need.job));
        return None;
    }
    if found.is_empty() || found.len() > TRIGGER_NEEDS_MAX {
        reader.problem(format!("names {} jobs; write 1 to {TRIGGER_NEEDS_MAX}", found.len()));
        return None;
    }
    Some(found)
}

fn need(reader: &mut Reader, value: &Value) -> Option<Need> {
    if value.is_string() {
        return parsed(reader, value).map(|job| Need { job, within: Need::WITHIN_DEFAULT });
    }
    let mut fields = reader.fields("need", value)?;
    let job = fields.required("job", parsed);
    let within = fields.optional("within", duration).unwrap_or(Need::WITHIN_DEFAULT);
    fields.finish();
    Some(Need { job: job?, within })
}

fn misfire(reader: &mut Reader, value: &Value) -> Option<Misfire> {
    let policy = choice("misfire", &MisfirePolicy::ALL);
    if value.is_string() {
        return policy(reader, value).map(|policy| Misfire { policy, ..Misfire::default() });
    }
    let mut fields = reader.fields("misfire", value)?;
    let policy = fields.or_default("policy", policy);
    let window = fields.optional("window", window).unwrap_or(Misfire::WINDOW_DEFAULT);
    let max = fields.optional("max", integer(1..=Misfire::MAX_MAX)).and_then(NonZeroU32::new);
    if max.is_some() && policy != MisfirePolicy::All {
        fields.problem("max", "belongs to `policy: all`");
    }
    fields.finish();
    Some(Misfire { policy, window, max: max.unwrap_or(Misfire::MAX_DEFAULT) })
}

fn window(reader: &mut Reader, value: &Value) -> Option<Duration> {
    let window = duration(reader, value)?;
    if window < Misfire::GRACE {
        reader.problem("is at least 1m: what is less late is in time");
        return None;
    }
    Some(window)
}

/// Values for the job's parameters; text is a template that knows the planned moment, and of a webhook the call.
fn parameters(reader: &mut Reader, value: &Value, is_called: bool) -> Option<BTreeMap<Box<str>, Value>> {
    let (known, hint) = match is_called {
        true => {
            (&OF_CALLS[..], "webhooks know `payload`, `headers` and `logical_time`, the moment of the call")
        }
        false => (&OF_CALLS[2..], "triggers know `logical_time`, the planned moment"),
    };
    map(
        |_| Ok(()),
        |reader, value| {
            let Value::String(text) = value else { return Some(value.clone()) };
            match Template::from(text.as_str()).names() {
                Ok(names) => {
                    let mut strangers = names.iter().filter(|name| !known.contains(&root(name))).peekable();
                    let is_right = strangers.peek().is_none();
                    for name in strangers {
                        let message = format!("`{name}` is not known here");
                        reader.problem_with_hint(message, hint);
                    }
                    is_right.then(|| value.clone())
                }
                Err(wrong) => {
                    let hint = "write `{{ logical_time | date(\"%Y-%m-%d\") }}`";
                    reader.problem_with_hint(format!("it cannot be rendered: {wrong}"), hint);
                    None
                }
            }
        },
    )(reader, value)
}

/// A job that follows its own ends would never rest, one that waits for its own success never begin.
pub(super) fn check_circles(reader: &mut Reader, triggers: &[Trigger], job: &Name) {
    for (index, trigger) in triggers.iter().enumerate() {
        if matches!(&trigger.when, When::After { after } if after.job == *job) {
            let path = format!("triggers[{index}].after");
            let problem = Problem::new(path, "the job would follow itself for ever");
            reader.report(problem.with_hint("for a run after each run write `delay`, such as `delay: 5m`"));
        }
        if trigger.needs.iter().any(|need| need.job == *job) {
            let path = format!("triggers[{index}].needs");
            let problem = Problem::new(path, "the job would wait for itself, and never begin");
            reader.report(
                problem.with_hint("to stop it after failures write `pause_after`, such as `pause_after: 1`"),
            );
        }
    }
}

/// What the triggers give must fit what the job takes: nobody is there to ask when they fire.
pub(super) fn check_parameters(reader: &mut Reader, triggers: &[Trigger], parameters: &Parameters) {
    // What cannot be read is not compared.
    let about_values = |path: &str| {
        path.starts_with("parameters") || path.starts_with("triggers") && path.contains("].parameters")
    };
    if reader.problems.iter().any(|problem| about_values(&problem.path)) {
        return;
    }
    reader.at("triggers", |reader| {
        for (index, trigger) in triggers.iter().enumerate() {
            reader.at_index(index, |reader| check_one(reader, trigger, parameters));
        }
    });
}

fn check_one(reader: &mut Reader, trigger: &Trigger, parameters: &Parameters) {
    for (name, value) in &trigger.parameters {
        let wrong = match (parameters.0.get(name), value) {
            (None, _) => Some("the job has no such parameter".to_owned()),
            (Some(parameter), Value::String(text)) => {
                // A check renders nothing: what a template gives is known at the moment or with the call. That of a moment
                // is text.
                let is_plain = Template::from(text.as_str()).is_plain();
                let takes_text = matches!(
                    parameter.kind,
                    ParameterType::String { .. } | ParameterType::Enum { .. } | ParameterType::Json
                );
                match matches!(trigger.when, When::Webhook { .. }) || takes_text {
                    true if !is_plain => None,
                    _ => check_value(&parameter.kind, value).err(),
                }
            }
            (Some(parameter), value) => check_value(&parameter.kind, value).err(),
        };
        if let Some(wrong) = wrong {
            reader.at("parameters", |reader| reader.at(name, |reader| reader.problem(wrong)));
        }
    }
    for (name, parameter) in &parameters.0 {
        if parameter.presence == Presence::Required && !trigger.parameters.contains_key(name) {
            let message =
                format!("the job requires `{name}`, and nobody is there to give it when this fires");
            reader.problem_with_hint(message, format!("write `parameters: {{{name}: …}}`"));
        }
    }
}
