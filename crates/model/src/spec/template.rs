//! Template text: rendered with the run's parameters when a run is made, kept as text here.
//!
//! The language is the same everywhere (`{{ params.day }}`). This type only says "this text is rendered";
//! fields without it are taken as they are.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Text that is rendered when a run is made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(Box<str>);

impl Template {
    /// The text with its placeholders.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the text has anything to render; if not, it is its own result.
    pub fn is_plain(&self) -> bool {
        !["{{", "{%", "{#"].iter().any(|mark| self.0.contains(mark))
    }
}

impl From<&str> for Template {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Template {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({:?})", self.0)
    }
}
