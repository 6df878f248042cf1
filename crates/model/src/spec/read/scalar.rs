//! Reading single values: text, numbers, durations, words, and lists and maps of them.
//!
//! Each function reports what it expected and what it found, and answers `None`. Lists and maps read every
//! entry before they fail, so that every problem is found. Every size has a limit.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;

use super::fields::not_yet;
use super::words::reserved;
use super::{Reader, shorten};
use crate::duration_text;
use crate::limits::{LINE_BYTES_MAX, SPEC_ENTRIES_MAX, TEXT_BYTES_MAX, WORD_BYTES_MAX};
use crate::spec::Template;
use crate::spec::nearest::nearest;

/// Text of at most `bytes_max` bytes that is not empty.
pub(super) fn text<'v>(reader: &mut Reader, value: &'v Value, bytes_max: usize) -> Option<&'v str> {
    let Value::String(text) = value else {
        return reader.expected("text", value);
    };
    check_text(reader, text, bytes_max).then_some(text)
}

fn check_text(reader: &mut Reader, text: &str, bytes_max: usize) -> bool {
    if text.is_empty() {
        reader.problem("expected text, found empty text");
    } else if text.len() > bytes_max {
        reader.problem(format!("has {} bytes; at most {bytes_max} are allowed", text.len()));
    } else if text.contains('\0') {
        reader.problem("contains a NUL character");
    } else {
        return true;
    }
    false
}

/// A short text: an owner, a user, a class of errors.
pub(super) fn word(reader: &mut Reader, value: &Value) -> Option<Box<str>> {
    text(reader, value, WORD_BYTES_MAX).map(Into::into)
}

/// A long text, such as a script.
pub(super) fn long_text(reader: &mut Reader, value: &Value) -> Option<Box<str>> {
    text(reader, value, TEXT_BYTES_MAX).map(Into::into)
}

/// Text that may be written without quotes though it looks like a whole number or a boolean.
pub(super) fn plain(reader: &mut Reader, value: &Value, bytes_max: usize) -> Option<String> {
    match value {
        Value::String(text) => check_text(reader, text, bytes_max).then(|| text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        Value::Number(number) => {
            let message = format!("expected text, found the number {number}, whose spelling may be lost");
            reader.problem_with_hint(message, "put it in quotes");
            None
        }
        other => reader.expected("text", other),
    }
}

/// One line that is rendered as a template.
pub(super) fn template(reader: &mut Reader, value: &Value) -> Option<Template> {
    let text = plain(reader, value, LINE_BYTES_MAX)?;
    checked(reader, text.into())
}

/// A template that can be rendered if its parameters are there; whether they are is known at the end of the file.
fn checked(reader: &mut Reader, template: Template) -> Option<Template> {
    match template.names() {
        Ok(names) => {
            reader.named.extend(names.into_iter().map(|name| (reader.path.clone(), name)));
            Some(template)
        }
        Err(wrong) => {
            reader.problem_with_hint(format!("it cannot be rendered: {wrong}"), "write `{{ params.NAME }}`");
            None
        }
    }
}

/// As [`template`], but empty text is a value too: an argument, a variable.
pub(super) fn template_or_empty(reader: &mut Reader, value: &Value) -> Option<Template> {
    match value {
        Value::String(text) if text.is_empty() => Some(Template::from("")),
        other => template(reader, other),
    }
}

/// A long text that is rendered as a template.
pub(super) fn long_template(reader: &mut Reader, value: &Value) -> Option<Template> {
    let text = plain(reader, value, TEXT_BYTES_MAX)?;
    checked(reader, text.into())
}

/// Text with rules of its own.
pub(super) fn parsed<T: FromStr>(reader: &mut Reader, value: &Value) -> Option<T>
where
    T::Err: Display,
{
    let text = text(reader, value, LINE_BYTES_MAX)?;
    match text.parse() {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            reader.problem(format!("`{}`: {error}", shorten(text)));
            None
        }
    }
}

/// `true` or `false`.
pub(super) fn boolean(reader: &mut Reader, value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        other => reader.expected("`true` or `false`", other),
    }
}

/// A whole number within bounds.
pub(super) fn integer<T>(bounds: RangeInclusive<T>) -> impl Fn(&mut Reader, &Value) -> Option<T>
where
    T: TryFrom<i64> + PartialOrd + Display,
{
    move |reader, value| {
        if !value.is_i64() && !value.is_u64() {
            return reader.expected("a whole number", value);
        }
        match value.as_i64().and_then(|number| T::try_from(number).ok()) {
            Some(number) if bounds.contains(&number) => Some(number),
            _ => {
                let (least, most) = (bounds.start(), bounds.end());
                reader.problem(format!("{value} is not between {least} and {most}"));
                None
            }
        }
    }
}

/// A duration, zero included.
pub(super) fn duration(reader: &mut Reader, value: &Value) -> Option<Duration> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => return reader.expected("a duration such as `30s` or `1h30m`", other),
    };
    match duration_text::parse(&text) {
        Ok(duration) => Some(duration),
        Err(error) => {
            reader.problem(error.to_string());
            None
        }
    }
}

/// A duration that is not zero.
pub(super) fn positive_duration(reader: &mut Reader, value: &Value) -> Option<Duration> {
    let duration = duration(reader, value)?;
    if duration.is_zero() {
        reader.problem("must be longer than nothing");
        return None;
    }
    Some(duration)
}

/// One of a few words. `section` is where reserved ones are found.
pub(super) fn choice<T: Clone>(
    section: &'static str,
    words: &[(&'static str, T)],
) -> impl Fn(&mut Reader, &Value) -> Option<T> {
    move |reader, value| {
        let names = || words.iter().map(|(name, _)| *name);
        let list = names().collect::<Vec<_>>().join(", ");
        let Value::String(text) = value else {
            return reader.expected(&format!("one of {list}"), value);
        };
        if let Some((_, choice)) = words.iter().find(|(name, _)| name == text) {
            return Some(choice.clone());
        }
        if let Some(meaning) = reserved(section, text) {
            reader.problem(not_yet(text, meaning));
            return None;
        }
        let message = format!("`{}` is not one of {list}", shorten(text));
        match nearest(text, names()) {
            Some(near) => reader.problem_with_hint(message, format!("did you mean `{near}`?")),
            None => reader.problem(message),
        }
        None
    }
}

/// A list, each item read by `read`.
pub(super) fn list<T>(
    read: impl Fn(&mut Reader, &Value) -> Option<T>,
) -> impl Fn(&mut Reader, &Value) -> Option<Vec<T>> {
    move |reader, value| {
        let Value::Array(items) = value else {
            return reader.expected("a list", value);
        };
        if !few_enough(reader, items.len()) {
            return None;
        }
        let read_item = |(index, item)| {
            reader.at_index(index, |reader| not_null(reader, item).and_then(|item| read(reader, item)))
        };
        // Every item is read, so that every problem is found, before one that failed makes the list fail.
        let items: Vec<Option<T>> = items.iter().enumerate().map(read_item).collect();
        items.into_iter().collect()
    }
}

/// A list, or one item without the brackets.
pub(super) fn one_or_many<T>(
    read: impl Fn(&mut Reader, &Value) -> Option<T>,
) -> impl Fn(&mut Reader, &Value) -> Option<Vec<T>> {
    move |reader, value| match value {
        Value::Array(_) => list(&read)(reader, value),
        single => read(reader, single).map(|item| vec![item]),
    }
}

/// A map from names that satisfy `check_key` to values read by `read`.
pub(super) fn map<T>(
    check_key: impl Fn(&str) -> Result<(), String>,
    read: impl Fn(&mut Reader, &Value) -> Option<T>,
) -> impl Fn(&mut Reader, &Value) -> Option<BTreeMap<Box<str>, T>> {
    move |reader, value| {
        let Value::Object(entries) = value else {
            return reader.expected("a map", value);
        };
        if !few_enough(reader, entries.len()) {
            return None;
        }
        let mut read_entry = |(key, item): (&String, &Value)| {
            reader.at(key, |reader| {
                if let Err(message) = check_key(key) {
                    reader.problem(message);
                }
                let item = not_null(reader, item)?;
                read(reader, item).map(|item| (Box::from(key.as_str()), item))
            })
        };
        let entries: Vec<Option<(Box<str>, T)>> = entries.iter().map(&mut read_entry).collect();
        entries.into_iter().collect()
    }
}

fn few_enough(reader: &mut Reader, entries: usize) -> bool {
    if entries > SPEC_ENTRIES_MAX {
        reader.problem(format!("has {entries} entries; at most {SPEC_ENTRIES_MAX} are allowed"));
    }
    entries <= SPEC_ENTRIES_MAX
}

fn not_null<'v>(reader: &mut Reader, value: &'v Value) -> Option<&'v Value> {
    if value.is_null() {
        reader.problem("has no value");
        return None;
    }
    Some(value)
}
