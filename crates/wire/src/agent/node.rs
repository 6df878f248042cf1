//! A node's introduction as a row of the model.

use mainspring_model::label::Labels;
use mainspring_model::{CellId, Node, NodeState, Resources, Timestamp, limits};

use super::token::node_id;
use super::{Hello, Malformed};

impl Hello {
    /// The node as it describes itself; the owner decides its state, revision and times.
    pub fn node(&self, cell: CellId) -> Result<Node, Malformed> {
        let mut labels = Labels::new();
        for (key, value) in &self.labels {
            labels.insert(key, value).map_err(|wrong| Malformed::new("labels", wrong.to_string()))?;
        }
        if self.handlers.len() > limits::HANDLERS_MAX {
            let why = format!("{} handlers, more than {}", self.handlers.len(), limits::HANDLERS_MAX);
            return Err(Malformed::new("handlers", why));
        }
        let named = self.named_milli.iter().filter(|(_, milli)| **milli > 0);
        Ok(Node {
            id: node_id(&self.node)?,
            cell,
            name: self.name.as_str().into(),
            pool: self.pool.as_str().into(),
            labels,
            capacity: Resources {
                cpu_milli: self.cpu_milli,
                memory_bytes: self.memory_bytes,
                named: named.map(|(name, milli)| (name.as_str().into(), *milli)).collect(),
            },
            slots: self.slots,
            weight: self.weight.max(1),
            handlers: self.handlers.iter().map(|handler| handler.as_str().into()).collect(),
            state: NodeState::Up,
            revision: 0,
            joined_at: Timestamp::ZERO,
            updated_at: Timestamp::ZERO,
        })
    }
}
