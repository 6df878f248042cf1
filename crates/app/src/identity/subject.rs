//! Names of subjects: people and programs.

use mainspring_model::ErrorCode;

use crate::error::{Error, Result};
use crate::limits::SUBJECT_BYTES_MAX;

/// Checks the name of a person or a program: a word such as `ann`, `ann@example.com` or `ci/deploy`.
pub(crate) fn check(subject: &str) -> Result<()> {
    let fits = (1..=SUBJECT_BYTES_MAX).contains(&subject.len());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '/' | '+');
    if fits && subject.chars().all(plain) {
        return Ok(());
    }
    Err(Error::field(
        ErrorCode::InvalidRequest,
        "subject",
        format!("use 1 to {SUBJECT_BYTES_MAX} letters, digits, `-`, `_`, `.`, `@`, `+` and `/`"),
    ))
}
