//! Whether an attempt is, or was, a node's own: a node writes the logs of no others (I34).

use std::sync::Arc;

use mainspring_app::ports::Cells as _;
use mainspring_model::{AttemptToken, NodeId, RunId};
use mainspring_store::Store;
use rustc_hash::FxHashMap;
use tracing::warn;

use crate::cells::{Found, LocalCells};

/// How far an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// As far as its owner knows, it goes on.
    Running,
    /// It is over, or nobody remembers it but the store.
    Over,
}

/// Knows who executed what.
#[derive(Clone)]
pub(crate) struct Ownership {
    pub(crate) cells: Arc<LocalCells>,
    pub(crate) store: Arc<dyn Store>,
}

impl Ownership {
    /// Those of the attempts that are the node's. Asked once for each log, for all logs that come together; when it cannot
    /// be said, the answer is no, and the node asks again.
    pub(crate) async fn of(&self, node: NodeId, tokens: &[AttemptToken]) -> FxHashMap<AttemptToken, Stage> {
        let cell = self.cells.cell_of_node(node);
        let runs: Vec<RunId> = tokens.iter().map(|token| token.run).collect();
        let live = self.cells.live(cell, &runs).await.unwrap_or_default();
        let current: FxHashMap<AttemptToken, (Option<NodeId>, Stage)> = live
            .iter()
            .map(|live| {
                let status = &live.run.status;
                let stage = if status.state.is_terminal() { Stage::Over } else { Stage::Running };
                (status.token(live.run.head.id), (status.node, stage))
            })
            .collect();
        let mut of_node = FxHashMap::default();
        let mut unknown = Vec::new();
        for token in tokens {
            match current.get(token) {
                Some((executing, stage)) => {
                    of_node.extend((*executing == Some(node)).then_some((*token, *stage)));
                }
                None => unknown.push(*token),
            }
        }
        if !unknown.is_empty() {
            match self.in_rows(node, &unknown).await {
                Ok(found) => of_node.extend(found.into_iter().map(|token| (token, Stage::Over))),
                Err(error) => warn!(%error, "whose attempts they are cannot be read"),
            }
        }
        of_node
    }

    /// Whether the attempt goes on at the node.
    pub(super) async fn is_running(&self, node: NodeId, token: AttemptToken) -> bool {
        let cell = self.cells.cell_of_node(node);
        let live = self.cells.live(cell, &[token.run]).await.unwrap_or_default();
        live.iter().any(|live| {
            let status = &live.run.status;
            status.token(token.run) == token && status.node == Some(node) && !status.state.is_terminal()
        })
    }

    /// Where the owner of the attempt's cell is, if that is another process.
    pub(super) async fn elsewhere(&self, token: AttemptToken) -> Option<String> {
        let runs = self.store.runs_by_id(&[token.run]).await.ok()?;
        match self.cells.find(runs.first()?.status.cell).await {
            Found::Elsewhere(url) => Some(url),
            Found::Here(_) | Found::Nowhere => None,
        }
    }

    /// Those of the attempts that are the node's, as the store says: most are the last of their runs.
    async fn in_rows(
        &self,
        node: NodeId,
        tokens: &[AttemptToken],
    ) -> mainspring_store::Result<Vec<AttemptToken>> {
        let runs: Vec<RunId> = tokens.iter().map(|token| token.run).collect();
        let rows = self.store.runs_by_id(&runs).await?;
        let last: FxHashMap<AttemptToken, Option<NodeId>> =
            rows.iter().map(|run| (run.status.token(run.head.id), run.status.node)).collect();
        let mut found = Vec::new();
        for token in tokens {
            let is_of = match last.get(token) {
                Some(executing) => *executing == Some(node),
                None => {
                    let earlier = self.store.attempts(token.run).await?;
                    earlier.iter().any(|attempt| attempt.token == *token && attempt.node == node)
                }
            };
            found.extend(is_of.then_some(*token));
        }
        Ok(found)
    }
}
