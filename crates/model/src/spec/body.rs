//! The body: what a job runs. Exactly one kind, written as one key of the job file.
//!
//! Kinds to come (http, grpc, container, workflow) are further variants here.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Balancer, Handler, Process, Script};

/// What a job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// A program started directly, without a shell.
    Process(Process),
    /// Text that an interpreter reads.
    Script(Script),
    /// A function in a user's own process, registered through an SDK.
    Handler(Handler),
}

impl Body {
    /// The kind's word in the job file.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Process(_) => "process",
            Self::Script(_) => "script",
            Self::Handler(_) => "handler",
        }
    }

    /// The handler that a node must offer to run this.
    pub fn handler(&self) -> Option<&str> {
        match self {
            Self::Handler(handler) => Some(&handler.name),
            Self::Process(_) | Self::Script(_) => None,
        }
    }

    /// The balancer of a job that names none: processes are packed, functions go where least is running.
    pub const fn default_balancer(&self) -> Balancer {
        match self {
            Self::Process(_) | Self::Script(_) => Balancer::BestFit,
            Self::Handler(_) => Balancer::LeastActive,
        }
    }
}
