//! What nodes used in the last hour: one sample a minute for each, in the owner's memory.
//!
//! Nothing of it is stored: whoever takes the cell over begins anew. A minute in which nothing was heard of a node is a gap.

use std::collections::VecDeque;

use mainspring_app::ports::{LoadSample, NodeLoad};
use mainspring_model::{NodeId, Timestamp};
use rustc_hash::FxHashMap;

use super::input::Usage;

/// Samples of a node that are kept.
const SAMPLES_MAX: usize = 60;
const MINUTE_US: i64 = 60_000_000;

/// The samples of the nodes of a cell.
#[derive(Debug, Default)]
pub(super) struct Loads {
    by_node: FxHashMap<NodeId, Samples>,
}

#[derive(Debug, Default)]
struct Samples {
    /// The minute of the last sample.
    last: i64,
    samples: VecDeque<Option<LoadSample>>,
}

impl Loads {
    /// The first word of a minute is its sample; true when it was.
    pub(super) fn sample(
        &mut self,
        node: NodeId,
        now: Timestamp,
        usage: Usage,
        running: impl FnOnce() -> usize,
    ) -> bool {
        let minute = now.as_micros() / MINUTE_US;
        let Samples { last, samples } = self.by_node.entry(node).or_default();
        if !samples.is_empty() && minute <= *last {
            return false;
        }
        let missed = if samples.is_empty() { 0 } else { (minute - *last - 1).min(SAMPLES_MAX as i64) };
        samples.extend((0..missed).map(|_| None));
        let Usage { cpu_milli, memory_bytes } = usage;
        samples.push_back(Some(LoadSample { cpu_milli, memory_bytes, running: running() as u32 }));
        samples.drain(..samples.len().saturating_sub(SAMPLES_MAX));
        *last = minute;
        true
    }

    /// Forgets nodes that the cell does not have any more.
    pub(super) fn retain(&mut self, has: impl Fn(NodeId) -> bool) {
        self.by_node.retain(|node, _| has(*node));
    }

    pub(super) fn len(&self) -> usize {
        self.by_node.len()
    }

    /// The samples of these nodes, up to the last one of each.
    pub(super) fn of(&self, nodes: &[NodeId]) -> Vec<NodeLoad> {
        let of = |node: &NodeId| {
            let Samples { last, samples } = self.by_node.get(node)?;
            let until = Timestamp::from_micros(*last * MINUTE_US);
            Some(NodeLoad { node: *node, until, samples: samples.iter().copied().collect() })
        };
        nodes.iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn used(cpu_milli: u64) -> Usage {
        Usage { cpu_milli, memory_bytes: 0 }
    }

    fn seen(loads: &Loads, node: NodeId) -> (i64, Vec<Option<u64>>) {
        let load = loads.of(&[node]).pop().expect("samples");
        let cpu = load.samples.iter().map(|sample| sample.map(|sample| sample.cpu_milli)).collect();
        (load.until.as_micros() / MINUTE_US, cpu)
    }

    #[test]
    fn there_is_one_sample_a_minute_and_silence_is_a_gap() {
        let (mut loads, node) = (Loads::default(), NodeId::new(Timestamp::ZERO, 1));
        assert!(loads.sample(node, at(600), used(1), || 0));
        assert!(!loads.sample(node, at(659), used(2), || 0));
        assert!(loads.sample(node, at(660), used(3), || 0));
        assert!(loads.sample(node, at(60 * 14), used(4), || 0));
        assert_eq!(seen(&loads, node), (14, vec![Some(1), Some(3), None, None, Some(4)]));
        // A clock that stepped back adds nothing.
        assert!(!loads.sample(node, at(60), used(5), || 0));
    }

    #[test]
    fn an_hour_is_kept_of_nodes_that_are_there() {
        let (mut loads, node) = (Loads::default(), NodeId::new(Timestamp::ZERO, 1));
        for minute in 0..100 {
            loads.sample(node, at(minute * 60), used(minute as u64), || 0);
        }
        let (until, cpu) = seen(&loads, node);
        assert_eq!((until, cpu.len(), cpu[0]), (99, 60, Some(40)));
        loads.sample(node, at(99 * 60 + 86_400), used(7), || 0);
        let (_, cpu) = seen(&loads, node);
        assert_eq!((cpu.len(), cpu[58], cpu[59]), (60, None, Some(7)));
        loads.retain(|_| false);
        assert!(loads.of(&[node]).is_empty());
    }
}
