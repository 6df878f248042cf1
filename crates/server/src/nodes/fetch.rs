//! Files for attempts: a node gets those that an attempt names which runs there now, and no others (I34).

use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt;
use mainspring_app::ports::{Artifacts, Cells as _};
use mainspring_model::spec::Digest;
use mainspring_model::{AttemptToken, NodeId, Run, RunState};
use mainspring_store::Store;
use mainspring_wire::agent::FileChunk;
use tokio_stream::Stream;
use tonic::Status;
use tracing::warn;

use crate::logs::Ownership;
use crate::seat::read;

/// What is sent.
pub(super) type Chunks = Pin<Box<dyn Stream<Item = Result<FileChunk, Status>> + Send>>;

/// Finds files for nodes.
pub(crate) struct Files {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ownership: Ownership,
    pub(crate) artifacts: Arc<dyn Artifacts>,
}

impl Files {
    pub(super) async fn fetch(
        &self,
        node: NodeId,
        token: AttemptToken,
        digest: Digest,
    ) -> Result<Chunks, Status> {
        if !self.is_running(node, token).await? || !self.names(token, digest).await? {
            return Err(Status::permission_denied("no attempt that runs on this node names the artifact"));
        }
        let content = self.artifacts.get(digest, None).await.map_err(|error| {
            warn!(error = &error as &dyn std::error::Error, "an artifact cannot be read");
            Status::unavailable("the artifact cannot be read at the moment")
        })?;
        let content = content.ok_or_else(|| {
            Status::not_found(format!(
                "{digest} is not in the repository of this server; `mainspring artifact push` puts it there, unless the servers do not share one (server.artifacts)"
            ))
        })?;
        Ok(Box::pin(content.map(|data| match data {
            Ok(data) => Ok(FileChunk { data }),
            Err(error) => Err(Status::unavailable(error.to_string())),
        })))
    }

    /// Whether the attempt runs on the node, as the owner of its cell has it. What was executed there once is no reason to
    /// read files for ever.
    async fn is_running(&self, node: NodeId, token: AttemptToken) -> Result<bool, Status> {
        let cells = &self.ownership.cells;
        let live = cells.live(cells.cell_of_node(node), &[token.run]).await;
        // Who does not own the cell cannot know; the node tries again, by then with the owner.
        let live = live.map_err(|_| Status::unavailable("another scheduler owns the cell of this node"))?;
        Ok(live.iter().any(|live| runs_on(&live.run, node, token)))
    }

    /// Whether the specification of the run names the artifact. One with a URL comes from there.
    async fn names(&self, token: AttemptToken, digest: Digest) -> Result<bool, Status> {
        let unavailable = |error: mainspring_store::Error| {
            warn!(%error, "a run cannot be read");
            Status::unavailable("the store does not answer; try again")
        };
        let rows = self.store.runs_by_id(&[token.run]).await.map_err(unavailable)?;
        let loaded = read::load(&*self.store, rows).await.map_err(unavailable)?;
        let specs = loaded.iter().filter_map(|row| row.spec.as_ref());
        let mut artifacts = specs.flat_map(|spec| &spec.artifacts);
        Ok(artifacts.any(|artifact| artifact.digest == digest && artifact.url.is_none()))
    }
}

fn runs_on(run: &Run, node: NodeId, token: AttemptToken) -> bool {
    let status = &run.status;
    status.state == RunState::Running && status.token(run.head.id) == token && status.node == Some(node)
}

#[cfg(test)]
mod tests {
    use mainspring_model::{CellId, Epoch, JobId, Namespace, RunHead, RunId, RunStatus, Timestamp};

    use super::*;

    fn check(change: impl FnOnce(&mut RunStatus), number: u32, runs: bool) {
        let node = NodeId::new(Timestamp::ZERO, 1);
        let head = RunHead {
            id: RunId::new(Timestamp::ZERO, 7),
            namespace: Namespace::default(),
            job: JobId::new(Timestamp::ZERO, 1),
            job_version: 1,
            inline_spec: None,
            idempotency_key: None,
            priority: 0,
            created_at: Timestamp::ZERO,
            not_before: None,
            deadline: None,
            params: (*b"{}").into(),
            keys: None,
            submitted_by: "ann".into(),
            fired: None,
            overlap: Default::default(),
        };
        let mut status = RunStatus::arrived(CellId(0), Timestamp::ZERO);
        (status.state, status.node, status.attempt, status.attempt_epoch) =
            (RunState::Running, Some(node), 2, Epoch(3));
        change(&mut status);
        let token = AttemptToken { run: head.id, number, epoch: Epoch(3) };
        let run = Run { head: Arc::new(head), status };
        assert_eq!(runs_on(&run, node, token), runs, "{:?}", run.status);
    }

    #[test]
    fn only_what_runs_there_now() {
        check(|_| {}, 2, true);
        check(|_| {}, 1, false);
        check(|status| status.node = Some(NodeId::new(Timestamp::ZERO, 2)), 2, false);
        check(|status| status.state = RunState::Failed, 2, false);
        check(|status| status.state = RunState::Success, 2, false);
    }
}
