//! Nodes: inserted under revision 1, replaced by compare-and-set, read by cell until they have left.

use std::sync::Arc;

use mainspring_model::{CellId, Node, NodeState};
use mainspring_store::{Outcome, Store, Write};

use crate::case::cases;
use crate::fixture::{APPLIED, at, commit, exists, full_node, missing, node, node_id, put, stale};

cases! { "nodes":
    a_node_is_kept_with_every_field,
    an_absent_node_is_absent,
    a_node_is_replaced_by_the_next_revision,
    an_id_that_exists_conflicts,
    a_missing_node_is_missing,
    another_revision_conflicts_and_names_the_row,
    the_same_replacement_twice_is_applied_once,
    a_cell_lists_its_nodes_by_id,
    a_cell_does_not_list_those_that_left,
    a_node_that_left_may_return,
    a_node_moves_to_another_cell,
    two_nodes_may_share_a_name,
    pages_hold_every_node_by_id,
    pages_say_whether_more_follow,
    a_node_is_removed_by_its_revision,
    a_removal_of_another_revision_conflicts_and_names_the_row,
    a_removed_node_is_missing_and_may_come_again,
}

async fn a_node_is_kept_with_every_field(store: Arc<dyn Store>) {
    put(&store, vec![write(full_node(1))]).await;
    assert_eq!(store.node(node_id(1)).await.unwrap(), Some(full_node(1)));
    assert_eq!(store.nodes(CellId(1023)).await.unwrap(), [full_node(1)]);
}

async fn an_absent_node_is_absent(store: Arc<dyn Store>) {
    assert_eq!(store.node(node_id(1)).await.unwrap(), None);
    assert_eq!(store.nodes(CellId(0)).await.unwrap(), []);
}

async fn a_node_is_replaced_by_the_next_revision(store: Arc<dyn Store>) {
    put(&store, vec![write(full_node(1))]).await;
    let second = revised(node(1), 2);
    put(&store, vec![write(second.clone())]).await;
    assert_eq!(store.node(node_id(1)).await.unwrap(), Some(second));
}

async fn an_id_that_exists_conflicts(store: Arc<dyn Store>) {
    put(&store, vec![write(node(1))]).await;
    assert_eq!(commit(&store, vec![write(full_node(1)), write(node(2))]).await, [exists(), APPLIED]);
    assert_eq!(store.node(node_id(1)).await.unwrap(), Some(node(1)));
}

async fn a_missing_node_is_missing(store: Arc<dyn Store>) {
    assert_eq!(commit(&store, vec![write(revised(node(1), 2))]).await, [missing()]);
    assert_eq!(store.node(node_id(1)).await.unwrap(), None);
}

async fn another_revision_conflicts_and_names_the_row(store: Arc<dyn Store>) {
    for revision in 1..=3 {
        put(&store, vec![write(revised(node(1), revision))]).await;
    }
    for revision in [2, 3, 5, 1 << 40] {
        assert_eq!(commit(&store, vec![write(revised(node(1), revision))]).await, [stale(3)], "{revision}");
    }
}

async fn the_same_replacement_twice_is_applied_once(store: Arc<dyn Store>) {
    put(&store, vec![write(node(1))]).await;
    for expected in [APPLIED, stale(2)] {
        assert_eq!(commit(&store, vec![write(revised(node(1), 2))]).await, [expected]);
    }
}

async fn a_cell_lists_its_nodes_by_id(store: Arc<dyn Store>) {
    put(&store, [5, 3, 4, 1].map(|n| write(node(n))).to_vec()).await;
    put(&store, vec![write(Node { cell: CellId(1), ..node(2) })]).await;
    assert_eq!(store.nodes(CellId(0)).await.unwrap(), [node(1), node(3), node(4), node(5)]);
    assert_eq!(store.nodes(CellId(1)).await.unwrap().len(), 1);
    assert_eq!(store.nodes(CellId(2)).await.unwrap(), []);
}

async fn a_cell_does_not_list_those_that_left(store: Arc<dyn Store>) {
    let states = [NodeState::Up, NodeState::Draining { deadline: at(9) }, NodeState::Lost, NodeState::Left];
    for (n, state) in (1..).zip(states) {
        put(&store, vec![write(Node { state, ..node(n) })]).await;
    }
    let listed: Vec<NodeState> =
        store.nodes(CellId(0)).await.unwrap().iter().map(|node| node.state).collect();
    assert_eq!(listed, states[..3]);
    assert_eq!(store.node(node_id(4)).await.unwrap().unwrap().state, NodeState::Left);
}

async fn a_node_that_left_may_return(store: Arc<dyn Store>) {
    for (revision, state) in [(1, NodeState::Up), (2, NodeState::Left), (3, NodeState::Up)] {
        put(&store, vec![write(Node { state, ..revised(node(1), revision) })]).await;
        let listed = store.nodes(CellId(0)).await.unwrap().len();
        assert_eq!(listed, usize::from(state != NodeState::Left), "{state:?}");
    }
}

async fn a_node_moves_to_another_cell(store: Arc<dyn Store>) {
    put(&store, vec![write(node(1))]).await;
    put(&store, vec![write(Node { cell: CellId(7), ..revised(node(1), 2) })]).await;
    assert_eq!(store.nodes(CellId(0)).await.unwrap(), []);
    assert_eq!(store.nodes(CellId(7)).await.unwrap().len(), 1);
}

async fn two_nodes_may_share_a_name(store: Arc<dyn Store>) {
    put(&store, vec![write(node(1)), write(Node { name: node(1).name, ..node(2) })]).await;
}

async fn pages_hold_every_node_by_id(store: Arc<dyn Store>) {
    let states = [NodeState::Left, NodeState::Up, NodeState::Lost, NodeState::Draining { deadline: at(9) }];
    let row = |(n, state): (u16, NodeState)| Node { state, cell: CellId(n), ..node(u64::from(n)) };
    let rows: Vec<Node> = (1..).zip(states).map(row).collect();
    put(&store, rows.iter().rev().cloned().map(write).collect()).await;
    assert_eq!(store.all_nodes(None, 10).await.unwrap().rows, rows);
    assert_eq!(store.all_nodes(Some(node_id(2)), 10).await.unwrap().rows, rows[2..]);
    assert_eq!(store.all_nodes(Some(node_id(4)), 10).await.unwrap().rows, []);
}

async fn pages_say_whether_more_follow(store: Arc<dyn Store>) {
    put(&store, (1..=3).map(|n| write(node(n))).collect()).await;
    for (limit, more) in [(0, true), (2, true), (3, false), (4, false)] {
        let page = store.all_nodes(None, limit).await.unwrap();
        assert_eq!((page.rows.len(), page.more), (limit.min(3), more), "{limit}");
    }
}

async fn a_node_is_removed_by_its_revision(store: Arc<dyn Store>) {
    put(&store, vec![write(node(1)), write(node(2)), write(node(3))]).await;
    put(&store, vec![write(revised(node(1), 2))]).await;
    put(&store, vec![remove(3, 1), write(node(4)), remove(1, 2)]).await;
    assert_eq!(store.node(node_id(1)).await.unwrap(), None);
    assert_eq!(store.nodes(CellId(0)).await.unwrap(), [node(2), node(4)]);
    assert_eq!(store.all_nodes(None, 10).await.unwrap().rows, [node(2), node(4)]);
}

async fn a_removal_of_another_revision_conflicts_and_names_the_row(store: Arc<dyn Store>) {
    put(&store, vec![write(node(1)), write(node(2))]).await;
    put(&store, vec![write(revised(node(1), 2))]).await;
    for expected in [0, 1, 3] {
        let batch = vec![remove(1, expected), write(revised(node(2), 2))];
        let transaction = mainspring_store::Transaction::all_or_nothing(batch);
        let outcomes = store.commit(transaction).await.unwrap();
        assert_eq!(outcomes, [stale(2), Outcome::Undone], "{expected}");
    }
    assert_eq!(store.node(node_id(1)).await.unwrap(), Some(revised(node(1), 2)));
}

async fn a_removed_node_is_missing_and_may_come_again(store: Arc<dyn Store>) {
    for _ in 0..2 {
        put(&store, vec![write(node(1))]).await;
        for expected in [APPLIED, missing()] {
            assert_eq!(commit(&store, vec![remove(1, 1)]).await, [expected]);
        }
        assert_eq!(commit(&store, vec![write(revised(node(1), 2))]).await, [missing()]);
    }
}

fn remove(n: u64, expected: u64) -> Write {
    Write::RemoveNode { id: node_id(n), expected }
}

fn revised(node: Node, revision: u64) -> Node {
    Node { revision, ..node }
}

fn write(node: Node) -> Write {
    Write::PutNode(Box::new(node))
}
