//! Retention: how long the history of a job is kept.
//!
//! Only finished runs are ever removed, and nothing that something live refers to (I30).

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use crate::duration_text;
use crate::spec::schema;

/// How long the history of a job is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Finished runs.
    #[serde(skip_serializing_if = "Keep::is_default")]
    pub runs: Keep,
}

/// What is kept; a thing goes as soon as one of the two says so. Without any, the namespace decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Keeps what is younger.
    #[schema(value_type = Option<schema::DurationText>)]
    #[serde(with = "duration_text::option", skip_serializing_if = "Option::is_none")]
    pub age: Option<Duration>,
    /// Keeps the latest so many.
    #[schema(value_type = Option<u32>, minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<NonZeroU32>,
}

impl Retention {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Keep {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
