//! A node's introduction as a row of the model.

use mainspring_model::label::Labels;
use mainspring_model::{CellId, Node, NodeState, Resources, Timestamp, limits};

use super::token::node_id;
use super::{Hello, Malformed};

/// Kinds of resources that a node may have beside processor and memory.
const NAMED_RESOURCES_MAX: usize = 64;
/// More of any resource than any machine has; sums over all nodes stay far below what a number holds.
const RESOURCE_MAX: u64 = 1 << 52;

impl Hello {
    /// The node as it describes itself; the owner decides its state, revision and times.
    pub fn node(&self, cell: CellId) -> Result<Node, Malformed> {
        let mut labels = Labels::new();
        for (key, value) in &self.labels {
            labels.insert(key, value).map_err(|wrong| Malformed::new("labels", wrong.to_string()))?;
        }
        self.check_limits()?;
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

    /// A node is not trusted: what it says of itself is written to rows and shown to people.
    fn check_limits(&self) -> Result<(), Malformed> {
        within("name", "bytes", self.name.len() as u64, limits::WORD_BYTES_MAX as u64)?;
        within("pool", "bytes", self.pool.len() as u64, limits::NAME_BYTES_MAX as u64)?;
        within("handlers", "handlers", self.handlers.len() as u64, limits::HANDLERS_MAX as u64)?;
        for handler in &self.handlers {
            within("handlers", "bytes", handler.len() as u64, limits::WORD_BYTES_MAX as u64)?;
        }
        within("named_milli", "resources", self.named_milli.len() as u64, NAMED_RESOURCES_MAX as u64)?;
        for (name, milli) in &self.named_milli {
            within("named_milli", "bytes", name.len() as u64, limits::NAME_BYTES_MAX as u64)?;
            within("named_milli", "thousandths", *milli, RESOURCE_MAX)?;
        }
        within("cpu_milli", "thousandths", self.cpu_milli, RESOURCE_MAX)?;
        within("memory_bytes", "bytes", self.memory_bytes, RESOURCE_MAX)
    }
}

fn within(field: &'static str, unit: &str, count: u64, max: u64) -> Result<(), Malformed> {
    if count > max {
        return Err(Malformed::new(field, format!("{count} {unit}, at most {max} are allowed")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(field: &str, change: impl FnOnce(&mut Hello)) {
        let node = mainspring_model::NodeId::new(Timestamp::ZERO, 1);
        let mut hello = Hello { node: node.as_bytes().to_vec().into(), ..Hello::default() };
        assert!(hello.node(CellId(0)).is_ok());
        change(&mut hello);
        assert_eq!(hello.node(CellId(0)).map_err(|malformed| malformed.field), Err(field));
    }

    #[test]
    fn what_a_node_says_of_itself_has_limits() {
        let long = || "x".repeat(limits::WORD_BYTES_MAX + 1);
        check("name", |hello| hello.name = long());
        check("pool", |hello| hello.pool = long());
        check("handlers", |hello| hello.handlers.push(long()));
        check("handlers", |hello| hello.handlers = vec![String::new(); limits::HANDLERS_MAX + 1]);
        check("named_milli", |hello| hello.named_milli.extend([(long(), 1)]));
        check("named_milli", |hello| hello.named_milli.extend([("gpu".into(), u64::MAX)]));
        let many = || (0..=NAMED_RESOURCES_MAX).map(|n| (n.to_string(), 1)).collect();
        check("named_milli", |hello| hello.named_milli = many());
        check("cpu_milli", |hello| hello.cpu_milli = u64::MAX);
        check("memory_bytes", |hello| hello.memory_bytes = u64::MAX);
    }
}
