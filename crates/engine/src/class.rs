//! Equivalence classes of placement: all runs with the same filter, need and preferences.
//!
//! Whether a node can take a run is a question about its class, so it is asked once for a class and not
//! for each of its runs. A class keeps its waiting groups in queue order; the best of all classes that
//! fit a freed node is found by looking at one number per class.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mainspring_model::spec::{self, Sticky};
use mainspring_model::{JobSpec, Reason, RunId};

use crate::balancer::{self, Balancer};
use crate::nodeset::Filter;
use crate::room::Room;
use crate::shape::balancer_of;
use crate::timers::Armed;

/// The place of a run in the queue: smallest first.
pub(crate) type QueueKey = (i64, RunId);

/// After every place.
pub(crate) const QUEUE_END: QueueKey = (i64::MAX, RunId::MAX);

/// Every node was asked and none had room.
#[derive(Debug)]
pub(crate) struct Full {
    /// The cell's room count then. While it is the same, asking again is of no use: whatever was freed
    /// since was offered to whoever is listed.
    pub(crate) at: u64,
    /// What was lacking.
    pub(crate) why: Option<Reason>,
}

/// What makes two runs equal to placement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ClassKey {
    pub(crate) filter: Filter,
    pub(crate) need: Room,
    pub(crate) balancer: spec::Balancer,
    pub(crate) affinity: Vec<spec::Affinity>,
    pub(crate) spread: Option<Box<str>>,
    pub(crate) sticky: Option<Sticky>,
}

impl ClassKey {
    pub(crate) fn of(spec: &JobSpec) -> Self {
        let balancer = balancer_of(spec);
        let names = match &balancer {
            spec::Balancer::Node(name) => vec![name.as_str().into()],
            spec::Balancer::Failover(names) => names.iter().map(|name| name.as_str().into()).collect(),
            _ => Vec::new(),
        };
        let sticky = match balancer {
            spec::Balancer::Sticky => spec.placement.sticky.or(Some(Sticky::Prefer)),
            _ => spec.placement.sticky,
        };
        Self {
            filter: Filter {
                pool: spec.placement.pool().into(),
                selector: spec.placement.selector.clone(),
                handler: spec.body.handler().map(Into::into),
                names,
            },
            need: Room::new(1, &spec.resources),
            balancer,
            affinity: spec.placement.affinity.clone(),
            spread: spec.placement.spread.clone(),
            sticky,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) key: ClassKey,
    pub(crate) balancer: Box<dyn Balancer>,
    /// Nodes that pass the filter.
    pub(crate) set: usize,
    /// Nodes that pass the filter and one affinity, in the order of `key.affinity`.
    pub(crate) preferred: Vec<usize>,
    /// Shapes that use it.
    pub(crate) shapes: u32,
    /// Groups that wait for nothing but a node, by their first run.
    pub(crate) order: BTreeMap<QueueKey, usize>,
    /// The first of them, under which the queue's heads have it.
    pub(crate) head: Option<QueueKey>,
    /// How many nodes in service could take a run if they were empty, and when that was counted.
    pub(crate) large_enough: std::cell::Cell<(u64, u32)>,
    /// No node has room; true at most while a group is listed.
    pub(crate) full: Option<Full>,
    /// What whoever asked was told, and the count of nodes' changes then.
    pub(crate) told: RefCell<Option<(u64, Option<Reason>)>>,
    pub(crate) armed: Armed,
}

impl Class {
    pub(crate) fn new(key: ClassKey, set: usize, preferred: Vec<usize>) -> Self {
        Self {
            balancer: balancer::of(&key.balancer, &key.need),
            key,
            set,
            preferred,
            shapes: 0,
            order: BTreeMap::new(),
            head: None,
            large_enough: Default::default(),
            full: None,
            told: RefCell::default(),
            armed: Armed::NOT,
        }
    }

    /// Whether the balancer alone chooses: no preference is to be weighed.
    pub(crate) fn is_plain(&self) -> bool {
        self.key.affinity.is_empty() && self.key.spread.is_none()
    }
}
