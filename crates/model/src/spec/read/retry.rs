//! Reading retry and back-off.
//!
//! A back-off says only what its kind uses: a step without `linear`, or a wait with `none`, is refused and
//! not ignored. Rules are read in `rule.rs`.

use std::time::Duration;

use serde_json::Value;

use super::Reader;
use super::fields::Fields;
use super::rule::rules;
use super::scalar::{choice, duration, integer, positive_duration};
use crate::duration_text;
use crate::limits::RETRIES_MAX;
use crate::quantity::parse_milli;
use crate::spec::{Backoff, Curve, Jitter, Retry, RetryNode};

/// A number of retries, or the whole section.
pub(super) fn retry(reader: &mut Reader, value: &Value) -> Option<Retry> {
    if value.is_number() {
        let max = integer(0..=RETRIES_MAX)(reader, value)?;
        return Some(Retry { max, ..Retry::default() });
    }
    let mut fields = reader.fields_or_number("retry", value)?;
    let retry = Retry {
        max: fields.optional("max", integer(0..=RETRIES_MAX)).unwrap_or(Retry::MAX_DEFAULT),
        backoff: fields.or_default("backoff", backoff),
        max_elapsed: fields.optional("max_elapsed", positive_duration),
        node: fields.or_default(
            "node",
            choice(
                "retry node",
                &[
                    ("same", RetryNode::Same),
                    ("other", RetryNode::Other),
                    ("other_unless_only_one", RetryNode::OtherUnlessOnlyOne),
                ],
            ),
        ),
        rules: fields.or_default("rules", rules),
    };
    fields.finish();
    Some(retry)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    None,
    Fixed,
    Linear,
    Exponential,
    Fibonacci,
}

const KINDS: [(&str, Kind); 5] = [
    ("none", Kind::None),
    ("fixed", Kind::Fixed),
    ("linear", Kind::Linear),
    ("exponential", Kind::Exponential),
    ("fibonacci", Kind::Fibonacci),
];

fn backoff(reader: &mut Reader, value: &Value) -> Option<Backoff> {
    let kind = choice("backoff kind", &KINDS);
    if value.is_string() {
        return kind(reader, value).map(|kind| Backoff::new(curve(kind, Backoff::BASE_DEFAULT, None)));
    }
    let mut fields = reader.fields("backoff", value)?;
    let kind = if fields.has("kind") { fields.optional("kind", kind) } else { no_kind(&mut fields) };
    let base = fields.optional("base", duration);
    let step = fields.optional("step", duration);
    let cap = fields.optional("cap", duration);
    let jitter = fields.optional("jitter", jitter);
    if let Some(kind) = kind {
        refuse_unused(&mut fields, kind);
    }
    let base = base.unwrap_or(Backoff::BASE_DEFAULT);
    let given_cap = cap.filter(|_| kind != Some(Kind::None));
    if let Some(cap) = given_cap.filter(|cap| *cap < base) {
        let (cap, base) = (duration_text::format(cap), duration_text::format(base));
        fields.problem("cap", format!("{cap} is shorter than the first wait, {base}"));
    }
    fields.finish();
    let curve = curve(kind?, base, step);
    // A base beyond the default cap raises it: a wait that was asked for is never cut by a default.
    let cap = cap.unwrap_or(Backoff::CAP_DEFAULT.max(base));
    Some(Backoff { curve, cap, jitter: jitter.unwrap_or(Jitter::DEFAULT) })
}

/// Without a kind, waits grow exponentially.
fn no_kind(fields: &mut Fields<'_, '_>) -> Option<Kind> {
    fields.raw("kind");
    Some(Kind::Exponential)
}

fn refuse_unused(fields: &mut Fields<'_, '_>, kind: Kind) {
    if kind != Kind::Linear && fields.has("step") {
        fields.problem("step", "only a `linear` back-off has a step");
    }
    if kind == Kind::None {
        for name in ["base", "cap", "jitter"].into_iter().filter(|name| fields.has(name)).collect::<Vec<_>>()
        {
            fields.problem(name, "a back-off of kind `none` does not wait");
        }
    }
}

fn curve(kind: Kind, base: Duration, step: Option<Duration>) -> Curve {
    match kind {
        Kind::None => Curve::None,
        Kind::Fixed => Curve::Fixed { base },
        Kind::Linear => Curve::Linear { base, step: step.unwrap_or(base) },
        Kind::Exponential => Curve::Exponential { base },
        Kind::Fibonacci => Curve::Fibonacci { base },
    }
}

fn jitter(reader: &mut Reader, value: &Value) -> Option<Jitter> {
    let milli = match value {
        Value::Number(number) => parse_milli(&number.to_string()).ok(),
        _ => None,
    };
    match milli.and_then(|milli| u16::try_from(milli).ok()).and_then(Jitter::from_milli) {
        Some(jitter) => Some(jitter),
        None => reader.expected("a number from 0 to 1 with at most three decimals", value),
    }
}
