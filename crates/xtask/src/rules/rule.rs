//! What a house rule is: a name, a look at the checkout, and what to do when it is broken.

use anyhow::Result;

use crate::workspace::{SourceFile, Workspace};

/// One house rule.
pub(crate) struct Rule {
    /// A few words that complete "house rules broken: …".
    pub(crate) name: &'static str,
    /// What a person does about a failure.
    pub(crate) remedy: &'static str,
    /// The look itself; an error means that it could not look.
    pub(crate) check: fn(&Subject<'_>) -> Result<Findings>,
}

/// What rules look at.
pub(crate) struct Subject<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) sources: Vec<SourceFile>,
}

/// What a rule has to say. Failures break the build, notes are for thinking about.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    pub(crate) failures: Vec<String>,
    pub(crate) notes: Vec<String>,
}

impl Findings {
    /// Findings that are all failures.
    pub(crate) fn failures(failures: impl IntoIterator<Item = String>) -> Self {
        Self { failures: failures.into_iter().collect(), notes: Vec::new() }
    }
}
