//! The exit codes, all of them. `docs/cli.md` prints this table; scripts may rely on it.
//!
//! Commands that wait for a run (`submit --wait`, `run --wait`, `rerun --wait`, `wait`) end with the task's own
//! code; see [`of_cause`]. Everything else ends with one of [`Exit`].

use std::process::ExitCode;

use mainspring_client::api::Cause;
use mainspring_model::{ErrorCode, RunState};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done,
    /// It failed, and no other code says it better.
    Failed,
    /// The command line, a file or a setting is wrong.
    Usage,
    /// There is no such thing, or the caller may not see it.
    NotFound,
    /// The token is missing, wrong or expired, or its role is not enough.
    Denied,
    /// The thing changed meanwhile, exists already, or its state does not allow this.
    Conflict,
    /// The server cannot be reached or is too busy.
    Unavailable,
    /// The wait was longer than `--timeout`.
    Timeout,
    /// The run ended without an exit code of its task.
    NoCode,
    /// The person pressed Ctrl-C.
    Interrupted,
}

impl Exit {
    /// Every way to end, in the order of the numbers.
    pub(crate) const ALL: [Self; 10] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::Denied,
        Self::Conflict,
        Self::Unavailable,
        Self::Timeout,
        Self::NoCode,
        Self::Interrupted,
    ];

    /// The number that the shell sees.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Denied => 4,
            Self::Conflict => 5,
            Self::Unavailable => 6,
            Self::Timeout => 124,
            Self::NoCode => 125,
            Self::Interrupted => 130,
        }
    }

    /// What it means, for the reference.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed; the message says why",
            Self::Usage => "the command line, a file or a setting is wrong",
            Self::NotFound => "no such thing, or you may not see it",
            Self::Denied => "the token is missing, wrong or expired, or its role is not enough",
            Self::Conflict => "it changed meanwhile, exists already, or its state does not allow this",
            Self::Unavailable => "the server cannot be reached or is too busy; try again later",
            Self::Timeout => "the wait was longer than `--timeout`, or the run passed a time limit",
            Self::NoCode => "the run ended without an exit code: cancelled, skipped, lost, not started",
            Self::Interrupted => "interrupted by Ctrl-C",
        }
    }

    /// The way to end for an error of the server.
    pub(crate) fn of_code(code: ErrorCode) -> Self {
        match code {
            ErrorCode::NotFound => Self::NotFound,
            ErrorCode::Unauthenticated | ErrorCode::Forbidden => Self::Denied,
            ErrorCode::Conflict
            | ErrorCode::AlreadyExists
            | ErrorCode::IllegalState
            | ErrorCode::Inactive
            | ErrorCode::PreconditionFailed
            | ErrorCode::StaleToken => Self::Conflict,
            ErrorCode::InvalidSpec
            | ErrorCode::InvalidParameter
            | ErrorCode::InvalidTemplate
            | ErrorCode::InvalidRequest
            | ErrorCode::InvalidQuery
            | ErrorCode::IdempotencyMismatch
            | ErrorCode::TooLarge => Self::Usage,
            ErrorCode::NotOwner
            | ErrorCode::QueueFull
            | ErrorCode::StoreUnavailable
            | ErrorCode::RateLimited => Self::Unavailable,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

/// The exit code of a command that waited for a run: the task's own where it has one, 128 and the number for a signal,
/// as a shell would say it.
pub(crate) fn of_cause(state: RunState, cause: Option<&Cause>) -> u8 {
    let Some(cause) = cause.filter(|_| state != RunState::Success) else {
        return if state == RunState::Success { 0 } else { Exit::NoCode.number() };
    };
    match cause.kind.as_str() {
        "exit" => u8::try_from(cause.exit_code.unwrap_or(1) & 0xff).map_or(1, |code| code.max(1)),
        "signal" => u8::try_from(128 + (cause.signal.unwrap_or_default() & 0x7f)).unwrap_or(u8::MAX),
        "oom" => 137,
        "timeout" => Exit::Timeout.number(),
        "error" => Exit::Failed.number(),
        _ => Exit::NoCode.number(),
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::{Cause as Model, TimeoutKind};

    use super::*;

    #[test]
    fn numbers_are_distinct_and_sorted() {
        let numbers: Vec<u8> = Exit::ALL.iter().map(|exit| exit.number()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    }

    #[test]
    fn a_waiter_ends_as_the_task_did() {
        let check = |state, cause: Option<Model>, code| {
            let cause = cause.as_ref().map(Cause::from);
            assert_eq!(of_cause(state, cause.as_ref()), code, "{cause:?}");
        };
        check(RunState::Success, Some(Model::Exit { code: 3 }), 0);
        check(RunState::FinalFailed, Some(Model::Exit { code: 3 }), 3);
        check(RunState::FinalFailed, Some(Model::Exit { code: 256 }), 1);
        check(RunState::FinalFailed, Some(Model::Exit { code: -1 }), 255);
        check(RunState::FinalFailed, Some(Model::Signal { signal: 9 }), 137);
        check(RunState::FinalFailed, Some(Model::Timeout { limit: TimeoutKind::Run }), 124);
        check(RunState::Cancelled, Some(Model::Cancelled { by: "ada".into() }), 125);
        check(RunState::Skipped, Some(Model::Overlap), 125);
        check(RunState::FinalFailed, None, 125);
    }
}
