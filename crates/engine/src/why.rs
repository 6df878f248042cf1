//! Why a run is not running, from the owner's memory, with numbers.

use mainspring_model::{NodeFilter, Reason, RunId, RunState, Timestamp, limits};

use crate::cell::Cell;
use crate::nodes::NodeEntry;
use crate::queue::{Block, Group};

impl Cell {
    /// Why the run waits; none when it is not in memory, runs or has ended.
    pub fn why(&self, run: RunId) -> Option<Reason> {
        let ix = self.runs.find(run)?;
        let entry = &self.runs.entries[ix];
        let due = || Timestamp::from_micros(entry.status.place.map_or(0, |place| place.rank));
        let spec = &self.shapes.of(entry).spec;
        match entry.status.state {
            RunState::Ready => Some(Reason::BeginTime { until: due() }),
            RunState::Failed => Some(Reason::Backoff {
                until: due(),
                next_attempt: entry.status.attempt + 1,
                attempts_max: spec.retries_max() + 1 + entry.status.losses,
            }),
            RunState::Waiting => Some(self.why_waiting(ix)),
            RunState::Running
            | RunState::Success
            | RunState::FinalFailed
            | RunState::Cancelled
            | RunState::Skipped => None,
        }
    }

    fn why_waiting(&self, ix: usize) -> Reason {
        if let Some(pause) = &self.pause {
            return Reason::CellPaused { by: pause.by.clone(), note: pause.note.clone() };
        }
        let entry = &self.runs.entries[ix];
        let Some(group_ix) = entry.group.map(|group| group as usize) else { return Reason::Overflow };
        let group = &self.queue.groups[group_ix];
        if let Some(block) = group.block {
            return self.why_blocked(group, block);
        }
        // Whoever lists runs asks this for each: those far behind are not told how far.
        let position =
            group.waiting.range(..=entry.queue_key()).take(limits::QUEUE_PLACES_TOLD as usize).count() as u32;
        match self.why_no_room(group_ix) {
            Reason::Resources { .. } if position > 1 => Reason::Priority { position },
            why => why,
        }
    }

    pub(crate) fn why_blocked(&self, group: &Group, block: Block) -> Reason {
        let spec = &self.shapes.shapes[group.key.shape].spec;
        match block {
            Block::Job => {
                let job = &self.shapes.jobs[group.job];
                match &job.pause {
                    Some(pause) => Reason::Paused { by: pause.by.clone(), note: pause.note.clone() },
                    None => Reason::Quarantined { losses: job.health.losses },
                }
            }
            Block::Concurrency => Reason::Concurrency {
                key: group.key.concurrency().into(),
                running: self.concurrency.count(group.job, group.key.concurrency()),
                limit: spec.concurrency.as_ref().map_or(0, |concurrency| concurrency.limit.get()),
            },
            Block::Rate(until) => Reason::RateLimit {
                key: group.key.rate().into(),
                limit: spec.rate_limit.as_ref().map_or(0, |rate| rate.limit.get()),
                until,
            },
        }
    }

    /// Why no node takes the group.
    pub(crate) fn why_no_room(&self, group_ix: usize) -> Reason {
        let group = &self.queue.groups[group_ix];
        let class = &self.queue.classes[group.class];
        let nodes = self.nodes.len() as u32;
        let lacks = |node: &NodeEntry| {
            if node.is_open() { node.free.lacking(&class.key.need) } else { Some("slots") }
        };
        if let Some(filter) = self.hopeless(group.class) {
            return Reason::NoNode { filter, nodes };
        }
        let set = &self.nodes.sets[class.set];
        let avoided =
            if self.is_only_one(group_ix) { 0 } else { self.excluded_serving(group).count() as u32 };
        let matching = match self.bound_to(group) {
            Some(bound) => u32::from(self.nodes.get(bound).in_service()),
            None => set.serving - avoided,
        };
        if matching == 0 {
            return Reason::NoNode { filter: NodeFilter::Available, nodes };
        }
        let allowed = |ix: &usize| self.nodes.get(*ix).in_service() && self.allows(group_ix, *ix);
        let mut serving = set.members.iter().map(|(_, ix)| *ix).filter(allowed);
        Reason::Resources {
            matching,
            dimension: serving.find_map(|ix| lacks(self.nodes.get(ix))).unwrap_or("slots").into(),
        }
    }

    /// The filter that no node of the cell passes, whatever it does: neither time nor an end will help.
    pub(crate) fn hopeless(&self, class_ix: usize) -> Option<NodeFilter> {
        let class = &self.queue.classes[class_ix];
        let set = &self.nodes.sets[class.set];
        if !set.members.is_empty() {
            let fits = |ix: usize| self.nodes.get(ix).capacity().fits(&class.key.need);
            let too_small = !set.members.iter().any(|(_, ix)| fits(*ix));
            return too_small.then_some(NodeFilter::Capacity);
        }
        let filter = &class.key.filter;
        let in_pool =
            || self.nodes.entries.iter().map(|(_, node)| node).filter(|node| node.node.pool == filter.pool);
        if in_pool().next().is_none() {
            return Some(NodeFilter::Pool);
        }
        let labelled = in_pool().any(|node| filter.selector.matches(&node.node.labels));
        let handler = labelled && filter.handler.is_some();
        Some(if handler { NodeFilter::Handler } else { NodeFilter::Selector })
    }
}
