//! Backfills: planned moments of the past that are made up for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::RunId;
use crate::state::RunState;

/// Which moments go first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackfillOrder {
    /// From the past to the present.
    #[default]
    Oldest,
    /// From the present to the past.
    Newest,
}

/// What becomes of moments that had a run before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reprocess {
    /// They are left alone, unless the overlap policy skipped that run.
    #[default]
    None,
    /// Those whose last run failed for good run again.
    Failed,
    /// All run again, but for those that are under way.
    All,
}

/// What a backfill does about one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Makeup {
    /// Its first run.
    Run,
    /// One more run, after this one.
    Again(RunId),
    /// Nothing.
    Leave(RunId),
}

impl BackfillOrder {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Oldest => "oldest",
            Self::Newest => "newest",
        }
    }
}

impl Reprocess {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Failed => "failed",
            Self::All => "all",
        }
    }

    /// What happens to a moment whose last run is in this state; without a state, when retention has removed it.
    pub const fn decide(self, last: Option<(RunId, Option<RunState>)>) -> Makeup {
        let Some((run, state)) = last else { return Makeup::Run };
        match (self, state) {
            // It was planned and never began.
            (_, Some(RunState::Skipped)) => Makeup::Again(run),
            (Self::All, None) => Makeup::Again(run),
            (Self::All, Some(state)) if state.is_terminal() => Makeup::Again(run),
            (Self::Failed, Some(RunState::FinalFailed)) => Makeup::Again(run),
            (Self::None | Self::Failed | Self::All, _) => Makeup::Leave(run),
        }
    }
}
