//! Why a run is not running: the Why, with its numbers and what would unblock it.
//!
//! Live reasons come from the owner's memory; the last one is stored with the run when it moves on.
//! Why something *ended* is a [`crate::cause::Cause`].

mod chinese;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::no_node::{NoNode, that_match};
use crate::run::RunStatus;
use crate::shortage::Shortage;
use crate::state::RunState;
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
        /// What most of them lack.
        #[serde(flatten)]
        shortage: Shortage,
    },
    /// No node matches, or none that does takes work.
    NoNode(Box<NoNode>),
    /// Its job was lost with its node and has not ended on its own since. Such jobs do not share a node, so that the next loss
    /// says whose fault it is; every node with room has one already.
    Suspect {
        /// How often in a row.
        losses: u32,
        /// Nodes with room that hold such a job.
        nodes: u32,
        /// The name of the node, when it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Box<str>>,
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
        /// How often in a row its attempts were lost with their node.
        losses: u32,
    },
    /// More runs wait than the owner keeps in memory; it is read in by its turn.
    Overflow,
}

impl Reason {
    /// Why a run that waits for nothing but a moment does, as its row tells.
    pub fn of_moment(status: &RunStatus, attempts_max: u32) -> Option<Self> {
        let until = Timestamp::from_micros(status.place?.rank);
        match status.state {
            RunState::Ready => Some(Self::BeginTime { until }),
            RunState::Failed => Some(Self::Backoff { until, next_attempt: status.attempt + 1, attempts_max }),
            RunState::Waiting
            | RunState::Running
            | RunState::Success
            | RunState::FinalFailed
            | RunState::Cancelled
            | RunState::Skipped => None,
        }
    }

    /// The reason's code.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::BeginTime { .. } => "begin_time",
            Self::Backoff { .. } => "backoff",
            Self::Concurrency { .. } => "concurrency",
            Self::RateLimit { .. } => "rate_limit",
            Self::Resources { .. } => "resources",
            Self::NoNode(_) => "no_node",
            Self::Suspect { .. } => "suspect",
            Self::Priority { .. } => "priority",
            Self::Paused { .. } => "paused",
            Self::CellPaused { .. } => "cell_paused",
            Self::Quarantined { .. } => "quarantined",
            Self::Overflow => "overflow",
        }
    }

    /// The reason in Chinese; in English it is its [`fmt::Display`].
    pub fn message_zh(&self) -> String {
        chinese::message(self)
    }

    /// What would let the run go on, in Chinese.
    pub fn remedy_zh(&self) -> String {
        chinese::remedy(self)
    }

    /// What would let the run go on, as the next step for a person.
    pub fn remedy(&self) -> String {
        match self {
            Self::BeginTime { until } => format!("nothing to do: it is queued at {until}"),
            Self::Backoff { until, .. } => {
                format!("it is retried at {until}; `mainspring retry RUN` skips the wait")
            }
            Self::Concurrency { .. } => "wait for one of them to end, or raise `concurrency.limit`".into(),
            Self::RateLimit { until, .. } => {
                format!("nothing to do: the next starts at {until}; raise `rate_limit` for more")
            }
            Self::Resources { shortage, .. } if &*shortage.dimension == "slots" => {
                "wait for a run on them to end, or add a node".into()
            }
            Self::Resources { shortage, .. } => {
                format!("wait for a run on them to end, add a node, or ask for less {}", shortage.noun())
            }
            Self::NoNode(no_node) => no_node.remedy(),
            Self::Suspect { .. } => {
                "nothing to do: it starts when that job ends on its own; another node lets it start now"
                    .into()
            }
            Self::Priority { .. } => {
                "wait for its turn, add a node, or submit it anew with a higher `priority`".into()
            }
            Self::Paused { .. } => "resume the job with `mainspring resume JOB`".into(),
            Self::CellPaused { .. } => "resume the cell with `mainspring resume --cell CELL`".into(),
            Self::Quarantined { .. } => {
                "find out why it takes its node down, then let it go on with `mainspring retry RUN`".into()
            }
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
                write!(f, "the rate limit of {limit}")?;
                if !key.is_empty() {
                    write!(f, " for key `{key}`")?;
                }
                write!(f, " is used up; the next may start at {until}")
            }
            Self::Resources { matching, shortage } => no_room(*matching, shortage, f),
            Self::NoNode(no_node) => no_node.fmt(f),
            Self::Suspect { losses, nodes, node } => {
                let place = match node {
                    Some(node) => node.to_string(),
                    None => format!("one of {}", that_match(*nodes)),
                };
                write!(f, "its job was lost with its node {}; it waits until {place}", times(*losses))?;
                f.write_str(" runs no other job that was, so that the next loss says whose fault it is")
            }
            Self::Priority { position } if *position >= limits::QUEUE_PLACES_TOLD => {
                write!(f, "place {position} or later in the queue of its kind")
            }
            Self::Priority { position } => write!(f, "place {position} in the queue of its kind"),
            Self::Paused { by, note } if note.is_empty() => write!(f, "job paused by {by}"),
            Self::Paused { by, note } => write!(f, "job paused by {by}: {note}"),
            Self::CellPaused { by, note } if note.is_empty() => write!(f, "cell paused by {by}"),
            Self::CellPaused { by, note } => write!(f, "cell paused by {by}: {note}"),
            Self::Quarantined { losses } => {
                write!(f, "job quarantined: it was lost with its node {}", times(*losses))
            }
            Self::Overflow => f.write_str("more runs wait than are kept in memory"),
        }
    }
}

fn no_room(matching: u32, shortage: &Shortage, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let nodes = that_match(matching);
    if &*shortage.dimension == "slots" {
        return match shortage.seen {
            Some(seen) if seen.nodes < matching => {
                write!(f, "no slot is free on {} of {nodes}, and too little else on the rest", seen.nodes)
            }
            Some(_) | None => write!(f, "no slot is free on {nodes}"),
        };
    }
    write!(f, "it needs {}; ", shortage.wanted_text())?;
    match shortage.seen {
        Some(seen) if seen.nodes < matching => {
            let most = shortage.bare(seen.most);
            write!(f, "at most {most} is free on {} of {nodes}, and too little else on the rest", seen.nodes)
        }
        Some(seen) if seen.most == 0 => write!(f, "none is free on {nodes}"),
        Some(seen) => write!(f, "at most {} is free on {nodes}", shortage.bare(seen.most)),
        None => write!(f, "that much is not free on any of {nodes}"),
    }
}

/// How often in a row.
fn times(count: u32) -> String {
    if count == 1 { "the last time".to_owned() } else { format!("{count} times in a row") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that an earlier version wrote.
    fn check(row: &str, message: &str) {
        let reason: Reason = serde_json::from_str(row).expect("a reason");
        assert_eq!(reason.to_string(), message);
        let again = serde_json::to_string(&reason).expect("a row");
        assert_eq!(serde_json::from_str::<Reason>(&again).expect("a reason"), reason);
    }

    #[test]
    fn a_reason_is_said_in_chinese() {
        let shortage = Shortage { dimension: "memory".into(), wanted: 8 << 30, seen: None };
        for (reason, message, remedy) in [
            (
                Reason::Resources { matching: 3, shortage },
                "需要 8 GiB 内存；符合条件的 3 个节点都没有这么多空闲",
                "等待这些节点上的运行结束，增加节点，或减少所需的内存",
            ),
            (
                Reason::Suspect { losses: 1, nodes: 1, node: Some("a".into()) },
                "它的作业上次随节点一起丢失；要等 a 上没有其他同样丢失过的作业，以便下次丢失时分清是谁造成的",
                "无需处理：那个作业自行结束后即开始；再加一个节点可立即开始",
            ),
        ] {
            assert_eq!((reason.message_zh().as_str(), reason.remedy_zh().as_str()), (message, remedy));
        }
    }

    #[test]
    fn a_pause_without_a_note_ends_with_who_it_was() {
        let check = |reason: Reason, english: &str, chinese: &str| {
            assert_eq!((reason.to_string().as_str(), reason.message_zh().as_str()), (english, chinese));
        };
        let (by, note) = (|| "ann".into(), || "look".into());
        check(Reason::Paused { by: by(), note: note() }, "job paused by ann: look", "作业被 ann 暂停：look");
        check(Reason::Paused { by: by(), note: "".into() }, "job paused by ann", "作业被 ann 暂停");
        check(Reason::CellPaused { by: by(), note: "".into() }, "cell paused by ann", "单元被 ann 暂停");
    }

    #[test]
    fn reasons_without_names_and_numbers_are_still_read() {
        check(
            r#"{"kind":"resources","matching":1,"dimension":"slots"}"#,
            "no slot is free on 1 node that matches",
        );
        check(r#"{"kind":"no_node","filter":"pool","nodes":3}"#, "no node is in pool ``; no pool has one");
        check(
            r#"{"kind":"no_node","filter":"handler","nodes":3}"#,
            "none of 3 nodes that match offers the handler ``",
        );
        check(
            r#"{"kind":"no_node","filter":"available","nodes":2}"#,
            "none of 2 nodes that match takes it: ",
        );
    }
}
