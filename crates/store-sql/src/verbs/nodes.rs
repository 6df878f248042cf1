//! Nodes.

use mainspring_model::{CellId, Node, NodeId};
use mainspring_store::{Page, check};

use super::page::{self, Placed};
use super::statement::Query;
use crate::rows::node;
use crate::session::{Backend, Result};
use crate::value::{Damage, Row};

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

/// Nodes of every cell, whatever their state, ordered by id.
pub(crate) async fn all<B: Backend>(backend: &B, after: Option<NodeId>, limit: usize) -> Result<Page<Node>> {
    fn decode(row: &dyn Row) -> Result<Placed<NodeId, Node>, Damage> {
        Ok((NodeId::from_bytes(row.id(0)?), node::decode(row)))
    }
    check::rows(limit)?;
    let query = |after: Option<NodeId>| {
        let mut read = Query::new(node::SELECT);
        if let Some(after) = after {
            read.and("id > ?", [after.as_bytes().into()]);
        }
        read.page("id", limit + 1);
        read
    };
    page::read(backend, limit, after, query, decode).await
}
