//! Conditions on what is there now: `If-Match` and `If-None-Match` with revisions as tags.

use mainspring_model::ErrorCode;

use crate::error::{Error, Result};
use crate::ports::Command;

/// What must hold before something is changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing.
    #[default]
    None,
    /// It must exist.
    Exists,
    /// It must have this revision.
    Revision(u64),
    /// It must not exist.
    Absent,
}

impl Precondition {
    /// The command, bound to the revision that was compared, where one was named.
    pub(crate) fn bind(self, revision: u64, command: Command) -> Command {
        match self {
            Self::Revision(_) => Command::If { revision, command: Box::new(command) },
            Self::None | Self::Exists | Self::Absent => command,
        }
    }

    /// Compares with what is there.
    pub(crate) fn check(self, found: Option<u64>) -> Result<()> {
        let failed = |message: String| Err(Error::new(ErrorCode::PreconditionFailed, message));
        match (self, found) {
            (Self::None, _) | (Self::Exists, Some(_)) | (Self::Absent, None) => Ok(()),
            (Self::Revision(expected), Some(found)) if expected == found => Ok(()),
            (Self::Revision(expected), Some(found)) => {
                failed(format!("it has revision {found}, not {expected}"))
            }
            (Self::Revision(_) | Self::Exists, None) => failed("it does not exist".into()),
            (Self::Absent, Some(found)) => failed(format!("it exists, with revision {found}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_on_every_state() {
        for (condition, found, holds) in [
            (Precondition::None, None, true),
            (Precondition::None, Some(3), true),
            (Precondition::Exists, None, false),
            (Precondition::Exists, Some(3), true),
            (Precondition::Revision(3), None, false),
            (Precondition::Revision(3), Some(3), true),
            (Precondition::Revision(3), Some(4), false),
            (Precondition::Absent, None, true),
            (Precondition::Absent, Some(3), false),
        ] {
            assert_eq!(condition.check(found).is_ok(), holds, "{condition:?} {found:?}");
        }
    }
}
