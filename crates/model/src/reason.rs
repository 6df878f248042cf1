//! Why a run is not running: the Why, with its numbers and what would unblock it.
//!
//! Live reasons come from the owner's memory; the last one is stored with the run when it moves on.
//! Why something *ended* is a [`crate::cause::Cause`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::time::Timestamp;

/// Why a run waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// Its time has not come.
    BeginTime {
        /// When it becomes eligible.
        until: Timestamp,
    },
    /// The last attempt failed; the next is due later.
    Backoff {
        /// When it is queued again.
        until: Timestamp,
        /// The attempt that comes next.
        next_attempt: u32,
        /// How many attempts there may be.
        attempts_max: u32,
    },
    /// The concurrency limit of its key is used up.
    Concurrency {
        /// The rendered key; empty for the whole job.
        key: Box<str>,
        /// How many run.
        running: u32,
        /// How many may.
        limit: u32,
    },
    /// The rate limit of its key is used up for now.
    RateLimit {
        /// The rendered key; empty for the whole job.
        key: Box<str>,
        /// How many may start in one period.
        limit: u32,
        /// When the next may start.
        until: Timestamp,
    },
    /// Nodes match, but none has room now.
    Resources {
        /// How many nodes match everything but room.
        matching: u32,
        /// The dimension most of them lack: `cpu`, `memory`, `slots` or a named countable.
        dimension: Box<str>,
    },
    /// No node matches: pool, selector, handler or size.
    NoNode {
        /// Which filter left no node.
        filter: NodeFilter,
        /// How many nodes the cell has.
        nodes: u32,
    },
    /// Others come first: more important, or a fairer turn.
    Priority {
        /// Where it stands in its group, from 1; [`limits::QUEUE_PLACES_TOLD`] stands for all behind it too.
        position: u32,
    },
    /// Its job is paused.
    Paused {
        /// Who paused it.
        by: Box<str>,
        /// What they wrote.
        note: Box<str>,
    },
    /// The whole cell is paused.
    CellPaused {
        /// Who paused it.
        by: Box<str>,
        /// What they wrote.
        note: Box<str>,
    },
    /// The job killed so many nodes that it is kept off them.
    Quarantined {
        /// How many attempts in a row ended with the loss of their node.
        losses: u32,
    },
    /// More runs wait than the owner keeps in memory; it is read in by its turn.
    Overflow,
}

/// The placement filter that left no node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeFilter {
    /// The pool has no node.
    Pool,
    /// No node of the pool carries the labels.
    Selector,
    /// No matching node offers the handler.
    Handler,
    /// Every matching node is smaller than the request.
    Capacity,
    /// Every matching node is draining, silent, or excluded by an earlier failure.
    Available,
}

impl NodeFilter {
    /// The filter's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Selector => "selector",
            Self::Handler => "handler",
            Self::Capacity => "capacity",
            Self::Available => "available",
        }
    }
}

impl Reason {
    /// The reason's code.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::BeginTime { .. } => "begin_time",
            Self::Backoff { .. } => "backoff",
            Self::Concurrency { .. } => "concurrency",
            Self::RateLimit { .. } => "rate_limit",
            Self::Resources { .. } => "resources",
            Self::NoNode { .. } => "no_node",
            Self::Priority { .. } => "priority",
            Self::Paused { .. } => "paused",
            Self::CellPaused { .. } => "cell_paused",
            Self::Quarantined { .. } => "quarantined",
            Self::Overflow => "overflow",
        }
    }

    /// What would let the run go on, as the next step for a person.
    pub fn remedy(&self) -> String {
        match self {
            Self::BeginTime { until } => format!("nothing to do: it is queued at {until}"),
            Self::Backoff { until, .. } => {
                format!("it is retried at {until}; retry it now to skip the back-off")
            }
            Self::Concurrency { .. } => "wait for one of them to end, or raise `concurrency.limit`".into(),
            Self::RateLimit { until, .. } => {
                format!("the next may start at {until}; raise `rate_limit` for more")
            }
            Self::Resources { dimension, .. } => {
                format!("add nodes, free {dimension} on those that match, or ask for less {dimension}")
            }
            Self::NoNode { filter, .. } => match filter {
                NodeFilter::Pool => "add a node to the pool, or name another in `placement.pool`".into(),
                NodeFilter::Selector => "label a node to match, or loosen `placement.selector`".into(),
                NodeFilter::Handler => "start a worker that registers the handler".into(),
                NodeFilter::Capacity => "add a larger node, or ask for less in `resources`".into(),
                NodeFilter::Available => {
                    "resume a draining node, or add one that has not failed this run".into()
                }
            },
            Self::Priority { .. } => "raise its `priority` to let it pass".into(),
            Self::Paused { .. } => "resume the job".into(),
            Self::CellPaused { .. } => "resume the cell".into(),
            Self::Quarantined { .. } => "find out why it takes its node down, then resume the job".into(),
            Self::Overflow => "nothing to do: it is read in when those before it have started".into(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeginTime { until } => write!(f, "not before {until}"),
            Self::Backoff { until, next_attempt, attempts_max } => {
                write!(f, "attempt {next_attempt} of {attempts_max} is due at {until}")
            }
            Self::Concurrency { key, running, limit } => {
                write!(f, "{running} of {limit} running")?;
                if key.is_empty() { Ok(()) } else { write!(f, " for key `{key}`") }
            }
            Self::RateLimit { key, limit, until } => {
                write!(f, "{limit} starts in this period are used up until {until}")?;
                if key.is_empty() { Ok(()) } else { write!(f, " for key `{key}`") }
            }
            Self::Resources { matching, dimension } => {
                write!(f, "{matching} nodes match, none has enough {dimension} free")
            }
            Self::NoNode { filter, nodes } => {
                write!(f, "none of {nodes} nodes passes the {} filter", filter.name())
            }
            Self::Priority { position } if *position >= limits::QUEUE_PLACES_TOLD => {
                write!(f, "place {position} or later in the queue of its kind")
            }
            Self::Priority { position } => write!(f, "place {position} in the queue of its kind"),
            Self::Paused { by, note } => write!(f, "job paused by {by}: {note}"),
            Self::CellPaused { by, note } => write!(f, "cell paused by {by}: {note}"),
            Self::Quarantined { losses } => {
                write!(f, "job quarantined: {losses} attempts in a row lost their node")
            }
            Self::Overflow => f.write_str("more runs wait than are kept in memory"),
        }
    }
}
