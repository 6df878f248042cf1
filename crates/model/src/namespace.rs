//! Namespaces: validated paths of departments, such as `acme/data/etl`.
//!
//! A namespace holds jobs, members, quotas and secrets; everything inherits downwards, so the one
//! question asked of two namespaces is whether one lies within the other. There is no root namespace:
//! "everywhere" is the absence of one.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::limits::{NAMESPACE_BYTES_MAX, NAMESPACE_DEPTH_MAX};
use crate::name::{NameError, check_name};

/// The namespace of a job that names none.
pub const DEFAULT: &str = "default";

/// A path of departments. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(Arc<str>);

/// Text that is not a namespace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamespaceError {
    /// Too long.
    #[error("a namespace has at most {NAMESPACE_BYTES_MAX} characters")]
    TooLong,
    /// Too deep.
    #[error("a namespace has at most {NAMESPACE_DEPTH_MAX} parts")]
    TooDeep,
    /// A part that is not a name.
    #[error("`{part}` is not a part of a namespace such as `acme/data/etl`: {error}")]
    Part {
        /// The part.
        part: String,
        /// What is wrong with it.
        error: NameError,
    },
}

impl Namespace {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The parts, outermost first.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The namespace around this one, if it is not outermost.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.into()))
    }

    /// Whether this is `other` or lies below it.
    pub fn is_within(&self, other: &Self) -> bool {
        match self.0.strip_prefix(&*other.0) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }
}

impl Default for Namespace {
    fn default() -> Self {
        Self(DEFAULT.into())
    }
}

impl FromStr for Namespace {
    type Err = NamespaceError;

    fn from_str(text: &str) -> Result<Self, NamespaceError> {
        if text.len() > NAMESPACE_BYTES_MAX {
            return Err(NamespaceError::TooLong);
        }
        if text.split('/').count() > NAMESPACE_DEPTH_MAX {
            return Err(NamespaceError::TooDeep);
        }
        for part in text.split('/') {
            check_name(part).map_err(|error| NamespaceError::Part { part: part.into(), error })?;
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Namespace({})", self.0)
    }
}

crate::name::serde_by_text!(Namespace);

#[cfg(test)]
mod tests {
    use super::*;

    fn namespace(text: &str) -> Namespace {
        text.parse().unwrap()
    }

    #[test]
    fn knows_its_parent_and_what_lies_within() {
        let etl = namespace("acme/data/etl");
        assert_eq!(etl.parent(), Some(namespace("acme/data")));
        assert_eq!(namespace("acme").parent(), None);
        assert_eq!(etl.parts().collect::<Vec<_>>(), ["acme", "data", "etl"]);
        for (inner, outer, within) in [
            ("acme/data/etl", "acme/data/etl", true),
            ("acme/data/etl", "acme", true),
            ("acme", "acme/data", false),
            ("acme-two/x", "acme", false),
            ("acmes", "acme", false),
        ] {
            assert_eq!(namespace(inner).is_within(&namespace(outer)), within, "{inner} in {outer}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_path_of_names() {
        let long = "a".repeat(300);
        let deep = vec!["a"; 20].join("/");
        for bad in ["", "/", "acme/", "/acme", "acme//x", "Acme", "a b", "acme/-x", "..", &long, &deep] {
            assert!(bad.parse::<Namespace>().is_err(), "{bad}");
        }
    }
}
