//! Reading dispatch: the mode and the balancer.
//!
//! A balancer is a word, or a map of one word and what it needs to be told. Both mistakes, a word that
//! lacks it and a word that takes nothing, are answered with the right spelling.

use serde_json::Value;

use super::Reader;
use super::scalar::{choice, list, parsed, template};
use crate::spec::{Balancer, Dispatch};

/// The balancers that are one word.
const PLAIN: [Balancer; 11] = [
    Balancer::RoundRobin,
    Balancer::Random,
    Balancer::Weighted,
    Balancer::LeastActive,
    Balancer::LeastCpu,
    Balancer::LeastMemory,
    Balancer::BestFit,
    Balancer::Spread,
    Balancer::First,
    Balancer::Last,
    Balancer::Sticky,
];

/// The balancers that need to be told something, with how to write it.
const TOLD: [(&str, &str); 3] = [
    ("consistent_hash", "a key: write `{consistent_hash: \"{{ params.customer }}\"}`"),
    ("failover", "the nodes in order: write `{failover: [node-a, node-b]}`"),
    ("node", "the node: write `{node: node-a}`"),
];

pub(super) fn dispatch(reader: &mut Reader, value: &Value) -> Option<Dispatch> {
    let mut fields = reader.fields("dispatch", value)?;
    let mode = fields.optional("mode", choice("dispatch mode", &[("unicast", ())]));
    let has_other_mode = fields.has("mode") && mode.is_none();
    let balancer = fields.optional("balancer", balancer);
    if has_other_mode {
        // The mode is refused already; what belongs to it need not be refused once more.
        return None;
    }
    fields.finish();
    Some(Dispatch::Unicast { balancer })
}

fn balancer(reader: &mut Reader, value: &Value) -> Option<Balancer> {
    let Value::Object(map) = value else {
        if let Some((name, need)) =
            value.as_str().and_then(|text| TOLD.iter().find(|(name, _)| *name == text))
        {
            reader.problem(format!("`{name}` needs {need}"));
            return None;
        }
        let words: Vec<(&'static str, Option<Balancer>)> = PLAIN
            .iter()
            .map(|balancer| (balancer.name(), Some(balancer.clone())))
            .chain(TOLD.iter().map(|(name, _)| (*name, None)))
            .collect();
        return choice("balancer", &words)(reader, value).flatten();
    };
    if let Some(name) = PLAIN.iter().map(Balancer::name).find(|name| map.contains_key(*name)) {
        reader.problem_with_hint(format!("`{name}` takes nothing"), format!("write `balancer: {name}`"));
        return None;
    }
    let mut fields = reader.fields("balancer", value)?;
    if map.len() != 1 {
        fields.problem_here("expected one balancer", "keep one of them");
        return None;
    }
    let hash = fields.optional("consistent_hash", template).map(Balancer::ConsistentHash);
    let failover = fields.optional("failover", |reader, value| {
        let nodes = list(parsed)(reader, value)?;
        if nodes.is_empty() {
            reader.problem("expected at least one node");
            return None;
        }
        Some(Balancer::Failover(nodes))
    });
    let node = fields.optional("node", parsed).map(Balancer::Node);
    fields.finish();
    hash.or(failover).or(node)
}
