//! Nodes.

use mainspring_model::{CellId, Node, NodeId};

use super::statement::Query;
use crate::rows::node;
use crate::session::{Backend, Result};

/// The nodes of a cell that have not left, by id.
pub(crate) async fn of_cell<B: Backend>(backend: &B, cell: CellId) -> Result<Vec<Node>> {
    let mut query = Query::new(node::SELECT);
    query.and("cell = ?", [i64::from(cell.0).into()]).and("state <> ?", [node::LEFT.into()]).order("id");
    query.sound(backend, node::decode).await
}

/// A node, whatever its state.
pub(crate) async fn one<B: Backend>(backend: &B, id: NodeId) -> Result<Option<Node>> {
    let mut query = Query::new(node::SELECT);
    query.and("id = ?", [id.as_bytes().into()]);
    Ok(query.all(backend, node::decode).await?.pop())
}
