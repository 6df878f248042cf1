//! Why an attempt or a run ended.
//!
//! Every terminal state and every failed attempt carries one of these, with its numbers. Why a run is
//! *not* running is a [`crate::reason::Reason`]. Retry rules match on causes.

mod chinese;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::NodeId;

/// Which of the limits in time was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutKind {
    /// Waited too long for a node.
    Queue,
    /// The node did not start it in time.
    Start,
    /// The attempt executed too long.
    Run,
    /// The task said nothing for too long.
    Heartbeat,
    /// All attempts together took too long, or the deadline passed.
    Total,
}

impl TimeoutKind {
    /// The word of the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Start => "start",
            Self::Run => "run",
            Self::Heartbeat => "heartbeat",
            Self::Total => "total",
        }
    }
}

/// Why an attempt or a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cause {
    /// The task ended by itself with this exit code; 0 is success.
    Exit {
        /// The exit code.
        code: i32,
    },
    /// A signal ended the task, and we did not send it.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// The task used more memory than it may.
    Oom,
    /// A limit in time passed.
    Timeout {
        /// Which one.
        limit: TimeoutKind,
    },
    /// The node fell silent for too long while it held the attempt.
    Lost {
        /// The node.
        node: NodeId,
    },
    /// The node lives, and did not see how the attempt ended or no longer knows of it.
    Vanished {
        /// The node.
        node: NodeId,
    },
    /// The node refused the order before executing anything.
    Refused {
        /// The node's words.
        message: Box<str>,
    },
    /// The task could not be started: no such program, no such user, artifact with a wrong digest…
    StartFailed {
        /// What went wrong.
        message: Box<str>,
    },
    /// A handler in a user's process reported an error.
    Error {
        /// The error's class, for retry rules.
        class: Box<str>,
        /// The error's words.
        message: Box<str>,
    },
    /// The node was drained and the deadline came before the task ended.
    Drained {
        /// The node.
        node: NodeId,
    },
    /// Somebody cancelled it.
    Cancelled {
        /// Who.
        by: Box<str>,
    },
    /// The overlap policy of the job ended or skipped it.
    Overlap,
    /// The job killed so many of its nodes that it may not be placed again.
    Quarantined {
        /// How many attempts of the job in a row ended with the loss of their node.
        losses: u32,
    },
}

impl Cause {
    /// Whether the attempt reached its goal.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Exit { code: 0 })
    }

    /// Whether the infrastructure ended the attempt and not the task. These are counted apart from the
    /// job's retries and have a cap of their own (I10).
    pub const fn is_infrastructure(&self) -> bool {
        matches!(
            self,
            Self::Lost { .. } | Self::Vanished { .. } | Self::Refused { .. } | Self::Drained { .. }
        )
    }

    /// Whether it is certain that the task never executed in this attempt.
    pub const fn never_started(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// The words of the kinds, in the order of their numbers.
    pub const NAMES: [&str; 13] = [
        "exit",
        "signal",
        "oom",
        "timeout",
        "lost",
        "vanished",
        "refused",
        "start_failed",
        "error",
        "drained",
        "cancelled",
        "overlap",
        "quarantined",
    ];

    /// The kind's word, as queries and retry rules write it.
    pub const fn name(&self) -> &'static str {
        Self::NAMES[self.number() as usize - 1]
    }

    /// The cause in Chinese; in English it is its [`fmt::Display`].
    pub fn message_zh(&self) -> String {
        chinese::message(self)
    }

    /// The number by which stores index the kind; 0 is kept for "none".
    pub const fn number(&self) -> u8 {
        match self {
            Self::Exit { .. } => 1,
            Self::Signal { .. } => 2,
            Self::Oom => 3,
            Self::Timeout { .. } => 4,
            Self::Lost { .. } => 5,
            Self::Vanished { .. } => 6,
            Self::Refused { .. } => 7,
            Self::StartFailed { .. } => 8,
            Self::Error { .. } => 9,
            Self::Drained { .. } => 10,
            Self::Cancelled { .. } => 11,
            Self::Overlap => 12,
            Self::Quarantined { .. } => 13,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit { code } => write!(f, "exit code {code}"),
            Self::Signal { signal } => write!(f, "signal {signal}"),
            Self::Oom => f.write_str("out of memory"),
            Self::Timeout { limit } => write!(f, "{} timeout", limit.name()),
            Self::Lost { node } => write!(f, "{node} was lost"),
            Self::Vanished { node } => write!(f, "{node} did not see how the attempt ended"),
            Self::Refused { message } => write!(f, "refused by the node: {message}"),
            Self::StartFailed { message } => write!(f, "could not start: {message}"),
            Self::Error { class, message } => write!(f, "{class}: {message}"),
            Self::Drained { node } => write!(f, "{node} was drained"),
            Self::Cancelled { by } => write!(f, "cancelled by {by}"),
            Self::Overlap => f.write_str("overlap policy"),
            Self::Quarantined { losses } => write!(f, "job quarantined after {losses} lost nodes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn every_cause_is_said_in_both_languages_with_its_facts() {
        let node = NodeId::new(Timestamp::ZERO, 7);
        let timeout = |limit| Cause::Timeout { limit };
        let causes = [
            (Cause::Exit { code: 2 }, "2".to_owned()),
            (Cause::Signal { signal: 9 }, "9".to_owned()),
            (Cause::Oom, String::new()),
            (timeout(TimeoutKind::Queue), String::new()),
            (timeout(TimeoutKind::Start), String::new()),
            (timeout(TimeoutKind::Run), String::new()),
            (timeout(TimeoutKind::Heartbeat), String::new()),
            (timeout(TimeoutKind::Total), String::new()),
            (Cause::Lost { node }, node.to_string()),
            (Cause::Vanished { node }, node.to_string()),
            (Cause::Refused { message: "full".into() }, "full".to_owned()),
            (Cause::StartFailed { message: "no such file".into() }, "no such file".to_owned()),
            (Cause::Error { class: "KeyError".into(), message: "id".into() }, "KeyError".to_owned()),
            (Cause::Drained { node }, node.to_string()),
            (Cause::Cancelled { by: "ann".into() }, "ann".to_owned()),
            (Cause::Overlap, String::new()),
            (Cause::Quarantined { losses: 3 }, "3".to_owned()),
        ];
        let kinds: std::collections::BTreeSet<u8> = causes.iter().map(|(cause, _)| cause.number()).collect();
        assert_eq!(kinds, (1..=13).collect(), "each kind");
        let mut said = std::collections::BTreeSet::new();
        for (cause, fact) in &causes {
            let (english, chinese) = (cause.to_string(), cause.message_zh());
            assert!(english.is_ascii() && english.contains(fact.as_str()), "{english}");
            assert!(!chinese.is_ascii() && chinese.contains(fact.as_str()), "{chinese}");
            assert!(said.insert(chinese), "{cause:?} is said as another");
        }
    }

    #[test]
    fn the_word_of_a_kind_is_what_rows_have() {
        let (node, words) = (NodeId::MIN, || Box::<str>::from("x"));
        let each = [
            Cause::Exit { code: 1 },
            Cause::Signal { signal: 9 },
            Cause::Oom,
            Cause::Timeout { limit: TimeoutKind::Run },
            Cause::Lost { node },
            Cause::Vanished { node },
            Cause::Refused { message: words() },
            Cause::StartFailed { message: words() },
            Cause::Error { class: words(), message: words() },
            Cause::Drained { node },
            Cause::Cancelled { by: words() },
            Cause::Overlap,
            Cause::Quarantined { losses: 3 },
        ];
        assert_eq!(each.len(), Cause::NAMES.len());
        for (cause, name) in each.iter().zip(Cause::NAMES) {
            let row = serde_json::to_value(cause).unwrap();
            assert_eq!((cause.name(), row["kind"].as_str()), (name, Some(name)));
        }
    }
}
