//! What the program is told: flags before variables before the file before defaults.
//!
//! [`Config`] holds what the file and the environment say; each command lays its flags over it and fills in defaults.
//! The names, kinds and meanings of all settings are one table, in `setting.rs`.

mod load;
mod schema;
mod setting;
mod task;
mod variables;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

pub(crate) use load::{Source, Wrong, load, load_strictly};
pub(crate) use schema::schema;
pub(crate) use setting::{SECTIONS, SETTINGS};

/// The file and the environment together.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) client: ClientConfig,
    pub(crate) server: ServerConfig,
    pub(crate) agent: AgentConfig,
    pub(crate) log: LogConfig,
}

/// How commands reach the server.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ClientConfig {
    pub(crate) url: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) namespace: Option<String>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) timeout: Option<Span>,
}

/// The scheduler and its API.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerConfig {
    pub(crate) data: Option<PathBuf>,
    pub(crate) listen: Option<String>,
    pub(crate) public_url: Option<String>,
    pub(crate) tls_cert: Option<PathBuf>,
    pub(crate) tls_key: Option<PathBuf>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) store: Option<String>,
    pub(crate) artifacts: Option<String>,
    pub(crate) logs: Option<String>,
    pub(crate) keep_runs: Option<Span>,
    pub(crate) keep_audit: Option<Span>,
    pub(crate) keep_occurrences: Option<Span>,
    pub(crate) roles: Option<Vec<String>>,
    pub(crate) cells: Option<u16>,
    pub(crate) heartbeat_every: Option<Span>,
    pub(crate) lost_after: Option<Span>,
    pub(crate) outage_max: Option<Span>,
    pub(crate) connections_max: Option<u32>,
    pub(crate) connections_per_address_max: Option<u32>,
    pub(crate) trusted_proxies: Option<Vec<String>>,
    pub(crate) header_timeout: Option<Span>,
    pub(crate) body_timeout: Option<Span>,
    pub(crate) idle_timeout: Option<Span>,
    pub(crate) streams_max: Option<u32>,
    pub(crate) wrong_credentials_per_minute: Option<u32>,
}

/// The agent on this machine.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentConfig {
    pub(crate) servers: Option<Vec<String>>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) name: Option<String>,
    pub(crate) pool: Option<String>,
    pub(crate) labels: Option<BTreeMap<String, String>>,
    pub(crate) slots: Option<u32>,
    pub(crate) weight: Option<u32>,
    pub(crate) cpu: Option<String>,
    pub(crate) memory: Option<String>,
    pub(crate) resources: Option<BTreeMap<String, String>>,
    pub(crate) allowed_paths: Option<Vec<PathBuf>>,
    pub(crate) allowed_buckets: Option<Vec<String>>,
    pub(crate) allowed_networks: Option<Vec<String>>,
    pub(crate) task_user: Option<String>,
    pub(crate) allowed_users: Option<Vec<String>>,
    pub(crate) task_processes: Option<u32>,
    pub(crate) join_token: Option<String>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) cache: Option<String>,
    pub(crate) keep_logs: Option<Span>,
    pub(crate) sidecar_patience: Option<Span>,
}

/// What long-running roles write to standard error.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LogConfig {
    pub(crate) level: Option<String>,
    pub(crate) format: Option<String>,
}

/// A duration as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        mainspring_model::duration_text::parse(&text).map(Self).map_err(serde::de::Error::custom)
    }
}
