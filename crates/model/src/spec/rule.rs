//! Retry rules: what to do by the cause of a failure.
//!
//! Rules look at what the task did and at the loss of its node. Ends that are not the task's failure are
//! outside them: a cancel, an overlap, a queue or total timeout end the run, and an order that a node
//! refused or gave back in a drain is placed again.

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use utoipa::ToSchema;

use crate::cause::{Cause, TimeoutKind};

/// What to do about one kind of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The failures it is about.
    pub cause: CauseMatch,
    /// What to do about them.
    pub then: Action,
}

/// What to do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Try again while retries are left.
    Retry,
    /// The run has failed for good.
    Fail,
    /// Count it as success.
    Ignore,
}

/// Which failures a rule is about. In a file, a word alone (`exit`) or with a list (`{exit: [2, 64-78]}`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CauseMatch {
    /// Every failure.
    Any,
    /// The task ended with one of these exit codes.
    Exit(ExitCodes),
    /// One of these signals ended the task.
    Signal(Signals),
    /// One of these limits in time passed. Empty is every one.
    Timeout(Vec<AttemptTimeout>),
    /// The task used more memory than it may.
    Oom,
    /// The node fell silent, or no longer knows the attempt.
    Lost,
    /// The task could not be started.
    StartFailed,
    /// A handler reported one of these error classes. Empty is every class.
    Error(Vec<Box<str>>),
}

/// The limits in time that end an attempt and not the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptTimeout {
    /// The node did not start it in time.
    Start,
    /// The attempt executed too long.
    Run,
    /// The task said nothing for too long.
    Heartbeat,
}

/// Exit codes: single ones and ranges. Empty is every code but 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExitCodes(pub Vec<(u8, u8)>);

/// Signals by number. Empty is every signal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signals(pub Vec<u8>);

impl CauseMatch {
    /// The word in a job file.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Exit(_) => "exit",
            Self::Signal(_) => "signal",
            Self::Timeout(_) => "timeout",
            Self::Oom => "oom",
            Self::Lost => "lost",
            Self::StartFailed => "start_failed",
            Self::Error(_) => "error",
        }
    }

    /// Whether an attempt that ended with `cause` is one of these failures.
    pub fn matches(&self, cause: &Cause) -> bool {
        match (self, cause) {
            (_, Cause::Exit { code: 0 }) => false,
            (Self::Any, cause) => is_under_rules(cause),
            (Self::Exit(codes), Cause::Exit { code }) => codes.contains(*code),
            (Self::Signal(signals), Cause::Signal { signal }) => signals.contains(*signal),
            (Self::Timeout(limits), Cause::Timeout { limit }) => match AttemptTimeout::of(*limit) {
                Some(limit) => limits.is_empty() || limits.contains(&limit),
                None => false,
            },
            (Self::Oom, Cause::Oom) => true,
            (Self::Lost, Cause::Lost { .. } | Cause::Vanished { .. }) => true,
            (Self::StartFailed, Cause::StartFailed { .. }) => true,
            (Self::Error(classes), Cause::Error { class, .. }) => {
                classes.is_empty() || classes.contains(class)
            }
            _ => false,
        }
    }
}

impl Serialize for CauseMatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Exit(codes) if !codes.0.is_empty() => one_entry(serializer, "exit", codes),
            Self::Signal(signals) if !signals.0.is_empty() => one_entry(serializer, "signal", signals),
            Self::Timeout(limits) if !limits.is_empty() => one_entry(serializer, "timeout", limits),
            Self::Error(classes) if !classes.is_empty() => one_entry(serializer, "error", classes),
            _ => serializer.serialize_str(self.name()),
        }
    }
}

fn one_entry<S: Serializer>(serializer: S, key: &str, value: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}

/// Whether rules decide about this cause at all.
fn is_under_rules(cause: &Cause) -> bool {
    match cause {
        Cause::Exit { .. }
        | Cause::Signal { .. }
        | Cause::Oom
        | Cause::Lost { .. }
        | Cause::Vanished { .. }
        | Cause::StartFailed { .. }
        | Cause::Error { .. } => true,
        Cause::Timeout { limit } => AttemptTimeout::of(*limit).is_some(),
        Cause::Refused { .. }
        | Cause::Drained { .. }
        | Cause::Cancelled { .. }
        | Cause::Overlap
        | Cause::Quarantined { .. } => false,
    }
}

impl AttemptTimeout {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Start, Self::Run, Self::Heartbeat];

    /// The limit's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Run => "run",
            Self::Heartbeat => "heartbeat",
        }
    }

    const fn of(kind: TimeoutKind) -> Option<Self> {
        match kind {
            TimeoutKind::Start => Some(Self::Start),
            TimeoutKind::Run => Some(Self::Run),
            TimeoutKind::Heartbeat => Some(Self::Heartbeat),
            TimeoutKind::Queue | TimeoutKind::Total => None,
        }
    }
}

impl ExitCodes {
    fn contains(&self, code: i32) -> bool {
        self.0.is_empty()
            || self.0.iter().any(|(from, to)| (i32::from(*from)..=i32::from(*to)).contains(&code))
    }
}

impl Serialize for ExitCodes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for (from, to) in &self.0 {
            if from == to {
                list.serialize_element(from)?;
            } else {
                list.serialize_element(&format!("{from}-{to}"))?;
            }
        }
        list.end()
    }
}

impl Signals {
    /// The signals that have a name in a job file.
    pub const NAMES: [(&'static str, u8); 15] = [
        ("SIGHUP", 1),
        ("SIGINT", 2),
        ("SIGQUIT", 3),
        ("SIGILL", 4),
        ("SIGTRAP", 5),
        ("SIGABRT", 6),
        ("SIGBUS", 7),
        ("SIGFPE", 8),
        ("SIGKILL", 9),
        ("SIGUSR1", 10),
        ("SIGSEGV", 11),
        ("SIGUSR2", 12),
        ("SIGPIPE", 13),
        ("SIGALRM", 14),
        ("SIGTERM", 15),
    ];

    fn contains(&self, signal: i32) -> bool {
        self.0.is_empty() || self.0.iter().any(|number| i32::from(*number) == signal)
    }
}

impl Serialize for Signals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for number in &self.0 {
            match Self::NAMES.iter().find(|(_, known)| known == number) {
                Some((name, _)) => list.serialize_element(name)?,
                None => list.serialize_element(number)?,
            }
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;
    use crate::spec::Retry;

    fn causes() -> Vec<(&'static str, Cause)> {
        let node = NodeId::MIN;
        let timeout = |limit| Cause::Timeout { limit };
        vec![
            ("exit 0", Cause::Exit { code: 0 }),
            ("exit 2", Cause::Exit { code: 2 }),
            ("exit 70", Cause::Exit { code: 70 }),
            ("signal 9", Cause::Signal { signal: 9 }),
            ("signal 15", Cause::Signal { signal: 15 }),
            ("start", timeout(TimeoutKind::Start)),
            ("run", timeout(TimeoutKind::Run)),
            ("heartbeat", timeout(TimeoutKind::Heartbeat)),
            ("queue", timeout(TimeoutKind::Queue)),
            ("total", timeout(TimeoutKind::Total)),
            ("oom", Cause::Oom),
            ("lost", Cause::Lost { node }),
            ("vanished", Cause::Vanished { node }),
            ("start_failed", Cause::StartFailed { message: "".into() }),
            ("error Busy", Cause::Error { class: "Busy".into(), message: "".into() }),
            ("error Bad", Cause::Error { class: "Bad".into(), message: "".into() }),
            ("refused", Cause::Refused { message: "".into() }),
            ("drained", Cause::Drained { node }),
            ("cancelled", Cause::Cancelled { by: "".into() }),
            ("overlap", Cause::Overlap),
            ("quarantined", Cause::Quarantined { losses: 3 }),
        ]
    }

    fn check(pattern: CauseMatch, expected: &[&str]) {
        let matched: Vec<&str> =
            causes().iter().filter(|(_, cause)| pattern.matches(cause)).map(|(name, _)| *name).collect();
        assert_eq!(matched, expected, "{pattern:?}");
    }

    #[test]
    fn each_pattern_matches_its_causes_and_no_other() {
        check(CauseMatch::Exit(ExitCodes(vec![])), &["exit 2", "exit 70"]);
        check(CauseMatch::Exit(ExitCodes(vec![(64, 78)])), &["exit 70"]);
        check(CauseMatch::Exit(ExitCodes(vec![(1, 2), (70, 70)])), &["exit 2", "exit 70"]);
        check(CauseMatch::Signal(Signals(vec![])), &["signal 9", "signal 15"]);
        check(CauseMatch::Signal(Signals(vec![9])), &["signal 9"]);
        check(CauseMatch::Timeout(vec![]), &["start", "run", "heartbeat"]);
        check(CauseMatch::Timeout(vec![AttemptTimeout::Run]), &["run"]);
        check(CauseMatch::Oom, &["oom"]);
        check(CauseMatch::Lost, &["lost", "vanished"]);
        check(CauseMatch::StartFailed, &["start_failed"]);
        check(CauseMatch::Error(vec![]), &["error Busy", "error Bad"]);
        check(CauseMatch::Error(vec!["Bad".into()]), &["error Bad"]);
        let all: Vec<&str> = causes().iter().map(|(name, _)| *name).collect();
        let outside =
            ["exit 0", "queue", "total", "refused", "drained", "cancelled", "overlap", "quarantined"];
        let inside: Vec<&str> = all.into_iter().filter(|name| !outside.contains(name)).collect();
        check(CauseMatch::Any, &inside);
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let rule = |cause, then| Rule { cause, then };
        let rules = vec![
            rule(CauseMatch::Exit(ExitCodes(vec![(2, 2)])), Action::Ignore),
            rule(CauseMatch::Exit(ExitCodes(vec![])), Action::Fail),
        ];
        let retry = Retry { rules, ..Retry::default() };
        assert_eq!(retry.decide(&Cause::Exit { code: 2 }), Action::Ignore);
        assert_eq!(retry.decide(&Cause::Exit { code: 3 }), Action::Fail);
        assert_eq!(retry.decide(&Cause::Oom), Action::Retry);
    }
}
