//! What is wrong with an expression, in words for the person who wrote it.

/// Why something cannot be read. The message names the part and says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    message: Box<str>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into().into_boxed_str() }
    }

    /// Something wrong in one field of an expression.
    pub(crate) fn in_field(field: &str, text: &str, why: impl AsRef<str>) -> Self {
        Self::new(format!("{field} `{text}`: {}", why.as_ref()))
    }
}
