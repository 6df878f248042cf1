//! Values of flags that are checked where they are typed, so that what is wrong is told with the name of the flag.

use mainspring_model::{RunState, duration_text};

/// A number of things: none at all is not a question.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("`{text}` is not a whole number")),
    }
}

/// A duration, as it was typed.
pub(crate) fn duration(text: &str) -> Result<String, String> {
    duration_text::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// States of runs with commas between, as they were typed.
pub(crate) fn run_states(text: &str) -> Result<String, String> {
    let known: Vec<&str> =
        RunState::ALL.iter().map(|state| state.name()).chain(["active", "ended"]).collect();
    match text.split(',').find(|word| !known.contains(word)) {
        None => Ok(text.to_owned()),
        Some(word) => Err(format!("`{word}` is not a state; use {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        assert_eq!(at_least_one("5"), Ok(5));
        assert!(at_least_one("0").is_err() && at_least_one("-1").is_err());
        assert_eq!(duration("1h30m").as_deref(), Ok("1h30m"));
        assert!(duration("2x").is_err());
        assert_eq!(run_states("failed,active").as_deref(), Ok("failed,active"));
        assert!(run_states("failed,").unwrap_err().contains("`` is not a state; use ready, "));
    }
}
