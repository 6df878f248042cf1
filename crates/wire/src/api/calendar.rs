//! Calendars: days and times at which triggers do not fire.

use mainspring_model::{CalendarSpec, Namespace};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// A calendar. Its `ETag` is its `revision`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Calendar {
    /// Where it lives; it holds for all below.
    pub namespace: Namespace,
    /// What triggers call it.
    pub name: String,
    /// Grows by one with every change.
    pub revision: u64,
    /// When it was made.
    pub created_at: Time,
    /// When it was changed last.
    pub updated_at: Time,
    /// By whom.
    pub updated_by: String,
    /// What it says.
    pub spec: CalendarSpec,
}
