//! What a person should know about a translation.

use std::fmt;

use serde::Serialize;

/// What to know about jobs with a user.
pub(super) const USERS: &str =
    "a node runs a task as the `user` of its job only if its setting `agent.allowed_users` lists that user";

/// How a thing and its translation relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// It is there, and behaves differently.
    Differs,
    /// There is nothing like it here.
    NoEqual,
    /// It cannot be read, so it is not there.
    LeftOut,
}

/// One remark, with the place that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Note {
    /// The file.
    pub(crate) file: String,
    /// The line in it; none when it is about all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// What stands there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) text: String,
    /// How it and its translation relate.
    pub(crate) kind: Kind,
    /// What that means.
    pub(crate) message: String,
}

/// A place that notes are about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) line: usize,
    pub(super) text: &'a str,
}

impl Kind {
    /// Its words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Differs => "differs",
            Self::NoEqual => "no equal",
            Self::LeftOut => "left out",
        }
    }
}

impl Note {
    /// A note about a whole file.
    pub(super) fn of_file(file: &str, kind: Kind, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, text: String::new(), kind, message: message.into() }
    }
}

impl Place<'_> {
    pub(super) fn note(&self, kind: Kind, message: impl Into<String>) -> Note {
        Note {
            file: self.file.to_owned(),
            line: Some(self.line),
            text: self.text.trim().to_owned(),
            kind,
            message: message.into(),
        }
    }

    pub(super) fn differs(&self, message: impl Into<String>) -> Note {
        self.note(Kind::Differs, message)
    }

    pub(super) fn no_equal(&self, message: impl Into<String>) -> Note {
        self.note(Kind::NoEqual, message)
    }

    pub(super) fn left_out(&self, message: impl Into<String>) -> Note {
        self.note(Kind::LeftOut, message)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.text.is_empty() {
            write!(f, ": `{}`", self.text)?;
        }
        write!(f, ": {}: {}", self.kind.words(), self.message)
    }
}
