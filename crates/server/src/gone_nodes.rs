//! Removing the rows of nodes that are gone for as long as runs are kept by default: few runs tell of them any more.
//!
//! One with a credential is somebody's machine and may be back; it is listed until somebody removes it, and its credential
//! with it.

use mainspring_app::has_credential;
use mainspring_store::{Outcome, Result, Transaction, Write};
use tracing::debug;

use crate::retention::{Pace, ROWS_AT_ONCE, Round};

/// Removes them, a few at a time.
pub(crate) async fn remove(round: &Round<'_>, pace: &mut Pace) -> Result<()> {
    let mut after = None;
    loop {
        let page = round.store.all_nodes(after, ROWS_AT_ONCE).await?;
        let mut removals = Vec::new();
        for node in page.rows.iter().filter(|node| node.is_gone()) {
            let is_old = round.now.since(node.updated_at) > round.keeping.runs;
            if is_old && !has_credential(round.store, node.id).await? {
                removals.push(Write::RemoveNode { id: node.id, expected: node.revision });
            }
        }
        if removals.is_empty() {
            pace.looked().await;
        } else {
            // One that said hello meanwhile has another revision.
            let outcomes = round.store.commit(Transaction::unfenced(removals)).await?;
            let removed = outcomes.iter().filter(|outcome| **outcome == Outcome::Applied).count();
            debug!(removed, "nodes that are gone were removed");
            pace.removed().await;
        }
        after = page.rows.last().map(|node| node.id);
        if !(page.more && (round.may_go_on)()) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mainspring_model::{CellId, Node, NodeId, NodeState, Resources, Timestamp};
    use mainspring_store::Store;
    use mainspring_store_mem::MemStore;

    use super::*;
    use crate::retention::Keeping;

    fn day(n: u32) -> Timestamp {
        Timestamp::ZERO + Duration::from_secs(86_400) * n
    }

    fn node(n: u8, state: NodeState, on: u32) -> Write {
        Write::PutNode(Box::new(Node {
            id: NodeId::from_bytes([n; 16]),
            cell: CellId(0),
            name: "worker".into(),
            pool: "default".into(),
            labels: Default::default(),
            capacity: Resources::ZERO,
            slots: 1,
            weight: 1,
            handlers: Vec::new(),
            state,
            revision: 1,
            joined_at: day(0),
            updated_at: day(on),
        }))
    }

    #[tokio::test]
    async fn nodes_that_are_gone_go_with_the_runs_that_name_them() {
        let store = MemStore::default();
        let draining = NodeState::Draining { deadline: day(1) };
        let writes = vec![
            node(1, NodeState::Lost, 60),
            node(2, NodeState::Left, 60),
            node(3, NodeState::Lost, 90),
            node(4, NodeState::Up, 1),
            node(5, draining, 1),
        ];
        store.commit(Transaction::unfenced(writes)).await.unwrap();
        let keeping = Keeping::default();
        let round = Round::new(&store, day(101), keeping, &|| true);
        remove(&round, &mut Pace::new()).await.unwrap();
        let left = store.all_nodes(None, 10).await.unwrap().rows;
        assert_eq!(left.iter().map(|node| node.id.as_bytes()[0]).collect::<Vec<_>>(), [3, 4, 5]);
    }
}
