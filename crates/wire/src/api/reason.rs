//! Why a run is not running, for readers: the kind, a sentence, what would unblock it, and the numbers.

use std::collections::BTreeMap;

use mainspring_model::{CellId, Namespace, NoNode, NodeFilter, Reason as Model, RunId, Shortage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// Why a run waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// The kind: `begin_time`, `backoff`, `concurrency`, `rate_limit`, `resources`, `no_node`, `suspect`, `priority`,
    /// `paused`, `cell_paused`, `quarantined`, `overflow`, or `no_owner` when no scheduler can be asked.
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// What would let it go on.
    pub remedy: String,
    /// The sentence in Chinese.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message_zh: String,
    /// What would let it go on, in Chinese.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy_zh: String,
    /// When that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// The rendered key of a concurrency or rate limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How many run under that key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u32>,
    /// How many may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Nodes that match everything but room, or that passed every filter before the one that left none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// What they lack, or the filter that left none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// What is asked for of it: labels, a handler, names, or an amount such as `8 CPU`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// The most that one of the nodes has of it, or has free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<String>,
    /// The pool that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// The node that it is about, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What keeps nodes that match from taking it, and how many: `lost`, `silent`, `draining`, `leaving`, `left`,
    /// `overbooked`, or `failed` for those where the run failed before.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub away: BTreeMap<String, u32>,
    /// How often in a row the job was lost with its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<u32>,
    /// The place in the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// Who paused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What they wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The attempt that comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt: Option<u32>,
    /// How many attempts there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts_max: Option<u32>,
}

impl From<&Model> for Reason {
    fn from(reason: &Model) -> Self {
        let mut this = Self {
            kind: reason.name().into(),
            message: reason.to_string(),
            remedy: reason.remedy(),
            message_zh: reason.message_zh(),
            remedy_zh: reason.remedy_zh(),
            until: None,
            key: None,
            running: None,
            limit: None,
            nodes: None,
            lacks: None,
            wanted: None,
            most: None,
            pool: None,
            node: None,
            away: BTreeMap::new(),
            losses: None,
            position: None,
            by: None,
            note: None,
            next_attempt: None,
            attempts_max: None,
        };
        match reason {
            Model::BeginTime { until } => this.until = Some((*until).into()),
            Model::Backoff { until, next_attempt, attempts_max } => {
                this.until = Some((*until).into());
                (this.next_attempt, this.attempts_max) = (Some(*next_attempt), Some(*attempts_max));
            }
            Model::Concurrency { key, running, limit } => {
                (this.key, this.running, this.limit) = (Some(key.to_string()), Some(*running), Some(*limit));
            }
            Model::RateLimit { key, limit, until } => {
                this.until = Some((*until).into());
                (this.key, this.limit) = (Some(key.to_string()), Some(*limit));
            }
            Model::Resources { matching, shortage } => {
                (this.nodes, this.lacks) = (Some(*matching), Some(shortage.dimension.to_string()));
                this.count(shortage);
            }
            Model::NoNode(no_node) => this.about(no_node),
            Model::Suspect { losses, nodes, node } => {
                (this.losses, this.nodes) = (Some(*losses), Some(*nodes));
                this.node = node.as_deref().map(Into::into);
            }
            Model::Priority { position } => this.position = Some(*position),
            Model::Paused { by, note } | Model::CellPaused { by, note } => {
                (this.by, this.note) = (Some(by.to_string()), Some(note.to_string()));
            }
            Model::Quarantined { losses } => this.losses = Some(*losses),
            Model::Overflow => {}
        }
        this
    }
}

impl Reason {
    /// No scheduler owns the run's cell: for the moment, or, for a cell beyond the cluster's number of cells, ever.
    pub fn no_owner(cell: CellId, is_forever: bool) -> Self {
        let (message, remedy, message_zh, remedy_zh) = match is_forever {
            false => (
                format!("no scheduler owns {cell} at the moment"),
                "wait a few seconds for a takeover; if it lasts, start a server with the role scheduler",
                format!("目前没有调度器负责 cell {}", cell.0),
                "等待几秒，其他调度器会接管；若一直如此，请启动带 scheduler 角色的服务器",
            ),
            true => (
                format!("no server ever owns {cell}: the cluster has fewer cells"),
                "end it with `mainspring cancel RUN`, and submit it anew",
                format!("没有服务器会负责 cell {}：集群的 cell 数更少", cell.0),
                "用 `mainspring cancel RUN` 结束它，然后重新提交",
            ),
        };
        let (remedy, remedy_zh) = (remedy.to_owned(), remedy_zh.to_owned());
        Self {
            kind: "no_owner".into(),
            message,
            remedy,
            message_zh,
            remedy_zh,
            ..Self::from(&Model::Overflow)
        }
    }

    /// Puts names into the commands that the remedy tells of, so that they can be typed as they are.
    pub fn name(&mut self, run: RunId, namespace: &Namespace, job: Option<&str>, cell: CellId) {
        let mut job = job.unwrap_or("JOB").to_owned();
        if *namespace != Namespace::default() {
            job = format!("-n {namespace} {job}");
        }
        let names = [("RUN", run.to_string()), ("CELL", cell.0.to_string()), ("JOB", job)];
        for remedy in [&mut self.remedy, &mut self.remedy_zh] {
            for (word, name) in &names {
                *remedy = remedy.replace(&format!(" {word}`"), &format!(" {name}`"));
            }
        }
    }

    fn about(&mut self, no_node: &NoNode) {
        (self.nodes, self.lacks) = (Some(no_node.nodes), Some(no_node.filter.name().into()));
        self.pool = Some(no_node.pool.to_string());
        match &no_node.filter {
            NodeFilter::Pool { .. } => {}
            NodeFilter::Name { names } => self.wanted = Some(names.join(", ")),
            NodeFilter::Selector { selector: wanted } | NodeFilter::Handler { handler: wanted } => {
                self.wanted = Some(wanted.to_string());
            }
            NodeFilter::Capacity(shortage) => self.count(shortage),
            NodeFilter::Available(unavailable) => {
                self.node = unavailable.node.as_deref().map(Into::into);
                self.away =
                    unavailable.away.iter().map(|(away, count)| (away.name().to_owned(), *count)).collect();
            }
        }
    }

    fn count(&mut self, shortage: &Shortage) {
        (self.wanted, self.most) = (Some(shortage.wanted_text()), shortage.most_text());
    }
}
