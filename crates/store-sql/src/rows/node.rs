//! Nodes as rows. Queries ask for the cell and for those that have not left; the rest is detail.

use std::collections::BTreeMap;

use mainspring_model::{CellId, Labels, Node, NodeId, NodeState, Resources, Timestamp};
use serde::{Deserialize, Serialize};

use super::detail;
use crate::batch::{Action, Batch, Kind, column};
use crate::value::{Damage, Param, Row};

/// Inserts nodes.
pub(crate) static INSERT: Batch = Batch {
    table: "nodes",
    columns: &[
        column("id", Kind::Id),
        column("cell", Kind::Int),
        column("state", Kind::Small),
        column("revision", Kind::Big),
        column("detail", Kind::Bytes),
    ],
    key: 1,
    action: Action::InsertAbsent { unique: &[] },
    row_type: None,
};

/// Replaces nodes.
pub(crate) static UPDATE: Batch = Batch {
    table: "nodes",
    columns: &[
        column("id", Kind::Id),
        column("revision", Kind::Big),
        column("cell", Kind::Int),
        column("state", Kind::Small),
        column("revision", Kind::Big),
        column("detail", Kind::Bytes),
    ],
    key: 1,
    action: Action::CompareAndSet,
    row_type: None,
};

/// Removes nodes.
pub(crate) static REMOVE: Batch = Batch {
    table: "nodes",
    columns: &[column("id", Kind::Id), column("revision", Kind::Big)],
    key: 1,
    action: Action::CompareAndRemove,
    row_type: None,
};

/// What a read selects.
pub(crate) const SELECT: &str = "SELECT id, cell, state, revision, detail FROM nodes";

/// The number of [`NodeState::Left`] in the state column.
pub(crate) const LEFT: i64 = 3;

/// What no query asks for. New fields need a default, so that older rows can be read.
#[derive(Serialize, Deserialize)]
struct Detail {
    name: Box<str>,
    pool: Box<str>,
    #[serde(default)]
    labels: Labels,
    #[serde(default)]
    cpu_milli: u64,
    #[serde(default)]
    memory_bytes: u64,
    #[serde(default)]
    named_milli: BTreeMap<Box<str>, u64>,
    slots: u32,
    weight: u32,
    #[serde(default)]
    handlers: Vec<Box<str>>,
    #[serde(default)]
    drain_deadline: Option<Timestamp>,
    joined_at: Timestamp,
    updated_at: Timestamp,
}

/// The row of a removal.
pub(crate) fn encode_removal(id: NodeId, expected: u64) -> Vec<Param> {
    vec![Param::from(id.as_bytes()), Param::Int(expected as i64)]
}

/// The row of a node.
pub(crate) fn encode(node: &Node) -> Vec<Param> {
    let (state, drain_deadline) = match node.state {
        NodeState::Up => (0, None),
        NodeState::Draining { deadline } => (1, Some(deadline)),
        NodeState::Lost => (2, None),
        NodeState::Left => (LEFT, None),
    };
    let detail = Detail {
        name: node.name.clone(),
        pool: node.pool.clone(),
        labels: node.labels.clone(),
        cpu_milli: node.capacity.cpu_milli,
        memory_bytes: node.capacity.memory_bytes,
        named_milli: node.capacity.named.clone(),
        slots: node.slots,
        weight: node.weight,
        handlers: node.handlers.clone(),
        drain_deadline,
        joined_at: node.joined_at,
        updated_at: node.updated_at,
    };
    vec![
        node.id.as_bytes().into(),
        i64::from(node.cell.0).into(),
        Param::Int(state),
        (node.revision as i64).into(),
        detail::to_json(&detail).into(),
    ]
}

/// The row of an update of a node: its key, the revision before, the rest.
pub(crate) fn encode_update(node: &Node) -> Vec<Param> {
    let mut row = encode(node);
    row.insert(1, Param::Int(node.revision.wrapping_sub(1) as i64));
    row
}

/// The node of a row.
pub(crate) fn decode(row: &dyn Row) -> Result<Node, Damage> {
    let id = NodeId::from_bytes(row.id(0)?);
    decode_named(row, id).map_err(|damage| damage.named(id))
}

fn decode_named(row: &dyn Row, id: NodeId) -> Result<Node, Damage> {
    let detail: Detail = detail::json(row.bytes(4)?)?;
    Ok(Node {
        id,
        cell: CellId(row.number(1)?),
        name: detail.name,
        pool: detail.pool,
        labels: detail.labels,
        capacity: Resources {
            cpu_milli: detail.cpu_milli,
            memory_bytes: detail.memory_bytes,
            named: detail.named_milli,
        },
        slots: detail.slots,
        weight: detail.weight,
        handlers: detail.handlers,
        state: match (row.int(2)?, detail.drain_deadline) {
            (0, _) => NodeState::Up,
            (1, Some(deadline)) => NodeState::Draining { deadline },
            (2, _) => NodeState::Lost,
            (LEFT, _) => NodeState::Left,
            (number, _) => return Err(Damage::new(format!("no node state {number}"))),
        },
        revision: row.int(3)? as u64,
        joined_at: detail.joined_at,
        updated_at: detail.updated_at,
    })
}
