//! Why an attempt ended, as a node tells it.

use mainspring_model::{NodeId, TimeoutKind as Limit};

use super::proto::cause::Kind;
use super::{Cause, Malformed, TaskError, TimeoutKind};

impl From<&mainspring_model::Cause> for Cause {
    /// Causes that only an owner decides become an error of their name: a node has none of them.
    fn from(cause: &mainspring_model::Cause) -> Self {
        use mainspring_model::Cause as Of;
        let kind = match cause {
            Of::Exit { code } => Kind::ExitCode(*code),
            Of::Signal { signal } => Kind::Signal(*signal),
            Of::Oom => Kind::Oom(true),
            Of::Timeout { limit } => Kind::Timeout(TimeoutKind::from(*limit).into()),
            Of::Lost { .. } => Kind::Lost(true),
            Of::Vanished { .. } => Kind::Vanished(true),
            Of::Refused { message } => Kind::Refused(message.to_string()),
            Of::StartFailed { message } => Kind::StartFailed(message.to_string()),
            Of::Error { class, message } => {
                Kind::Error(TaskError { class: class.to_string(), message: message.to_string() })
            }
            Of::Drained { .. } | Of::Cancelled { .. } | Of::Overlap | Of::Quarantined { .. } => {
                Kind::Error(TaskError { class: cause.name().to_owned(), message: String::new() })
            }
        };
        Self { kind: Some(kind) }
    }
}

impl Cause {
    /// The cause, as told by `node`.
    pub fn told_by(self, node: NodeId) -> Result<mainspring_model::Cause, Malformed> {
        use mainspring_model::Cause as Of;
        Ok(match self.kind.ok_or_else(|| Malformed::missing("cause"))? {
            Kind::ExitCode(code) => Of::Exit { code },
            Kind::Signal(signal) => Of::Signal { signal },
            Kind::Oom(_) => Of::Oom,
            Kind::Timeout(kind) => Of::Timeout { limit: limit(kind)? },
            Kind::Lost(_) => Of::Lost { node },
            Kind::Vanished(_) => Of::Vanished { node },
            Kind::Refused(message) => Of::Refused { message: message.into() },
            Kind::StartFailed(message) => Of::StartFailed { message: message.into() },
            Kind::Error(TaskError { class, message }) => {
                Of::Error { class: class.into(), message: message.into() }
            }
        })
    }
}

impl From<Limit> for TimeoutKind {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Queue => Self::Queue,
            Limit::Start => Self::Start,
            Limit::Run => Self::Run,
            Limit::Heartbeat => Self::Heartbeat,
            Limit::Total => Self::Total,
        }
    }
}

fn limit(kind: i32) -> Result<Limit, Malformed> {
    match TimeoutKind::try_from(kind) {
        Ok(TimeoutKind::Queue) => Ok(Limit::Queue),
        Ok(TimeoutKind::Start) => Ok(Limit::Start),
        Ok(TimeoutKind::Run) => Ok(Limit::Run),
        Ok(TimeoutKind::Heartbeat) => Ok(Limit::Heartbeat),
        Ok(TimeoutKind::Total) => Ok(Limit::Total),
        Ok(TimeoutKind::Unspecified) | Err(_) => Err(Malformed::new("timeout", "an unknown kind")),
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::{Cause as Of, Timestamp};

    use super::*;

    #[test]
    fn causes_come_back_as_they_went() {
        let node = NodeId::new(Timestamp::ZERO, 1);
        for cause in [
            Of::Exit { code: -1 },
            Of::Signal { signal: 9 },
            Of::Oom,
            Of::Timeout { limit: Limit::Run },
            Of::Lost { node },
            Of::Vanished { node },
            Of::Refused { message: "late".into() },
            Of::StartFailed { message: "no such file".into() },
            Of::Error { class: "panic".into(), message: "at the disco".into() },
        ] {
            assert_eq!(Cause::from(&cause).told_by(node), Ok(cause));
        }
    }

    #[test]
    fn nonsense_is_named() {
        let node = NodeId::new(Timestamp::ZERO, 1);
        assert_eq!(Cause { kind: None }.told_by(node), Err(Malformed::missing("cause")));
        let unknown = Cause { kind: Some(Kind::Timeout(99)) };
        assert_eq!(unknown.told_by(node).map_err(|malformed| malformed.field), Err("timeout"));
    }
}
