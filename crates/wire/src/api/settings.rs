//! What a server goes by.

use mainspring_model::MemberId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The settings in force of the server that answers. Credentials in URLs are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Settings {
    /// The server, as in the members of `GET /v1/cluster`.
    pub member: MemberId,
    /// Its version.
    pub software: String,
    /// By group and name.
    pub settings: Vec<Setting>,
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Setting {
    /// What it belongs to: `server`, `listener`, `cluster` or `retention`.
    pub group: String,
    /// Its name.
    pub name: String,
    /// Its value; absent when it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}
