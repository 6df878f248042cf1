//! The process body: a program started directly, without a shell.
//!
//! A script that an interpreter reads is [`super::Script`]. Both run on a node by its sidecar.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{ProcessLimits, Template, Umask};

/// A program with its arguments and surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub command: Template,
    /// Its arguments, each passed as it is: no shell reads them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Template>,
    /// Variables added to the task's environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<Box<str>, Template>,
    /// The working directory. Without one, the task gets a fresh directory of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Template>,
    /// Text for its standard input. Without one, the input is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Template>,
    /// The account of the node that it runs as. Without one, the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Box<str>>,
    /// What each of its processes may use at most.
    #[serde(skip_serializing_if = "ProcessLimits::is_none")]
    pub limits: ProcessLimits,
    /// The mode mask of the files that it makes. Without one, the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umask: Option<Umask>,
}

impl Process {
    /// A program without arguments.
    pub fn new(command: impl Into<Template>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            stdin: None,
            user: None,
            limits: ProcessLimits::default(),
            umask: None,
        }
    }
}
