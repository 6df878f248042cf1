//! The rules for names, and the shape shared by values that are text on the wire.
//!
//! A name is short lower-case text that is safe in a path, a URL, a shell and a label, and that no
//! database folds together with another. Jobs, namespaces, pools and nodes share these rules.

use std::fmt;
use std::str::FromStr;

use crate::limits::NAME_BYTES_MAX;

/// The pattern of a name, for the JSON Schema.
pub const NAME_PATTERN: &str = "^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$";

/// What is wrong with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing was written.
    #[error("it is empty")]
    Empty,
    /// Too long.
    #[error("it is longer than {NAME_BYTES_MAX} characters")]
    TooLong,
    /// A character that no name has.
    #[error("`{0}` is not allowed; use lower-case letters, digits, `-`, `_` and `.`")]
    Character(char),
    /// It begins or ends with `-`, `_` or `.`.
    #[error("it must begin and end with a letter or a digit")]
    Ends,
}

/// Checks the rules for a name.
pub fn check_name(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(NameError::TooLong);
    }
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if let Some(bad) = text.chars().find(|c| !is_alphanumeric(*c) && !matches!(c, '-' | '_' | '.')) {
        return Err(NameError::Character(bad));
    }
    if text.starts_with(is_alphanumeric) && text.ends_with(is_alphanumeric) {
        Ok(())
    } else {
        Err(NameError::Ends)
    }
}

/// A validated name: of a job, a pool or a node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Box<str>);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        check_name(text)?;
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({})", self.0)
    }
}

/// Serializes by `Display` and deserializes by `FromStr`.
macro_rules! serde_by_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_by_text;

serde_by_text!(Name);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_lower_case() {
        for good in ["a", "nightly-report", "web-1.eu.example.com", "7zip", "a_b"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        for (bad, error) in [
            ("", NameError::Empty),
            (long.as_str(), NameError::TooLong),
            ("Report", NameError::Character('R')),
            ("a b", NameError::Character(' ')),
            ("a/b", NameError::Character('/')),
            ("报表", NameError::Character('报')),
            ("-a", NameError::Ends),
            ("a.", NameError::Ends),
        ] {
            assert_eq!(check_name(bad), Err(error), "{bad}");
        }
    }
}
