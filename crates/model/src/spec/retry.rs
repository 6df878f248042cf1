//! Retry: how often, how soon and where a run is tried again.
//!
//! The rules that look at a failure's cause are in `rule.rs`, the waits in `backoff.rs`.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Action, Backoff, Rule};
use crate::cause::Cause;
use crate::duration_text;
use crate::spec::schema;

/// What happens when an attempt fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How many retries may follow the first attempt.
    #[schema(maximum = 1000)]
    #[serde(skip_serializing_if = "is_default_max")]
    pub max: u32,
    /// How long to wait before each.
    #[serde(skip_serializing_if = "Backoff::is_default")]
    pub backoff: Backoff,
    /// No retry starts later than this after the first attempt started. Without one, `max` alone decides.
    #[schema(value_type = Option<schema::DurationText>)]
    #[serde(with = "duration_text::option", skip_serializing_if = "Option::is_none")]
    pub max_elapsed: Option<Duration>,
    /// Whether a retry goes to another node.
    #[serde(skip_serializing_if = "RetryNode::is_default")]
    pub node: RetryNode,
    /// What to do by cause; the first rule that matches decides. A cause without a rule is retried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// Where a retry goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryNode {
    /// To the node that failed.
    Same,
    /// To a node where this run has not failed; it waits for one if there is none.
    Other,
    /// To a node where this run has not failed, unless there is no such node.
    #[default]
    OtherUnlessOnlyOne,
}

impl Retry {
    /// How many retries a job gets without asking.
    pub const MAX_DEFAULT: u32 = 3;

    /// What to do about an attempt that ended with this cause.
    pub fn decide(&self, cause: &Cause) -> Action {
        self.rules.iter().find(|rule| rule.cause.matches(cause)).map_or(Action::Retry, |rule| rule.then)
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max: Self::MAX_DEFAULT,
            backoff: Backoff::default(),
            max_elapsed: None,
            node: RetryNode::default(),
            rules: Vec::new(),
        }
    }
}

impl RetryNode {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn is_default_max(max: &u32) -> bool {
    *max == Retry::MAX_DEFAULT
}
