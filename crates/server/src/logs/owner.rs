//! Whether an attempt is, or was, a node's own: a node writes the logs of no others (I34).

use std::sync::Arc;

use mainspring_app::ports::Cells as _;
use mainspring_model::{AttemptToken, NodeId};
use mainspring_store::Store;
use tracing::warn;

use crate::cells::{Found, LocalCells};

/// Knows who executed what.
#[derive(Clone)]
pub(crate) struct Ownership {
    pub(crate) cells: Arc<LocalCells>,
    pub(crate) store: Arc<dyn Store>,
}

impl Ownership {
    /// Asked once for each log. When it cannot be said, the answer is no: the node asks again.
    pub(crate) async fn is_of(&self, node: NodeId, token: AttemptToken) -> bool {
        let cell = self.cells.cell_of_node(node);
        if let Ok(live) = self.cells.live(cell, &[token.run]).await
            && let Some(live) = live.first()
            && live.run.status.token(token.run) == token
        {
            return live.run.status.node == Some(node);
        }
        match self.in_rows(node, token).await {
            Ok(is_of) => is_of,
            Err(error) => {
                warn!(%error, attempt = %token, "whose attempt it is cannot be read");
                false
            }
        }
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

    async fn in_rows(&self, node: NodeId, token: AttemptToken) -> mainspring_store::Result<bool> {
        let runs = self.store.runs_by_id(&[token.run]).await?;
        let current =
            runs.iter().any(|run| run.status.token(token.run) == token && run.status.node == Some(node));
        if current {
            return Ok(true);
        }
        let earlier = self.store.attempts(token.run).await?;
        Ok(earlier.iter().any(|attempt| attempt.token == token && attempt.node == node))
    }
}
