//! What a person is told when a command fails: what happened, what to do next, and with which code the program ends.

use std::fmt;

use crate::exit::Exit;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What happened, in one sentence or a list.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
    /// The exit code.
    pub(crate) exit: Exit,
    /// Nothing is said: the reader of our output went away, or the output said it all.
    pub(crate) silent: bool,
}

impl Failure {
    /// A failure with this way to end.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, exit, silent: false }
    }

    /// Something on the caller's side is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Anything else.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// Ends with this code and without words.
    pub(crate) fn silent(exit: Exit) -> Self {
        Self { silent: true, ..Self::new(exit, "") }
    }

    /// The same with the next step.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, said about something.
    pub(crate) fn about(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<std::io::Error> for Failure {
    /// The reader of a pipe that went away (`mainspring runs | head`) is no failure of ours.
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::silent(Exit::Done),
            _ => Self::failed(error.to_string()),
        }
    }
}
