//! What must hold, one file for each theme. A check is a function of the evidence that returns violations; it asks nobody.

mod audit;
mod executions;
mod firings;
#[cfg(test)]
mod sample;
mod submissions;

use std::fmt;

use crate::evidence::Evidence;

/// Something that must not happen, with what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The rule in a few words.
    pub(crate) rule: &'static str,
    pub(crate) detail: String,
}

impl Violation {
    pub(crate) fn new(rule: &'static str, detail: impl Into<String>) -> Self {
        Self { rule, detail: detail.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

/// Every violation that the evidence shows.
pub(crate) fn all(evidence: &Evidence) -> Vec<Violation> {
    let checks = [
        submissions::acknowledged_runs_are_over,
        submissions::a_key_makes_one_run,
        submissions::terminal_states_stay,
        submissions::nothing_is_refused,
        executions::attempts_do_not_overlap,
        executions::at_most_once_is_once,
        executions::successes_were_executed,
        firings::every_moment_has_one_line,
        firings::a_fired_line_has_one_run,
        firings::every_end_is_followed,
        firings::a_change_counts_at_once,
        firings::a_removed_trigger_is_silent,
        audit::the_chain_is_whole,
        audit::every_change_is_recorded,
    ];
    checks.iter().flat_map(|check| check(evidence)).collect()
}
