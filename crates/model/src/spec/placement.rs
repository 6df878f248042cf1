//! Placement: which nodes are candidates for a run, and which of them are liked better.
//!
//! Pool and selector are hard: a node outside is never used. Affinity, spread and a preferred sticky node
//! only add to a candidate's score; [`super::Dispatch`] picks.

use serde::Serialize;
use utoipa::ToSchema;

use crate::name::Name;
use crate::selector::Selector;

/// Which nodes may run a job, and which of them are preferred.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// The pool of nodes. Without one, the pool `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<Name>,
    /// Labels that a node must carry.
    #[serde(skip_serializing_if = "Selector::is_empty")]
    pub selector: Selector,
    /// Labels that make a node better or worse.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub affinity: Vec<Affinity>,
    /// A label key: runs of the job are spread over its values, such as zones or racks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Box<str>>,
    /// Whether a run should return to the node of the job's last successful run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sticky: Option<Sticky>,
}

/// A preference for nodes with certain labels.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Affinity {
    /// The nodes it is about.
    pub selector: Selector,
    /// How much: -100 to 100 without 0; negative avoids.
    #[schema(minimum = -100, maximum = 100)]
    pub weight: i8,
}

/// How strongly a run returns to the node of the job's last successful run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sticky {
    /// That node if it can take it, otherwise another.
    Prefer,
    /// That node only: the run waits for it while it lives.
    Require,
}

impl Placement {
    /// The pool of a job that names none.
    pub const POOL_DEFAULT: &'static str = "default";

    /// The pool's name.
    pub fn pool(&self) -> &str {
        self.pool.as_ref().map_or(Self::POOL_DEFAULT, Name::as_str)
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
