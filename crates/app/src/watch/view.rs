//! What a caller wants to hear of and may see.

use std::sync::Arc;

use mainspring_model::{JobId, Namespace, RunId};
use mainspring_wire::api::{NodeState, WatchKind, WatchWhat};

use crate::operation::Operation;
use crate::ports::Changed;
use crate::principal::Principal;
use crate::triggers::outcome_of;

/// What somebody wants to hear of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchFilter {
    /// Here and in all below.
    pub namespace: Option<Namespace>,
    /// Only runs of this job.
    pub job: Option<JobId>,
    /// Only this run.
    pub run: Option<RunId>,
    /// Only these kinds; none asks for those that runs and nodes are shown by.
    pub kinds: Vec<WatchKind>,
}

impl WatchFilter {
    fn wants(&self, kind: Option<WatchKind>) -> bool {
        let kinds = if self.kinds.is_empty() { &WatchKind::DEFAULT[..] } else { &self.kinds };
        kind.is_none_or(|kind| kinds.contains(&kind))
    }

    fn wants_run(&self, job: JobId, run: RunId) -> bool {
        self.job.is_none_or(|wanted| wanted == job) && self.run.is_none_or(|wanted| wanted == run)
    }

    /// Whether it is about a job as a whole.
    fn wants_job(&self, job: JobId) -> bool {
        self.job.is_none_or(|wanted| wanted == job) && self.run.is_none()
    }

    fn is_everything(&self) -> bool {
        self.namespace.is_none() && self.job.is_none() && self.run.is_none()
    }
}

/// One caller's view of what changes.
pub(super) struct View {
    pub(super) filter: WatchFilter,
    pub(super) principal: Arc<Principal>,
}

impl View {
    /// What a change is to the caller; none where it is none of theirs.
    pub(super) fn of(&self, what: &Changed) -> Option<WatchWhat> {
        if !self.concerns(what) {
            return None;
        }
        told(what).filter(|told| self.filter.wants(told.kind()))
    }

    fn concerns(&self, what: &Changed) -> bool {
        let filter = &self.filter;
        match what {
            Changed::Owner => false,
            Changed::Run { id, namespace, job, .. } => filter.wants_run(*job, *id) && self.covers(namespace),
            Changed::Progress { run, .. } | Changed::Reason { run, .. } => {
                filter.wants_run(run.job, run.id) && self.covers(&run.namespace)
            }
            Changed::Job { id, namespace, .. } => filter.wants_job(*id) && self.covers(namespace),
            Changed::TriggerPaused { namespace, key, .. }
            | Changed::Trigger { namespace, key, .. }
            | Changed::Occurrence { namespace, key, .. }
            | Changed::Backfill { namespace, key, .. } => filter.wants_job(key.job) && self.covers(namespace),
            Changed::Node { .. } => filter.is_everything() && self.principal.may(Operation::NodeGet, None),
        }
    }

    fn covers(&self, namespace: &Namespace) -> bool {
        self.filter.namespace.as_ref().is_none_or(|place| namespace.is_within(place))
            && self.principal.may(Operation::Watch, Some(namespace))
    }
}

/// A change as the API tells it.
fn told(what: &Changed) -> Option<WatchWhat> {
    Some(match what {
        Changed::Owner => return None,
        Changed::Run { id, namespace, job, state, version, attempt, at } => WatchWhat::Run {
            id: *id,
            namespace: namespace.clone(),
            job: *job,
            state: *state,
            version: *version,
            attempt: *attempt,
            at: (*at).into(),
        },
        Changed::Node { node } => WatchWhat::Node {
            id: node.id,
            name: node.name.to_string(),
            pool: node.pool.to_string(),
            state: NodeState::of(node),
            revision: node.revision,
        },
        Changed::Job { id, namespace, name, at } => {
            WatchWhat::Job { id: *id, namespace: namespace.clone(), name: name.to_string(), at: (*at).into() }
        }
        Changed::Progress { run, progress, at } => WatchWhat::Progress {
            id: run.id,
            namespace: run.namespace.clone(),
            job: run.job,
            fraction: f64::from(progress.permille) / 1_000.0,
            message: progress.message.to_string(),
            at: (*at).into(),
        },
        Changed::Reason { run, reason, at } => WatchWhat::Reason {
            id: run.id,
            namespace: run.namespace.clone(),
            job: run.job,
            reason: reason.as_ref().map(|reason| Box::new((&**reason).into())),
            at: (*at).into(),
        },
        Changed::TriggerPaused { .. }
        | Changed::Trigger { .. }
        | Changed::Occurrence { .. }
        | Changed::Backfill { .. } => return of_trigger(what),
    })
}

fn of_trigger(what: &Changed) -> Option<WatchWhat> {
    let (Changed::TriggerPaused { namespace, key, .. }
    | Changed::Trigger { namespace, key, .. }
    | Changed::Occurrence { namespace, key, .. }
    | Changed::Backfill { namespace, key, .. }) = what
    else {
        return None;
    };
    let (namespace, job, trigger) = (namespace.clone(), key.job, key.name.to_string());
    Some(match what {
        Changed::TriggerPaused { job: job_name, pause, .. } => WatchWhat::TriggerPaused {
            namespace,
            job,
            job_name: job_name.to_string(),
            trigger,
            note: pause.note.to_string(),
            at: pause.at.into(),
        },
        Changed::Trigger { next, paused, at, .. } => WatchWhat::Trigger {
            namespace,
            job,
            trigger,
            next: next.map(Into::into),
            paused: *paused,
            at: (*at).into(),
        },
        Changed::Occurrence { line, .. } => WatchWhat::Occurrence {
            namespace,
            job,
            trigger,
            planned: line.planned.into(),
            outcome: outcome_of(line.outcome),
            run: line.run,
            at: line.at.into(),
        },
        Changed::Backfill { id, over, made, at, .. } => WatchWhat::Backfill {
            id: *id,
            namespace,
            job,
            trigger,
            over: *over,
            made: *made,
            at: (*at).into(),
        },
        _ => return None,
    })
}
