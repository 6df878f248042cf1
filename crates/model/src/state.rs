//! The states of a run and the one table of how they follow each other.
//!
//! `TRANSITIONS` is the only place that knows an edge: the docs diagram, the stores' checks and the
//! allowed actions of a console are made from it. Invariant: a terminal state has no way out (I7).

use serde::{Deserialize, Serialize};

/// Where a run is. The numbers are what stores keep; they never change.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum RunState {
    /// Accepted, not yet eligible: a future time, predecessors, an approval.
    Ready = 0,
    /// Eligible and queued.
    Waiting = 1,
    /// Placed on a node; its current attempt is ordered, starting or executing.
    Running = 2,
    /// The last attempt failed and a retry is due later.
    Failed = 3,
    /// Ended well.
    Success = 4,
    /// Ended badly: no retry is left, or none was allowed.
    FinalFailed = 5,
    /// Ended by a person, a policy or a plugin.
    Cancelled = 6,
    /// Never started, on purpose; the cause says why.
    Skipped = 7,
}

/// What can be asked of a run's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Command {
    /// Its time came, its predecessors are met, or its back-off is over.
    Enqueue = 0,
    /// A node was chosen and the next attempt was made.
    Place = 1,
    /// The attempt ended well.
    Succeed = 2,
    /// The attempt failed and a retry is due later.
    Fail = 3,
    /// The attempt ended without counting: lost before it began, preempted, moved.
    Requeue = 4,
    /// It failed for good: retries used up, a rule said fail, a deadline passed.
    GiveUp = 5,
    /// Somebody or something ended it early.
    Cancel = 6,
    /// A policy decided that it shall not start.
    Skip = 7,
}

use RunState::{Cancelled, Failed, FinalFailed, Ready, Running, Skipped, Success, Waiting};

/// One row for each state, one column for each command, in the order of their numbers.
#[rustfmt::skip]
pub const TRANSITIONS: [[Option<RunState>; Command::COUNT]; RunState::COUNT] = [
    //               enqueue        place          succeed        fail          requeue        give_up            cancel           skip
    /* ready      */ [Some(Waiting), None,          None,          None,         None,          Some(FinalFailed), Some(Cancelled), Some(Skipped)],
    /* waiting    */ [None,          Some(Running), None,          None,         None,          Some(FinalFailed), Some(Cancelled), Some(Skipped)],
    /* running    */ [None,          None,          Some(Success), Some(Failed), Some(Waiting), Some(FinalFailed), Some(Cancelled), None],
    /* failed     */ [Some(Waiting), None,          None,          None,         None,          Some(FinalFailed), Some(Cancelled), None],
    /* success    */ [None,          None,          None,          None,         None,          None,              None,            None],
    /* final_fail */ [None,          None,          None,          None,         None,          None,              None,            None],
    /* cancelled  */ [None,          None,          None,          None,         None,          None,              None,            None],
    /* skipped    */ [None,          None,          None,          None,         None,          None,              None,            None],
];

/// A command that the state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a {} run cannot {}", .state.name(), .command.name())]
pub struct IllegalTransition {
    /// The state it was in.
    pub state: RunState,
    /// What was asked.
    pub command: Command,
}

/// The state that follows `command`, or why there is none.
pub const fn transition(state: RunState, command: Command) -> Result<RunState, IllegalTransition> {
    match TRANSITIONS[state as usize][command as usize] {
        Some(next) => Ok(next),
        None => Err(IllegalTransition { state, command }),
    }
}

impl RunState {
    /// How many states there are.
    pub const COUNT: usize = 8;
    /// Every state, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] =
        [Ready, Waiting, Running, Failed, Success, FinalFailed, Cancelled, Skipped];

    /// The state's word, the same in every language and place.
    pub const fn name(self) -> &'static str {
        match self {
            Ready => "ready",
            Waiting => "waiting",
            Running => "running",
            Failed => "failed",
            Success => "success",
            FinalFailed => "final_failed",
            Cancelled => "cancelled",
            Skipped => "skipped",
        }
    }

    /// The state that a store kept as `number`.
    pub const fn from_number(number: u8) -> Option<Self> {
        if (number as usize) < Self::COUNT { Some(Self::ALL[number as usize]) } else { None }
    }

    /// Whether nothing can follow.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Success | FinalFailed | Cancelled | Skipped)
    }

    /// Whether `later` can be reached in any number of legal steps, none included. A commit may carry
    /// several transitions of a run at once, so a store sees paths, not single edges.
    pub fn reaches(self, later: Self) -> bool {
        let mut seen = [false; Self::COUNT];
        let mut todo = vec![self];
        while let Some(state) = todo.pop() {
            if !std::mem::replace(&mut seen[state as usize], true) {
                todo.extend(TRANSITIONS[state as usize].iter().flatten());
            }
        }
        seen[later as usize]
    }
}

impl Command {
    /// How many commands there are.
    pub const COUNT: usize = 8;
    /// Every command, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Enqueue,
        Self::Place,
        Self::Succeed,
        Self::Fail,
        Self::Requeue,
        Self::GiveUp,
        Self::Cancel,
        Self::Skip,
    ];

    /// The command's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enqueue => "enqueue",
            Self::Place => "place",
            Self::Succeed => "succeed",
            Self::Fail => "fail",
            Self::Requeue => "requeue",
            Self::GiveUp => "give_up",
            Self::Cancel => "cancel",
            Self::Skip => "skip",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Enqueue => "its time came, its predecessors are met, or its back-off is over",
            Self::Place => "a node was chosen and the next attempt was made",
            Self::Succeed => "the attempt ended well",
            Self::Fail => "the attempt failed and a retry is due later",
            Self::Requeue => "the attempt ended without counting: never begun, preempted or moved",
            Self::GiveUp => "retries used up, a rule said fail, or a deadline passed",
            Self::Cancel => "a person or a policy ended it early",
            Self::Skip => "a policy decided that it shall not start",
        }
    }
}

/// `docs/states.md`, made from the table.
pub fn states_markdown() -> String {
    let mut out = String::from(
        "# States of a run\n\nGenerated from `TRANSITIONS` in `crates/model/src/state.rs` by `cargo xtask generate`; \
         do not edit.\n\n```mermaid\nstateDiagram-v2\n    [*] --> ready\n",
    );
    for state in RunState::ALL {
        for command in Command::ALL {
            if let Ok(next) = transition(state, command) {
                out.push_str(&format!("    {} --> {}: {}\n", state.name(), next.name(), command.name()));
            }
        }
    }
    for state in RunState::ALL.into_iter().filter(|state| state.is_terminal()) {
        out.push_str(&format!("    {} --> [*]\n", state.name()));
    }
    out.push_str("```\n\n| command | meaning |\n|---|---|\n");
    for command in Command::ALL {
        out.push_str(&format!("| {} | {} |\n", command.name(), command.meaning()));
    }
    out.push_str("\n| state |");
    for command in Command::ALL {
        out.push_str(&format!(" {} |", command.name()));
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(Command::COUNT));
    for state in RunState::ALL {
        out.push_str(&format!("\n| **{}** |", state.name()));
        for command in Command::ALL {
            out.push_str(&format!(" {} |", transition(state, command).map_or("–", RunState::name)));
        }
    }
    out.push_str(
        "\n\n`retries: 3` means at most 3 retries after the first attempt: 4 attempts, \
         printed as \"attempt 2 of 4\".\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table again, written the other way round: what each command may leave, and where it leads.
    fn expected(state: RunState, command: Command) -> Option<RunState> {
        let (from, to): (&[RunState], RunState) = match command {
            Command::Enqueue => (&[Ready, Failed], Waiting),
            Command::Place => (&[Waiting], Running),
            Command::Succeed => (&[Running], Success),
            Command::Fail => (&[Running], Failed),
            Command::Requeue => (&[Running], Waiting),
            Command::GiveUp => (&[Ready, Waiting, Running, Failed], FinalFailed),
            Command::Cancel => (&[Ready, Waiting, Running, Failed], Cancelled),
            Command::Skip => (&[Ready, Waiting], Skipped),
        };
        from.contains(&state).then_some(to)
    }

    #[test]
    fn every_state_and_command() {
        for (number, state) in RunState::ALL.into_iter().enumerate() {
            assert_eq!(state as usize, number);
            assert_eq!(RunState::from_number(number as u8), Some(state));
            for command in Command::ALL {
                assert_eq!(
                    transition(state, command).ok(),
                    expected(state, command),
                    "{state:?} {command:?}"
                );
                if state.is_terminal() {
                    let said = transition(state, command).unwrap_err().to_string();
                    assert!(said.contains(state.name()) && said.contains(command.name()), "{said}");
                }
            }
        }
        assert_eq!(RunState::from_number(8), None);
    }

    #[test]
    fn every_live_state_can_end_and_no_ended_one_can_go_on() {
        for state in RunState::ALL {
            for later in RunState::ALL {
                let can = state == later || !(state.is_terminal() || later == Ready);
                let direct_skip_of_tried = later == Skipped && matches!(state, Running | Failed);
                assert_eq!(state.reaches(later), can || direct_skip_of_tried, "{state:?} {later:?}");
            }
        }
    }
}
