//! Why no node takes a run, whatever room there is: which filter left none, and what the nodes before it are like.
//!
//! Filters are looked at one after the other, so each counts only the nodes that passed those before it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::shortage::Shortage;

/// No node takes the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoNode {
    /// How many nodes passed the filters before the one that left none.
    pub nodes: u32,
    /// The pool that the run wants.
    #[serde(default)]
    pub pool: Box<str>,
    /// What left none.
    #[serde(flatten)]
    pub filter: NodeFilter,
}

/// The placement filter that left no node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "filter", rename_all = "snake_case")]
pub enum NodeFilter {
    /// The pool has no node.
    Pool {
        /// Pools that have one, and how many: [`limits::POOLS_TOLD`] at most.
        #[serde(default)]
        others: BTreeMap<Box<str>, u32>,
    },
    /// No node of the pool has one of these names.
    Name {
        /// The names that the balancer allows.
        names: Vec<Box<str>>,
    },
    /// No node of the pool carries the labels.
    Selector {
        /// What is asked for.
        #[serde(default)]
        selector: Box<str>,
    },
    /// No matching node offers the handler.
    Handler {
        /// What is asked for.
        #[serde(default)]
        handler: Box<str>,
    },
    /// Every matching node is smaller than the request.
    Capacity(Shortage),
    /// Every matching node that is large enough takes no work, or not this.
    Available(Unavailable),
}

/// Nodes that would do and take nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unavailable {
    /// What keeps them, and how many.
    #[serde(default)]
    pub away: BTreeMap<Away, u32>,
    /// The name of the node, when it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Box<str>>,
    /// Whether the run may use no other, because it retries or stays where it was.
    #[serde(default)]
    pub bound: bool,
}

/// What keeps a node from taking a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Away {
    /// It was silent for too long.
    Lost,
    /// It missed heartbeats, or has not said hello to this owner yet.
    Silent,
    /// Somebody asked for it to be emptied.
    Draining,
    /// It takes no more work because its agent is about to end.
    Leaving,
    /// It said goodbye.
    Left,
    /// It holds more than it says it has: it shrank, or was taken over so.
    Overbooked,
    /// The run failed there and shall go elsewhere.
    Failed,
    /// Something of it does not answer.
    Unwell,
}

impl Away {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Silent => "silent",
            Self::Draining => "draining",
            Self::Leaving => "leaving",
            Self::Left => "left",
            Self::Overbooked => "overbooked",
            Self::Failed => "failed",
            Self::Unwell => "unwell",
        }
    }

    /// What `count` nodes do, as in "3 are lost".
    const fn does(self, count: u32) -> &'static str {
        match (self, count) {
            (Self::Lost, 1) => "is lost",
            (Self::Lost, _) => "are lost",
            (Self::Silent, 1) => "is silent",
            (Self::Silent, _) => "are silent",
            (Self::Draining, 1) => "is draining",
            (Self::Draining, _) => "are draining",
            (Self::Leaving, 1) => "is draining because its agent ends",
            (Self::Leaving, _) => "are draining because their agents end",
            (Self::Left, 1) => "has left",
            (Self::Left, _) => "have left",
            (Self::Overbooked, 1) => "holds more than it has room for",
            (Self::Overbooked, _) => "hold more than they have room for",
            (Self::Failed, _) => "failed it before",
            (Self::Unwell, 1) => "takes no work because its sidecar does not answer",
            (Self::Unwell, _) => "take no work because their sidecars do not answer",
        }
    }

    /// What helps when it is so, of the node that is named or of one of those.
    fn step(self, name: Option<&str>) -> String {
        let node = name.map_or_else(|| format!("one that {}", self.does(1)), str::to_owned);
        match self {
            Self::Lost => format!("bring {node} back"),
            Self::Silent => format!("wait until {node} is heard again"),
            Self::Draining => match name {
                Some(name) => format!("resume it with `mainspring node resume {name}`"),
                None => format!("resume {node} with `mainspring node resume NODE`"),
            },
            Self::Leaving | Self::Left => format!("start the agent of {node} again"),
            Self::Overbooked => format!("wait until enough runs on {node} end"),
            Self::Failed => "set `retry.node: other_unless_only_one`".to_owned(),
            Self::Unwell => {
                format!("wait until the sidecar of {node} is replaced, or look at its agent's log")
            }
        }
    }
}

impl Unavailable {
    fn words(&self, nodes: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does: Vec<String> =
            self.away.iter().map(|(away, count)| format!("{count} {}", away.does(*count))).collect();
        match (&self.node, self.away.first_key_value()) {
            (Some(node), Some((away, _))) if self.bound => {
                write!(f, "{node}, where it has to run, {}", away.does(1))
            }
            (Some(node), Some((away, _))) => {
                write!(f, "{node}, the only node that matches, {}", away.does(1))
            }
            (None, Some((away, count))) if *count == nodes => {
                write!(f, "all {nodes} nodes that match {}", away.does(nodes))
            }
            _ => write!(f, "none of {} takes it: {}", that_match(nodes), does.join(", ")),
        }
    }

    fn remedy(&self, pool: &str) -> String {
        let one = self.node.as_deref();
        let mut steps: Vec<String> = self.away.keys().map(|away| away.step(one)).collect();
        if !self.bound {
            steps.push(format!("add one to pool `{pool}`"));
        }
        steps.join(", or ")
    }
}

impl NodeFilter {
    /// The filter's word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pool { .. } => "pool",
            Self::Name { .. } => "name",
            Self::Selector { .. } => "selector",
            Self::Handler { .. } => "handler",
            Self::Capacity(_) => "capacity",
            Self::Available(_) => "available",
        }
    }
}

impl NoNode {
    /// What would let the run go on.
    pub(crate) fn remedy(&self) -> String {
        let pool = &self.pool;
        match &self.filter {
            NodeFilter::Pool { .. } => {
                format!("add a node to pool `{pool}`, or name another in `placement.pool`")
            }
            NodeFilter::Name { .. } => {
                format!("add a node of that name to pool `{pool}`, or name another in `dispatch.balancer`")
            }
            NodeFilter::Selector { .. } => format!(
                "label a node of pool `{pool}` to match with `mainspring node label`, or loosen `placement.selector`"
            ),
            NodeFilter::Handler { handler } => {
                format!("start a worker in pool `{pool}` that registers `{handler}`")
            }
            NodeFilter::Capacity(shortage) => {
                format!(
                    "add a larger node to pool `{pool}`, or ask for less {} in `resources`",
                    shortage.noun()
                )
            }
            NodeFilter::Available(unavailable) => unavailable.remedy(pool),
        }
    }
}

impl fmt::Display for NoNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, pool, filter } = self;
        match filter {
            NodeFilter::Pool { others } => {
                write!(f, "no node is in pool `{pool}`; {}", other_pools(others))
            }
            NodeFilter::Name { names } => {
                write!(f, "no node of pool `{pool}` ({}) is called {}", nodes_of(*nodes), names.join(" or "))
            }
            NodeFilter::Selector { selector } => {
                write!(f, "no node of pool `{pool}` ({}) matches `{selector}`", nodes_of(*nodes))
            }
            NodeFilter::Handler { handler } => {
                write!(f, "none of {} offers the handler `{handler}`", that_match(*nodes))
            }
            NodeFilter::Capacity(shortage) => too_small(shortage, *nodes, f),
            NodeFilter::Available(unavailable) => unavailable.words(*nodes, f),
        }
    }
}

fn too_small(shortage: &Shortage, nodes: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "it needs {}; ", shortage.wanted_text())?;
    match shortage.seen {
        Some(seen) if seen.nodes < nodes => write!(
            f,
            "{} of {} at most {}, the rest too little of something else",
            seen.nodes,
            if seen.nodes == 1 { that_match(nodes) + " has" } else { that_match(nodes) + " have" },
            shortage.bare(seen.most)
        ),
        Some(seen) if seen.most == 0 => write!(f, "none of {} has any", that_match(nodes)),
        Some(seen) if nodes == 1 => write!(f, "the only node that matches has {}", shortage.bare(seen.most)),
        Some(seen) => write!(f, "the largest of {} has {}", that_match(nodes), shortage.bare(seen.most)),
        None => write!(f, "none of {} has that much", that_match(nodes)),
    }
}

fn other_pools(others: &BTreeMap<Box<str>, u32>) -> String {
    if others.is_empty() {
        return "no pool has one".to_owned();
    }
    let words: Vec<String> = others.iter().map(|(pool, nodes)| format!("{pool} ({nodes})")).collect();
    let more = if others.len() >= limits::POOLS_TOLD { " …" } else { "" };
    format!("pools with nodes: {}{more}", words.join(", "))
}

/// How many nodes, in words.
fn nodes_of(count: u32) -> String {
    format!("{count} {}", if count == 1 { "node" } else { "nodes" })
}

/// How many nodes passed what was asked before, in words.
pub(crate) fn that_match(count: u32) -> String {
    format!("{} that {}", nodes_of(count), if count == 1 { "matches" } else { "match" })
}
