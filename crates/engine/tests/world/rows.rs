//! What the store holds: the proof of what happened.

use mainspring_model::{Cause, NodeState, Reason, Run, RunEventKind, RunId, RunState};

use super::World;

impl World {
    /// The run's row.
    pub(crate) fn row(&self, run: RunId) -> Run {
        self.store.run(run).expect("a durable run").clone()
    }

    /// The run's state in the store.
    pub(crate) fn state(&self, run: RunId) -> RunState {
        self.row(run).status.state
    }

    /// The cause in the run's row.
    pub(crate) fn cause(&self, run: RunId) -> Cause {
        self.row(run).status.cause.expect("a cause")
    }

    /// Why the run waits.
    pub(crate) fn why(&self, run: RunId) -> Reason {
        self.cell.why(run).expect("a reason")
    }

    /// The node of the run's current or last attempt, by name.
    pub(crate) fn node_of(&self, run: RunId) -> String {
        self.node_name(self.row(run).status.node.expect("a run that was placed"))
    }

    /// The runs' nodes, by name.
    pub(crate) fn nodes_of(&self, runs: &[RunId]) -> Vec<String> {
        runs.iter().map(|run| self.node_of(*run)).collect()
    }

    /// Asserts the state of each run.
    #[track_caller]
    pub(crate) fn states(&self, runs: &[RunId], state: RunState) {
        for run in runs {
            assert_eq!(self.state(*run), state, "{}", self.run_name(*run));
        }
    }

    /// Causes of the run's earlier attempts.
    pub(crate) fn earlier(&self, run: RunId) -> Vec<Cause> {
        self.store.attempts(run).into_iter().map(|attempt| attempt.cause).collect()
    }

    /// What happened to the run beside the ordinary.
    pub(crate) fn events(&self, run: RunId) -> Vec<RunEventKind> {
        self.store.events(run).into_iter().map(|event| event.kind).collect()
    }

    /// The node's state in the store.
    pub(crate) fn node_state(&self, node: mainspring_model::NodeId) -> NodeState {
        self.store.node(node).expect("a durable node").state
    }
}
