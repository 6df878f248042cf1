//! The five limits in time, and how long a task may take to stop.
//!
//! Which one passed is a [`crate::cause::TimeoutKind`] in the run's cause.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use crate::duration_text;
use crate::spec::schema;

/// Limits in time; what is not given does not end a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Timeouts {
    /// How long a run may wait for a node, counted from when it is eligible. Then it has failed for good.
    #[schema(value_type = Option<schema::DurationText>)]
    #[serde(with = "duration_text::option", skip_serializing_if = "Option::is_none")]
    pub queue: Option<Duration>,
    /// How long a node may take from the order to the start, fetching artifacts included.
    #[schema(value_type = schema::DurationText)]
    #[serde(with = "duration_text", skip_serializing_if = "is_default_start")]
    pub start: Duration,
    /// How long one attempt may execute.
    #[schema(value_type = Option<schema::DurationText>)]
    #[serde(with = "duration_text::option", skip_serializing_if = "Option::is_none")]
    pub run: Option<Duration>,
    /// How long a task may go without reporting progress. For tasks that report.
    #[schema(value_type = Option<schema::DurationText>)]
    #[serde(with = "duration_text::option", skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Duration>,
    /// How long everything together may take, waits and retries included. Then it has failed for good.
    #[schema(value_type = Option<schema::DurationText>)]
    #[serde(with = "duration_text::option", skip_serializing_if = "Option::is_none")]
    pub total: Option<Duration>,
    /// How long a task may take to stop after it was asked to, before it is killed.
    #[schema(value_type = schema::DurationText)]
    #[serde(with = "duration_text", skip_serializing_if = "is_default_stop_grace")]
    pub stop_grace: Duration,
}

impl Timeouts {
    /// The time to start that a job gets without asking.
    pub const START_DEFAULT: Duration = Duration::from_secs(5 * 60);
    /// The time to stop that a job gets without asking.
    pub const STOP_GRACE_DEFAULT: Duration = Duration::from_secs(10);

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            queue: None,
            start: Self::START_DEFAULT,
            run: None,
            heartbeat: None,
            total: None,
            stop_grace: Self::STOP_GRACE_DEFAULT,
        }
    }
}

fn is_default_start(start: &Duration) -> bool {
    *start == Timeouts::START_DEFAULT
}

fn is_default_stop_grace(grace: &Duration) -> bool {
    *grace == Timeouts::STOP_GRACE_DEFAULT
}
