//! The whole specification of a job.
//!
//! Every part is a type of its own, in a file of its own; here are only the whole and the two small
//! choices about delivery. What holds between parts is checked where a file is read, in `read/job.rs`.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Artifact, Balancer, Body, Concurrency, Dispatch, Parameters, Placement, Priority, RateLimit, Retention,
    Retry, Template, Timeouts, Trigger,
};
use crate::label::Labels;
use crate::name::Name;
use crate::namespace::Namespace;
use crate::resource::Resources;

/// What to run, where, and with which policies.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JobSpec {
    /// The job's name, unique in its namespace.
    pub name: Name,
    /// Where the job lives. Without one, where it is submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// Who answers for it: a person or a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<str>>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Box<str>>,
    /// Facts to find it by; its runs carry them too.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// What it runs.
    #[serde(flatten)]
    pub body: Body,
    /// Files fetched to the node before a task starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Paths that it reads, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<Box<str>, Template>,
    /// Paths that it writes, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<Box<str>, Template>,
    /// The values that a run may or must be given.
    #[serde(skip_serializing_if = "Parameters::is_empty")]
    pub parameters: Parameters,
    /// When it fires by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
    /// What happens when an attempt fails.
    #[serde(skip_serializing_if = "Retry::is_default")]
    pub retry: Retry,
    /// Limits in time.
    #[serde(skip_serializing_if = "Timeouts::is_default")]
    pub timeout: Timeouts,
    /// How many runs may be active at once. Without it, any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// How many runs may start in a period. Without it, any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// To which of the candidates a run goes.
    #[serde(skip_serializing_if = "Dispatch::is_default")]
    pub dispatch: Dispatch,
    /// Which nodes are candidates.
    #[serde(skip_serializing_if = "Placement::is_default")]
    pub placement: Placement,
    /// What a run reserves on its node.
    #[serde(skip_serializing_if = "Resources::is_zero")]
    pub resources: Resources,
    /// How urgent it is.
    #[serde(skip_serializing_if = "Priority::is_default")]
    pub priority: Priority,
    /// How often a run may reach a node.
    #[serde(skip_serializing_if = "Delivery::is_default")]
    pub delivery: Delivery,
    /// What a node does with the task when it has lost the schedulers.
    #[serde(skip_serializing_if = "OnDisconnect::is_default")]
    pub on_disconnect: OnDisconnect,
    /// How long history is kept.
    #[serde(skip_serializing_if = "Retention::is_default")]
    pub retention: Retention,
}

/// How often a run may reach a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// One attempt and no other, even when its node was lost: for work that must never happen twice.
    AtMostOnce,
    /// Attempts until one succeeds or the retries are used up.
    #[default]
    AtLeastOnce,
}

/// What a node does with the task when it has lost the schedulers for too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDisconnect {
    /// It stops the task before another node may get the run, so that two never run at once.
    #[default]
    Stop,
    /// It keeps the task running; another node may run it at the same time.
    Keep,
}

impl JobSpec {
    /// A job with this name and body and every default.
    pub fn new(name: Name, body: Body) -> Self {
        Self {
            name,
            namespace: None,
            owner: None,
            description: None,
            labels: Labels::new(),
            body,
            artifacts: Vec::new(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            parameters: Parameters::default(),
            triggers: Vec::new(),
            retry: Retry::default(),
            timeout: Timeouts::default(),
            concurrency: None,
            rate_limit: None,
            dispatch: Dispatch::default(),
            placement: Placement::default(),
            resources: Resources::ZERO,
            priority: Priority::default(),
            delivery: Delivery::default(),
            on_disconnect: OnDisconnect::default(),
            retention: Retention::default(),
        }
    }

    /// How many retries may follow the first attempt; none for at-most-once delivery.
    pub const fn retries_max(&self) -> u32 {
        match self.delivery {
            Delivery::AtMostOnce => 0,
            Delivery::AtLeastOnce => self.retry.max,
        }
    }

    /// How many attempts there may be, the first among them: each that infrastructure ended allows one more.
    pub const fn attempts_max(&self, losses: u32) -> u32 {
        self.retries_max() + 1 + losses
    }

    /// The balancer: the one that is named, or the one that suits the body.
    pub fn balancer(&self) -> Balancer {
        let Dispatch::Unicast { balancer } = &self.dispatch;
        balancer.clone().unwrap_or_else(|| self.body.default_balancer())
    }
}

impl Delivery {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl OnDisconnect {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
