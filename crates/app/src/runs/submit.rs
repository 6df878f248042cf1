//! Submitting one run: checked here, made durable by the owner of its cell.

use mainspring_engine::Answer;
use mainspring_model::{ErrorCode, Namespace, OverlapRule, RunHead, RunId};
use mainspring_wire::api::{RerunRequest, Submit, Submitted};

use crate::app::{App, note_answer};
use crate::audit::Entry;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::ports::NewRun;
use crate::principal::Caller;

/// What the audit log says of a run that was forced.
pub(super) const FORCED: &str = "forced past the overlap policy and the concurrency limit";

/// What a wish says itself. What it leaves to its job may have changed since it was first sent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Said {
    version: bool,
    priority: bool,
}

impl Said {
    pub(super) fn by(wish: &Submit) -> Self {
        Self { version: wish.version.is_some(), priority: wish.priority.is_some() }
    }

    /// What a run was, again: all but the latest version is as it was.
    pub(super) fn again(request: &RerunRequest) -> Self {
        Self { version: !request.latest, priority: true }
    }
}

impl App {
    /// Submits a run. `namespace` is where it belongs when the wish does not say.
    pub async fn submit(
        &self,
        caller: &Caller,
        namespace: Option<Namespace>,
        wish: Submit,
    ) -> Result<Submitted> {
        let namespace = place_of(&wish, namespace)?;
        let operation = operation_of(&wish);
        self.allow(caller, operation, Some(&namespace)).await?;
        let entry = caller.entry(self.now(), operation, Some(&namespace));
        let said = Said::by(&wish);
        match self.new_run(caller, namespace, wish, "").await {
            Ok(run) => self.submit_one(run, said, entry).await,
            Err(error) => self.refused(entry, error).await,
        }
    }

    /// Has the owner make it durable.
    pub(super) async fn submit_one(&self, run: NewRun, said: Said, entry: Entry) -> Result<Submitted> {
        let head = &run.head;
        let mut submitted = Submitted {
            id: head.id,
            namespace: head.namespace.clone(),
            job: head.job,
            job_version: head.job_version,
            duplicate: false,
        };
        let mut entry = Entry { target: Some(head.id.to_string().into()), ..entry };
        if head.overlap == OverlapRule::Force {
            let before = entry.detail.map_or_else(String::new, |detail| format!("{detail}, "));
            entry.detail = Some(format!("{before}{FORCED}").into());
        }
        // Only a run with a key can turn out to be another; then what was asked is compared.
        let asked = head.idempotency_key.is_some().then(|| head.clone());
        let answer = self.cells.submit(vec![run], vec![entry]).await;
        note_answer(&answer);
        match answer?.pop() {
            Some(Answer::Submitted { run, duplicate }) => {
                if let (true, Some(asked)) = (duplicate, asked) {
                    let first = self.same_wish(&asked, said, run).await?;
                    (submitted.job, submitted.job_version) = (first.job, first.job_version);
                }
                (submitted.id, submitted.duplicate) = (run, duplicate);
                Ok(submitted)
            }
            Some(Answer::Refused { code, message }) => Err(Error::new(code, message)),
            Some(Answer::Done) | None => Err(Error::new(ErrorCode::Internal, "the owner did not answer")),
        }
    }

    /// The earlier run of a key, if the same was asked then.
    pub(super) async fn same_wish(&self, asked: &RunHead, said: Said, run: RunId) -> Result<RunHead> {
        let found = self.store.runs_by_id(&[run]).await?.pop();
        let Some(first) = found else { return Ok(asked.clone()) };
        let first = &first.head;
        let same = first.job == asked.job
            && first.params == asked.params
            && first.not_before == asked.not_before
            && first.deadline == asked.deadline
            && first.overlap == asked.overlap
            && (first.job_version == asked.job_version || !said.version)
            && (first.priority == asked.priority || !said.priority);
        if same {
            return Ok(RunHead::clone(first));
        }
        let message = format!("the key was used for {run}, which asked for something else");
        Err(Error::new(ErrorCode::IdempotencyMismatch, message))
    }
}

/// Where a run belongs: as the wish says, as the request says, as the specification says, or the default.
pub(super) fn place_of(wish: &Submit, namespace: Option<Namespace>) -> Result<Namespace> {
    if let Some(place) = wish.namespace.clone().or(namespace) {
        return Ok(place);
    }
    let written = wish.spec.as_ref().and_then(|spec| spec.get("namespace")).and_then(|place| place.as_str());
    match written {
        Some(place) => place.parse().map_err(|error: mainspring_model::namespace::NamespaceError| {
            Error::field(ErrorCode::InvalidSpec, "spec.namespace", error.to_string())
        }),
        None => Ok(Namespace::default()),
    }
}

/// A specification of one's own is as good as a new job.
pub(super) fn operation_of(wish: &Submit) -> Operation {
    if wish.spec.is_some() { Operation::RunSubmitSpec } else { Operation::RunSubmit }
}
