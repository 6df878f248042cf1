//! What would unblock a run, as requests that can be sent as they are, and whether the caller may send them.
//!
//! It offers only what an operation of the API does; that time will pass or a run end is said by the reason's remedy.

use mainspring_model::{JobSpec, Run, RunState};
use mainspring_wire::api::{NodeAway, NodeVerdict, Reason, WhyAction};

use crate::operation::Operation;
use crate::principal::Principal;

/// The actions for a run, the most helpful first.
pub(super) struct Unblock<'a> {
    pub(super) run: &'a Run,
    pub(super) spec: Option<&'a JobSpec>,
    pub(super) reason: Option<&'a Reason>,
    pub(super) nodes: &'a [NodeVerdict],
    pub(super) principal: &'a Principal,
}

impl Unblock<'_> {
    pub(super) fn actions(&self) -> Vec<WhyAction> {
        let mut actions = Vec::new();
        match self.run.status.state {
            RunState::Ready | RunState::Waiting | RunState::Failed => {
                if let Some(reason) = self.reason {
                    self.lift(reason, &mut actions);
                }
                actions.push(self.of_run(Operation::RunCancel, "cancel"));
            }
            RunState::Running => actions.push(self.of_run(Operation::RunCancel, "cancel")),
            RunState::FinalFailed | RunState::Cancelled | RunState::Skipped => {
                actions.push(self.of_run(Operation::RunRerun, "rerun"));
            }
            RunState::Success => {}
        }
        actions
    }

    /// What lifts the reason.
    fn lift(&self, reason: &Reason, actions: &mut Vec<WhyAction>) {
        match reason.kind.as_str() {
            "backoff" | "quarantined" => actions.push(self.of_run(Operation::RunRetry, "retry")),
            "paused" => actions.extend(self.of_job(Operation::JobResume, "POST", "/resume", None)),
            "cell_paused" => actions.push(self.resume_cell()),
            "concurrency" => actions.extend(self.edit("concurrency.limit")),
            "rate_limit" => actions.extend(self.edit("rate_limit.limit")),
            "resources" | "suspect" => {
                if let Some(lacks) = reason.lacks.as_deref().filter(|lacks| *lacks != "slots") {
                    actions.extend(self.edit(&format!("resources.{lacks}")));
                }
                self.take_nodes_back(actions);
                actions.push(self.invite(reason));
            }
            "no_node" => {
                self.take_nodes_back(actions);
                let field = match reason.lacks.as_deref() {
                    Some("pool") => Some("placement.pool"),
                    Some("name") => Some("placement.balancer"),
                    Some("selector") => Some("placement.selector"),
                    Some("capacity") => Some("resources"),
                    _ => None,
                };
                actions.extend(field.and_then(|field| self.edit(field)));
                actions.push(self.invite(reason));
            }
            "priority" => actions.push(self.invite(reason)),
            // Its time comes, or it is read in.
            _ => {}
        }
    }

    fn of_run(&self, operation: Operation, verb: &str) -> WhyAction {
        let path = format!("/v1/runs/{}/{verb}", self.run.head.id);
        WhyAction { body: Some(serde_json::json!({})), ..self.action(operation, "POST", path) }
    }

    /// An action on the job of the run; a run with a specification of its own has none.
    fn of_job(
        &self,
        operation: Operation,
        method: &str,
        tail: &str,
        field: Option<&str>,
    ) -> Option<WhyAction> {
        let head = &self.run.head;
        let spec = self.spec.filter(|_| head.inline_spec.is_none())?;
        let path = format!("/v1/jobs/{}{tail}?namespace={}", spec.name, head.namespace);
        Some(WhyAction {
            target: Some(spec.name.to_string()),
            field: field.map(Into::into),
            body: (method == "POST").then(|| serde_json::json!({})),
            ..self.action(operation, method, path)
        })
    }

    fn edit(&self, field: &str) -> Option<WhyAction> {
        self.of_job(Operation::JobPut, "PUT", "", Some(field))
    }

    fn resume_cell(&self) -> WhyAction {
        let cell = self.run.status.cell;
        let path = format!("/v1/cells/{}/resume", cell.0);
        WhyAction { target: Some(cell.0.to_string()), ..self.action(Operation::CellResume, "POST", path) }
    }

    /// Nodes that would do and are being emptied because somebody asked for it.
    fn take_nodes_back(&self, actions: &mut Vec<WhyAction>) {
        for node in self.nodes.iter().filter(|node| node.away == Some(NodeAway::Draining)) {
            let path = format!("/v1/nodes/{}/resume", node.id);
            let action = self.action(Operation::NodeResume, "POST", path);
            actions.push(WhyAction { target: Some(node.name.clone()), ..action });
        }
    }

    fn invite(&self, reason: &Reason) -> WhyAction {
        let pool = match &reason.pool {
            Some(pool) => Some(pool.clone()),
            None => self.spec.map(|spec| spec.placement.pool().to_owned()),
        };
        let body = pool.map(|pool| serde_json::json!({ "pool": pool }));
        WhyAction { body, ..self.action(Operation::NodeInvite, "POST", "/v1/join-tokens".to_owned()) }
    }

    fn action(&self, operation: Operation, method: &str, path: String) -> WhyAction {
        WhyAction {
            operation: operation.name().into(),
            method: method.into(),
            path,
            body: None,
            allowed: self.principal.may(operation, Some(&self.run.head.namespace)),
            target: None,
            field: None,
        }
    }
}
