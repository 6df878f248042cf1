//! A message that no program of ours sends.

/// A field that is missing or makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed {field}: {why}")]
pub struct Malformed {
    /// Which field.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: String,
}

impl Malformed {
    /// A field that must be there is not.
    pub fn missing(field: &'static str) -> Self {
        Self::new(field, "it is missing")
    }

    /// A field has a value that it must not have.
    pub fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into() }
    }
}
