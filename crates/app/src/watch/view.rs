//! What a caller wants to hear of and may see.

use std::sync::Arc;

use mainspring_model::{JobId, Namespace, RunId};
use mainspring_wire::api::WatchWhat;

use crate::operation::Operation;
use crate::ports::Changed;
use crate::principal::Principal;

/// What somebody wants to hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchFilter {
    /// Here and in all below.
    pub namespace: Option<Namespace>,
    /// Only runs of this job.
    pub job: Option<JobId>,
    /// Only this run.
    pub run: Option<RunId>,
}

/// One caller's view of what changes.
pub(super) struct View {
    pub(super) filter: WatchFilter,
    pub(super) principal: Arc<Principal>,
}

impl View {
    /// What a change is to the caller; none where it is none of theirs.
    pub(super) fn of(&self, what: &Changed) -> Option<WatchWhat> {
        match what {
            Changed::Owner => None,
            Changed::Run { id, namespace, job, state, version, attempt, at } => {
                let wanted = self.filter.job.is_none_or(|wanted| wanted == *job)
                    && self.filter.run.is_none_or(|wanted| wanted == *id);
                (wanted && self.covers(namespace)).then(|| WatchWhat::Run {
                    id: *id,
                    namespace: namespace.clone(),
                    job: *job,
                    state: *state,
                    version: *version,
                    attempt: *attempt,
                    at: (*at).into(),
                })
            }
            Changed::TriggerPaused { namespace, key, job, pause } => {
                let wanted =
                    self.filter.job.is_none_or(|wanted| wanted == key.job) && self.filter.run.is_none();
                (wanted && self.covers(namespace)).then(|| WatchWhat::TriggerPaused {
                    namespace: namespace.clone(),
                    job: key.job,
                    job_name: job.to_string(),
                    trigger: key.name.to_string(),
                    note: pause.note.to_string(),
                    at: pause.at.into(),
                })
            }
            Changed::Node { node } => {
                let only_runs = self.filter != WatchFilter::default();
                (!only_runs && self.principal.may(Operation::NodeGet, None)).then(|| WatchWhat::Node {
                    id: node.id,
                    name: node.name.to_string(),
                    pool: node.pool.to_string(),
                    state: node.state_name().into(),
                    revision: node.revision,
                })
            }
        }
    }

    fn covers(&self, namespace: &Namespace) -> bool {
        self.filter.namespace.as_ref().is_none_or(|place| namespace.is_within(place))
            && self.principal.may(Operation::Watch, Some(namespace))
    }
}
