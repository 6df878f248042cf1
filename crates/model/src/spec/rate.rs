//! Rate limits: how many runs may start in any period.
//!
//! How many may be active at once is [`super::Concurrency`]. The window slides: the limit holds in every
//! period, whenever it begins (I21).

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::Template;
use crate::duration_text;
use crate::spec::schema;

/// At most `limit` starts in any window of length `per` (I21).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// How many runs may start in one period.
    #[schema(value_type = u32, minimum = 1)]
    pub limit: NonZeroU32,
    /// The period.
    #[schema(value_type = schema::DurationText)]
    #[serde(with = "duration_text")]
    pub per: Duration,
    /// Counts runs apart by this text, so that the limit holds for each value. Without one, for the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Template>,
}
