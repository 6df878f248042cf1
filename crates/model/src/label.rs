//! Labels: small facts about a node, a job or a run, such as `zone=eu`.
//!
//! Keys and values are validated, so that every label can be written in a [`crate::selector::Selector`]
//! without quoting. Values may use letters of any script.

use std::collections::BTreeMap;
use std::collections::btree_map;

use serde::{Deserialize, Serialize};

use crate::limits::{LABEL_KEY_BYTES_MAX, LABEL_VALUE_BYTES_MAX, LABELS_MAX};

/// The pattern of a label's key, for the JSON Schema.
pub const KEY_PATTERN: &str = "^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$";

/// What is wrong with a label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// A bad key.
    #[error(
        "`{0}` is not a label key: use 1 to {LABEL_KEY_BYTES_MAX} ASCII letters, digits, `-`, `_`, `.` and `/`, \
         with a letter or digit at both ends"
    )]
    Key(String),
    /// A bad value.
    #[error(
        "`{0}` is not a label value: use 1 to {LABEL_VALUE_BYTES_MAX} bytes of letters, digits, `-`, `_`, `.`, \
         `/`, `:`, `@` and `+`"
    )]
    Value(String),
    /// Too many.
    #[error("at most {LABELS_MAX} labels")]
    TooMany,
}

/// Checks the rules for a key.
pub fn check_key(key: &str) -> Result<(), LabelError> {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let end = |c: char| c.is_ascii_alphanumeric();
    let fits = (1..=LABEL_KEY_BYTES_MAX).contains(&key.len());
    if fits && key.chars().all(inside) && key.starts_with(end) && key.ends_with(end) {
        Ok(())
    } else {
        Err(LabelError::Key(key.into()))
    }
}

/// Checks the rules for a value.
pub fn check_value(value: &str) -> Result<(), LabelError> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '+');
    let fits = (1..=LABEL_VALUE_BYTES_MAX).contains(&value.len());
    if fits && value.chars().all(allowed) { Ok(()) } else { Err(LabelError::Value(value.into())) }
}

/// Labels in the order of their keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Box<str>, Box<str>>")]
pub struct Labels(BTreeMap<Box<str>, Box<str>>);

impl Labels {
    /// No labels.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| &**value)
    }

    /// Sets a label.
    pub fn insert(&mut self, key: &str, value: &str) -> Result<(), LabelError> {
        check_key(key)?;
        check_value(value)?;
        if self.0.len() >= LABELS_MAX && !self.0.contains_key(key) {
            return Err(LabelError::TooMany);
        }
        self.0.insert(key.into(), value.into());
        Ok(())
    }

    /// All labels, by key.
    pub fn iter(&self) -> btree_map::Iter<'_, Box<str>, Box<str>> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<BTreeMap<Box<str>, Box<str>>> for Labels {
    type Error = LabelError;

    fn try_from(map: BTreeMap<Box<str>, Box<str>>) -> Result<Self, LabelError> {
        let mut labels = Self::new();
        for (key, value) in &map {
            labels.insert(key, value)?;
        }
        Ok(labels)
    }
}

impl<'a> IntoIterator for &'a Labels {
    type Item = (&'a Box<str>, &'a Box<str>);
    type IntoIter = btree_map::Iter<'a, Box<str>, Box<str>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, value: &str, good: bool) {
        assert_eq!(Labels::new().insert(key, value).is_ok(), good, "{key}={value}");
    }

    #[test]
    fn keys_and_values_need_no_quoting() {
        check("zone", "eu-west", true);
        check("acme.com/team", "data", true);
        check("部门", "x", false);
        check("team", "数据", true);
        check("image", "repo/app:1.2", true);
        check("", "x", false);
        check("-a", "x", false);
        check("zone", "", false);
        check("zone", "a b", false);
        check("zone", "a,b", false);
        check("zone", "a=b", false);
        check("zone", "(a)", false);
        check(&"k".repeat(64), "x", false);
        check("k", &"v".repeat(129), false);
    }

    #[test]
    fn their_number_is_limited() {
        let mut labels = Labels::new();
        for n in 0..LABELS_MAX {
            labels.insert(&format!("k{n}"), "v").unwrap();
        }
        assert_eq!(labels.insert("one-more", "v"), Err(LabelError::TooMany));
        assert_eq!(labels.insert("k0", "other"), Ok(()));
        assert_eq!(labels.get("k0"), Some("other"));
    }

    #[test]
    fn a_bad_label_does_not_deserialize() {
        assert!(serde_json::from_str::<Labels>(r#"{"zone":"eu"}"#).is_ok());
        assert!(serde_json::from_str::<Labels>(r#"{"zone":"e u"}"#).is_err());
    }
}
