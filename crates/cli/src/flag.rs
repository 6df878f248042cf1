//! Values of flags that are checked where they are typed, so that what is wrong is told with the name of the flag.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
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
    let next = "write a number and its unit, such as 90s, 10m or 1h30m";
    duration_text::parse(text).map(|_| text.to_owned()).map_err(|error| format!("{error}; {next}"))
}

/// States of runs with commas between, as they were typed.
pub(crate) fn run_states(text: &str) -> Result<String, String> {
    let known: Vec<&str> = state_words().collect();
    match text.split(',').find(|word| !known.contains(word)) {
        None => Ok(text.to_owned()),
        Some(word) => Err(format!("`{word}` is not a state; use {}", known.join(", "))),
    }
}

fn state_words() -> impl Iterator<Item = &'static str> {
    RunState::ALL.iter().map(|state| state.name()).chain(["active", "ended"])
}

/// [`run_states`], with the words that a shell may complete.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunStates;

impl TypedValueParser for RunStates {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        run_states.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(state_words().map(PossibleValue::new)))
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
