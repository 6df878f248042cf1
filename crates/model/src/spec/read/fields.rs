//! The fields of one map: asks for each by name, then reports those that nobody asked for.
//!
//! The list of known fields is exactly the list of fields that were read, so the two cannot differ. Ask for
//! every field before [`Fields::finish`], also on paths that end in a problem.

use serde_json::{Map, Value};

use super::words::{misplaced, misplaced_words, reserved};
use super::{Reader, shorten};
use crate::spec::nearest::nearest;

/// One map of the file.
pub(super) struct Fields<'r, 'v> {
    reader: &'r mut Reader,
    section: &'static str,
    map: &'v Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'r, 'v> Fields<'r, 'v> {
    pub(super) fn new(reader: &'r mut Reader, section: &'static str, map: &'v Map<String, Value>) -> Self {
        Self { reader, section, map, known: Vec::new() }
    }

    /// A field that must be there.
    pub(super) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Reader, &'v Value) -> Option<T>,
    ) -> Option<T> {
        if !self.has(name) {
            self.known.push(name);
            self.reader.problem(format!("`{name}` is missing"));
            return None;
        }
        self.optional(name, read)
    }

    /// A field that may be there. `None` when it is absent, and after a problem was reported.
    pub(super) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Reader, &'v Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.raw(name)?;
        self.reader.at(name, |reader| {
            if value.is_null() {
                reader.problem_with_hint("has no value", "write one, or leave the field out");
                return None;
            }
            read(reader, value)
        })
    }

    /// A field that has its default when it is absent.
    pub(super) fn or_default<T: Default>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Reader, &'v Value) -> Option<T>,
    ) -> T {
        self.optional(name, read).unwrap_or_default()
    }

    /// A field as it is written, null included.
    pub(super) fn raw(&mut self, name: &'static str) -> Option<&'v Value> {
        self.known.push(name);
        self.map.get(name)
    }

    /// Whether a field is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    /// Reports a problem with a field.
    pub(super) fn problem(&mut self, name: &str, message: impl Into<String>) {
        self.reader.at(name, |reader| reader.problem(message));
    }

    /// Reports a problem with the map as a whole.
    pub(super) fn problem_here(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        self.reader.problem_with_hint(message, hint);
    }

    /// Reports every field that nobody asked for.
    pub(super) fn finish(self) {
        let Self { reader, section, map, known } = self;
        for name in map.keys().filter(|name| !known.contains(&name.as_str())) {
            reader.at(name, |reader| match reserved(section, name) {
                Some(meaning) => reader.problem(not_yet(name, meaning)),
                None => {
                    let message = format!("unknown field `{}`", shorten(name));
                    reader.problem_with_hint(message, hint(section, name, &known));
                }
            });
        }
    }
}

/// What was probably meant by a field that is not known.
fn hint(section: &str, name: &str, known: &[&'static str]) -> String {
    let usable = || known.iter().copied().filter(|word| reserved(section, word).is_none());
    match nearest(name, misplaced_words(section).chain(usable())) {
        Some(near) => match misplaced(section, near) {
            Some(hint) => hint.to_owned(),
            None => format!("did you mean `{near}`?"),
        },
        None => format!("known here: {}", usable().collect::<Vec<_>>().join(", ")),
    }
}

/// What is said about a word that has a meaning, but nothing acts on it yet.
pub(super) fn not_yet(word: &str, meaning: &str) -> String {
    format!("`{word}` is not acted on yet, so it is refused: {meaning}")
}
