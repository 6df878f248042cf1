//! Selectors: what labels a node must carry.
//!
//! A selector is a list of requirements that must all hold. It has one canonical order, and `zone=eu` is
//! the same requirement as `zone in (eu)`, so selectors that are written differently but say the same
//! term by term compare and hash equal: the engine groups runs by them. The text form is read in
//! `selector/text.rs`.

mod text;

use crate::label::{LabelError, Labels, check_key, check_value};
use crate::limits::SELECTOR_TERMS_MAX;

/// Requirements that must all hold; empty matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector(Box<[Requirement]>);

/// One requirement: a key and what must hold for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    key: Box<str>,
    test: Test,
}

/// What must hold for a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// The value is one of these; also written `=`.
    In(Values),
    /// The key is absent, or its value is none of these; also written `!=`.
    NotIn(Values),
    /// The key is present.
    Exists,
    /// The key is absent.
    NotExists,
}

/// One or more values, sorted, each once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Values(Box<[Box<str>]>);

/// Text or a map that is not a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// A bad key or value.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// `in ()`.
    #[error("a list of values needs at least one value")]
    NoValues,
    /// Too many requirements or values.
    #[error("at most {SELECTOR_TERMS_MAX} requirements, and as many values in each")]
    TooMany,
    /// A requirement that cannot be read.
    #[error(
        "`{0}` is not a requirement: write `key=value`, `key!=value`, `key in (a,b)`, `key not in (a,b)`, `key` or `!key`"
    )]
    Shape(String),
}

impl Selector {
    /// A selector of these requirements, in canonical order.
    pub fn new(requirements: impl IntoIterator<Item = Requirement>) -> Result<Self, SelectorError> {
        let mut requirements: Vec<_> = requirements.into_iter().collect();
        requirements.sort();
        requirements.dedup();
        if requirements.len() > SELECTOR_TERMS_MAX {
            return Err(SelectorError::TooMany);
        }
        Ok(Self(requirements.into()))
    }

    /// Whether the labels satisfy every requirement.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels))
    }

    /// The requirements in canonical order.
    pub fn requirements(&self) -> &[Requirement] {
        &self.0
    }

    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Requirement {
    /// The key is present.
    pub fn exists(key: &str) -> Result<Self, SelectorError> {
        Self::new(key, Test::Exists)
    }

    /// The key is absent.
    pub fn not_exists(key: &str) -> Result<Self, SelectorError> {
        Self::new(key, Test::NotExists)
    }

    /// The value is one of `values`.
    pub fn any_of<'a>(key: &str, values: impl IntoIterator<Item = &'a str>) -> Result<Self, SelectorError> {
        Self::new(key, Test::In(Values::new(values)?))
    }

    /// The key is absent or its value is none of `values`.
    pub fn none_of<'a>(key: &str, values: impl IntoIterator<Item = &'a str>) -> Result<Self, SelectorError> {
        Self::new(key, Test::NotIn(Values::new(values)?))
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What must hold for it.
    pub fn test(&self) -> &Test {
        &self.test
    }

    /// Whether the labels satisfy it.
    pub fn matches(&self, labels: &Labels) -> bool {
        match (&self.test, labels.get(&self.key)) {
            (Test::In(values), Some(value)) => values.contains(value),
            (Test::In(_), None) => false,
            (Test::NotIn(values), Some(value)) => !values.contains(value),
            (Test::NotIn(_), None) => true,
            (Test::Exists, value) => value.is_some(),
            (Test::NotExists, value) => value.is_none(),
        }
    }

    fn new(key: &str, test: Test) -> Result<Self, SelectorError> {
        check_key(key)?;
        Ok(Self { key: key.into(), test })
    }
}

impl Values {
    fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Self, SelectorError> {
        let mut list: Vec<Box<str>> = Vec::new();
        for value in values {
            check_value(value)?;
            list.push(value.into());
        }
        list.sort();
        list.dedup();
        match list.len() {
            0 => Err(SelectorError::NoValues),
            1..=SELECTOR_TERMS_MAX => Ok(Self(list.into())),
            _ => Err(SelectorError::TooMany),
        }
    }

    /// Whether `value` is one of them.
    pub fn contains(&self, value: &str) -> bool {
        self.0.binary_search_by(|probe| (**probe).cmp(value)).is_ok()
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|value| &**value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selector: &str, labels: &[(&str, &str)], expected: bool) {
        let selector: Selector = selector.parse().unwrap();
        let mut set = Labels::new();
        for (key, value) in labels {
            set.insert(key, value).unwrap();
        }
        assert_eq!(selector.matches(&set), expected, "{selector} on {labels:?}");
    }

    #[test]
    fn every_requirement_must_hold() {
        let node = [("zone", "eu"), ("disk", "ssd"), ("gpu", "a100")];
        check("", &node, true);
        check("", &[], true);
        check("zone=eu", &node, true);
        check("zone=us", &node, false);
        check("zone=eu", &[], false);
        check("zone!=us", &node, true);
        check("zone!=eu", &node, false);
        check("zone!=eu", &[], true);
        check("disk in (ssd,nvme)", &node, true);
        check("disk in (hdd,nvme)", &node, false);
        check("disk in (ssd)", &[], false);
        check("disk not in (hdd)", &node, true);
        check("disk not in (hdd,ssd)", &node, false);
        check("disk not in (hdd)", &[], true);
        check("gpu", &node, true);
        check("gpu", &[], false);
        check("!gpu", &node, false);
        check("!spot", &node, true);
        check("zone=eu, disk in (ssd,nvme), gpu, !spot", &node, true);
        check("zone=eu, disk in (ssd,nvme), gpu, !spot", &[("zone", "eu"), ("disk", "ssd")], false);
        check("zone=eu, zone=us", &node, false);
    }

    #[test]
    fn equal_meaning_term_by_term_is_equal() {
        for (one, other) in [
            ("a=1, b=2", "b=2,a=1"),
            ("a in (2,1)", "a in (1,2,1)"),
            ("a=1", "a in (1)"),
            ("a!=1", "a not in (1)"),
            ("a, a", "a"),
        ] {
            assert_eq!(
                one.parse::<Selector>().unwrap(),
                other.parse::<Selector>().unwrap(),
                "{one} | {other}"
            );
        }
        assert_ne!("a=1".parse::<Selector>().unwrap(), "a!=1".parse::<Selector>().unwrap());
    }
}
