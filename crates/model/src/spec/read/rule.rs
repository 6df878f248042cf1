//! Reading retry rules.
//!
//! A cause is a word for all of its kind, or a map of one word and a list. An empty list would match
//! nothing and a rule behind `any` would never be reached: both are refused.

use serde_json::Value;

use super::Reader;
use super::scalar::{choice, integer, one_or_many, word};
use crate::spec::nearest::nearest;
use crate::spec::{Action, AttemptTimeout, CauseMatch, ExitCodes, Rule, Signals};

/// The words for a cause that stand alone.
const CAUSES: [(&str, CauseMatch); 8] = [
    ("any", CauseMatch::Any),
    ("exit", CauseMatch::Exit(ExitCodes(Vec::new()))),
    ("signal", CauseMatch::Signal(Signals(Vec::new()))),
    ("timeout", CauseMatch::Timeout(Vec::new())),
    ("oom", CauseMatch::Oom),
    ("lost", CauseMatch::Lost),
    ("start_failed", CauseMatch::StartFailed),
    ("error", CauseMatch::Error(Vec::new())),
];

pub(super) fn rules(reader: &mut Reader, value: &Value) -> Option<Vec<Rule>> {
    let rules = super::scalar::list(rule)(reader, value)?;
    if let Some(index) = rules.iter().position(|rule| rule.cause == CauseMatch::Any)
        && index + 1 < rules.len()
    {
        reader.at_index(index + 1, |reader| {
            let hint = "put `cause: any` last";
            reader.problem_with_hint("is never reached: the rule before it matches every failure", hint);
        });
    }
    Some(rules)
}

fn rule(reader: &mut Reader, value: &Value) -> Option<Rule> {
    let mut fields = reader.fields("rule", value)?;
    let cause = fields.required("cause", cause);
    let actions = [("retry", Action::Retry), ("fail", Action::Fail), ("ignore", Action::Ignore)];
    let then = fields.required("then", choice("rule", &actions));
    fields.finish();
    Some(Rule { cause: cause?, then: then? })
}

fn cause(reader: &mut Reader, value: &Value) -> Option<CauseMatch> {
    let Value::Object(map) = value else {
        return choice("cause", &CAUSES)(reader, value);
    };
    let mut fields = reader.fields("cause", value)?;
    if map.len() != 1 {
        fields.problem_here("expected one cause", "write a rule for each cause");
        return None;
    }
    let exit =
        fields.optional("exit", one_or_many(exit_codes)).map(|codes| CauseMatch::Exit(ExitCodes(codes)));
    let signal = fields.optional("signal", one_or_many(signal)).map(|list| CauseMatch::Signal(Signals(list)));
    let timeouts = AttemptTimeout::ALL.map(|limit| (limit.name(), limit));
    let timeout =
        fields.optional("timeout", one_or_many(choice("timeout cause", &timeouts))).map(CauseMatch::Timeout);
    let error = fields.optional("error", one_or_many(word)).map(CauseMatch::Error);
    let bare: Vec<&str> =
        CAUSES.iter().map(|(name, _)| *name).filter(|name| map.contains_key(*name)).collect();
    if let [name @ ("any" | "oom" | "lost" | "start_failed")] = bare[..] {
        fields.problem_here(format!("`{name}` takes no list"), format!("write `cause: {name}`"));
        return None;
    }
    fields.finish();
    let cause = exit.or(signal).or(timeout).or(error)?;
    if matches!(&cause, CauseMatch::Exit(ExitCodes(list)) if list.is_empty())
        || matches!(&cause, CauseMatch::Signal(Signals(list)) if list.is_empty())
        || matches!(&cause, CauseMatch::Timeout(list) if list.is_empty())
        || matches!(&cause, CauseMatch::Error(list) if list.is_empty())
    {
        let name = cause.name();
        reader.problem_with_hint(
            "an empty list matches nothing",
            format!("write `cause: {name}` for every one"),
        );
        return None;
    }
    Some(cause)
}

/// An exit code, or a range of them such as `64-78`.
fn exit_codes(reader: &mut Reader, value: &Value) -> Option<(u8, u8)> {
    let Value::String(text) = value else {
        return integer(1..=u8::MAX)(reader, value).map(|code| (code, code));
    };
    let range = text.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    match range {
        Some((from, to)) if 1 <= from && from <= to => Some((from, to)),
        _ => reader.expected("an exit code from 1 to 255 or a range such as `64-78`", value),
    }
}

/// A signal by name or number.
fn signal(reader: &mut Reader, value: &Value) -> Option<u8> {
    let Value::String(text) = value else {
        return integer(1..=64)(reader, value);
    };
    if let Some((_, number)) = Signals::NAMES.iter().find(|(name, _)| name == text) {
        return Some(*number);
    }
    let message = format!("`{}` is not a signal such as `SIGKILL` or 9", super::shorten(text));
    let full = format!("sig{}", text.to_lowercase().trim_start_matches("sig"));
    let lower: Vec<String> = Signals::NAMES.iter().map(|(name, _)| name.to_lowercase()).collect();
    match nearest(&full, lower.iter().map(String::as_str)) {
        Some(near) => reader.problem_with_hint(message, format!("did you mean `{}`?", near.to_uppercase())),
        None => reader.problem(message),
    }
    None
}
