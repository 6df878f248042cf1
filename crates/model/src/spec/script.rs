//! The script body: text that an interpreter on the node reads.
//!
//! The text is never a template: shells have braces of their own, and a value pasted into code is a hole.
//! Parameters reach a script through its environment and its arguments.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{ProcessLimits, Template, Umask};

/// Text for an interpreter, with its surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The script itself. It is not a template.
    pub text: Box<str>,
    /// The interpreter and its options, such as `python3` or `[bash, -eu]`. Without one, the script's `#!`
    /// line decides, and without that line it is `sh`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interpreter: Vec<Box<str>>,
    /// Arguments, `$1` and on in a shell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Template>,
    /// Variables added to the task's environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<Box<str>, Template>,
    /// The working directory. Without one, the task gets a fresh directory of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Template>,
    /// Text for its standard input. Without one, the input is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Template>,
    /// The account of the node that it runs as. Without one, the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Box<str>>,
    /// What each of its processes may use at most.
    #[serde(skip_serializing_if = "ProcessLimits::is_none")]
    pub limits: ProcessLimits,
    /// The mode mask of the files that it makes. Without one, the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umask: Option<Umask>,
}

impl Script {
    /// A script for the interpreter that its first line names, or `sh`.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self {
            text: text.into(),
            interpreter: Vec::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            stdin: None,
            user: None,
            limits: ProcessLimits::default(),
            umask: None,
        }
    }

    /// The words to start the interpreter with: those of the job, of the `#!` line, or `sh`.
    pub fn interpreter_words(&self) -> Vec<&str> {
        if !self.interpreter.is_empty() {
            return self.interpreter.iter().map(|word| &**word).collect();
        }
        let first_line = self.text.lines().next().unwrap_or_default();
        let words: Vec<&str> =
            first_line.strip_prefix("#!").map(|line| line.split_whitespace().collect()).unwrap_or_default();
        if words.is_empty() { vec!["sh"] } else { words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(interpreter: &[&str], text: &str, expected: &[&str]) {
        let mut script = Script::new(text);
        script.interpreter = interpreter.iter().map(|word| (*word).into()).collect();
        assert_eq!(script.interpreter_words(), expected, "{text}");
    }

    #[test]
    fn the_interpreter_is_given_or_in_the_first_line_or_sh() {
        check(&[], "echo hello", &["sh"]);
        check(&[], "", &["sh"]);
        check(&[], "#!", &["sh"]);
        check(&[], "#!/usr/bin/env python3\nprint(1)", &["/usr/bin/env", "python3"]);
        check(&[], "echo 1\n#!/bin/bash", &["sh"]);
        check(&["bash", "-eu"], "#!/usr/bin/perl", &["bash", "-eu"]);
    }
}
